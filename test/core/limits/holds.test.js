'use strict'

const assert = require('node:assert')
const fairlane = require('../../..')
const { Throttled } = require('../../..')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { giveChance, withChance } = require('../../support/chance')
const { passingOf, startsOf } = require('../../support/starts')
const { quiet } = require('../../support/turns')

describe('hold', function () {
  it('starts no job for so long, and lets running ones finish', async function () {
    const { queue, pass, times } = startsOf(fairlane, {})
    assert.equal(queue.heldMs(), 0)
    assert.equal(queue.hold(50), queue)
    queue.push(1)
    await pass(20)
    assert.equal(queue.heldMs(), 30)
    await pass(100)
    assert.deepEqual(times(), [50])
    assert.equal(queue.heldMs(), 0)
  })

  for (const scheduler of [null, 'equal']) {
    it(`is waited for as long as a job waits, scheduler ${scheduler}`, async function () {
      const clock = fakeClock()
      const queue = fairlane(() => assert.fail('it starts'), { clock, scheduler }).hold(1000)
      const controllers = [new AbortController(), new AbortController()]
      const jobs = controllers.map(({ signal }) => queue.add('job', { type: 'a', signal }))
      await quiet()
      assert.equal(clock.timerCount, 1)
      for (const [at, timerCount] of [[0, 1], [1, 0]]) {
        controllers[at].abort()
        await assert.rejects(jobs[at], { code: 'FAIRLANE_ERR_ABORTED' })
        assert.equal(clock.timerCount, timerCount)
      }
    })
  }

  it('can be made longer, shorter, and ended', async function () {
    const { queue, pass, times } = startsOf(fairlane, {})
    queue.hold(50).push(1)
    await pass(10)
    queue.hold(100)
    await pass(80)
    assert.deepEqual(times(), [])
    queue.hold(5)
    await pass(10)
    assert.deepEqual(times(), [95])
    queue.hold(50).push(2)
    await pass(10)
    queue.hold(0)
    await pass(0)
    assert.deepEqual(times(), [95, 110])
  })

  it('takes a finite time', function () {
    for (const ms of [undefined, null, '1', NaN, -1, Infinity]) {
      assert.throws(() => fairlane(() => {}).hold(ms), { code: 'FAIRLANE_ERR_ARGUMENT' })
      assert.throws(() => fairlane(() => {}, { scheduler: 'fair' }).holdType('a', ms), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('goes with a rate', async function () {
    const { queue, pass, times } = startsOf(fairlane, { rate: { limit: 1, intervalMs: 100 } })
    queue.push(1).push(2)
    await pass(10)
    assert.equal(queue.heldMs(), 90)
    queue.hold(200)
    assert.equal(queue.heldMs(), 200)
    await pass(300)
    assert.deepEqual(times(), [0, 210])
  })
})

describe('holdType', function () {
  it('starts no job of the type for so long, while others go on', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1 })
    queue.pushType('a', 1).pushType('b', 2).holdType('a', 50)
    assert.equal(queue.heldMs('a'), 50)
    assert.equal(queue.heldMs('b'), 0)
    assert.equal(queue.stats().heldTypes, 1)
    await pass(100)
    assert.deepEqual([times('a'), times('b')], [[50], [0]])
    assert.equal(queue.stats().heldTypes, 0)
  })

  it('holds a type without jobs, for which there is no timer', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, { scheduler: 'equal' })
    queue.holdType('a', 50)
    assert.deepEqual([clock.timerCount, queue.stats().heldTypes, queue.isTypePaused('a')], [0, 0, false])
    await pass(20)
    queue.pushType('a', 1)
    assert.deepEqual([clock.timerCount, queue.stats().heldTypes], [1, 1])
    await pass(100)
    assert.deepEqual(times(), [50])
  })

  it('can be made longer, shorter, and ended', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal' })
    queue.pushType('a', 1).holdType('a', 10).holdType('a', 50)
    await pass(40)
    assert.deepEqual(times(), [])
    queue.holdType('a', 5)
    await pass(10)
    assert.deepEqual(times(), [45])
    queue.pushType('a', 2).holdType('a', 50).holdType('a', 0)
    await pass(0)
    assert.deepEqual(times(), [45, 50])
  })

  it('is independent of pauses by users', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal' })
    queue.pauseType('a').holdType('a', 10).pushType('a', 1)
    await pass(20)
    assert.deepEqual(times(), [])
    queue.holdType('a', 10).resumeType('a')
    await pass(20)
    assert.deepEqual(times(), [30])
  })

  it('gives a type that shares a lane one of its own', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal', maxTypes: 1 })
    queue.pause().pushType('own', 1).pushType('a', 2).pushType('b', 3).holdType('a', 50)
    assert.equal(queue.stats('a').waiting, 1)
    checkInvariants(queue)
    queue.resume(1)
    await pass(10)
    assert.deepEqual([times('a'), times('b')], [[], [0]])
    queue.pushType('own', 4).pushType('a', 5)
    assert.equal(queue.stats('a').waiting, 2)
    await pass(100)
    assert.deepEqual(times('a'), [50, 50])
  })

  it('leaves nothing of a lane that no other type shares', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal', maxTypes: 1 })
    queue.pause().pushType('own', 1).pushType('a', 2).holdType('a', 50)
    checkInvariants(queue)
    queue.resume()
    await pass(100)
    assert.deepEqual([times('own'), times('a')], [[0], [50]])
  })

  it('holds when the queue has closed, and close() waits for it', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal' })
    queue.pushType('a', 1)
    const closed = queue.close()
    queue.holdType('a', 50)
    await pass(100)
    assert.deepEqual(times(), [50])
    await closed
  })

  it('needs a scheduler whose types can be paused', function () {
    for (const scheduler of [undefined, { queued () {}, next () {}, started () {}, ended () {} }]) {
      const queue = fairlane(() => {}, { scheduler })
      for (const call of [() => queue.holdType('a', 1), () => queue.heldMs('a')]) assert.throws(call, { code: 'FAIRLANE_ERR_SCHEDULER' })
    }
    assert.throws(() => fairlane(() => {}, { scheduler: 'equal' }).holdType(Symbol('a'), 1), { code: 'FAIRLANE_ERR_TYPE' })
  })

  it('warns of no stall', async function () {
    const { queue, pass } = startsOf(fairlane, { scheduler: 'fair' })
    const warned = []
    process.on('warning', warning => warned.push(warning))
    queue.holdType('a', 10).pushType('a', 1)
    await pass(20)
    await quiet()
    assert.deepEqual(warned, [])
  })
})

