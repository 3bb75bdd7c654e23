'use strict'

// Why jobs at a broker wait: explain().

const assert = require('node:assert')
const fairlane = require('../..')
const { internalsOf } = require('../../lib/core/internals')
const { Metrics } = require('../../lib/metrics')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { quiet } = require('../support/turns')
const { atServer, servers } = require('./opened')
const { latch, rigged } = require('./rigged')
const { until } = require('./until')

const LONG_MS = 3600000

describeWithRedis('explain() of a queue at a broker', function () {
  const at = atServer()
  let gate

  beforeEach(() => { gate = gates() })

  const open = options => at.open(gate.runner, { settleBy: 'callback', scheduler: 'equal', maxAttempts: 3, prefetch: 0, backoffMs: LONG_MS, ...options })

  const why = async (queue, type) => {
    const { because, untilMs } = await queue.explain(type)
    if (untilMs === undefined) return because
    assert(untilMs >= 0 && untilMs < 2 * LONG_MS, `${untilMs} ms`)
    return [because, untilMs > 0]
  }

  it('counts as counts() does, and says who holds the slots of this process', async () => {
    const queue = await open({ concurrency: 2 })
    assert.deepEqual(await queue.explain('a', { ahead: true }), {
      type: 'a', waiting: 0, delayed: 0, running: 0, because: 'idle', untilMs: undefined, holders: undefined, oldestWaitMs: undefined, ahead: undefined
    })
    for (const type of ['a', 'a']) await queue.pushType(type, 1)
    await gate.until(2)
    for (const type of ['a', 'b', 'c']) await queue.pushType(type, 1)
    await until(async () => (await why(queue, 'b')) === 'slots')
    const { holders, ahead, ...told } = await queue.explain('b', { ahead: true })
    assert.deepEqual([holders, ahead, told.waiting, told.running], [[{ type: 'a', running: 2 }], 2, 1, 0])
    assert.equal(await why(queue, 'a'), 'slots')
  })

  it('says that it is closed, or that nobody is to start jobs', async () => {
    const queue = await open({ concurrency: 2 })
    await queue.pauseGlobal()
    await queue.pushType('a', 1)
    assert.equal(await why(queue, 'a'), 'paused')
    await queue.pauseGlobal('a')
    await queue.resumeGlobal()
    assert.equal(await why(queue, 'a'), 'type-paused')
    queue.pauseType('b')
    await queue.pushType('b', 1)
    assert.equal(await why(queue, 'b'), 'type-paused')
    queue.pause()
    assert.equal(await why(queue, 'b'), 'paused')
    const producer = await at.open(null)
    assert.deepEqual(await why(producer, 'b'), ['starting', false])
    const asked = queue.explain('a')
    await queue.close()
    for (const { type, waiting, because } of [await asked, await queue.explain('a')]) {
      assert.deepEqual([type, waiting, because], ['a', undefined, 'closed'])
    }
  })

  it('says that holds and rates hold a type back, and until when', async () => {
    const ratePerType = { limit: 1, intervalMs: LONG_MS }
    const queue = await open({ ratePerType, rate: { limit: 2, intervalMs: LONG_MS } })
    for (const type of ['a', 'a']) await queue.pushType(type, 1)
    await gate.until(1)
    assert.deepEqual(await why(queue, 'a'), ['rate', true])
    await queue.hold(LONG_MS / 2)
    assert.deepEqual(await why(queue, 'a'), ['queue-hold', true])
    await queue.holdType('a', LONG_MS / 4)
    assert.deepEqual(await why(queue, 'a'), ['hold', true])
    await queue.hold(0)
    await queue.pushType('b', 1)
    await gate.until(2)
    await queue.pushType('c', 1)
    await until(async () => (await queue.explain('c')).because === 'queue-rate')
  })

  it('says that a cap, of all processes or of the scheduler, is reached', async () => {
    const queue = await open({ concurrency: 5, globalTypeCaps: { a: 1 }, schedulerOptions: { typeCaps: { b: 1 } } })
    for (const type of ['a', 'a', 'b', 'b']) await queue.pushType(type, 1)
    await gate.until(2)
    assert.equal(await why(queue, 'a'), 'cap')
    await until(async () => (await why(queue, 'b')) === 'cap')
    await queue.clear({ type: 'a' })
    await queue.pushType('a', 1, { delayMs: LONG_MS })
    assert.equal(await why(queue, 'a'), 'delayed')
  })

  it('says that all processes together have as many as they may', async () => {
    const queue = await open({ concurrency: 5, globalConcurrency: 1 })
    await queue.pushType('a', 1)
    await gate.until(1)
    await queue.pushType('b', 1)
    await until(async () => (await why(queue, 'b')) === 'slots')
    assert.deepEqual((await queue.explain('b')).holders, [{ type: 'a', running: 1 }])
  })

  it('says that the scheduler lets no job start', async () => {
    const lanes = new Set()
    const scheduler = { mayStall: true, queued: lane => lanes.add(lane), next () {}, started () {}, ended () {} }
    const queue = await open({ scheduler })
    await queue.pushType('a', 1)
    await until(async () => (await why(queue, 'a')) === 'scheduler')
  })

  it('tells delayed jobs from those that are to be tried again', async () => {
    const queue = await open()
    await queue.pushType('a', 1, { delayMs: LONG_MS })
    assert.deepEqual(await why(queue, 'a'), ['delayed', true])
    await queue.pushType('b', 1)
    await gate.until(1)
    gate.fail(new Error('expected'))
    await until(async () => (await queue.counts('b')).delayed === 1)
    assert.deepEqual(await why(queue, 'b'), ['backoff', true])
  })

  it('reads no payload, however large it is', async () => {
    const queue = await open({ concurrency: 1, observers: new Metrics() })
    const payload = 'x'.repeat(1e6)
    await queue.pushType('a', payload)
    await gate.until(1)
    await queue.pushType('a', payload)
    await queue.pushType('a', payload, { delayMs: LONG_MS })
    const sent = () => Number(/total_net_output_bytes:(\d+)/.exec(at.server.cli('info', 'stats'))[1])
    const before = sent()
    const { because, oldestWaitMs } = await queue.explain('a')
    assert.deepEqual([because, oldestWaitMs >= 0], ['slots', true])
    assert(sent() - before < 5e5, `${sent() - before} bytes`)
  })

  it('has jobs without a type among those of the empty one, without a scheduler', async () => {
    const queue = await open({ scheduler: null, concurrency: 1 })
    await queue.push(1)
    await gate.until(1)
    await queue.push(1)
    await until(async () => (await why(queue)) === 'slots')
    assert.deepEqual((await queue.explain('')).holders, [])
  })

  for (const options of [{}, { priorityMs: 1000 }]) {
    it(`says for how long the next job has waited, if metrics observe the queue: ${JSON.stringify(options)}`, async () => {
      const queue = await open({ concurrency: 1, observers: [new Metrics()], ...options })
      assert.equal((await queue.explain('a')).oldestWaitMs, undefined)
      for (const type of ['a', 'a']) await queue.pushType(type, 1)
      await gate.until(1)
      await until(async () => (await queue.explain('a')).oldestWaitMs > 5)
    })
  }

  it('refuses what is wrong', async () => {
    const queue = await open()
    for (const type of [undefined, null, Symbol('a'), {}]) assert.throws(() => queue.explain(type), { code: 'FAIRLANE_ERR_TYPE' })
    for (const options of [{ ahead: 1 }, { before: true }, 5, null]) assert.throws(() => queue.explain('a', options), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })
})

describe('explain() of a queue at a broker that fails', function () {
  const { Explaining } = require('../../lib/distributed/calls/explaining')

  it('says that it is away, or rejects with what it refuses', async () => {
    let failure = Object.assign(new Error('expected'), { code: 'FAIRLANE_ERR_BROKER' })
    const fails = async () => { throw failure }
    const parts = { broker: { isReady: true, place: () => ({ key: () => '', partition: {} }), soon: fails }, globals: { countsOfType: fails }, limits: { heldMs: fails } }
    const explaining = new Explaining({ ...parts, worker: null }, {})
    assert.equal((await explaining.explain('a', {})).because, 'broker')
    failure = new TypeError('expected')
    await assert.rejects(explaining.explain('a', {}), failure)
  })

  it('says that it is away when it answers nothing for a while, and not while it answers others', async () => {
    const answer = latch()
    const explaining = explainingOf(fairlane(() => {}), { lookMs: 5 })
    const { globals } = explaining
    const { countsOfType } = globals
    globals.countsOfType = async type => {
      if (type === 'late') await answer.opened
      return countsOfType(type)
    }
    const late = explaining.explain('late', {})
    const end = performance.now() + 100
    while (performance.now() < end) {
      await explaining.explain('a', {})
      await new Promise(setImmediate)
    }
    answer.open()
    assert.equal((await late).because, 'starting')
    globals.countsOfType = () => new Promise(() => {})
    assert.equal((await explaining.explain('a', {})).because, 'broker')
  })

  /** Explains a queue in memory as if it were the part of one at a broker that has let everything start. */
  function explainingOf (queue, options) {
    const partition = { answersCount: 0 }
    const { list, dispatch, tickets: { deadlines } } = internalsOf(queue)
    const counts = { waiting: 1, delayed: 0, running: 0, cap: Infinity, paused: false, heldMs: 0 }
    return new Explaining({
      broker: { isReady: true, place: () => ({ key: () => '', partition }), soon: async call => call(), askAll: () => [-2, [], null, [], [1, 0]] },
      core: queue,
      globals: { countsOfType: async () => counts },
      limits: { heldMs: async () => 0, heldMsNow: 0, terms: { values: new Map() } },
      records: { readAll: async () => [] },
      stage: { list, dispatch, deadlines },
      worker: {}
    }, { isPaused: () => false, ...options })
  }

  it('says that a job starts in a coming turn, where nothing is in its way', async () => {
    const { because, untilMs } = await explainingOf(fairlane(() => {})).explain('a', {})
    assert.deepEqual([because, untilMs], ['starting', 0])
  })

  it('says so, too, while the process asks for permits that there are', async () => {
    const queue = fairlane(() => {}, { scheduler: 'equal' }).pushType('a', 1)
    internalsOf(queue).list.gate = { isOpen: () => false, isWaitedFor: true, lacksPlaces: false }
    await quiet()
    const { because, untilMs } = await explainingOf(queue).explain('a', {})
    assert.deepEqual([because, untilMs], ['starting', 0])
  })
})

describeWithRedis('explain() while the broker is away', function () {
  const { open, startServer } = servers()

  it('says so', async () => {
    const server = await startServer()
    const queue = await open(server, async () => {}, { pushTimeoutMs: 300 })
    await queue.pauseGlobal()
    await queue.push(1)
    await server.kill()
    const answers = [queue.explain('')]
    await until(async () => !(await queue.health()).connected)
    answers.push(queue.explain('', { ahead: true }))
    for (const { because, waiting } of await Promise.all(answers)) assert.deepEqual([because, waiting], ['broker', undefined])
  })

  it('says so if it goes between what is asked first and what is asked of its answer', async () => {
    const server = await startServer()
    const rig = rigged(server.path)
    const queue = await open(server, async () => {}, { connection: rig.connection, pushTimeoutMs: 300 })
    await queue.pauseGlobal()
    await queue.push(1)
    rig.afterAnswers(() => server.kill())
    assert.equal((await queue.explain('')).because, 'broker')
  })

  it('says so if it answers nothing more before it is known how many types are ahead', async () => {
    const server = await startServer()
    const rig = rigged(server.path)
    const queue = await open(server, null, { connection: rig.connection, pushTimeoutMs: 10000 })
    await queue.push(1)
    const stopped = new Promise(resolve => {
      rig.once('smembers', call => {
        server.child.kill('SIGSTOP')
        resolve()
        return call()
      })
    })
    const begin = performance.now()
    const { because, waiting, ahead } = await queue.explain('', { ahead: true })
    await stopped
    server.child.kill('SIGCONT')
    assert.deepEqual([because, waiting, ahead], ['broker', undefined, undefined])
    assert(performance.now() - begin < 9000, 'it waits for as long as a push is tried')
  })
})
