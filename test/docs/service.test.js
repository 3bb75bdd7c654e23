'use strict'

// The program of docs/guides/service.md as a process of its own, driven over connections to 127.0.0.1.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { Pool, request } = require('undici')
const { root } = require('../support/child')
const { pages, codeBlocks } = require('./pages')

const page = pages().find(({ path }) => path === 'docs/guides/service.md')
const [{ code: shown }] = codeBlocks(page.text)

// As it is shown, but that the work takes as long as the test says, and nobody's time is up: it lets so many jobs go on as it writes lines.
const GATE = `
let permits = 0
const held = []
process.stdin.on('data', lines => {
  permits += lines.length
  while (permits > 0 && held.length > 0) letOn(held.shift())
})
process.stdin.unref()
const letOn = resolve => { permits--; resolve() }
const sleep = (ms, _, { signal }) => new Promise((resolve, reject) => {
  signal.addEventListener('abort', () => {
    if (held.includes(resolve)) held.splice(held.indexOf(resolve), 1)
    reject(signal.reason)
  })
  if (permits > 0) letOn(resolve)
  else held.push(resolve)
})
`
const program = [[/^import .* as sleep .*$/m, GATE], ['maxWaitMs: 10000', 'maxWaitMs: 1e6'], ['timeoutMs: 5000', 'timeoutMs: 1e6']]
  .reduce((text, [what, other]) => {
    assert.match(text, new RegExp(what, 'm'))
    return text.replace(what, other)
  }, shown)
const ALL = 1000

describe('the program of docs/guides/service.md', function () {
  let child
  let origin
  let pool

  beforeEach(() => start(program))
  afterEach(stop)

  async function start (program) {
    child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '--eval', program], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
    const [port] = await once(child.stdout, 'data')
    origin = `http://127.0.0.1:${Number(port)}`
    pool = new Pool(origin, { connections: 100 })
  }

  async function stop () {
    await pool.destroy()
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }

  async function get (path, options) {
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path, ...options })
    return { status: statusCode, headers, text: await body.text() }
  }

  function letOn (jobs) {
    child.stdin.write('\n'.repeat(jobs))
  }

  async function statsUntil (test) {
    for (;;) {
      const stats = JSON.parse((await get('/stats')).text)
      if (test(stats)) return stats
    }
  }

  it('answers', async function () {
    letOn(ALL)
    const { status, text } = await get('/ada?tenant=a')
    assert.deepEqual([status, text], [200, 'hello ada'])
    assert.equal((await get('/nobody')).text, 'hello nobody')
  })

  it('refuses a tenant that floods, tells it when to come back, and answers others meanwhile', async function () {
    const flood = Array.from({ length: 90 }, (_, i) => get(`/job${i}?tenant=greedy`))
    await statsUntil(({ accepted, rejected }) => accepted + rejected === flood.length)
    const answer = get('/ada?tenant=quiet')
    const { accepted } = await statsUntil(({ accepted, rejected }) => accepted + rejected === flood.length + 1)
    letOn(9) // those that run, and one
    const quiet = await answer
    assert((await statsUntil(() => true)).waiting > 0, 'the quiet tenant need not wait until the flood is over')
    letOn(ALL)
    const answers = await Promise.all(flood)
    const answered = accepted - 1
    const refused = answers.filter(({ status }) => status === 429)
    assert.equal(quiet.status, 200)
    assert.equal(answers.filter(({ status }) => status === 200).length, answered)
    assert.equal(refused.length + answered, answers.length)
    assert(answered >= 20, `${answered} of the flood were answered`)
    for (const { headers, text } of refused) {
      assert.match(headers['retry-after'], /^[1-9]\d*$/)
      assert.equal(text, 'FAIRLANE_ERR_TYPE_FULL')
    }
  })

  it('keeps to the rate of a tenant, says when that lets a job start again, and answers others meanwhile', async function () {
    await stop()
    assert.match(program, /limit: 100, intervalMs: 1000/)
    await start(program.replace('limit: 100, intervalMs: 1000', 'limit: 2, intervalMs: 3600000'))
    letOn(ALL)
    for (const name of ['one', 'two']) assert.equal((await get(`/${name}?tenant=greedy`)).status, 200)
    const requests = Array.from({ length: 28 }, (_, i) => get(`/job${i}?tenant=greedy`).catch(() => 'waits'))
    await statsUntil(({ accepted, rejected }) => accepted + rejected === 30)
    assert.equal((await get('/ada?tenant=quiet')).status, 200)
    const { done, waiting, heldTypes } = await statsUntil(({ done }) => done === 3)
    assert.deepEqual({ done, waiting, heldTypes }, { done: 3, waiting: 20, heldTypes: 1 })
    await pool.destroy()
    const refused = (await Promise.all(requests)).filter(answer => answer !== 'waits')
    assert.equal(refused.length, 8)
    for (const { status, headers } of refused) {
      assert.equal(status, 429)
      assert(headers['retry-after'] > 3000 && headers['retry-after'] <= 1.2 * 3600)
    }
  })

  it('answers each of six hundred requests of many tenants', async function () {
    letOn(ALL)
    const answers = await Promise.all(Array.from({ length: 600 }, (_, i) => get(`/job${i}?tenant=${i % 7}`)))
    const countOf = (code) => answers.filter(({ status }) => status === code).length
    assert.equal(countOf(200) + countOf(429) + countOf(503), 600)
    answers.forEach(({ status, text }, i) => { if (status === 200) assert.equal(text, `hello job${i}`) })
    const { accepted, rejected, done, failed, cancelled } = await statsUntil(({ running }) => running === 0)
    assert.deepEqual({ accepted, rejected, done, failed, cancelled },
      { accepted: countOf(200), rejected: 600 - countOf(200), done: countOf(200), failed: 0, cancelled: 0 })
  })

  it('cancels the jobs of clients that go away, waiting and running, and frees their slots', async function () {
    const clients = Array.from({ length: 20 }, () => new AbortController())
    const requests = clients.map(({ signal }) => get('/left?tenant=a', { signal }).catch((err) => err.name))
    await statsUntil(({ accepted }) => accepted === 20)
    for (const client of clients.slice(5)) client.abort()
    await statsUntil(({ cancelled }) => cancelled === 15)
    letOn(ALL)
    const results = await Promise.all(requests)
    assert.equal(results.filter((result) => result === 'AbortError').length, 15)
    const { done, cancelled, running } = await statsUntil(({ running }) => running === 0)
    assert.deepEqual({ done, cancelled, running }, { done: 5, cancelled: 15, running: 0 })
  })

  it('answers all that it has accepted after SIGTERM, takes nothing new, and exits', async function () {
    const requests = Array.from({ length: 60 }, (_, i) => get(`/job${i}?tenant=${i % 4}`))
    const { accepted } = await statsUntil(({ accepted, rejected }) => accepted + rejected === 60)
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    letOn(ALL)
    const answers = await Promise.all(requests)
    assert.equal(answers.filter(({ status }) => status === 200).length, accepted)
    assert.deepEqual(await exit, [0, null])
    await assert.rejects(request(`${origin}/late`), { code: 'ECONNREFUSED' })
  })
})
