'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { History } = require('../../../lib/history')
const { Metrics } = require('../../../lib/metrics')
const { fakeClock } = require('../../../lib/testing')
const gates = require('../../support/gates')
const { quiet } = require('../../support/turns')

const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }
const NOTHING = { holders: undefined, oldestWaitMs: undefined, untilMs: undefined }

/** A queue whose jobs end when the test says so. */
function opened (options) {
  const gate = gates()
  const clock = fakeClock()
  return { gate, clock, queue: fairlane(gate.runner, { scheduler: 'equal', concurrency: 2, clock, ...options }) }
}

/** A scheduler of the caller's that takes the lanes in turns, unless it is closed. */
function turnstile (more) {
  const lanes = new Set()
  return {
    isOpen: true,
    mayStall: true,
    queued: lane => { lanes.add(lane) },
    next () { return this.isOpen ? [...lanes].find(({ size, isPaused }) => size > 0 && !isPaused) : undefined },
    started () {},
    ended () {},
    ...more
  }
}

function why (queue, type) {
  const { because, untilMs } = queue.explain(type)
  return untilMs === undefined ? because : [because, untilMs]
}

describe('explain()', function () {
  it('says how many jobs there are of a type, and that nothing waits', function () {
    const { queue } = opened()
    assert.deepEqual(queue.explain('nobody'), { type: 'nobody', waiting: 0, delayed: 0, running: 0, because: 'idle', ...NOTHING })
    assert.deepEqual(queue.explain(5).type, '5')
    assert.equal(queue.explain('nobody', { ahead: true }).ahead, undefined)
  })

  it('says that a job starts in a coming turn', async function () {
    const { gate, queue } = opened()
    queue.pushType('a', 1)
    assert.deepEqual(why(queue, 'a'), ['starting', 0])
    await gate.until(1)
    assert.deepEqual([why(queue, 'a'), queue.explain('a').running], ['idle', 1])
  })

  it('says that a job starts whose time has come, though the timer that has it start is late', async function () {
    const hold = queue => queue.hold(10)
    const cases = [['equal', queue => queue.holdType('a', 10)], ['equal', hold], [WINDOW, hold], [null, hold]]
    for (const [scheduler, begin] of cases) {
      const clock = fakeClock()
      let lateMs = 0
      const { gate, queue } = opened({ scheduler, clock: { ...clock, now: () => clock.now() + lateMs } })
      begin(queue)
      queue.pushType('a', 1)
      await quiet()
      lateMs = 12
      assert.deepEqual(why(queue, scheduler === null ? undefined : 'a'), ['starting', 0])
      clock.advance(10)
      await gate.until(1)
    }
  })

  it('says that the queue, or the type, is paused, whatever else there is', async function () {
    const { queue } = opened({ ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pauseType('a').pushType('a', 1).holdType('a', 50).pushType('b', 1)
    assert.equal(why(queue, 'a'), 'type-paused')
    queue.pause()
    assert.equal(why(queue, 'a'), 'paused')
    assert.equal(why(queue, 'b'), 'paused')
    queue.resume().resumeType('a')
    assert.deepEqual(why(queue, 'a'), ['hold', 50])
  })

  it('says until when rates and holds hold a type back: what stands first, and the latest time', async function () {
    const { clock, queue } = opened({ concurrency: 9, ratePerType: { limit: 1, intervalMs: 100 }, rate: { limit: 3, intervalMs: 300 } })
    queue.pushType('a', 1).pushType('a', 2).pushType('b', 1)
    await quiet()
    assert.deepEqual([why(queue, 'a'), why(queue, 'b')], [['rate', 100], 'idle'])
    queue.hold(40)
    assert.deepEqual(why(queue, 'a'), ['queue-hold', 100])
    queue.holdType('a', 150)
    assert.deepEqual(why(queue, 'a'), ['hold', 150])
    queue.pushType('c', 1)
    assert.deepEqual(why(queue, 'c'), ['queue-hold', 40])
    clock.advance(40)
    await quiet()
    queue.pushType('d', 1)
    await quiet()
    assert.deepEqual([why(queue, 'd'), why(queue, 'a')], [['queue-rate', 260], ['hold', 260]])
  })

  it('says who holds the slots: five types at most', async function () {
    const { gate, queue } = opened({ concurrency: 8 })
    for (const [at, type] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) for (let n = 0; n < (at === 2 ? 3 : 1); n++) queue.pushType(type, n)
    await gate.until(8)
    queue.pushType('x', 1)
    const { because, untilMs, holders } = queue.explain('x')
    assert.deepEqual([because, untilMs, holders.length, holders[0]], ['slots', undefined, 5, { type: 'c', running: 3 }])
    assert(holders.slice(1).every(({ running }) => running === 1))
  })

  it('counts among those who hold slots the runners that go on after their timeout, and the one that asks', async function () {
    let asked
    const clock = fakeClock()
    const queue = fairlane(payload => {
      if (payload === 'asks') asked = queue.explain('x')
    }, { scheduler: 'capped', concurrency: 2, clock, settleBy: 'callback' })
    queue.add('stays', { type: 'stuck', timeoutMs: 10 }).catch(() => {})
    await quiet()
    clock.advance(10)
    queue.pushType('asker', 'asks').pushType('x', 1)
    await quiet()
    assert.deepEqual([asked.because, asked.holders], ['slots', [{ type: 'stuck', running: 1 }, { type: 'asker', running: 1 }]])
    assert.deepEqual(queue.explain('x').holders, [{ type: 'stuck', running: 1 }, { type: 'asker', running: 1 }])
  })

  it('knows no types without a scheduler', async function () {
    for (const options of [{ scheduler: undefined }, { scheduler: undefined, priorityMs: 10 }]) {
      const { clock, gate, queue } = opened({ ...options, concurrency: 1, rate: { limit: 1, intervalMs: 100 } })
      assert.equal(queue.explain().because, 'idle')
      queue.push(1).push(2)
      await gate.until(1)
      assert.deepEqual(queue.explain(undefined, { ahead: true }), {
        type: undefined, waiting: 1, delayed: 0, running: 1, because: 'queue-rate', ...NOTHING, untilMs: 100, ahead: 0
      })
      clock.advance(100)
      assert.deepEqual([why(queue), queue.explain().holders], ['slots', []])
      queue.clear()
      queue.add(1, { delayMs: 30 }).catch(() => {})
      assert.deepEqual(why(queue), ['delayed', 30])
    }
  })

  it('says of a delayed job for how long it waits for its units, too', async function () {
    const rate = { limit: 10, intervalMs: 100, of: 'cost' }
    for (const options of [{ ratePerType: rate }, { rate }, { rate, scheduler: undefined }]) {
      const { gate, queue } = opened({ concurrency: 3, ...options })
      const type = options.scheduler === undefined && 'scheduler' in options ? undefined : 'a'
      queue.add(1, { type, cost: 6 }).catch(() => {})
      await gate.until(1)
      queue.add(2, { type, cost: 4, delayMs: 20 }).catch(() => {})
      assert.deepEqual(why(queue, type), ['delayed', 20])
      queue.add(3, { type, cost: 5, delayMs: 10 }).catch(() => {})
      assert.deepEqual(why(queue, type), ['delayed', 100])
      queue.add(4, { type, delayMs: 5 }).catch(() => {})
      assert.deepEqual(why(queue, type), ['delayed', 5])
    }
  })

  it('says that a type, or its group, has all the slots that it may', async function () {
    const ratePerType = { limit: 1, intervalMs: 100 }
    const { gate, queue } = opened({ concurrency: 3, schedulerOptions: { typeCaps: { a: 1, zero: 0, all: 3 } }, ratePerType })
    queue.pushType('a', 1).pushType('a', 2).pushType('zero', 1)
    await gate.until(1)
    assert.deepEqual([why(queue, 'a'), why(queue, 'zero')], ['cap', 'cap'])
    queue.add(1, { type: 'zero', delayMs: 5 }).catch(() => {})
    queue.clear({ type: 'a' })
    queue.add(1, { type: 'a', delayMs: 5 }).catch(() => {})
    assert.equal(why(queue, 'a'), 'delayed') // no time is known
    queue.setRates({ ratePerType: null })
    for (let n = 0; n < 3; n++) queue.pushType('all', n)
    await gate.until(3)
    assert.equal(why(queue, 'all'), 'slots')
  })

  it('asks a scheduler of the caller\'s for the group of a type', async function () {
    let stats = { group: 'g', running: 1, cap: 1 }
    const scheduler = turnstile({ groupStats: () => typeof stats === 'function' ? stats() : stats })
    const { gate, queue } = opened({ scheduler })
    queue.pushType('a', 1).pushType('a', 2).pushType('a', 3)
    await gate.until(2)
    assert.equal(why(queue, 'a'), 'group-cap')
    const none = [null, { get cap () { throw new Error('expected') } }, () => { throw new Error('expected') }]
    for (const other of [{ ...stats, running: 0 }, { ...stats, cap: 2 }, undefined, ...none]) {
      stats = other
      assert.equal(why(queue, 'a'), 'slots')
    }
  })

  it('says that a cap which does not hold is none', async function () {
    const { gate, queue } = opened({ concurrency: 2, scheduler: 'capped', schedulerOptions: { maxTypeCap: 1 } })
    queue.pushType('a', 1).pushType('a', 2).pushType('a', 3)
    await gate.until(2)
    assert.equal(why(queue, 'a'), 'slots')
  })

  it('says that the scheduler lets no job start', async function () {
    const scheduler = turnstile()
    const { gate, queue } = opened({ scheduler })
    scheduler.isOpen = false
    queue.pushType('a', 1)
    await quiet()
    assert.equal(why(queue, 'a'), 'scheduler')
    scheduler.isOpen = true
    queue.resume()
    assert.deepEqual(why(queue, 'a'), ['starting', 0])
    await gate.until(1)
  })

  it('tells a type whose jobs are delayed from one that is to be tried again', async function () {
    const clock = fakeClock()
    const queue = fairlane((payload, done) => done(payload === 'fails' ? new Error('expected') : null), {
      clock, scheduler: 'fair', maxAttempts: 2, backoffMs: 50
    })
    queue.add('fails', { type: 'a' }).catch(() => {})
    await quiet()
    assert.deepEqual([why(queue, 'a'), queue.explain('a').delayed], [['backoff', 50], 1])
    queue.add(1, { type: 'a', delayMs: 40 })
    assert.deepEqual(why(queue, 'a'), ['delayed', 40])
    queue.add(1, { type: 'a', delayMs: 30, timeoutMs: 5 }).catch(() => {})
    assert.deepEqual(why(queue, 'a'), ['delayed', 30])
    queue.holdType('a', 45)
    assert.deepEqual(why(queue, 'a'), ['delayed', 45])
    clock.advance(29)
    assert.deepEqual(why(queue, 'a'), ['delayed', 16])
    queue.holdType('a', 0)
    clock.advance(11)
    await quiet()
    assert.deepEqual(why(queue, 'a'), ['backoff', 10])
  })

  it('follows the times of delayed jobs that change', function () {
    const { queue } = opened()
    const options = { type: 'a', onDuplicate: 'postpone' }
    queue.add(1, { ...options, key: 'k', delayMs: 20 })
    queue.add(1, { ...options, key: 'l', delayMs: 30 })
    assert.deepEqual(why(queue, 'a'), ['delayed', 20])
    queue.add(1, { ...options, key: 'k', delayMs: 50 })
    assert.deepEqual(why(queue, 'a'), ['delayed', 30])
    const controller = new AbortController()
    queue.add(1, { type: 'a', delayMs: 10, signal: controller.signal }).catch(() => {})
    assert.deepEqual(why(queue, 'a'), ['delayed', 10])
    controller.abort()
    assert.deepEqual(why(queue, 'a'), ['delayed', 30])
  })

  it('bears a clock that cancels a job whose time it is asked for', async function () {
    const clock = fakeClock()
    const { now } = clock
    let calls = Infinity
    const queue = fairlane((payload, done) => done(new fairlane.Postponed(50)), {
      scheduler: 'fair', concurrency: 1, clock: { ...clock, now: () => { if (--calls === 0) queue.clear({ type: 'a' }); return now() } }
    })
    for (let count = 1; count < 20; count++) {
      queue.resume(1).add(1, { type: 'a', key: count, delayMs: 20, onDuplicate: 'postpone' }).catch(() => {})
      queue.explain('a')
      calls = count
      queue.add(1, { type: 'a', key: count, delayMs: 50, onDuplicate: 'postpone' }).catch(() => {})
      calls = Infinity
      queue.clear()
      assert.equal(why(queue, 'a'), 'idle')
    }
  })

  it('has no time for a job whose backoff is being asked for', async function () {
    let seen
    const queue = fairlane((payload, done) => done(new Error('expected')), {
      scheduler: 'fair', maxAttempts: 2, clock: fakeClock(), backoffMs: () => { seen = why(queue, 'a'); return 10 }
    })
    queue.add(1, { type: 'a' }).catch(() => {})
    await quiet()
    assert.equal(seen, 'backoff')
  })

  it('does so for types that share lanes', async function () {
    const { gate, queue } = opened({ concurrency: 1, maxTypes: 1, observers: [new History()], schedulerOptions: { maxTypeCap: 1 } })
    queue.pushType('own', 1)
    await gate.until(1)
    for (const type of ['a', 'b', 'a']) queue.pushType(type, 1)
    const { waiting, running, because, holders, oldestWaitMs } = queue.explain('b')
    assert.deepEqual([waiting, running, because, holders, oldestWaitMs], [1, 0, 'slots', [{ type: 'own', running: 1 }], 0])
    assert.deepEqual([queue.explain('b', { ahead: true }).ahead, queue.explain('own', { ahead: true }).ahead], [1, undefined])
    queue.concurrency = 2
    await gate.until(2)
    assert.deepEqual([queue.explain('a').running, why(queue, 'b'), why(queue, 'a')], [1, 'cap', 'cap'])
    assert.deepEqual([queue.explain('c').running, queue.explain('c').waiting], [0, 0])
    queue.pushType('own', 2)
    assert.equal(queue.explain('own', { ahead: true }).ahead, 2)
  })

  it('refuses what is wrong, as counts() does', function () {
    const { queue } = opened()
    const plain = fairlane(() => {})
    assert.throws(() => plain.explain('a'), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const type of [undefined, null, Symbol('a'), {}, { toString () { throw new Error('expected') } }]) {
      assert.throws(() => queue.explain(type), { code: 'FAIRLANE_ERR_TYPE' })
    }
    assert.throws(() => queue.explain('a', { get ahead () { throw new Error('expected') } }), { message: 'expected' })
    for (const options of [{ ahead: 1 }, { ahead: null }, { before: true }, 5, null, 'ahead']) {
      assert.throws(() => queue.explain('a', options), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    for (const type of ['', '__proto__', 'constructor', NaN, 2 ** 60]) assert.equal(queue.explain(type).because, 'idle')
  })

  it('may be asked inside the queue: in a runner, a callback, a listener, a scheduler and a backoff', async function () {
    const said = []
    const ask = () => said.push(why(queue, 'b'))
    const scheduler = turnstile({ started: ask, ended: ask })
    const queue = fairlane((payload, done) => { ask(); done(null) }, { scheduler, concurrency: 1 })
    queue.on('done', ask)
    queue.pushType('a', 1, ask).pushType('b', 1)
    await queue.onIdle()
    assert(said.length > 6)
  })
})

describe('explain(type, { ahead: true })', function () {
  const aheadOf = (queue, type) => queue.explain(type, { ahead: true }).ahead

  it('counts the types whose oldest jobs are older, where those start first', async function () {
    const { gate, queue } = opened({ concurrency: 1, scheduler: 'capped', schedulerOptions: { maxTypeShare: 1 } })
    queue.pushType('runs', 1)
    await gate.until(1)
    for (const type of ['a', 'b', 'a', 'c', 'd']) queue.pushType(type, 1)
    assert.deepEqual(['a', 'b', 'c', 'd'].map(type => aheadOf(queue, type)), [0, 1, 2, 3])
    queue.pauseType('a')
    assert.equal(aheadOf(queue, 'd'), 2)
    queue.holdType('b', 10)
    assert.deepEqual([aheadOf(queue, 'c'), aheadOf(queue, 'd'), aheadOf(queue, 'b')], [1, 2, 2])
    queue.add(1, { type: 'e', delayMs: 5 }).catch(() => {})
    assert.deepEqual([aheadOf(queue, 'c'), aheadOf(queue, 'e')], [2, 3])
  })

  it('counts all others for a type that has what it may, where slots are not left free', async function () {
    const { gate, queue } = opened({ concurrency: 2, scheduler: 'capped', schedulerOptions: { maxTypeCap: 1 } })
    queue.pushType('a', 1).pushType('b', 2)
    await gate.until(2)
    for (const type of ['a', 'b', 'c', 'd']) queue.pushType(type, 1)
    assert.deepEqual([aheadOf(queue, 'a'), aheadOf(queue, 'c')], [3, 2])
  })

  it('counts those who have used less, where types get equal shares, and of equals those who came before', async function () {
    const { clock, gate, queue } = opened({ concurrency: 1 })
    const runs = async (type, ms) => {
      queue.pushType(type, 1)
      await quiet()
      clock.advance(ms)
      gate.release()
      await quiet()
    }
    queue.pushType('stays', 1).pause().pushType('a', 1).pushType('b', 1).pushType('c', 1).pushType('c', 2)
    assert.deepEqual(['stays', 'a', 'b', 'c'].map(type => aheadOf(queue, type)), [3, 3, 3, 3]) // while it is paused nobody knows
    queue.resume()
    await gate.until(1)
    assert.deepEqual(['a', 'b', 'c'].map(type => aheadOf(queue, type)), [0, 1, 2])
    queue.clear()
    gate.release()
    await quiet()
    await runs('a', 10)
    await runs('b', 10)
    queue.pushType('b', 1).pushType('a', 1).pushType('c', 1)
    const [a, b] = ['a', 'b'].map(type => aheadOf(queue, type))
    assert(a + b <= 2, `${a} and ${b}`)
  })

  it('counts all others of which nothing is known', async function () {
    for (const scheduler of [turnstile(), WINDOW]) {
      const { gate, queue } = opened({ concurrency: 1, scheduler })
      queue.pushType('a', 1)
      await gate.until(1)
      queue.pushType('b', 1).pushType('c', 1)
      assert.deepEqual([aheadOf(queue, 'b'), aheadOf(queue, 'a')], [1, undefined])
    }
  })

  it('counts all others for a type that is to be set to the time of others, and while no job has ended', async function () {
    const { gate, queue } = opened({ concurrency: 3, schedulerOptions: { typeCaps: { a: 1 } } })
    queue.pushType('a', 1).pushType('b', 1).pushType('b', 2)
    await gate.until(3)
    queue.pushType('a', 2).pushType('b', 3).pushType('c', 1)
    assert.deepEqual([aheadOf(queue, 'a'), aheadOf(queue, 'b'), aheadOf(queue, 'c')], [2, 2, 2])
    queue.scheduler.configure({ typeCaps: { b: 2 } })
    assert.equal(aheadOf(queue, 'c'), 2)
  })

  it('counts all others while options have changed, by which nobody has been chosen', async function () {
    const { gate, queue } = opened({ concurrency: 2, schedulerOptions: { maxTypeShare: 0.9 } })
    queue.pushType('x', 1).pushType('y', 1)
    await gate.until(2)
    queue.pushType('a', 1).pushType('b', 1)
    assert.equal(aheadOf(queue, 'a'), 0)
    queue.concurrency = 20
    assert.equal(aheadOf(queue, 'a'), 1)
  })

  it('counts all others where a scheduler fails', async function () {
    const { gate, queue } = opened({ concurrency: 1, scheduler: 'fair' })
    queue.pushType('a', 1)
    await gate.until(1)
    queue.pushType('b', 1).pushType('c', 1)
    assert.deepEqual([aheadOf(queue, 'b'), aheadOf(queue, 'c')], [0, 1])
    queue.scheduler.precedes = () => { throw new Error('expected') }
    assert.equal(aheadOf(queue, 'b'), 1)
  })
})

describe('explain().oldestWaitMs', function () {
  const waits = (queue, type) => queue.explain(type).oldestWaitMs

  for (const [kind, options] of [['lanes', {}], ['priorities', { priorityMs: 10 }], ['a window', { scheduler: WINDOW }]]) {
    for (const Observer of [History, Metrics]) {
      it(`is for how long the next job has waited, if the queue is observed: ${Observer.name}, ${kind}`, async function () {
        const { clock, gate, queue } = opened({ concurrency: 1, observers: [new Observer()], maxAttempts: 2, backoffMs: 5, ...options })
        assert.equal(waits(queue, 'a'), undefined)
        queue.pushType('a', 1)
        await gate.until(1)
        queue.pushType('b', 0).pushType('a', 2)
        clock.advance(10)
        queue.pushType('a', 3)
        assert.deepEqual([waits(queue, 'a'), waits(queue, 'b')], [10, 10])
        queue.unshiftType('a', 4)
        clock.advance(5)
        assert.deepEqual([waits(queue, 'a'), waits(queue, 'b')], [5, 15])
        gate.fail(new Error('expected'))
        await quiet()
        clock.advance(5)
        await quiet()
        queue.clear({ type: 'b' })
        clock.advance(2)
        if (queue.explain('a').waiting > 3) assert.equal(waits(queue, 'a'), 2) // it waits again since 2 ms
        assert.equal(waits(queue, 'b'), undefined)
      })
    }
  }

  it('is that of the job with the highest priority, without a scheduler', async function () {
    const { clock, gate, queue } = opened({ concurrency: 1, scheduler: undefined, observers: [new History()], priorityMs: 100 })
    queue.push(1)
    await gate.until(1)
    queue.push(2)
    clock.advance(10)
    queue.add(3, { priority: 1 })
    clock.advance(5)
    assert.equal(waits(queue), 5)
  })

  it('is that of the first job, without a scheduler', async function () {
    const observers = [new History()]
    const { clock, gate, queue } = opened({ concurrency: 1, scheduler: undefined, observers, maxAttempts: 2, backoffMs: 5 })
    queue.push(1)
    await gate.until(1)
    const signals = Array.from({ length: 4 }, () => new AbortController())
    for (const { signal } of signals) {
      queue.add(1, { signal }).catch(() => {})
      clock.advance(1)
    }
    assert.equal(waits(queue), 4)
    signals[0].abort()
    assert.equal(waits(queue), 3)
    for (let n = 0; n < 2; n++) {
      signals.push(new AbortController())
      queue.add(1, { signal: signals.at(-1).signal, unshift: true }).catch(() => {})
      clock.advance(1)
    }
    assert.equal(waits(queue), 1)
    signals[5].abort()
    assert.equal(waits(queue), 2)
    gate.fail(new Error('expected'))
    await quiet()
    clock.advance(5)
    await quiet()
    clock.advance(3)
    assert.equal(waits(queue), 3)
  })
})

describe('Explaining, of queues that keep their jobs elsewhere', function () {
  const { internalsOf, makeExplaining } = require('../../../lib/core/internals')

  function explaining (about) {
    const queue = fairlane(() => {}, { scheduler: 'equal', clock: fakeClock() })
    const { list, dispatch, read: { clock } } = internalsOf(queue)
    const more = { barredBy () {}, limiter () {}, firstDue () {}, delayedTypes: () => [], ...about }
    return { queue, explain: type => makeExplaining({ list, dispatch, clock }, queue.scheduler, more).explain(type, {}) }
  }

  it('says that one is closed, paused or out', function () {
    for (const barred of ['closed', 'paused', 'outage']) {
      const { queue, explain } = explaining({ barredBy: () => barred })
      queue.pauseType('a').pushType('a', 1).pushType('b', 1)
      assert.deepEqual([explain('a').because, explain('b').because], [barred === 'outage' ? 'type-paused' : barred, barred])
    }
  })

  it('has no time for jobs of which none knows when they come back', function () {
    const { explain } = explaining({ countsOf: () => ({ waiting: 1, delayed: 0, running: 0 }) })
    const { because, untilMs, waiting } = explain('a')
    assert.deepEqual([because, untilMs, waiting], ['backoff', undefined, 1])
  })
})
