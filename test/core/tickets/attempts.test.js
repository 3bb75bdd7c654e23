'use strict'

const assert = require('node:assert')
const fairlane = require('../../..')
const { Postponed, Throttled } = require('../../..')
const { History } = require('../../../lib/history')
const { checkInvariants } = require('../../../lib/testing')
const { setPace } = require('../../support/pace')
const { startsOf } = require('../../support/starts')
const { quiet } = require('../../support/turns')
const { captureUncaught } = require('../../support/uncaught')

const ERROR = new Error('expected')
const WINDOWS = { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }

/** A runner that fails so many times, and then is done with the number of the attempt. */
function failing (count, error = () => ERROR) {
  return (payload, done, { attempt }) => --count >= 0 ? done(error()) : done(null, attempt)
}

describe('the option maxAttempts', function () {
  for (const scheduler of [undefined, 'equal', WINDOWS]) {
    const type = scheduler && 'a'
    const name = scheduler === WINDOWS ? 'windows' : scheduler ?? 'no scheduler'

    it(`has a job that fails tried again, after a while (${name})`, async function () {
      const { queue, pass, times, starts } = startsOf(fairlane, { scheduler, maxAttempts: 3, backoffMs: 100 }, failing(2))
      const told = []
      const retried = []
      queue.on('retry', about => retried.push(about))
      queue.on('failed', () => told.push('failed'))
      if (type) queue.pushType(type, 'p', (err, result) => told.push(err, result))
      else queue.push('p', (err, result) => told.push(err, result))
      await pass(50)
      checkInvariants(queue)
      const { waiting, running, delayed, failed, retried: count } = queue.stats()
      assert.deepEqual([waiting, running, delayed, failed, count, queue.length], [1, 0, 1, 0, 1, 1])
      assert.deepEqual([...queue.jobs()], [{ type, payload: 'p' }])
      await pass(500)
      checkInvariants(queue)
      assert.deepEqual(times(), [0, 100, 200])
      assert.deepEqual(starts.map(({ attempt }) => attempt), [1, 2, 3])
      assert.deepEqual(told, [null, 3])
      assert.deepEqual(retried, [1, 2].map(attempt => ({ id: undefined, type, payload: 'p', attempt, error: ERROR, delayMs: 100 })))
      assert.deepEqual([queue.stats().done, queue.stats().failed, queue.stats().retried], [1, 0, 2])
    })

    it(`tells the last error, once, when there is no attempt left (${name})`, async function () {
      const { queue, pass, times } = startsOf(fairlane, { scheduler, maxAttempts: 2, backoffMs: 10 }, async () => { throw ERROR })
      const failed = []
      queue.on('failed', about => failed.push(about))
      const result = assert.rejects(queue.add('p', { type }), ERROR)
      let isIdle = false
      queue.onIdle().then(() => { isIdle = true })
      await pass(9)
      assert.equal(isIdle, false)
      await pass(100)
      await result
      assert.deepEqual([times(), isIdle, failed], [[0, 10], true, [{ id: undefined, type, payload: 'p', attempt: 2, error: ERROR }]])
      assert.equal(queue.stats().failed, 1)
      checkInvariants(queue)
    })
  }

  it('has the job start before those that wait', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { concurrency: 1, maxAttempts: 2, backoffMs: 10 }, failing(1))
    queue.push('a')
    await pass(5)
    queue.pause().push('b').push('c')
    await pass(5)
    queue.resume(1)
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), ['a', 'a', 'b', 'c'])
  })

  it('may differ by job', async function () {
    const { queue, pass, times } = startsOf(fairlane, { backoffMs: 10 }, failing(Infinity))
    const added = [queue.add(1, { maxAttempts: 3 }), queue.add(2), queue.add(3, { delayMs: 5, maxAttempts: 1 })]
    const results = added.map(result => assert.rejects(result, ERROR))
    await pass(100)
    await Promise.all(results)
    assert.deepEqual(times(), [0, 0, 5, 10, 20])
  })

  it('is checked', function () {
    for (const maxAttempts of [0, 1.5, NaN, '2', null]) {
      assert.throws(() => fairlane(() => {}, { maxAttempts }), { code: 'FAIRLANE_ERR_OPTION' })
      assert.throws(() => fairlane(() => {}).add(1, { maxAttempts }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    assert.throws(() => fairlane(() => {}, { backoffMs: -1 }), { code: 'FAIRLANE_ERR_OPTION' })
  })

  for (const onTimeout of ['hold', 'release']) {
    it(`gives each attempt a time limit and a signal of its own (${onTimeout})`, async function () {
      const signals = []
      const options = { maxAttempts: 2, backoffMs: 10, timeoutMs: 50, onTimeout, concurrency: 3 }
      const { queue, pass, times } = startsOf(fairlane, options, (payload, done, { signal }) => {
        signals.push(signal)
      })
      const result = assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_TIMEOUT' })
      await pass(55)
      checkInvariants(queue)
      assert.deepEqual(signals.map(({ aborted }) => aborted), [true])
      await pass(10)
      assert.deepEqual(signals.map(({ aborted }) => aborted), [true, false])
      checkInvariants(queue)
      await pass(100)
      await result
      assert.deepEqual(times(), [0, 60])
      assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true])
      assert.equal(queue.stats().failed, 1)
      queue.close({ drain: false })
    })
  }

  for (const options of [{}, { asyncContext: 'push' }, { maxWaitMs: 10 }]) {
    it(`limits no time of a job without a limit, though the queue has one (${JSON.stringify(options)})`, async function () {
      const postponed = new Set()
      const { queue, clock, pass, starts } = startsOf(fairlane, { timeoutMs: 30, ...options }, (payload, done) => {
        const error = postponed.has(payload) ? null : new Postponed(5)
        postponed.add(payload)
        clock.setTimeout(() => done(error, payload), 50)
      })
      const unlimited = { timeoutMs: Infinity, maxWaitMs: Infinity }
      const results = [unlimited, { ...unlimited, delayMs: 5 }, { ...unlimited, delayMs: 5, unshift: true }, { ...unlimited, key: 'k' }].map((options, i) => queue.add(i, options))
      for (const delayMs of [undefined, 5]) results.push(assert.rejects(queue.add('limited', { delayMs }), { code: 'FAIRLANE_ERR_TIMEOUT' }))
      await pass(500)
      assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, undefined, undefined])
      assert.equal(starts.length, 10)
      checkInvariants(queue)
    })
  }

  it('ends by the signal of the job, by clear and by close', async function () {
    const { queue, clock, pass, times } = startsOf(fairlane, { maxAttempts: 9, backoffMs: 100 }, failing(Infinity))
    const controller = new AbortController()
    const ends = [
      assert.rejects(queue.add(1, { signal: controller.signal }), { code: 'FAIRLANE_ERR_ABORTED' }),
      assert.rejects(queue.add(2), { code: 'FAIRLANE_ERR_CLEARED' }),
      assert.rejects(queue.add(3), { code: 'FAIRLANE_ERR_CLOSED' })
    ]
    await pass(10)
    controller.abort()
    checkInvariants(queue)
    assert.equal(queue.remove(({ payload }) => payload === 2), 1)
    checkInvariants(queue)
    queue.close({ drain: false })
    await Promise.all(ends)
    assert.deepEqual([times(), clock.timerCount], [[0, 0, 0], 0])
  })

  it('has no job tried again that was aborted, or whose queue was closed, inside its runner', async function () {
    const controller = new AbortController()
    const run = startsOf(fairlane, { maxAttempts: 9 }, (payload, done) => { controller.abort(); done(ERROR) })
    const closing = startsOf(fairlane, { maxAttempts: 9 }, (payload, done) => { closing.queue.close({ drain: false }); done(ERROR) })
    const ends = [assert.rejects(run.queue.add(1, { signal: controller.signal }), ERROR), assert.rejects(closing.queue.add(1), ERROR)]
    await quiet()
    await Promise.all(ends)
    for (const { queue, clock } of [run, closing]) {
      checkInvariants(queue)
      assert.deepEqual([queue.length, clock.timerCount], [0, 0])
    }
  })

  it('is waited for by flushes and by close', async function () {
    const { queue, pass } = startsOf(fairlane, { maxAttempts: 3, backoffMs: 10, scheduler: 'fair' }, failing(2))
    let isFlushed = false
    queue.pushType('a', 1)
    queue.fflush(() => { isFlushed = true })
    const closed = queue.close()
    await pass(15)
    assert.equal(isFlushed, false)
    checkInvariants(queue)
    await pass(10)
    assert.equal(isFlushed, true)
    assert.equal(await closed, 0)
  })
})