describe('a time that is longer than a timer of Node.js can be', function () {
  const MONTH_MS = 30 * 24 * 3600 * 1000
  const LONGEST_MS = 2 ** 31 - 1

  /** As startsOf(), in 2031, with timers as those of Node.js: one for too long fires at once. */
  function inMonths (options, run) {
    const time = fakeClock(Date.parse('2031-05-01T00:00:00Z'))
    const clock = { ...time, setTimeout: (fn, ms) => time.setTimeout(fn, ms > LONGEST_MS ? 1 : ms) }
    const begin = time.now()
    const times = []
    const queue = fairlane((payload, done, { type }) => {
      times.push(time.now() - begin)
      run(payload, done, times.length)
    }, { clock, ...options })
    return { queue, times, pass: passingOf(time) }
  }

  const throttledBy = header => (payload, done, count) => done(count === 1 ? (typeof header === 'string' ? Throttled.after(header) : new Throttled(header)) : null)
  const ends = (payload, done) => done()
  const A = { scheduler: 'equal' }
  const RATE = { limit: 1, intervalMs: MONTH_MS }
  const cases = [
    ['hold()', {}, ends, queue => queue.hold(MONTH_MS).push(1), [MONTH_MS]],
    ['holdType()', A, ends, queue => queue.holdType('a', MONTH_MS).pushType('a', 1), [MONTH_MS]],
    ['Throttled, in ms', A, throttledBy(MONTH_MS), queue => queue.pushType('a', 1), [0, MONTH_MS]],
    ['Throttled, in seconds', A, throttledBy('2592000'), queue => queue.pushType('a', 1), [0, MONTH_MS]],
    ['Throttled, without types', {}, throttledBy(MONTH_MS), queue => queue.push(1), [0, MONTH_MS]],
    ['Throttled, in parts of a second', A, throttledBy('1.5'), queue => queue.pushType('a', 1), [0, 1500]],
    ['delayMs', {}, ends, queue => queue.add(1, { delayMs: MONTH_MS }), [MONTH_MS]],
    ['backoffMs', { maxAttempts: 2, backoffMs: MONTH_MS }, (payload, done, count) => done(count === 1 ? new Error('expected') : null), queue => queue.push(1), [0, MONTH_MS]],
    ['a rate', { rate: RATE }, ends, queue => queue.push(1).push(2), [0, MONTH_MS]],
    ['a rate of a type', { ...A, ratePerType: RATE }, ends, queue => queue.pushType('a', 1).pushType('a', 2), [0, MONTH_MS]]
  ]
  for (const [name, options, run, act, expected] of cases) {
    it(`is kept in full: ${name}`, async function () {
      const { queue, pass, times } = inMonths(options, run)
      act(queue)
      await pass(MONTH_MS - 1)
      assert.deepEqual(times, expected.filter(ms => ms < MONTH_MS))
      await pass(MONTH_MS)
      assert.deepEqual(times, expected)
    })
  }
})

