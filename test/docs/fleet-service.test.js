'use strict'

// The program of docs/guides/fleet-service.md as three processes at one broker, what the page says of faults, and clients that repeat
// what has failed.

const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { startProgram } = require('../support/programs')
const { describeWithRedis, startRedis } = require('../support/redis')
const { pages, codeBlocks } = require('./pages')

const [, { code: shown }] = codeBlocks(pages().find(({ path }) => path === 'docs/guides/fleet-service.md').text)

// As it is shown, but that it prints its port instead of asking itself, and each event; it leaves soon, and its leases are
// shorter, but longer than a busy machine keeps a process from its heartbeats.
const WORK = 'await sleep(20, undefined, { signal }) // stands for a POST with the id as its idempotency key'
const program = [
  [/^server\.listen\([^]*/m, "server.listen(0, '127.0.0.1', () => console.log(server.address().port))\n"],
  [WORK, "console.log('event', id)\n  await sleep(50)"],
  ['leadMs = 5000', 'leadMs = 200'],
  ['leaseMs: 10000', 'leaseMs: 3000'],
  ['limit: 100,', 'limit: 1000,']
].reduce((text, [what, other]) => {
  assert.notEqual(text.search(what instanceof RegExp ? what : what.replaceAll(/[.*+?()[\]{}|]/g, '\\$&')), -1, `${what}`)
  return text.replace(what, other)
}, shown)

describeWithRedis('the program of docs/guides/fleet-service.md', function () {
  let redis
  let processes

  beforeEach(async () => {
    redis = await startRedis()
    processes = await Promise.all([1, 2, 3].map(start))
  })
  afterEach(async () => {
    await Promise.all(processes.map(({ end }) => end()))
    await redis.stop()
  })

  async function start () {
    const started = startProgram(['--input-type=module', '--eval', program], { env: { REDIS_URL: redis.path } })
    started.port = Number(await started.line())
    return started
  }

  async function ask ({ port }, path) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'acme' } })
    return { status: response.status, text: await response.text() }
  }

  /** As a client does: it asks one process after the other until it is told what it wants to know. */
  async function insist (path, n) {
    for (;; n++) {
      const answer = await ask(processes[n % processes.length], path).catch(() => ({}))
      if (answer.status < 300) return answer.text
      await sleep(20)
    }
  }

  const eventsOf = list => list.flatMap(({ lines }) => lines).filter(line => line.startsWith('event ')).map(line => Number(line.split(' ')[1]))

  /** All events that were accepted have been handled. */
  async function allOf (count, list) {
    while (new Set(eventsOf(list)).size < count) await sleep(20)
  }

  it('loses no event when a process is killed, and handles only those twice that ran in it', async function () {
    const COUNT = 200
    const all = processes
    const [, killed] = processes
    const events = Array.from({ length: COUNT }, (_, id) => insist(`/event?id=${id}`, id))
    while (eventsOf([killed]).length === 0) await sleep(1)
    killed.child.kill('SIGKILL')
    await killed.exit
    processes = processes.filter(each => each !== killed)
    await Promise.all(events)
    await allOf(COUNT, all)
    const ids = eventsOf(all)
    const inKilled = new Set(eventsOf([killed]))
    assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i && !inKilled.has(id)), [])
  })

  it('loses no event while the broker is away, and waits for it', async function () {
    const COUNT = 200
    const events = Array.from({ length: COUNT }, (_, id) => insist(`/event?id=${id}`, id))
    while (eventsOf(processes).length === 0) await sleep(1)
    await redis.kill('SIGTERM')
    const waiting = insist(`/event?id=${COUNT}`, 0)
    await redis.start()
    await Promise.all([...events, waiting])
    await allOf(COUNT + 1, processes)
  })

  it('gives the clients that share a key one result, and answers all that it has accepted when it is told to end', async function () {
    const [leaving, ...others] = processes
    const answers = Array.from({ length: 15 }, (_, id) => ask(leaving, `/quote?id=${id}`))
    answers.push(ask(others[0], '/quote?id=0'))
    await Promise.race(answers)
    leaving.child.kill('SIGTERM')
    for (const [id, answer] of answers.entries()) assert.deepEqual(await answer, { status: 200, text: `quote ${id % 15}` })
    assert.deepEqual(await leaving.exit, [0, null])
    assert.equal((await ask(others[1], '/quote?id=99')).text, 'quote 99')
  })
})