describe('the option backoffMs', function () {
  it('is asked with the attempt and its error, and says Infinity for no more', async function () {
    const asked = []
    const backoffMs = (attempt, error) => {
      asked.push([attempt, error])
      return attempt === 2 ? Infinity : 10
    }
    const { queue, pass, times } = startsOf(fairlane, { maxAttempts: 9, backoffMs, scheduler: 'equal' }, failing(Infinity))
    const failed = []
    queue.on('failed', ({ error, attempt }) => failed.push(error, attempt))
    const result = assert.rejects(queue.add(1, { type: 'a' }), ERROR)
    queue.fflush(() => failed.push('flushed'))
    await pass(100)
    await result
    assert.deepEqual([asked, times(), failed], [[[1, ERROR], [2, ERROR]], [0, 10], [ERROR, 2, 'flushed']])
    assert.deepEqual([queue.stats().failed, queue.stats().retried, queue.length], [1, 1, 0])
    checkInvariants(queue)
  })

  it('may clear the queue and say that there is no more', async function () {
    const retried = []
    const { queue, pass, times } = startsOf(fairlane, { maxAttempts: 9, scheduler: 'equal', backoffMs: () => { queue.clear(); return Infinity } }, failing(Infinity))
    queue.on('retry', about => retried.push(about))
    const result = assert.rejects(queue.add('p', { type: 'a' }), { code: 'FAIRLANE_ERR_CLEARED' })
    await pass(10)
    await result
    checkInvariants(queue)
    const { failed, cancelled, retried: count } = queue.stats()
    assert.deepEqual([times(), failed, cancelled, count, retried], [[0], 0, 1, 0, []])
  })

  it('may clear and close', async function () {
    for (const end of [queue => queue.clear(), queue => queue.close({ drain: false })]) {
      const backoffMs = () => { checkInvariants(queue); end(queue); return 10 }
      const { queue, clock, pass, times } = startsOf(fairlane, { maxAttempts: 9, backoffMs }, failing(Infinity))
      const result = assert.rejects(queue.add(1), ({ code }) => /CLEARED|CLOSED/.test(code))
      await pass(100)
      await result
      assert.deepEqual([times(), clock.timerCount, queue.length], [[0], 0, 0])
    }
  })

  it('is the default where it throws or gives no time, and that is an uncaught exception', async function () {
    const uncaught = captureUncaught()
    try {
      const answers = [() => { throw ERROR }, () => 'soon']
      const { queue, pass, times } = startsOf(fairlane, { maxAttempts: 3, backoffMs: attempt => answers[attempt - 1]() }, failing(2))
      queue.push(1)
      await pass(10000)
      await uncaught.until(2)
      assert.deepEqual(times(), [0, 1000, 3000])
      assert.deepEqual(uncaught.seen.map(({ code, message }) => code ?? message), ['expected', 'FAIRLANE_ERR_OPTION'])
    } finally {
      uncaught.release()
    }
  })
})