describe('a hold and a rate', function () {
  const RATE = { limit: 1, intervalMs: 1000 }

  for (const [name, scheduler, rates, none] of [
    ['of a type', 'equal', { ratePerType: RATE }, { ratePerType: null }],
    ['of the queue', undefined, { rate: RATE }, { rate: null }]
  ]) {
    it(`${name} are over each by itself, though a runner was throttled for less time than the rate takes`, async function () {
      const runner = (payload, done) => done(times().length === 1 ? new Throttled(500) : null)
      const { queue, pass, times } = startsOf(fairlane, { scheduler, ...rates }, runner)
      queue.add('p', { type: scheduler && 'a' })
      await pass(10)
      assert.equal(queue.heldMs(scheduler && 'a'), 990)
      queue.setRates(none)
      assert.equal(queue.heldMs(scheduler && 'a'), 490)
      await pass(1000)
      assert.deepEqual(times(), [0, 500])
    })

    it(`${name} are over each by itself, though the hold is ended before the rate`, async function () {
      const runner = (payload, done) => done(times().length === 1 ? new Throttled(5000) : null)
      const { queue, pass, times } = startsOf(fairlane, { scheduler, ...rates }, runner)
      queue.add('p', { type: scheduler && 'a' })
      await pass(10)
      if (scheduler) queue.holdType('a', 0)
      else queue.hold(0)
      await pass(5000)
      assert.deepEqual(times(), [0, 1000])
    })
  }

  it('of types: the longest hold counts, and a call replaces it', async function () {
    const { queue, clock, pass } = startsOf(fairlane, { scheduler: 'equal', concurrency: 3 }, (ms, done) => clock.setTimeout(() => done(new Throttled(ms)), 1))
    for (const ms of [100, 300, 200]) queue.pushType('a', ms)
    await pass(1)
    assert.equal(queue.heldMs('a'), 300)
    queue.holdType('a', 50)
    assert.equal(queue.heldMs('a'), 50)
    queue.clear()
  })
})

