'use strict'

// npm run test:examples
//
// The examples that need other packages, in a project of their own: it has the packed fairlane, and the frameworks from the registry.
// Without a registry they are skipped, which is said aloud; it is a failure with FAIRLANE_MUST_INSTALL=1, which CI sets.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once, setMaxListeners } = require('node:events')
const { cpSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { Pool } = require('undici')
const { distributed } = require('../../lib/distributed')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { startProgram } = require('../support/programs')
const { describeWithRedis, startRedis } = require('../support/redis')

const { dependencies } = require('../../examples/middleware/package.json')

describe('requests that are shared fairly among tenants', function () {
  this.timeout(300000)
  const packages = Object.entries(dependencies).filter(([name]) => name !== 'fairlane').map(([name, range]) => `${name}@${range}`)
  const project = atProject('examples/middleware', [...packages, 'express4@npm:express@^4.21.0'])

  before(function () { // the same program with the express before
    const program = readFileSync(join(project.folder, 'with-express.mjs'), 'utf8')
    writeFileSync(join(project.folder, 'with-express4.mjs'), program.replace("from 'express'", "from 'express4'"))
  })

  for (const framework of ['connect', 'express', 'express4', 'fastify', 'hono', 'koa']) {
    describe(`with ${framework}`, function () {
      let program, pool

      beforeEach(async function () {
        program = startProgram([join(project.folder, `with-${framework}.mjs`)])
        pool = new Pool(`http://127.0.0.1:${await program.line()}`, { connections: 100 })
      })

      afterEach(async function () {
        await pool.destroy()
        await program.end()
      })

      const get = async (tenant, options) => {
        const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/hello/ada', headers: { 'x-api-key': tenant }, ...options })
        return { status: statusCode, retryAfter: headers['retry-after'], type: headers['content-type'], text: await body.text() }
      }

      it('answers a tenant that floods with 429 beyond its bound, and all others', async function () {
        const flood = Promise.all(Array.from({ length: 90 }, () => get('greedy')))
        const quiet = await get('quiet')
        assert.deepEqual([quiet.status, quiet.text], [200, 'hello ada'])
        const answers = await flood
        const refused = answers.filter(({ status }) => status === 429)
        assert(refused.length > 0)
        for (const { retryAfter, type, text } of refused) {
          assert.deepEqual([retryAfter > 0, JSON.parse(text).code], [true, 'FAIRLANE_ERR_TYPE_FULL'])
          assert.match(type, /^application\/problem\+json/)
        }
        assert.equal(answers.filter(({ status }) => status === 200).length, 90 - refused.length)
      })

      it('keeps no places for clients that went away while they waited', async function () {
        for (let i = 0; i < 5; i++) {
          const leave = new AbortController()
          setMaxListeners(0, leave.signal)
          const gone = Array.from({ length: 12 }, () => get('x', { signal: leave.signal }))
          await Promise.race([...gone, new Promise(resolve => setImmediate(resolve))])
          leave.abort()
          await Promise.allSettled(gone)
        }
        const answers = await Promise.all(Array.from({ length: 8 }, () => get('x')))
        assert.deepEqual(answers.map(({ status }) => status), Array(8).fill(200))
      })

      it('ends when it is told to, with all that it has let in answered', async function () {
        const answers = Array.from({ length: 8 }, () => get('x'))
        await answers[0]
        program.child.kill('SIGTERM')
        assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), Array(8).fill(200))
        assert.deepEqual(await program.exit, [0, null])
      })
    })
  }
})

describeWithRedis('the dashboard of queues at a broker', function () {
  this.timeout(300000)
  const header = readFileSync(join(root, 'examples/distributed/dashboard.mjs'), 'utf8')
  const packages = /npm install fairlane (.+)/.exec(header)[1].split(' ')
  const project = atProject('examples/distributed', packages)
  let server, program

  before(async () => { server = await startRedis() })
  after(() => server.stop())
  afterEach(() => program.end())

  it('shows the types that have jobs, and puts a dead letter back', async function () {
    const options = { name: 'mails', connection: server.path, settleBy: 'promise', leaseMs: 1000, maxAttempts: 1 }
    const queue = await distributed(async () => { throw new Error('no such address') }, options)
    try {
      for (const type of ['tenant a', '', '100%']) {
        await queue.pushType(type, { to: 'nobody' })
        await once(queue, 'failed')
      }
      program = startProgram([join(project.folder, 'dashboard.mjs')], { env: { REDIS_URL: server.path, PORT: '0' } })
      const origin = `http://127.0.0.1:${await program.line()}`
      const shown = async query => (await (await fetch(`${origin}/api/queues${query}`)).json()).queues
      const names = (await shown('')).map(({ name }) => name)
      assert.deepEqual([...names].sort(), ['(none)', '100％', 'tenant a'])
      for (const name of names) {
        const of = encodeURIComponent(name)
        const board = (await shown(`?activeQueue=${of}&status=failed`)).find(queue => queue.name === name)
        const [job] = board.jobs
        assert.deepEqual([board.counts.failed, job.failedReason], [1, 'no such address'])
        const failedAgain = once(queue, 'failed')
        const { status } = await fetch(`${origin}/api/queues/${of}/${encodeURIComponent(job.id)}/retry`, { method: 'PUT' })
        assert.equal(status, 204)
        assert.equal((await failedAgain)[0].attempt, 1)
      }
    } finally {
      await queue.close()
    }
  })
})

/**
 * Sets up a project with the packed fairlane, and other packages from the registry, to be called in describe().
 * @returns {{ folder: string }}
 */
function atProject (example, packages) {
  const project = { folder: undefined }

  before(function () {
    const folder = project.folder = temporaryFolder()
    const npm = (...args) => execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8' })
    cpSync(join(root, example), folder, { recursive: true, filter: path => !path.includes('node_modules') })
    const [{ filename }] = Object.values(JSON.parse(npm('pack', root, '--json', '--ignore-scripts')))
    try {
      npm('install', `./${filename}`, ...packages)
    } catch (err) {
      if (process.env.FAIRLANE_MUST_INSTALL) throw err
      console.error(`SKIPPED: ${packages.join(' and ')} cannot be installed here\n${err.stderr}`)
      this.skip()
    }
  })

  after(() => rmSync(project.folder, { recursive: true }))
  return project
}