describe('Throttled', function () {
  it('holds the type, whose first job is tried again, without counting the attempt', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1 }, failing(1, () => new Throttled(100)))
    const results = ['a1', 'a2'].map(payload => queue.add(payload, { type: 'a' }))
    queue.pushType('b', 'b1')
    await pass(50)
    checkInvariants(queue)
    assert.deepEqual([queue.stats().heldTypes, queue.stats().throttled, queue.stats().retried, queue.stats().delayed], [1, 1, 0, 0])
    await pass(100)
    assert.deepEqual(starts.map(({ payload, attempt, at }) => `${payload} ${attempt} ${at}`), ['a1 1 0', 'b1 1 0', 'a1 1 100', 'a2 1 100'])
    assert.deepEqual(await Promise.all(results), [1, 1])
  })

  it('holds the queue where there are no types, and no hold becomes shorter by it', async function () {
    for (const scheduler of [undefined, WINDOWS, 'equal']) {
      const errors = [new Throttled(100), new Throttled(10)]
      const runner = (payload, done) => { setImmediate(() => done(errors.shift())) }
      const { queue, pass, times } = startsOf(fairlane, { scheduler, concurrency: 2 }, runner)
      setPace(queue, 'all at once') // two jobs end in one turn
      for (const payload of [1, 2]) queue.add(payload, { type: 'a' })
      await pass(200)
      assert.deepEqual(times(), [0, 0, 100, 100])
    }
  })

  it('leaves the job to its signal', async function () {
    const { queue, clock, pass } = startsOf(fairlane, { scheduler: 'equal' }, failing(1, () => new Throttled(100)))
    const controller = new AbortController()
    const result = assert.rejects(queue.add(1, { type: 'a', signal: controller.signal }), { code: 'FAIRLANE_ERR_ABORTED' })
    await pass(10)
    controller.abort()
    await result
    assert.deepEqual([queue.length, clock.timerCount], [0, 0])
    checkInvariants(queue)
  })
})

describe('Postponed', function () {
  it('delays the job without counting the attempt, while others of its type go on', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1 }, failing(1, () => new Postponed(100)))
    queue.pushType('a', 'a1').pushType('a', 'a2')
    await pass(200)
    assert.deepEqual(starts.map(({ payload, attempt, at }) => `${payload} ${attempt} ${at}`), ['a1 1 0', 'a2 1 0', 'a1 1 100'])
    assert.deepEqual([queue.stats().done, queue.stats().retried], [2, 0])
  })
})

describe('a runner of a queue with limits', function () {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  const unreadable = () => new Proxy(new Throttled(5), { getPrototypeOf () { throw ERROR }, get () { throw ERROR } })
  const kinds = { 'a revoked Proxy': revoked, 'a Proxy that throws at any look': unreadable, 'no real Throttled': () => Object.create(Throttled.prototype) }

  for (const maxAttempts of [1, 2]) {
    for (const [name, make] of Object.entries(kinds)) {
      it(`may fail with ${name}, as with any error (maxAttempts: ${maxAttempts})`, async function () {
        const history = new History()
        const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1, maxAttempts, backoffMs: 10, observers: history }, (payload, done) => done(make()))
        const told = []
        queue.pushType('a', 1, err => told.push(Boolean(err)))
        queue.add(2, { type: 'a' }).then(() => told.push(false), () => told.push(true))
        await pass(100)
        checkInvariants(queue)
        assert.deepEqual([told, starts.length, queue.stats().failed, queue.stats().throttled], [[true, true], 2 * maxAttempts, 2, 0])
        assert.equal(history.counts().failed, 2)
      })
    }
  }
})
