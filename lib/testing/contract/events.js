'use strict'

// Events, each with one object.

const { equal, expect } = require('./expect')

const WITH_JOBS = ['done', 'failed', 'retry', 'cancelled', 'progress']

exports.events = function ({ test, has }) {
  /** What is told of a job, with its id as whether there is one. */
  const shown = ([event, { id, error, ...about }]) => [event, id !== undefined, error?.code ?? error?.message ?? null, about]

  test('done, retry and failed tell of each job', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', maxAttempts: 2 })
    const told = stage.listen(queue, ...WITH_JOBS)
    const results = [stage.add(queue, { n: 1 }, { type: 'a' })]
    await gate.until(1)
    gate.fail(new Error('once'))
    await gate.until(2)
    gate.release()
    await Promise.allSettled(results)
    results.push(stage.add(queue, 'bad', { type: 'b', maxAttempts: 1 }))
    await gate.until(3)
    gate.fail(new Error('for good'))
    await Promise.allSettled(results)
    await stage.until(() => told.length === 3)
    equal(told.map(shown), [
      ['retry', has('ids'), 'once', { type: 'a', payload: { n: 1 }, attempt: 1, delayMs: 1 }],
      ['done', has('ids'), null, { type: 'a', payload: { n: 1 }, attempt: 2, result: { n: 1 } }],
      ['failed', has('ids'), 'for good', { type: 'b', payload: 'bad', attempt: 1 }]
    ])
  })

  test('cancelled tells of jobs that waited, and of those that ran', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1 })
    const told = stage.listen(queue, ...WITH_JOBS)
    const controller = new AbortController()
    const results = [stage.add(queue, 1, { type: 'a', signal: controller.signal })]
    await gate.until(1)
    results.push(stage.add(queue, 2, { type: 'b' }))
    await queue.flush()
    await queue.clear()
    controller.abort()
    await Promise.allSettled(results)
    await stage.until(() => told.length === 2)
    equal(told.map(shown).sort(), [
      ['cancelled', has('ids'), 'FAIRLANE_ERR_ABORTED', { type: 'a', payload: 1, attempt: 1 }],
      ['cancelled', has('ids'), 'FAIRLANE_ERR_CLEARED', { type: 'b', payload: 2, attempt: 0 }]
    ])
    gate.release()
  })

  test('come with one argument', [], async stage => {
    const { gate, queue } = await stage.openGated({ maxAttempts: 2 })
    const counts = new Map()
    for (const event of [...WITH_JOBS, 'close']) queue.on(event, (...args) => { counts.set(event, args.length) })
    stage.add(queue, 1)
    await gate.until(1)
    gate.started[0].context.progress(1)
    gate.fail(new Error('once'))
    await gate.until(2)
    gate.release()
    stage.add(queue, 2, { maxAttempts: 1 })
    await gate.until(3)
    gate.fail(new Error('for good'))
    await stage.until(() => counts.has('failed'))
    queue.pause()
    stage.add(queue, 3)
    await queue.flush()
    await queue.clear()
    await queue.close({ timeoutMs: 0 })
    equal([...counts].sort(), [...WITH_JOBS, 'close'].sort().map(event => [event, 1]))
  })

  test('close tells how many runners had not ended', [], async stage => {
    const { gate, queue } = await stage.openGated()
    stage.add(queue, 1)
    await gate.until(1)
    const closed = stage.next(queue, 'close')
    equal(await queue.close({ timeoutMs: 0 }), 1)
    equal(await closed, 1)
    gate.release()
  })

  test('come to listeners that push', [], async stage => {
    const queue = await stage.open(async payload => payload, { settleBy: 'promise' })
    const over = new Promise(resolve => queue.on('done', ({ result }) => {
      if (result < 5) stage.add(queue, result + 1)
      else resolve()
    }))
    stage.add(queue, 1)
    await over
    equal(queue.stats().done, 5)
  })

  test('saturated and drain come where a process sees all that waits', 'saturation', async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1, maxWaiting: 1 })
    const told = []
    for (const event of ['saturated', 'unsaturated', 'drain']) queue.on(event, () => { told.push(event) })
    stage.add(queue, 1)
    await gate.until(1)
    stage.add(queue, 2)
    await queue.flush()
    stage.add(queue, 3)
    gate.release()
    await gate.until(2)
    gate.release()
    await stage.until(() => told.includes('drain'))
    expect(told.indexOf('saturated') === 0 && told.indexOf('unsaturated') > 0, `the events came in the order ${told}`)
  })
}
