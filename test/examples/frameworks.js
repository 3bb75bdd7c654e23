'use strict'

// npm run test:examples
//
// The examples that need other packages, in a project of their own: it has the packed fairlane, and the frameworks from the registry. Without a
// registry they are skipped, which is said aloud; it is a failure with FAIRLANE_MUST_INSTALL=1, which CI sets.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { cpSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { Pool } = require('undici')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { startProgram } = require('../support/programs')

const { dependencies } = require('../../examples/middleware/package.json')

describe('the middleware that bounds each tenant', function () {
  this.timeout(300000)
  let folder

  before(function () {
    folder = temporaryFolder()
    const npm = (...args) => execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8' })
    cpSync(join(root, 'examples/middleware'), folder, { recursive: true, filter: path => !path.includes('node_modules') })
    const [{ filename }] = Object.values(JSON.parse(npm('pack', root, '--json', '--ignore-scripts')))
    const frameworks = Object.entries(dependencies).filter(([name]) => name !== 'fairlane').map(([name, range]) => `${name}@${range}`)
    try {
      npm('install', `./${filename}`, ...frameworks)
    } catch (err) {
      if (process.env.FAIRLANE_MUST_INSTALL) throw err
      console.error(`SKIPPED: ${frameworks.join(' and ')} cannot be installed here\n${err.stderr}`)
      this.skip()
    }
  })

  after(() => rmSync(folder, { recursive: true }))

  for (const framework of Object.keys(dependencies).filter(name => name !== 'fairlane')) {
    describe(`with ${framework}`, function () {
      let program, pool

      beforeEach(async function () {
        program = startProgram([join(folder, `with-${framework}.mjs`)])
        pool = new Pool(`http://127.0.0.1:${await program.line()}`, { connections: 100 })
      })

      afterEach(async function () {
        await pool.destroy()
        await program.end()
      })

      it('answers a tenant that floods with 429 beyond its bound, and all others', async function () {
        const get = async tenant => {
          const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/hello/ada', headers: { 'x-api-key': tenant } })
          return { status: statusCode, retryAfter: headers['retry-after'], text: await body.text() }
        }
        const flood = Promise.all(Array.from({ length: 90 }, () => get('greedy')))
        const quiet = await get('quiet')
        assert.deepEqual([quiet.status, quiet.text], [200, 'hello ada'])
        const answers = await flood
        const refused = answers.filter(({ status }) => status === 429)
        assert(refused.length > 0 && refused.every(({ retryAfter, text }) => retryAfter > 0 && text === 'FAIRLANE_ERR_TYPE_FULL'))
        assert.equal(answers.filter(({ status }) => status === 200).length, 90 - refused.length)
      })
    })
  }
})
