'use strict'

// Why a job waits: explain(), in the same words on all engines.

const { equal, expect, throws } = require('./expect')

const LONG_MS = 600000

exports.explain = function ({ test, has }) {
  /** @returns {Promise<any>} why, and whether a time above 0 is known */
  async function why (queue, type) {
    const { because, untilMs } = await queue.explain(type)
    expect(untilMs === undefined || (untilMs >= 0 && untilMs <= 2 * LONG_MS), `untilMs is ${untilMs}`)
    return untilMs > 0 ? [because, 'later'] : because
  }

  /** What comes when an engine has looked. */
  const until = (stage, queue, type, because) => stage.until(async () => [await why(queue, type)].flat()[0] === because)

  test('explain(type) says that nothing of it waits', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    const { type, waiting, delayed, running, because, untilMs } = await queue.explain('nobody', { ahead: true })
    equal([type, waiting, delayed, running, because, untilMs], ['nobody', 0, 0, 0, 'idle', undefined])
  })

  test('explain(type) says that all slots are taken, by whom, and how many types may come before', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 2 })
    for (const n of [1, 2]) stage.add(queue, n, { type: 'a' })
    await gate.until(2)
    for (const type of ['b', 'c']) stage.add(queue, 1, { type })
    await queue.flush()
    await until(stage, queue, 'b', 'slots')
    const { holders, ahead, waiting } = await queue.explain('b', { ahead: true })
    equal([holders, waiting], [[{ type: 'a', running: 2 }], 1])
    expect(ahead === 0 || ahead === 1, `${ahead} are ahead`)
  })

  test('explain(type) says that the queue, or the type, is paused', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    queue.pauseType('a')
    stage.add(queue, 1, { type: 'a' })
    await queue.flush()
    equal(await why(queue, 'a'), 'type-paused')
    queue.pause()
    equal(await why(queue, 'a'), 'paused')
  })

  test('explain(type) says that a hold of the type, or of the queue, keeps it back, and until when', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    await queue.hold(LONG_MS)
    stage.add(queue, 1, { type: 'a' })
    await queue.flush()
    equal(await why(queue, 'a'), ['queue-hold', 'later'])
    await queue.holdType('a', LONG_MS)
    equal(await why(queue, 'a'), ['hold', 'later'])
  })

  test('explain(type) says that a rate of the type, or of the queue, is used up, and until when', [], async stage => {
    const rate = { limit: 1, intervalMs: LONG_MS }
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: rate, rate: { ...rate, limit: 2 } })
    for (const n of [1, 2]) stage.add(queue, n, { type: 'a' })
    await gate.until(1)
    await queue.flush()
    await until(stage, queue, 'a', 'rate')
    equal(await why(queue, 'a'), ['rate', 'later'])
    stage.add(queue, 1, { type: 'b' })
    await gate.until(2)
    stage.add(queue, 1, { type: 'c' })
    await queue.flush()
    await until(stage, queue, 'c', 'queue-rate')
    equal(await why(queue, 'c'), ['queue-rate', 'later'])
  })

  test('explain(type) says that the type is at its cap', [], async stage => {
    const caps = has('fleetLimits') ? { globalTypeCap: 1 } : { schedulerOptions: { maxTypeCap: 1 } }
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 3, ...caps })
    for (const n of [1, 2]) stage.add(queue, n, { type: 'a' })
    await gate.until(1)
    await queue.flush()
    await until(stage, queue, 'a', 'cap')
  })

  test('explain(type) tells delayed jobs from one that has failed and is to be tried again', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', maxAttempts: 2, backoffMs: LONG_MS })
    stage.add(queue, 1, { type: 'a', delayMs: LONG_MS })
    stage.add(queue, 1, { type: 'b' })
    await gate.until(1)
    gate.fail(new Error('expected'))
    await queue.flush()
    await until(stage, queue, 'b', 'backoff')
    equal([await why(queue, 'a'), await why(queue, 'b')], [['delayed', 'later'], ['backoff', 'later']])
  })

  test('explain() takes no type without a scheduler', [], async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    equal((await queue.explain()).because, 'idle')
    for (const n of [1, 2]) stage.add(queue, n)
    await gate.until(1)
    await queue.flush()
    await stage.until(async () => (await queue.explain()).because === 'slots')
    if (has('typesWithoutScheduler')) equal((await queue.explain('a')).because, 'idle')
    else throws(() => queue.explain('a'), 'ARGUMENT', 'explain(type)')
  })

  test('explain(type) gives an object at once', 'explainsAtOnce', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    equal(queue.explain('a').because, 'idle')
  })

  test('explain() refuses what is wrong', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const type of [undefined, null, Symbol('a')]) throws(() => queue.explain(type), 'TYPE', String(type))
    for (const options of [{ ahead: 1 }, { before: true }, 5]) throws(() => queue.explain('a', options), 'ARGUMENT', 'the options')
  })
}
