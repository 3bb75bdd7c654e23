'use strict'

// What the caller's code does while a queue with limits is in the middle of something: schedulers, tests of remove() and listeners may call
// anything.

const assert = require('node:assert')
const fairlane = require('../../..')
const { Throttled } = require('../../..')
const { checkInvariants } = require('../../../lib/testing')
const { startsOf } = require('../../support/starts')
const { quiet } = require('../../support/turns')

const ERROR = new Error('expected')
const RATE = { limit: 1, intervalMs: 100 }

/** A scheduler of lanes that takes them in turn, and calls what `on` has under the name of a method. */
function meddling (on) {
  const lanes = new Set()
  const tell = name => lane => { lanes.add(lane); on[name]?.(lane) }
  return {
    next: () => [...lanes].find(lane => lane.size > 0 && !lane.isPaused),
    queued: tell('queued'),
    started: tell('started'),
    ended: tell('ended'),
    paused: tell('paused'),
    resumed: tell('resumed'),
    removed: tell('removed'),
    forget: () => true
  }
}

describe('a scheduler of a queue with limits', function () {
  it('may clear the queue when it is told of a hold', async function () {
    const on = {}
    const { queue, clock, pass } = startsOf(fairlane, { scheduler: meddling(on), ratePerType: RATE })
    queue.pushType('a', 1)
    await pass(1)
    on.paused = () => queue.clear()
    queue.pushType('a', 2)
    checkInvariants(queue)
    assert.deepEqual([queue.length, queue.stats().heldTypes, clock.timerCount], [0, 0, 0])
  })

  it('may clear the queue when it is told of the end of a hold', async function () {
    const on = {}
    const { queue, clock, pass } = startsOf(fairlane, { scheduler: meddling(on), ratePerType: RATE })
    for (const type of ['a', 'b', 'c']) queue.pushType(type, 1).pushType(type, 2)
    await pass(1)
    assert.equal(queue.stats().heldTypes, 3)
    on.resumed = () => queue.clear()
    queue.setRates({ ratePerType: null })
    checkInvariants(queue)
    assert.deepEqual([queue.length, queue.stats().heldTypes, clock.timerCount], [0, 0, 0])
  })

  it('may end another hold when it is told that one has ended', async function () {
    const on = {}
    const { queue, clock } = startsOf(fairlane, { scheduler: meddling(on) })
    queue.holdType('a', 100).holdType('b', 100).pushType('a', 1).pushType('b', 1)
    on.resumed = () => { on.resumed = undefined; queue.holdType('b', 0) }
    queue.holdType('a', 0)
    checkInvariants(queue)
    queue.holdType('a', 100).holdType('b', 100)
    on.resumed = () => { on.resumed = undefined; queue.holdType('b', 0) }
    queue.clear()
    checkInvariants(queue)
    assert.deepEqual([queue.length, queue.stats().heldTypes, clock.timerCount], [0, 0, 0])
  })

  it('may set other rates when it is told of a start, which is the first that they count', async function () {
    const faster = { limit: 1, intervalMs: 50 }
    for (const [before, after, expected] of [[RATE, faster, [0, 50]], [RATE, null, [0, 0]], [undefined, RATE, [0, 100]]]) {
      const on = {}
      const { queue, pass, times } = startsOf(fairlane, { scheduler: meddling(on), ratePerType: before })
      on.started = () => { on.started = undefined; queue.setRates({ ratePerType: after }) }
      queue.pushType('a', 1).pushType('a', 2)
      await pass(200)
      assert.deepEqual(times(), expected)
    }
  })

  it('may clear the queue when a delayed job comes in, and others come with it', async function () {
    for (const extras of [{}, { timeoutMs: 1000 }]) {
      const on = {}
      const { queue, clock, pass, starts } = startsOf(fairlane, { scheduler: meddling(on) })
      const codes = []
      for (const payload of [1, 2]) queue.add(payload, { type: 'a', delayMs: 100, ...extras }).catch(({ code }) => codes.push(`${payload} ${code}`))
      on.queued = () => queue.clear()
      await pass(100)
      checkInvariants(queue)
      assert.deepEqual([codes, starts, queue.length, clock.timerCount], [['1 FAIRLANE_ERR_CLEARED', '2 FAIRLANE_ERR_CLEARED'], [], 0, 0])
    }
  })

  it('may add a delayed job, or move the clock on, when it is told that delayed ones were taken out with others', async function () {
    for (const [meddle, expected] of [[queue => queue.add('new', { type: 'a', delayMs: 50 }), ['first', 'new', 'kept']], [(queue, clock) => clock.advance(100), ['first', 'kept']]]) {
      const on = {}
      const runner = (payload, done) => { clock.setTimeout(done, 1) }
      const { queue, clock, pass, starts } = startsOf(fairlane, { scheduler: meddling(on), concurrency: 1 }, runner)
      queue.add('first', { type: 'a' })
      await pass(0)
      const ends = ['waits', 'delayed'].map((payload, i) => queue.add(payload, { type: 'a', delayMs: 100 * i }))
      queue.add('kept', { type: 'a', delayMs: 100, timeoutMs: 1000 })
      on.removed = () => {
        on.removed = undefined
        meddle(queue, clock)
      }
      queue.remove(({ payload }) => payload !== 'kept')
      checkInvariants(queue)
      for (const end of ends) await assert.rejects(end, { code: 'FAIRLANE_ERR_CLEARED' })
      await pass(200)
      checkInvariants(queue)
      assert.deepEqual([starts.map(({ payload }) => payload), queue.length, clock.timerCount], [expected, 0, 0])
    }
  })

  it('may clear the queue when it is told of an attempt that has failed', async function () {
    const on = {}
    const { queue, clock, pass, times } = startsOf(fairlane, { scheduler: meddling(on), maxAttempts: 3 }, (payload, done) => done(ERROR))
    on.ended = () => queue.clear()
    const end = assert.rejects(queue.add(1, { type: 'a' }), { code: 'FAIRLANE_ERR_CLEARED' })
    await pass(10)
    await end
    checkInvariants(queue)
    assert.deepEqual([times(), queue.length, queue.stats().retried, clock.timerCount], [[0], 0, 0, 0])
  })

  it('may clear the queue when a job is throttled', async function () {
    const on = {}
    const runner = (payload, done) => done(new Throttled(100))
    const { queue, clock, pass } = startsOf(fairlane, { scheduler: meddling(on), concurrency: 1 }, runner)
    const ends = ['1', '2'].map(payload => assert.rejects(queue.add(payload, { type: 'a' }), { code: 'FAIRLANE_ERR_CLEARED' }))
    on.paused = () => queue.clear()
    await pass(10)
    await Promise.all(ends)
    checkInvariants(queue)
    assert.deepEqual([queue.length, clock.timerCount], [0, 0])
  })
})

