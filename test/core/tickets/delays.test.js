'use strict'

const assert = require('node:assert')
const { internalsOf } = require('../../../lib/core/internals')
const fairlane = require('../../..')
const { checkInvariants } = require('../../../lib/testing')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { rounds, playRounds } = require('../../support/rounds')
const { startsOf } = require('../../support/starts')
const { quiet } = require('../../support/turns')

const WINDOWS = { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }

describe('the option delayMs', function () {
  it('has a job start no earlier, behind those that wait then', async function () {
    const { queue, pass, starts } = startsOf(fairlane, {})
    queue.add('late', { delayMs: 100 })
    queue.add('later', { delayMs: 200 })
    queue.push('now')
    await pass(99)
    assert.deepEqual(starts.map(({ payload }) => payload), ['now'])
    queue.pause().push('between')
    await pass(1)
    queue.resume()
    await pass(300)
    assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`), ['now 0', 'between 100', 'late 100', 'later 200'])
  })

  it('has jobs start in the order of their times, whatever the order of their pushes', async function () {
    const { queue, pass, starts } = startsOf(fairlane, {})
    for (const delayMs of [30, 10, 20, 30]) queue.add(delayMs, { delayMs })
    await pass(100)
    assert.deepEqual(starts.map(({ payload, at }) => [payload, at]), [[10, 10], [20, 20], [30, 30], [30, 30]])
  })

  it('keeps what is said of the job, though somebody waits for a flush meanwhile', async function () {
    const runner = (payload, done) => clock.setTimeout(() => done(null, payload), 50)
    const { queue, clock, pass, starts } = startsOf(fairlane, { timeoutMs: 30, maxWaitMs: 10 }, runner)
    const results = [false, true].map((unshift, i) => queue.add(i, { delayMs: 5, timeoutMs: Infinity, maxWaitMs: Infinity, unshift }))
    const flushed = queue.fflush()
    queue.pause()
    await pass(100)
    queue.resume()
    await pass(100)
    await flushed
    assert.deepEqual(await Promise.all(results), [0, 1])
    assert.deepEqual(starts.map(({ at }) => at), [100, 100])
  })

  it('leaves a job the limits of its queue', async function () {
    for (const [options, code] of [[{ maxWaitMs: 10 }, 'FAIRLANE_ERR_MAX_WAIT'], [{ timeoutMs: 10 }, 'FAIRLANE_ERR_TIMEOUT']]) {
      const { queue, pass } = startsOf(fairlane, options, () => {})
      if (options.maxWaitMs) queue.pause()
      const limited = assert.rejects(queue.add(1, { delayMs: 5 }), { code })
      await pass(14)
      assert.equal(queue.stats().cancelled + queue.stats().failed, 0)
      await pass(1)
      await limited
    }
  })

  it('gives a promise of the result', async function () {
    const { queue, pass } = startsOf(fairlane, {}, async payload => 2 * payload)
    const result = queue.add(21, { delayMs: 100 })
    await pass(100)
    assert.equal(await result, 42)
  })

  for (const [name, scheduler] of [['no scheduler', undefined], ['equal', 'equal'], ['windows', WINDOWS]]) {
    it(`counts the job in all that counts waiting ones (${name})`, async function () {
      const { queue, clock, pass, times } = startsOf(fairlane, { scheduler })
      let isFlushed = false
      let isIdle = false
      const type = scheduler && 'a'
      queue.add(1, { type, delayMs: 100 })
      queue.fflush(() => { isFlushed = true })
      queue.onIdle().then(() => { isIdle = true })
      assert.deepEqual([queue.length, queue.waiting, queue.stats().waiting, queue.stats().delayed, queue.stats().accepted], [1, 1, 1, 1, 1])
      if (type) assert.deepEqual([queue.stats('a').waiting, queue.stats('a').delayed, queue.stats('a').accepted, queue.stats('b').delayed], [1, 1, 1, 0])
      assert.deepEqual([...queue.jobs()], [{ type, payload: 1 }])
      if (type) assert.deepEqual([...queue.jobs('a'), ...queue.jobs('b')], [{ type, payload: 1 }])
      checkInvariants(queue)
      await pass(99)
      assert.deepEqual([isFlushed, isIdle, clock.timerCount], [false, false, 1])
      await pass(1)
      assert.deepEqual([isFlushed, isIdle, clock.timerCount, queue.stats().delayed], [true, true, 0, 0])
      assert.deepEqual(times(), [100])
      checkInvariants(queue)
    })

    it(`lets the job be removed and cleared (${name})`, async function () {
      const { queue, clock, pass, times } = startsOf(fairlane, { scheduler })
      const type = scheduler && 'a'
      const codes = []
      for (const payload of [1, 2, 3, 4]) queue.add(payload, { type, delayMs: 100 - payload }).catch(({ code }) => codes.push(`${payload} ${code}`))
      if (type) queue.pushType(type, 0)
      else queue.push(0)
      assert.throws(() => queue.remove(({ payload }) => { if (payload === 4) return true; throw new Error('expected') }), /expected/)
      assert.equal(queue.waiting, 5)
      assert.equal(queue.remove(({ payload }) => payload === 0 || payload === 3), 2)
      assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), [4, 2, 1])
      checkInvariants(queue)
      assert.equal(type ? queue.clear({ type }) : queue.clear(), 3)
      checkInvariants(queue)
      await quiet()
      assert.deepEqual(codes, [3, 4, 2, 1].map(payload => `${payload} FAIRLANE_ERR_CLEARED`))
      assert.deepEqual([clock.timerCount, queue.stats().delayed, queue.stats().cancelled], [0, 0, 5])
      await pass(100)
      assert.deepEqual(times(), [])
    })
  }

  it('makes nothing of a type that a queue without a scheduler is given', async function () {
    const { queue } = startsOf(fairlane, {})
    const cleared = assert.rejects(queue.add(1, { type: 'a', delayMs: 100 }), { code: 'FAIRLANE_ERR_CLEARED' })
    assert.deepEqual([...queue.jobs()], [{ type: undefined, payload: 1 }])
    assert.equal(queue.clear(), 1)
    await cleared
    checkInvariants(queue)
  })

  it('is ended by a signal and by close', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, {})
    const controller = new AbortController()
    const aborted = queue.add(1, { delayMs: 100, signal: controller.signal })
    const closed = queue.add(2, { delayMs: 100 })
    await pass(50)
    controller.abort()
    checkInvariants(queue)
    assert.equal(queue.waiting, 1)
    await assert.rejects(aborted, { code: 'FAIRLANE_ERR_ABORTED' })
    queue.close({ drain: false })
    await assert.rejects(closed, { code: 'FAIRLANE_ERR_CLOSED' })
    await pass(100)
    assert.deepEqual([times(), clock.timerCount], [[], 0])
  })

  it('is waited for by close', async function () {
    const { queue, pass, times } = startsOf(fairlane, {})
    queue.add(1, { delayMs: 100 })
    const closed = queue.close()
    await pass(100)
    assert.equal(await closed, 0)
    assert.deepEqual(times(), [100])
  })

  it('counts against limits of what may wait, and the job is not refused when its time has come', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1, maxWaiting: 1, maxWaitingPerType: { a: 2 } })
    queue.add(1, { type: 'a', delayMs: 100 })
    queue.add(2, { type: 'a', delayMs: 100 })
    await assert.rejects(queue.add(3, { type: 'a' }), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    await pass(100)
    assert.deepEqual(times(), [100, 100])
    for (const scheduler of ['equal', WINDOWS]) {
      const typed = startsOf(fairlane, { scheduler, maxWaitingPerType: 1 }).queue
      typed.add(1, { type: 'a', delayMs: 100 })
      await assert.rejects(typed.add(2, { type: 'a' }), { code: 'FAIRLANE_ERR_TYPE_FULL' })
      typed.close({ drain: false })
    }
  })

  it('comes before the time of maxWaitMs begins', async function () {
    const { queue, pass, times } = startsOf(fairlane, { concurrency: 1 })
    const started = queue.add(1, { delayMs: 100, maxWaitMs: 50 })
    const expired = assert.rejects(queue.add(2, { delayMs: 200, maxWaitMs: 50 }), { code: 'FAIRLANE_ERR_MAX_WAIT' })
    await pass(150)
    await started
    queue.pause()
    await pass(100)
    await expired
    assert.deepEqual(times(), [100])
  })

  it('leaves the job what else was said of it', async function () {
    const { queue, pass, times } = startsOf(fairlane, { backoffMs: 10 }, (payload, done) => { if (payload === 'fails') done(new Error('expected')) })
    const expired = assert.rejects(queue.add('waits', { delayMs: 100, timeoutMs: 5 }), { code: 'FAIRLANE_ERR_TIMEOUT' })
    const failed = assert.rejects(queue.add('fails', { delayMs: 200, maxAttempts: 3 }), /expected/)
    await pass(110)
    await expired
    await pass(110)
    await failed
    assert.deepEqual(times(), [100, 200, 210, 220])
  })

  it('goes with unshift: then the job starts before those that wait', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { concurrency: 1 })
    queue.pause()
    queue.add('first', { delayMs: 100, unshift: true })
    queue.push('second')
    await pass(100)
    queue.resume()
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), ['first', 'second'])
  })

  it('keeps the job in the flush before which it was pushed, also when it comes back behind a later one', async function () {
    for (const scheduler of [undefined, 'equal', WINDOWS]) {
      const { queue, pass } = startsOf(fairlane, { scheduler, concurrency: 1 }, () => {})
      const type = scheduler && 'a'
      const flushed = []
      queue.add(1, { type, delayMs: 10 }).catch(() => {})
      queue.fflush(() => flushed.push('first'))
      queue.pause()
      queue.add(2, { type, timeoutMs: 5000 }).catch(() => {})
      queue.fflush(() => flushed.push('second'))
      await pass(10)
      checkInvariants(queue)
      queue.remove(({ payload }) => payload === 1)
      await quiet()
      checkInvariants(queue)
      assert.deepEqual(flushed, ['first'])
      queue.add(3, { type, delayMs: 10 }).catch(() => {})
      queue.fflush(() => flushed.push('third'))
      await pass(10)
      queue.resume(1)
      await pass(1)
      checkInvariants(queue)
      assert.deepEqual([queue.running, flushed], [1, ['first']])
      await queue.close({ drain: false })
      assert.deepEqual(flushed, ['first', 'second', 'third'])
    }
  })

  it('is 0 or more, and 0 is none', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, {})
    for (const delayMs of ['1', null, NaN, -1, Infinity]) assert.throws(() => queue.add(1, { delayMs }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const options of [null, 3, { delayMS: 1 }, { delayMs: 1, typ: 1 }]) assert.throws(() => queue.add(1, options), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.add(1, { type: 'a', delayMS: 1 }), /did you mean 'delayMs'/)
    queue.add(1, { delayMs: 0 })
    queue.add(1, { delayMs: undefined })
    assert.deepEqual([queue.stats().delayed, clock.timerCount], [0, 0])
    await pass(0)
    assert.deepEqual(times(), [0, 0])
  })

  it('is ended by a clock that fails', async function () {
    const clock = { now: () => 0, setTimeout () { throw new Error('expected') }, clearTimeout () {} }
    const queue = fairlane(() => {}, { clock })
    await assert.rejects(queue.add(1, { delayMs: 5 }), /expected/)
    checkInvariants(queue)
    assert.equal(queue.length, 0)
  })

  it('is ended for one job by a clock that fails once, and for no other', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, {})
    const { setTimeout } = clock
    clock.setTimeout = () => { throw new Error('expected') }
    const failed = assert.rejects(queue.add(1, { delayMs: 20 }), /expected/)
    clock.setTimeout = setTimeout
    queue.add(2, { delayMs: 20 })
    assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), [1, 2]) // the first is told in a microtask
    await failed
    checkInvariants(queue)
    assert.deepEqual([queue.length, queue.stats().delayed, queue.stats().cancelled], [1, 1, 1])
    await pass(30)
    assert.deepEqual(times(), [20])
  })

  it('is ended once if the clock cancels the job and throws', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, {})
    const { setTimeout } = clock
    clock.setTimeout = () => {
      queue.clear()
      throw new Error('expected')
    }
    const ended = assert.rejects(queue.add(1, { delayMs: 5 }), { code: 'FAIRLANE_ERR_CLEARED' })
    clock.setTimeout = setTimeout
    await ended
    checkInvariants(queue)
    queue.add(2, { delayMs: 5 })
    await pass(10)
    assert.deepEqual([times(), queue.stats().cancelled, clock.timerCount], [[5], 1, 0])
  })

  it('starts no job that the clock cancels when it is due, nor another one in its place', async function () {
    const { queue, clock, pass, times, starts } = startsOf(fairlane, {})
    const { setTimeout } = clock
    const ends = [[1, 10], [2, 10], [3, 20]].map(([payload, delayMs]) => queue.add(payload, { delayMs }))
    clock.setTimeout = (...args) => {
      clock.setTimeout = setTimeout
      queue.remove(({ payload }) => payload === 1)
      return clock.setTimeout(...args)
    }
    clock.advance(10)
    await pass(20)
    checkInvariants(queue)
    const settled = await Promise.allSettled(ends)
    assert.deepEqual(settled.map(({ status }) => status), ['rejected', 'fulfilled', 'fulfilled'])
    assert.deepEqual([times(), starts.map(({ payload }) => payload), clock.timerCount], [[10, 20], [2, 3], 0])
  })

  it('is refused by a clock that gives no number', async function () {
    let now = 0
    const clock = { now: () => now, setTimeout: () => ({}), clearTimeout () {} }
    const queue = fairlane(() => {}, { clock })
    queue.add(1, { delayMs: 5 }).catch(() => {})
    now = NaN
    await assert.rejects(queue.add(2, { delayMs: 5 }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), [1])
    queue.clear()
  })

  it('is over in the end if the clock fails for a job that would come before', async function () {
    let fails = false
    const clock = {
      now: () => performance.now(),
      setTimeout (fn, ms) {
        if (fails) throw new Error('expected')
        return setTimeout(fn, ms)
      },
      clearTimeout
    }
    const queue = fairlane((payload, done) => done(null, payload), { clock, scheduler: 'equal' })
    const others = queue.add('other', { type: 'a', delayMs: 50 })
    fails = true
    await assert.rejects(queue.add('sooner', { type: 'b', delayMs: 1 }), /expected/)
    fails = false
    assert.equal(await others, 'other')
  })

  it('leaves nothing behind of jobs that have gone on, nor of their types', async function () {
    const { queue, pass } = startsOf(fairlane, { scheduler: 'equal' })
    const { list } = internalsOf(queue)
    const add = type => queue.add(1, { type, delayMs: 30 })
    for (let i = 0; i < 1000; i++) {
      add('a')
      add(`type ${i}`)
      await pass(1)
    }
    const { types } = list.delays
    assert(types.size < 50, `${types.size} types`)
    assert(types.get('a').jobs.length < 400, `${types.get('a').jobs.length} places`)
    await pass(50)
    assert.equal(types.size, 0)
  })

  const seed = seedFromEnvironment()

  it(`has each job start at its time, in the order of times and pushes, whatever is removed (SEED=${seed})`, () => playRounds(rounds(20), seed, seeded, play))
})

/** Drives a queue of delayed jobs at random beside a list of what must wait, and of what must have started. */
async function play (random) {
  const scheduler = random.pick([undefined, 'equal'])
  const types = scheduler === undefined ? [undefined] : ['a', 'b', 'c']
  const startsOfType = (starts, type) => starts.filter(start => start.type === type).map(({ payload, at }) => [payload, at])
  const { queue, clock, pass, starts } = startsOf(fairlane, { scheduler, concurrency: Infinity })
  const signals = [new AbortController(), new AbortController()]
  const usual = random.pick([undefined, 10, 30]) // how long all wait that are not to come out of order
  const expected = []
  let waiting = []
  let pushed = 0
  let flushedCount = 0
  let flushes = 0
  const remove = test => { waiting = waiting.filter(job => !test(job)) }
  const inOrder = () => waiting.sort((a, b) => a.dueAt - b.dueAt || a.payload - b.payload).map(({ payload }) => payload)

  for (let i = 0; i < 150; i++) {
    const kind = random.below(100)
    if (kind < 60) {
      const delayMs = usual !== undefined && random.chance(0.8) ? usual : 1 + random.below(40)
      const controller = random.chance(0.15) ? random.pick(signals) : undefined
      const type = random.pick(types)
      const payload = ++pushed
      queue.add(payload, { type, delayMs, signal: controller?.signal }).catch(() => {})
      if (!controller?.signal.aborted) waiting.push({ payload, type, controller, dueAt: clock.now() + delayMs })
    } else if (kind < 68) {
      const odd = random.below(3)
      assert.equal(queue.remove(({ payload }) => payload % 3 === odd), waiting.filter(({ payload }) => payload % 3 === odd).length)
      remove(({ payload }) => payload % 3 === odd)
    } else if (kind < 70) {
      const type = random.pick([...types, undefined])
      queue.clear({ type })
      remove(job => type === undefined || job.type === type)
    } else if (kind < 71) {
      const controller = random.pick(signals)
      controller.abort()
      remove(job => job.controller === controller)
    } else if (kind < 76) {
      flushes++
      queue.fflush(() => flushedCount++)
    } else {
      const end = clock.now() + random.below(15)
      await pass(end - clock.now())
      inOrder()
      while (waiting[0]?.dueAt <= end) expected.push({ ...waiting[0], at: waiting.shift().dueAt })
    }
    checkInvariants(queue)
    assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), inOrder())
    assert.deepEqual([queue.length, queue.stats().delayed, clock.timerCount], [waiting.length, waiting.length, waiting.length > 0 ? 1 : 0])
    if (scheduler) assert.equal(queue.stats('a').delayed, waiting.filter(({ type }) => type === 'a').length)
    // between types the scheduler chooses
    for (const type of types) assert.deepEqual(startsOfType(starts, type), startsOfType(expected, type))
  }
  await pass(50)
  await quiet()
  assert.deepEqual([starts.length, queue.length, clock.timerCount, flushedCount], [expected.length + waiting.length, 0, 0, flushes])
}