describe('heldMs of a type', function () {
  const busy = { scheduler: 'equal', maxTypes: 1, concurrency: 10 }

  it('is that of its hold, where its jobs would share a lane with others', async function () {
    for (const isShared of [false, true]) {
      const { queue, pass, times } = startsOf(fairlane, busy, (payload, done) => payload === 'own' ? undefined : done())
      queue.pushType('own', 'own')
      if (isShared) queue.pushType('b', 'b')
      queue.holdType('a', 50)
      assert.equal(queue.heldMs('a'), 50)
      const [later] = [queue.heldMs('a'), queue.pushType('a', 'a')]
      assert.equal(queue.heldMs('a'), later)
      await pass(later)
      assert.deepEqual(times('a'), [later])
      queue.close({ drain: false })
    }
  })

  it('is that of the lane which its jobs would share, or whose counts they would begin with', async function () {
    const { queue, pass, times } = startsOf(fairlane, { ...busy, ratePerType: { limit: 1, intervalMs: 100 } })
    assert.equal(queue.heldMs('c'), 0)
    queue.pushType('own', 1).pushType('b', 2)
    await pass(10)
    assert.deepEqual([queue.heldMs('own'), queue.heldMs('b'), queue.heldMs('c')], [90, 90, 90])
    queue.pushType('c', 3).pushType('own', 4)
    await pass(200)
    assert.deepEqual([times('c'), times('own')], [[100], [0, 100]])
  })

  it('is that of its own lane, whatever others have started that share one', async function () {
    const { queue, pass } = startsOf(fairlane, { ...busy, ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pauseType('own').pushType('own', 1).pushType('b', 2)
    await pass(10)
    assert.deepEqual([queue.heldMs('own'), queue.heldMs('b')], [0, 90])
    queue.clear()
  })

  it('is that of its own rate, where it has one', async function () {
    const { queue, pass, times } = startsOf(fairlane, { ...busy, ratePerType: new Map([['a', { limit: 1, intervalMs: 100 }]]) })
    queue.pushType('own', 1).pushType('b', 2).pushType('a', 3)
    await pass(10)
    assert.deepEqual([queue.heldMs('a'), queue.heldMs('b'), queue.heldMs('c')], [90, 0, 0])
    queue.pushType('a', 4).pushType('c', 5)
    await pass(100)
    assert.deepEqual([times('a'), times('c')], [[0, 100], [10]])
  })
})

describe('a refusal of a type with limits', function () {
  withChance(0)

  async function retryAfterMs (options, waiting, act = () => {}) {
    const { queue, pass } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1, maxWaitingPerType: waiting, ...options })
    await act(queue, pass)
    queue.pause()
    for (let i = 0; i < waiting; i++) queue.pushType('a', i)
    const error = await queue.add('refused', { type: 'a' }).then(assert.fail, error => error)
    assert.equal(error.code, 'FAIRLANE_ERR_TYPE_FULL')
    return error.retryAfterMs
  }

  it('says when the type is not held any more', async function () {
    assert.equal(await retryAfterMs({}, 1, queue => queue.holdType('a', 100000.5)), 100001)
    assert.equal(await retryAfterMs({}, 1, queue => queue.hold(70000)), 70000)
  })

  it('says a time that is up to a fifth longer, by chance', async function () {
    const release = giveChance(0.5)
    assert.equal(await retryAfterMs({}, 1, queue => queue.holdType('a', 100000)), 110000)
    release()
  })

  it('says so where its jobs would share a lane with others', async function () {
    const { queue } = startsOf(fairlane, { scheduler: 'equal', maxTypes: 1, maxWaitingPerType: { a: 0 } })
    queue.pause().pushType('own', 1).pushType('b', 1).holdType('a', 100000)
    const { code, retryAfterMs } = await queue.add('refused', { type: 'a' }).then(assert.fail, error => error)
    assert.deepEqual([code, retryAfterMs], ['FAIRLANE_ERR_TYPE_FULL', 100000])
  })

  it('says when the rate lets a job start', async function () {
    const used = async (queue, pass) => {
      queue.pushType('a', 0)
      await pass(20000)
    }
    assert.equal(await retryAfterMs({ ratePerType: { limit: 1, intervalMs: 100000 } }, 1, used), 80000)
    assert.equal(await retryAfterMs({ ratePerType: new Map([['a', [{ limit: 1, intervalMs: 100000 }, { limit: 5, intervalMs: 200000 }]]]) }, 1, used), 80000)
    assert.equal(await retryAfterMs({ ratePerType: () => ({ limit: 1, intervalMs: 100000 }) }, 1, used), 80000)
  })

  it('counts with what must start before', async function () {
    const { queue, pass } = startsOf(fairlane, { scheduler: 'equal', maxWaiting: 20, ratePerType: { limit: 2, intervalMs: 100000 } })
    const refused = () => queue.add('refused', { type: 'a' }).then(assert.fail, error => error)
    for (let i = 0; i < 2; i++) {
      queue.pushType('a', i)
      await pass(10000)
    }
    queue.pause()
    for (let i = 0; i < 10; i++) queue.pushType('a', i)
    for (let i = 0; i < 9; i++) queue.pushType(`b${i}`, i)
    const { code, waiting, limit, retryAfterMs } = await refused()
    assert.deepEqual([code, waiting, limit], ['FAIRLANE_ERR_TYPE_FULL', 10, 4])
    assert.equal(retryAfterMs, 380000, 'the seventh job may start then')
    queue.holdType('a', 90000)
    assert.equal((await refused()).retryAfterMs, 390000)
  })

  it('asks no function, and is the usual one where nothing limits', async function () {
    assert.equal(await retryAfterMs({ ratePerType: () => assert.fail('asked') }, 1), 1000)
    assert.equal(await retryAfterMs({}, 1), 1000)
    assert.equal(await retryAfterMs({ maxTypes: 1, ratePerType: { limit: 1, intervalMs: 100 } }, 1, queue => queue.pushType('b', 1)), 2000)
  })
})