describe('a test of remove()', function () {
  for (const extras of [{}, { timeoutMs: 1000 }]) {
    it(`may remove delayed jobs itself (${JSON.stringify(extras)})`, async function () {
      const { queue } = startsOf(fairlane, {})
      const ends = [1, 2].map(payload => assert.rejects(queue.add(payload, { delayMs: 100, ...extras }), { code: 'FAIRLANE_ERR_CLEARED' }))
      assert.equal(queue.remove(({ payload }) => { if (payload === 2) queue.clear(); return true }), 0)
      await Promise.all(ends)
      checkInvariants(queue)
      assert.deepEqual([queue.length, queue.stats().cancelled], [0, 2])
    })
  }
})

describe('a listener to retries', function () {
  it('may clear the queue', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, { maxAttempts: 3, backoffMs: 10 }, (payload, done) => done(ERROR))
    queue.on('retry', () => queue.clear())
    const end = assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_CLEARED' })
    await pass(100)
    await end
    checkInvariants(queue)
    assert.deepEqual([times(), clock.timerCount], [[0], 0])
  })
})

describe('a queue with limits', function () {
  it('shows jobs by type before any was delayed', async function () {
    const { queue } = startsOf(fairlane, { scheduler: 'equal' })
    queue.pushType('a', 1).pushType('b', 2)
    assert.deepEqual([...queue.jobs('a')], [{ type: 'a', payload: 1 }])
    assert.deepEqual([...queue.jobs()].length, 2)
    queue.clear()
    await quiet()
  })

  for (const scheduler of [undefined, 'equal', { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }]) {
    const name = typeof scheduler === 'object' ? 'windows' : scheduler ?? 'no scheduler'

    it(`counts a job that backoffMs gives up as failed (${name})`, async function () {
      const runner = (payload, done) => setImmediate(() => done(ERROR))
      const { queue, pass } = startsOf(fairlane, { scheduler, maxAttempts: 3, backoffMs: () => Infinity }, runner)
      const end = assert.rejects(queue.add(1, { type: scheduler && 'a' }), ERROR)
      await pass(10)
      await end
      checkInvariants(queue)
      assert.deepEqual([queue.stats().failed, queue.length], [1, 0])
    })
  }
})
