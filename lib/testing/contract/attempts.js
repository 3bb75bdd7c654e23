'use strict'

// What becomes of an attempt: done, failed for good, to be made again, or one that does not count.

const { FairlaneError } = require('../../arguments/errors')
const { Postponed, Throttled } = require('../../job/postponing')
const { equal, expect, reasonOf, rejects } = require('./expect')

const coded = (code, message = 'expected') => Object.assign(new Error(message), { code })

exports.attempts = function ({ test, has }) {
  test('are one by default', [], async stage => {
    if (has('attemptsByDefault')) return
    let count = 0
    const queue = await stage.open(async () => { count++; throw coded('E') }, { settleBy: 'promise', backoffMs: 1 })
    equal((await reasonOf(queue.add(1))).code, 'E')
    equal(count, 1)
  })

  test('are five by default', 'attemptsByDefault', async stage => {
    const seen = []
    const queue = await stage.open((payload, done, { attempt }) => { seen.push(attempt); done(coded('E')) }, { settleBy: 'callback', backoffMs: 1 })
    equal((await reasonOf(queue.add(1))).code, 'E')
    equal(seen, [1, 2, 3, 4, 5])
  })

  test('are as many as the queue says, or the job, and wait for backoffMs', [], async stage => {
    const seen = []
    const asked = []
    const queue = await stage.open((payload, done, { attempt }) => {
      seen.push([payload, attempt])
      done(coded(`E${attempt}`))
    }, { settleBy: 'callback', maxAttempts: 2, backoffMs: (attempt, error) => { asked.push([attempt, error.code]); return 1 } })
    equal((await reasonOf(queue.add('a'))).code, 'E2')
    equal((await reasonOf(queue.add('b', { maxAttempts: 3 }))).code, 'E3')
    equal(seen, [['a', 1], ['a', 2], ['b', 1], ['b', 2], ['b', 3]])
    equal(asked, [[1, 'E1'], [1, 'E1'], [2, 'E2']])
    const { failed, retried } = queue.stats()
    equal([failed, retried], [2, 3])
  })

  test('wait a second after the first one by default', [], async stage => {
    const { gate, queue } = await stage.openGated({ maxAttempts: 2, backoffMs: undefined })
    const retry = stage.next(queue, 'retry')
    stage.add(queue, 1)
    await gate.until(1)
    gate.fail(coded('E'))
    equal((await retry).delayMs, 1000)
  })

  test('are over if backoffMs gives Infinity', [], async stage => {
    const queue = await stage.open((payload, done, { attempt }) => done(coded(`E${attempt}`)), {
      settleBy: 'callback', maxAttempts: 9, backoffMs: attempt => attempt === 2 ? Infinity : 1
    })
    equal((await reasonOf(queue.add(1))).code, 'E2')
  })

  test('that take longer than timeoutMs fail, and their runners are told', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, timeoutMs: 40, maxAttempts: 1 })
    time.begin()
    const result = stage.add(queue, 1)
    await gate.until(1)
    const { signal } = gate.started[0].context
    await rejects(time.passes(40, result), 'TIMEOUT')
    equal([signal.aborted, signal.reason.code], [true, 'FAIRLANE_ERR_TIMEOUT'])
    gate.release()
  })

  test('that fairlane ends fail with a FairlaneError, wherever the job ran', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, timeoutMs: 40, maxAttempts: 1 })
    time.begin()
    const result = stage.add(queue, 1)
    await gate.until(1)
    const error = await rejects(time.passes(40, result), 'TIMEOUT')
    gate.release()
    expect(error instanceof FairlaneError, 'it must be a FairlaneError')
    if (!has('deadLetters')) return
    await stage.until(async () => (await queue.deadLetters()).length === 1)
    const [letter] = await queue.deadLetters()
    expect(letter.error instanceof FairlaneError, 'the error of the dead letter must be a FairlaneError')
  })

  test('take as long as the job says', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, timeoutMs: 600000, maxAttempts: 1 })
    time.begin()
    const result = stage.add(queue, 1, { timeoutMs: 40 })
    await gate.until(1)
    await rejects(time.passes(40, result), 'TIMEOUT')
    gate.release()
  })

  test('that were told of their timeout keep their slot until they end', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, timeoutMs: 40, maxAttempts: 1, concurrency: 1 })
    time.begin()
    const result = stage.add(queue, 1)
    await gate.until(1)
    await rejects(time.passes(40, result), 'TIMEOUT')
    stage.add(queue, 2, { timeoutMs: 60000 })
    await queue.flush()
    await stage.quiet()
    equal([gate.started.length, queue.running], [1, 1])
    gate.release()
    await gate.until(2)
    gate.release()
  })

  test("leave their slot at the timeout with onTimeout: 'release'", [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, timeoutMs: 40, maxAttempts: 1, concurrency: 1, onTimeout: 'release' })
    time.begin()
    const result = stage.add(queue, 1)
    await gate.until(1)
    await rejects(time.passes(40, result), 'TIMEOUT')
    stage.add(queue, 2, { timeoutMs: 60000 })
    await gate.until(2)
    equal(queue.stats().overrun, 1)
    gate.release(2)
    await stage.until(() => queue.stats().overrun === 0)
  })

  test('are not made of jobs that have waited too long', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, maxWaitMs: 40, concurrency: 1 })
    const first = stage.add(queue, 1, { maxWaitMs: Infinity })
    await gate.until(1)
    const ofQueue = stage.add(queue, 2)
    const ofJob = stage.add(queue, 3, { maxWaitMs: 60 })
    await queue.flush()
    if (has('ownTime')) {
      await rejects(time.passes(40, ofQueue), 'MAX_WAIT')
      await rejects(time.passes(20, ofJob), 'MAX_WAIT')
    } else {
      const since = performance.now()
      await stage.until(() => performance.now() - since > 80)
    }
    gate.release()
    await first
    await rejects(ofQueue, 'MAX_WAIT')
    await rejects(ofJob, 'MAX_WAIT')
    equal([gate.started.length, queue.stats().cancelled], [1, 2])
  })

  test('that fail with Postponed come again, and do not count', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, scheduler: 'equal', maxAttempts: 1, concurrency: 1 })
    const result = stage.add(queue, 'first', { type: 't' })
    await gate.until(1)
    stage.add(queue, 'second', { type: 't' })
    await queue.flush()
    time.begin()
    gate.fail(new Postponed(50))
    await gate.until(2)
    equal(gate.started[1].payload, 'second')
    gate.release()
    await time.passes(50, gate.until(3))
    equal([gate.started[2].payload, gate.started[2].context.attempt], ['first', 1])
    gate.release()
    equal(await result, 'first')
    equal(queue.stats().retried, 0)
  })

  test('that fail with Throttled hold their type, which they come back to as the first', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, scheduler: 'equal', maxAttempts: 1, concurrency: 1 })
    const result = stage.add(queue, 'first', { type: 't' })
    await gate.until(1)
    for (const [payload, type] of [['second', 't'], ['other', 'u']]) stage.add(queue, payload, { type })
    await queue.flush()
    time.begin()
    gate.fail(new Throttled(60))
    await gate.until(2)
    equal(gate.started[1].payload, 'other')
    gate.release()
    await time.passes(60, gate.until(3))
    equal([gate.started[2].payload, gate.started[2].context.attempt], ['first', 1])
    gate.release()
    equal(await result, 'first')
    await gate.until(4)
    gate.release()
    const { retried, throttled } = queue.stats()
    equal([retried, throttled], [0, 1])
  })

  test('are told by Throttled in ms, and by Throttled.after in the words of a Retry-After header', [], async () => {
    equal(new Throttled(1500).retryAfterMs, 1500)
    equal(Throttled.after('1.5').retryAfterMs, 1500)
    equal(Throttled.after('2592000').retryAfterMs, 2592000000)
    for (const nothing of [undefined, null, '', 'soon']) equal(Throttled.after(nothing).retryAfterMs, 1000)
    const { retryAfterMs } = Throttled.after(new Date(Date.now() + 100000).toUTCString())
    expect(retryAfterMs > 90000 && retryAfterMs <= 101000, `retryAfterMs is ${retryAfterMs}`)
    expect(Throttled.after('5') instanceof Throttled, 'Throttled.after() must return a Throttled')
  })

  test('that were throttled for long hold for as long', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    stage.add(queue, 1, { type: 't' })
    await gate.until(1)
    const month = 30 * 24 * 3600000
    gate.fail(new Throttled(month))
    await stage.until(async () => await queue.heldMs('t') > month - 60000)
    expect((await queue.counts('t')).heldMs > month - 60000, 'counts(type).heldMs')
  })

  test('whose error says retryAfterMs wait as long with backoff()', [], async stage => {
    const { backoff } = require('../../job/backoff')
    const { gate, queue } = await stage.openGated({ maxAttempts: 2, backoffMs: backoff({ firstMs: 1, jitter: 0 }) })
    const retry = stage.next(queue, 'retry')
    stage.add(queue, 1)
    await gate.until(1)
    gate.fail(Object.assign(coded('E'), { retryAfterMs: 70000 }))
    equal((await retry).delayMs, 70000)
  })
}
