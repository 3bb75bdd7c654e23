'use strict'

// Signals of jobs and of queues.

const { equal, rejects } = require('./expect')

exports.signals = function ({ test, has }) {
  test('cancel a job that waits, or is delayed', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    queue.pause()
    const controller = new AbortController()
    const results = [{}, { delayMs: 600000 }].map(said => stage.add(queue, 1, { ...said, type: 't', signal: controller.signal }))
    await queue.flush()
    const told = stage.listen(queue, 'cancelled')
    controller.abort('why')
    for (const result of results) equal((await rejects(result, 'ABORTED')).cause, 'why')
    await stage.until(async () => (await queue.counts()).waiting === 0)
    await stage.until(() => told.length === 2)
    queue.resume()
    await stage.quiet()
    equal([gate.started.length, queue.stats().cancelled], [0, 2])
  })

  test('end a job that runs as cancelled, and its runner is told', [], async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    const controller = new AbortController()
    const result = stage.add(queue, 1, { signal: controller.signal })
    await gate.until(1)
    const { signal } = gate.started[0].context
    const aborted = new Promise(resolve => signal.addEventListener('abort', resolve))
    controller.abort()
    await rejects(result, 'ABORTED')
    await aborted
    equal(signal.reason.code, 'FAIRLANE_ERR_ABORTED')
    stage.add(queue, 2)
    await stage.quiet()
    equal(gate.started.length, 1)
    gate.release()
    await gate.until(2)
    gate.release()
    await queue.onIdle()
    const { done, failed, cancelled, retried } = queue.stats()
    equal([done, failed, cancelled, retried], [1, 0, 1, 0])
  })

  test('tell why, in the runner and to listeners', 'abortReasons', async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    const told = stage.listen(queue, 'cancelled')
    const [first, second] = [new AbortController(), new AbortController()]
    stage.add(queue, 1, { signal: first.signal })
    await gate.until(1)
    stage.add(queue, 2, { signal: second.signal })
    await queue.flush()
    second.abort('second')
    first.abort('first')
    await stage.until(() => told.length === 2)
    equal(told.map(([, { payload, error }]) => [payload, error.cause]).sort(), [[1, 'first'], [2, 'second']])
    equal(gate.started[0].context.signal.reason.cause, 'first')
    gate.release()
  })

  test('that have aborted already have the job refused', [], async stage => {
    const { gate, queue } = await stage.openGated()
    await rejects(queue.add(1, { signal: AbortSignal.abort() }), 'ABORTED')
    await stage.quiet()
    equal([gate.started.length, queue.stats().rejected, queue.stats().accepted], [0, 1, 0])
  })

  test('that abort when the job is over change nothing', [], async stage => {
    const queue = await stage.open(async payload => payload, { settleBy: 'promise' })
    const controller = new AbortController()
    equal(await queue.add(1, { signal: controller.signal }), 1)
    controller.abort()
    equal(await queue.add(2), 2)
    equal(queue.stats().cancelled, 0)
  })

  test('of a queue close it, as close({ drain: false }) does', [], async stage => {
    const controller = new AbortController()
    const { gate, queue } = await stage.openGated({ concurrency: 1, signal: controller.signal })
    const first = stage.add(queue, 1)
    await gate.until(1)
    const second = stage.add(queue, 2)
    await queue.flush()
    const closed = stage.next(queue, 'close')
    controller.abort('why')
    equal(queue.closed, true)
    const { signal } = gate.started[0].context
    if (has('closeCancels')) {
      equal(await closed, 1)
      equal([signal.aborted, signal.reason.code, signal.reason.cause], [true, 'FAIRLANE_ERR_CLOSED', 'why'])
      await rejects(first, 'CLOSED')
      gate.release()
    } else {
      await stage.quiet()
      equal(signal.aborted, false)
      gate.release()
      equal([await first, await closed], [1, 0])
    }
    for (const promise of [second, queue.add(3)]) equal((await rejects(promise, 'CLOSED')).cause, 'why')
    equal(gate.started.length, 1)
  })
}
