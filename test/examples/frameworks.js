'use strict'

// npm run test:examples
//
// The examples that need other packages, in a project of their own: it has the packed fairlane, and the frameworks from the registry.
// Without a registry they are skipped, which is said aloud; it is a failure with FAIRLANE_MUST_INSTALL=1, which CI sets.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { cpSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { Pool } = require('undici')
const { distributed } = require('../../lib/distributed')
const { admission } = require('../../lib/http')
const { fakeClock } = require('../../lib/testing')
const { assertFree, get: request, rawClient, until } = require('../http/served')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { startProgram } = require('../support/programs')
const { describeWithRedis, startRedis } = require('../support/redis')
const { turns } = require('../support/turns')
const { HALF, sites } = require('./sites')

const { dependencies } = require('../../examples/middleware/package.json')

describe('requests that are shared fairly among tenants', function () {
  this.timeout(300000)
  const packages = Object.entries(dependencies).filter(([name]) => name !== 'fairlane').map(([name, range]) => `${name}@${range}`)
  const project = atProject('examples/middleware', [...packages, 'express4@npm:express@^4.21.0'])

  before(function () { // the same program with the express before
    const program = readFileSync(join(project.folder, 'with-express.mjs'), 'utf8')
    writeFileSync(join(project.folder, 'with-express4.mjs'), program.replace("from 'express'", "from 'express4'"))
  })

  for (const framework of Object.keys(sites)) {
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

      it('ends when it is told to, with all that it has let in answered', async function () {
        const getAll = () => Array.from({ length: 8 }, () => get('x'))
        await Promise.all(getAll()) // so that there are connections, by which the next ones come at once
        const answers = getAll()
        await answers[0]
        program.child.kill('SIGTERM')
        assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), Array(8).fill(200))
        assert.deepEqual(await program.exit, [0, null])
      })
    })

    describe(`with the ways of ${framework} to answer and to fail`, function () {
      let admit, server, told

      /** A server whose requests are answered when the test says so. */
      async function start (options) {
        const load = createRequire(join(project.folder, 'main.js'))
        const pathOf = ({ url }) => new URL(url, 'http://here').pathname
        told = new Map() // by path
        admit = admission({
          tenant (request) { if (pathOf(request) === '/fails') throw new Error('no tenant') },
          exempt: request => pathOf(request) === '/exempt',
          ...options
        })
        server = await sites[framework](load, admit, path => path === '/ok' || path === '/exempt' ? 'ok' : new Promise(resolve => told.set(path, resolve)))
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
      }
      const get = path => request({ port: server.address().port, path, agent: false })
      const begun = path => until(() => told.has(path))

      afterEach(async function () {
        await assertFree(admit, assert)
        server.close()
        server.closeAllConnections()
      })

      it('keeps no place for a client that goes away while it waits, and no slot for one whose request is handled', async function () {
        await start({ concurrency: 1, maxWaitingPerType: 1 })
        const held = get('/held')
        await begun('/held')
        for (let count = 1; count <= 3; count++) {
          const gone = get('/gone')
          await until(() => admit.stats().waiting === 1)
          gone.request.destroy()
          await until(() => admit.stats().gone === count)
          assert.equal(admit.stats().waiting, 0)
        }
        const next = get('/next')
        await until(() => admit.stats().waiting === 1)
        held.request.destroy()
        await begun('/next')
        told.get('/next')('text')
        assert.equal((await next).status, 200)
        assert.deepEqual([[...told.keys()], admit.stats().refused], [['/held', '/next'], {}])
      })

      it('answers 503 when the time of a request is over, and cuts off what was begun', async function () {
        const clock = fakeClock()
        await start({ timeoutMs: 1000, clock })
        const answer = get('/silent')
        const client = rawClient(server.address().port)
        client.ask(['/half'])
        await begun('/silent')
        await begun('/half')
        told.get('/half')(HALF)
        await until(() => client.text.includes('half'))
        clock.advance(1001)
        const { status, text } = await answer
        assert.deepEqual([status, JSON.parse(text).code], [503, 'FAIRLANE_ERR_TIMEOUT'])
        await until(() => client.isClosed)
        assert(!client.text.endsWith('0\r\n\r\n'), client.text)
        told.get('/silent')('late')
        await turns(5)
        assert.equal((await get('/ok')).status, 200)
      })

      it('fails with what the functions of the options fail with, and answers as refuse() does', async function () {
        const refuse = (request, response) => {
          if (request.url.endsWith('/broken')) throw new Error('no answer')
          if (response === undefined) return new Response('a teapot', { status: 418 })
          response.writeHead(418).end('a teapot')
        }
        await start({ concurrency: 1, maxWaitingPerType: 0, refuse })
        assert.equal((await get('/fails')).status, 500)
        const held = get('/held')
        await begun('/held')
        const { status, text } = await get('/refused')
        assert.deepEqual([status, text], [418, 'a teapot'])
        assert.equal((await get('/broken')).status, 500)
        assert.equal((await get('/exempt')).status, 200)
        told.get('/held')('text')
        assert.equal((await held).status, 200)
      })

      it('answers pipelined requests in their order, and all that are left when the time for closing is over', async function () {
        const clock = fakeClock()
        await start({ concurrency: 1, clock })
        const client = rawClient(server.address().port)
        client.ask(['/1', '/ok', '/fails', '/2', '/3'])
        await begun('/1')
        told.get('/1')('text')
        await begun('/2')
        await until(() => admit.stats().waiting === 1)
        const closed = admit.close({ timeoutMs: 1000 })
        clock.advance(1001)
        await closed
        await until(() => client.statuses().length === 5)
        assert.deepEqual(client.statuses(), [200, 200, 500, 503, 503])
        client.end()
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
