'use strict'

// How a queue comes to its end.

const { equal, rejects, throws } = require('./expect')

exports.closing = function ({ test, has }) {
  /** A queue of which one job runs and one waits. */
  async function filled (stage, options) {
    const { gate, queue } = await stage.openGated({ concurrency: 1, maxAttempts: 1, ...options })
    const results = [stage.add(queue, 'runs')]
    await gate.until(1)
    results.push(stage.add(queue, 'waits'))
    await queue.flush()
    return { gate, queue, results }
  }

  test('close() waits for what runs, and refuses what comes', [], async stage => {
    const { gate, queue } = await stage.openGated()
    const result = stage.add(queue, 1)
    await gate.until(1)
    let isOver = false
    const closing = queue.close().then(count => { isOver = true; return count })
    await rejects(queue.add(2), 'CLOSED')
    await stage.quiet()
    equal([queue.closed, isOver], [true, false])
    gate.release()
    equal(await closing, 0)
    equal(await result, 1)
    equal(await queue.close(), 0)
    await queue[Symbol.asyncDispose]()
  })

  test('close() runs what waits, where it would be lost', [], async stage => {
    if (has('closeKeeps')) return
    const { gate, queue, results } = await filled(stage)
    const closing = queue.close()
    gate.release()
    await gate.until(2)
    gate.release()
    equal([await closing, await Promise.all(results)], [0, ['runs', 'waits']])
  })

  test('close() leaves what waits, for the next opening', 'closeKeeps', async stage => {
    const { gate, queue, results } = await filled(stage)
    const closing = queue.close()
    await stage.quiet()
    gate.release()
    equal(await closing, 0)
    equal(await results[0], 'runs')
    await rejects(results[1], 'CLOSED')
    equal(gate.started.length, 1)
    const seen = []
    const next = await stage.reopen(queue, async payload => { seen.push(payload) }, { settleBy: 'promise' })
    await next.onIdle()
    equal(seen, ['waits'])
  })

  test('close({ drain: true }) runs what waits', 'closeDrains', async stage => {
    const { gate, queue, results } = await filled(stage)
    const closing = queue.close({ drain: true })
    gate.release()
    await gate.until(2)
    gate.release()
    equal([await closing, await Promise.all(results)], [0, ['runs', 'waits']])
  })

  test('close({ drain: true }) is refused where others push, which says what to use', [], async stage => {
    if (has('closeDrains')) return
    const { queue } = await stage.openGated()
    const { message } = throws(() => queue.close({ drain: true }), 'UNSUPPORTED')
    equal(/onIdle/.test(message), true, message)
    equal(queue.closed, false)
  })

  test('close({ drain: false }) cancels what waits and runs', 'closeCancels', async stage => {
    const { gate, queue, results } = await filled(stage)
    equal(await queue.close({ drain: false }), 1)
    for (const result of results) await rejects(result, 'CLOSED')
    equal(gate.started[0].context.signal.reason.code, 'FAIRLANE_ERR_CLOSED')
    gate.release()
  })

  test('what runs may end until timeoutMs, and is told by its signal then', 'closeKeeps', async stage => {
    const time = stage.time()
    const { gate, queue, results } = await filled(stage, time.options)
    const { signal } = gate.started[0].context
    const aborted = new Promise(resolve => signal.addEventListener('abort', resolve))
    time.begin()
    const closing = queue.close({ timeoutMs: 60 })
    await time.passes(60, aborted)
    equal(signal.reason.code, 'FAIRLANE_ERR_CLOSED')
    equal(await closing, 1)
    for (const result of results) await rejects(result, 'CLOSED')
    gate.release()
    const seen = []
    const next = await stage.reopen(queue, (payload, done, { attempt }) => { seen.push([payload, attempt]); done() }, { settleBy: 'callback' })
    await next.onIdle()
    equal(seen.sort(), [['runs', 1], ['waits', 1]])
  })

  test('what runs may end until timeoutMs, and what waits, too', 'closeCancels', async stage => {
    const time = stage.time()
    const { gate, queue, results } = await filled(stage, time.options)
    time.begin()
    const closing = queue.close({ timeoutMs: 60 })
    equal(await time.passes(60, closing), 1)
    for (const result of results) await rejects(result, 'CLOSED')
    gate.release()
  })

  test('what is asked of all jobs has its answer when the queue is closed', 'callsAfterClose', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    await queue.close()
    equal([(await queue.counts()).waiting, await queue.types(), await queue.heldMs(), await queue.clear()], [0, [], 0, 0])
    for (const given of [queue.hold(1), queue.holdType('a', 1), queue.setRates({ rate: null })]) equal(given === queue, true)
    await queue.onIdle()
  })

  test('what is asked of all jobs is refused when the queue is closed, where the broker would have to answer', [], async stage => {
    if (has('callsAfterClose')) return
    const { queue } = await stage.openGated()
    await queue.close()
    for (const method of ['counts', 'types', 'heldMs', 'clear', 'onIdle', 'listSchedules']) await rejects((async () => queue[method]())(), 'CLOSED', method)
    for (const given of [queue.hold(1), queue.holdType('a', 1), queue.setRates({ rate: null })]) await rejects(given, 'CLOSED')
  })

  test('flush() of a queue that has closed resolves: there is nothing left to store', [], async stage => {
    const { queue } = await stage.openGated()
    await queue.close()
    await queue.flush()
  })

  test('calls of a queue that is closed say so', 'lookup', async stage => {
    const { queue } = await stage.openGated()
    const id = await queue.push(1, { delayMs: 600000 })
    await queue.close()
    for (const method of ['get', 'cancel', 'retryDead', 'deleteDead', 'wait']) await rejects((async () => queue[method](id))(), 'CLOSED', method)
    await rejects((async () => queue.deadLetters())(), 'CLOSED', 'deadLetters')
  })
}
