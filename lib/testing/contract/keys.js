'use strict'

// Keys of jobs: how long they are taken, and what comes of a job whose key is.

const { equal, expect, reasonOf, rejects, throws } = require('./expect')

const KEYS = [['k', 'k'], ['', ''], ['__proto__', '__proto__'], [7, '7'], [-0.5, '-0.5'], [0, '0'], [-0, '0'], [1e21, '1e+21']]
const NO_KEYS = [null, NaN, Infinity, true, 1n, Symbol('k'), {}, [], new Date(0), equal, { toString: equal }]

exports.keys = function ({ test, has }) {
  const both = async promises => (await Promise.allSettled(promises)).map(({ status, value, reason }) => status === 'fulfilled' ? value : reason.code)

  test('are strings and finite numbers, and nothing else', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    for (const key of NO_KEYS) throws(() => queue.add(1, { type: 't', key }), 'ARGUMENT', `the key ${typeof key === 'symbol' ? 'Symbol(k)' : typeof key}`)
    queue.pause()
    for (const [key, text] of KEYS) {
      const results = [stage.add(queue, text, { type: 't', key }), stage.add(queue, 'joined', { type: 't', key: text })]
      await queue.flush()
      queue.resume(1)
      await gate.until(gate.started.length + 1)
      gate.release()
      equal(await Promise.all(results), [text, text])
      queue.pause()
    }
    equal(queue.stats().joined, KEYS.length)
  })

  test('are those of one type', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    const results = ['a', 'b'].map(type => stage.add(queue, type, { type, key: 'k' }))
    await gate.until(2)
    gate.release(2)
    equal(await Promise.all(results), ['a', 'b'])
  })

  test('are taken until the first start by default', [], async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    queue.pause()
    const results = [stage.add(queue, 1, { key: 'k' }), stage.add(queue, 2, { key: 'k' })]
    await queue.flush()
    queue.resume(2)
    await gate.until(1)
    results.push(stage.add(queue, 3, { key: 'k' }))
    await gate.until(2)
    gate.release(2)
    equal(await Promise.all(results), [1, 1, 3])
  })

  test("are taken during the run with keyUntil: 'settled', and free when the job is done", [], async stage => {
    const { gate, queue } = await stage.openGated()
    const said = { key: 'k', keyUntil: 'settled' }
    const results = [stage.add(queue, 1, said)]
    await gate.until(1)
    results.push(stage.add(queue, 2, said))
    await queue.flush()
    gate.release()
    equal(await Promise.all(results), [1, 1])
    const third = stage.add(queue, 3, said)
    await gate.until(2)
    gate.release()
    equal(await third, 3)
  })

  test("are free with keyUntil: 'settled' when the job has failed for good", [], async stage => {
    const { gate, queue } = await stage.openGated({ maxAttempts: 1 })
    const said = { key: 'k', keyUntil: 'settled' }
    const first = stage.add(queue, 1, said)
    await gate.until(1)
    gate.fail(Object.assign(new Error('expected'), { code: 'E' }))
    equal((await reasonOf(first)).code, 'E')
    const second = stage.add(queue, 2, said)
    await gate.until(2)
    gate.release()
    equal(await second, 2)
  })

  test('that are taken meanwhile have retryDead give false', 'deadLetters', async stage => {
    const { gate, queue } = await stage.openGated({ maxAttempts: 1 })
    const said = { key: 'k', keyUntil: 'settled' }
    const failed = stage.next(queue, 'failed')
    const id = await queue.push(1, said)
    await gate.until(1)
    gate.fail(new Error('expected'))
    await failed
    const other = await queue.push(2, said)
    expect(other !== id, 'the key must be free again')
    equal(await queue.retryDead(id), false)
    await gate.until(2)
    gate.release()
    await queue.onIdle()
    equal(await queue.retryDead(id), true)
    await gate.until(3)
    gate.release()
  })

  test('are taken for so many ms with a number, from the push on, and their sharers get its outcome', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options })
    const said = { key: 'k', keyUntil: has('ownTime') ? 200 : 1500 }
    const first = stage.add(queue, 1, said)
    await gate.until(1)
    const second = stage.add(queue, 2, said)
    await queue.flush()
    gate.release()
    equal(await both([first, second]), [1, 1])
    const third = await both([queue.add(3, said)])
    expect([1, 'FAIRLANE_ERR_RESULT'].includes(third[0]), `it settled with ${third[0]}`)
    equal(gate.started.length, 1)
    let fourth
    if (has('ownTime')) {
      time.options.clock.advance(200)
      fourth = stage.add(queue, 4, said)
    } else {
      await stage.until(() => {
        fourth = stage.add(queue, 4, said)
        return queue.flush().then(() => stage.quiet()).then(() => gate.started.length > 1)
      })
    }
    await gate.until(2)
    gate.release()
    equal(await fourth, 4)
  })

  test('with a number are taken until the job has started, at least', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options })
    const said = { key: 'k', keyUntil: 5 }
    queue.pause()
    const first = stage.add(queue, 1, said)
    await queue.flush()
    time.begin()
    const later = new Promise(resolve => (time.options.clock ?? globalThis).setTimeout(resolve, 50))
    await time.passes(50, later)
    const second = stage.add(queue, 2, said)
    await queue.flush()
    queue.resume(10)
    await gate.until(1)
    gate.release()
    equal(await Promise.all([first, second]), [1, 1])
  })

  test('with a number stay taken if the job is aborted while it runs, and are free if it is before', [], async stage => {
    const { gate, queue } = await stage.openGated()
    const said = { key: 'k', keyUntil: 600000 }
    const during = new AbortController()
    const first = stage.add(queue, 1, { ...said, signal: during.signal })
    await gate.until(1)
    during.abort()
    await rejects(first, 'ABORTED')
    const [second] = await both([queue.add(2, said)])
    expect(['FAIRLANE_ERR_ABORTED', 'FAIRLANE_ERR_RESULT'].includes(second), `it settled with ${second}`)
    equal(gate.started.length, 1)
    gate.release()

    queue.pause()
    const before = new AbortController()
    const third = stage.add(queue, 3, { ...said, key: 'l', signal: before.signal })
    await queue.flush()
    before.abort()
    await rejects(third, 'ABORTED')
    await stage.until(async () => (await queue.counts()).waiting === 0)
    const fourth = stage.add(queue, 4, { ...said, key: 'l' })
    queue.resume(10)
    await gate.until(2)
    gate.release()
    equal(await fourth, 4)
  })

  test('with a number are free if the job has waited for too long', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, concurrency: 1 })
    const said = { key: 'k', keyUntil: 600000 }
    const runs = stage.add(queue, 'runs')
    await gate.until(1)
    const late = stage.add(queue, 'late', { ...said, maxWaitMs: 40 })
    await queue.flush()
    if (has('ownTime')) {
      await rejects(time.passes(40, late), 'MAX_WAIT')
    } else {
      await new Promise(resolve => setTimeout(resolve, 80))
    }
    gate.release()
    await runs
    await rejects(late, 'MAX_WAIT')
    const again = stage.add(queue, 'again', said)
    await gate.until(2)
    gate.release()
    equal(await again, 'again')
  })

  test('are free if the job is cleared before it starts', [], async stage => {
    const { gate, queue } = await stage.openGated()
    queue.pause()
    const first = stage.add(queue, 1, { key: 'k', keyUntil: 600000 })
    await queue.flush()
    equal(await queue.clear(), 1)
    await rejects(first, 'CLEARED')
    const second = stage.add(queue, 2, { key: 'k', keyUntil: 600000 })
    queue.resume(1)
    await gate.until(1)
    gate.release()
    equal(await second, 2)
  })

  test('are free when the job is told of its timeout, though its runner goes on', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, maxAttempts: 1, timeoutMs: 40 })
    const said = { key: 'k', keyUntil: 'settled' }
    time.begin()
    const first = stage.add(queue, 1, said)
    await gate.until(1)
    await rejects(time.passes(40, first), 'TIMEOUT')
    const second = stage.add(queue, 2, said)
    await gate.until(2)
    gate.release(2)
    equal(await second, 2)
  })

  test("that are taken replace the payload of the job with onDuplicate: 'replace'", [], async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    queue.pause()
    const said = { key: 'k', onDuplicate: 'replace' }
    const results = [stage.add(queue, 'old', said), stage.add(queue, 'between'), stage.add(queue, 'new', said)]
    await queue.flush()
    queue.resume(1)
    await gate.until(1)
    gate.release()
    await gate.until(2)
    gate.release()
    equal(await Promise.all(results), ['new', 'between', 'new'])
  })

  test("join a job that runs, with 'replace' and 'postpone'", [], async stage => {
    const { gate, queue } = await stage.openGated()
    const said = { key: 'k', keyUntil: 'settled' }
    const results = [stage.add(queue, 1, said)]
    await gate.until(1)
    results.push(stage.add(queue, 2, { ...said, onDuplicate: 'replace' }), stage.add(queue, 3, { ...said, onDuplicate: 'postpone' }))
    await queue.flush()
    gate.release()
    equal(await Promise.all(results), [1, 1, 1])
    equal(gate.started.length, 1)
  })

  test("put the job off with onDuplicate: 'postpone', until maxDelayMs at most", [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options })
    const said = { key: 'k', onDuplicate: 'postpone', delayMs: 700, maxDelayMs: 800 }
    time.begin()
    const results = [stage.add(queue, 1, said)]
    await queue.flush()
    results.push(stage.add(queue, 2, { ...said, delayMs: 600000 }))
    await time.passes(800, gate.until(1))
    gate.release()
    equal(await Promise.all(results), [2, 2])
  })

  test("put the job off with onDuplicate: 'postpone'", [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options })
    const first = stage.add(queue, 1, { key: 'k', onDuplicate: 'postpone', delayMs: 600000 })
    await queue.flush()
    time.begin()
    const second = stage.add(queue, 2, { key: 'k', onDuplicate: 'postpone', delayMs: 60 })
    await time.passes(60, gate.until(1))
    gate.release()
    equal(await Promise.all([first, second]), [2, 2])
  })

  test('give sharers with signals of their own: the job goes when all have left it', [], async stage => {
    const { gate, queue } = await stage.openGated()
    queue.pause()
    const [one, two] = [new AbortController(), new AbortController()]
    const said = { key: 'k', keyUntil: 'settled' }
    const results = [stage.add(queue, 1, { ...said, signal: one.signal }), stage.add(queue, 1, { ...said, signal: two.signal })]
    await queue.flush()
    one.abort()
    await rejects(results[0], 'ABORTED')
    await queue.flush()
    equal((await queue.counts()).waiting, 1)
    two.abort()
    await rejects(results[1], 'ABORTED')
    await stage.until(async () => (await queue.counts()).waiting === 0)
    equal(gate.started.length, 0)
  })
}
