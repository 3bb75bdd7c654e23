'use strict'

// Why jobs on disk wait: explain().

const assert = require('node:assert')
const { History } = require('../../lib/history')
const { captureWarnings } = require('../support/uncaught')
const { ExplainRound } = require('../support/explain-round')
const { seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')
const { quiet, turns } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const ROUNDS = rounds(30)
const FIRST = { waiting () {}, start () {}, done () {}, select: () => 0 }
const SCHEDULERS = [['equal', { maxTypeCap: 2 }], ['capped', { maxTypeShare: 0.5 }], ['fair', {}], [FIRST, undefined], [null, undefined]]

describe('explain() of a queue on disk', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => {
    bench.disk.fault = () => undefined
    await bench.queue?.close({ timeoutMs: 0 })
  })

  const why = type => {
    const { because, untilMs } = bench.queue.explain(type)
    return untilMs === undefined ? because : [because, untilMs]
  }

  it('counts as counts() does, and says why', async () => {
    const queue = await bench.open({ scheduler: 'equal', concurrency: 1, ratePerType: { limit: 1, intervalMs: 500 } })
    assert.deepEqual(queue.explain('a', { ahead: true }), {
      type: 'a', waiting: 0, delayed: 0, running: 0, because: 'idle', untilMs: undefined, holders: undefined, oldestWaitMs: undefined, ahead: undefined
    })
    for (const type of ['a', 'a', 'b']) await queue.pushType(type, 1)
    await queue.pushType('c', 1, { delayMs: 50 })
    await bench.gate.until(1)
    assert.deepEqual([why('a'), queue.explain('a').waiting, queue.explain('a').running], [['rate', 500], 1, 1])
    const { because, holders, ahead } = queue.explain('b', { ahead: true })
    assert.deepEqual([because, holders, ahead], ['slots', [{ type: 'a', running: 1 }], 2])
    assert.deepEqual(why('c'), ['delayed', 50])
    queue.pauseType('b')
    assert.equal(why('b'), 'type-paused')
    queue.pause()
    assert.equal(why('b'), 'paused')
    queue.resume().hold(30)
    assert.deepEqual(why('c'), ['delayed', 50])
  })

  it('says of jobs that wait for units for how long, of delayed ones, too', async () => {
    const queue = await bench.open({ scheduler: 'equal', concurrency: 1, ratePerType: { limit: 10, intervalMs: 500, of: 'cost' } })
    await queue.pushType('a', 1, { cost: 6 })
    await bench.gate.until(1)
    await queue.pushType('a', 2, { cost: 4, delayMs: 50 })
    assert.deepEqual(why('a'), ['delayed', 50])
    await queue.pushType('a', 3, { cost: 5, delayMs: 20 })
    assert.deepEqual(why('a'), ['delayed', 500])
    await queue.pushType('a', 4, { cost: 5 })
    assert.deepEqual(why('a'), ['rate', 500])
  })

  it('says that the queue is closed, and its jobs stay', async () => {
    const queue = await bench.open({ scheduler: 'fair', concurrency: 1 })
    for (const type of ['a', 'b']) await queue.pushType(type, 1)
    await bench.gate.until(1)
    const closed = queue.close()
    assert.deepEqual([why('a'), why('b')], ['idle', 'closed'])
    bench.gate.release(1)
    await closed
    assert.equal(why('b'), 'closed')
  })

  it('says that the disk cannot be written', async () => {
    const warnings = captureWarnings()
    try {
      const queue = await bench.open({ scheduler: 'fair', concurrency: 1 })
      await queue.pushType('a', 1)
      bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
      await quiet()
      assert.equal(why('a'), 'outage')
      queue.pauseType('a')
      assert.equal(why('a'), 'type-paused')
      queue.resumeType('a').pause()
      assert.equal(why('a'), 'paused')
    } finally {
      warnings.release()
    }
  })

  it('tells delayed jobs from those that are to be tried again', async () => {
    const queue = await bench.open({ scheduler: 'fair', maxAttempts: 3, backoffMs: 100 })
    await queue.pushType('a', 'fails')
    await bench.gate.until(1)
    bench.gate.fail(new Error('expected'))
    await quiet()
    assert.deepEqual(why('a'), ['backoff', 100])
    const delayed = await queue.pushType('a', 1, { delayMs: 60 })
    assert.deepEqual(why('a'), ['delayed', 60])
    await queue.cancel(delayed)
    assert.deepEqual(why('a'), ['backoff', 100])
    queue.pushType('a', 1, { delayMs: 40, key: 'k', onDuplicate: 'postpone' })
    assert.deepEqual(why('a'), ['delayed', 40])
    await queue.flush()
    await queue.pushType('a', 1, { delayMs: 80, key: 'k', onDuplicate: 'postpone' })
    assert.deepEqual(why('a'), ['delayed', 80])
    bench.clock.advance(79)
    assert.deepEqual(why('a'), ['delayed', 1])
    bench.clock.advance(1)
    await bench.gate.until(2)
    assert.deepEqual(why('a'), ['backoff', 20])
    queue.clear()
    assert.equal(why('a'), 'idle')
  })

  it('says it of all jobs, or of those of a type, without a scheduler', async () => {
    const queue = await bench.open({ concurrency: 1, maxAttempts: 2, backoffMs: 50 })
    assert.throws(() => queue.explain(null), { code: 'FAIRLANE_ERR_TYPE' })
    assert.throws(() => queue.explain(undefined, { ahead: 1 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await queue.pushType('a', 1)
    await bench.gate.until(1)
    for (const type of ['a', 'b']) await queue.pushType(type, 1, { delayMs: type === 'a' ? 30 : 20 })
    assert.deepEqual([why(), queue.explain().waiting, queue.explain().delayed], [['delayed', 20], 2, 2])
    assert.deepEqual([why('a'), why('b'), why('c'), why('')], [['delayed', 30], ['delayed', 20], 'idle', 'idle'])
    await queue.pushType('d', 1, { delayMs: 90 })
    assert.deepEqual([why(), why('d')], [['delayed', 20], ['delayed', 90]])
    queue.clear({ type: 'd' })
    await queue.pushType('c', 2)
    assert.deepEqual([why(), queue.explain(undefined, { ahead: true }).ahead], ['slots', 0])
    const { waiting, because, ahead, oldestWaitMs } = queue.explain('c', { ahead: true })
    assert.deepEqual([waiting, because, ahead, oldestWaitMs], [1, 'slots', undefined, undefined])
  })

  it('has jobs without a type among those of an empty one, with a scheduler', async () => {
    await bench.open()
    bench.queue.pause()
    await bench.queue.push(1, { delayMs: 50 })
    await bench.reopen({ scheduler: 'fair' })
    assert.deepEqual([why(''), bench.queue.explain('').delayed], [['delayed', 50], 1])
  })

  it('says of jobs that wait to be tried alone that they come back', async () => {
    const options = { scheduler: 'fair', maxAttempts: 2, concurrency: 4 }
    await bench.open(options)
    for (const payload of ['a', 'b', 'c']) await bench.queue.pushType('t', payload)
    await bench.gate.until(3)
    const queue = await bench.reopenAfterKill(options)
    await bench.gate.until(1)
    const { waiting, delayed, running, because, untilMs } = queue.explain('t')
    assert.deepEqual([waiting, delayed, running, because, untilMs], [2, 0, 1, 'backoff', undefined])
  })

  for (const [kind, options] of [
    ['lanes', { scheduler: 'equal' }], ['shared lanes', { scheduler: 'fair', maxTypes: 1 }], ['a window', { scheduler: FIRST }],
    ['priorities', { scheduler: 'fair', priorityMs: 10 }]
  ]) {
    it(`says for how long the next job has waited, if the queue is observed: ${kind}`, async () => {
      const queue = await bench.open({ ...options, concurrency: 1, observers: [new History()] })
      await queue.pushType('x', 1)
      await bench.gate.until(1)
      for (const type of ['b', 'a', 'a']) {
        await queue.pushType(type, 1)
        bench.clock.advance(5)
      }
      assert.deepEqual(['a', 'b', 'x'].map(type => queue.explain(type).oldestWaitMs), [10, 15, undefined])
      await queue.unshiftType('a', 2)
      bench.clock.advance(1)
      assert.equal(queue.explain('a').oldestWaitMs, 1)
    })
  }

  it('says for how long the first one has waited, without a scheduler', async () => {
    const queue = await bench.open({ concurrency: 1, observers: [new History()] })
    await queue.push(1)
    await bench.gate.until(1)
    const ids = []
    for (let n = 0; n < 2500; n++) ids.push(queue.push(n))
    const all = await Promise.all(ids)
    bench.clock.advance(5)
    await queue.push('last')
    bench.clock.advance(5)
    assert.equal(queue.explain().oldestWaitMs, 10)
    for (const count of [1, 60, 1100, 1338]) {
      for (const id of all.splice(0, count)) await queue.cancel(id)
      assert.equal(queue.explain().oldestWaitMs, 10)
    }
    await queue.cancel(all[0])
    assert.equal(queue.explain().oldestWaitMs, 5)
  })

  it('knows nothing of that while the next job is not written', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1, observers: [new History()] })
    const release = holdSyncs(bench.disk)
    queue.pause()
    const pushed = [queue.push(1), queue.unshift(2)]
    assert.equal(queue.explain().oldestWaitMs, undefined)
    release()
    await Promise.all(pushed)
    assert.equal(queue.explain().oldestWaitMs, 0)
  })

  it('knows nothing of that if nobody observes it', async () => {
    const queue = await bench.open({ concurrency: 1 })
    for (const n of [1, 2]) await queue.push(n)
    await bench.gate.until(1)
    assert.equal(queue.explain().oldestWaitMs, undefined)
  })

  it('says what then happens, in random histories', async () => {
    await playRounds(ROUNDS, seedFromEnvironment(), seed => new ExplainRound(seed, SCHEDULERS, bench.clock), async round => {
      bench = new Bench()
      bench.clock = round.clock
      await bench.open({ ...round.options, runner: round.runner, segmentBytes: undefined })
      await round.play(bench.queue, () => turns(60))
      await bench.queue.close({ timeoutMs: 0 })
    })
  })
})
