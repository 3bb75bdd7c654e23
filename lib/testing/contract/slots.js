'use strict'

// Functions as jobs, and slots that a caller holds, where an engine has them.

const { equal, reasonOf, rejects, throws } = require('./expect')

exports.slots = function ({ test }) {
  test('run gives what a function returns, and takes the options of add', 'slots', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1 })
    equal(await queue.run(({ type, attempt }) => [type, attempt], { type: 'a' }), ['a', 1])
    equal(await queue.run(async () => 'later', { type: 'a' }), 'later')
    let calls = 0
    const seen = queue.run(async () => {
      if (++calls === 1) throw new Error('expected')
      return calls
    }, { type: 'a', maxAttempts: 2 })
    equal(await seen, 2)
    const { message } = await reasonOf(queue.run(() => { throw new Error('thrown') }, { type: 'a' }))
    equal(message, 'thrown')
    throws(() => queue.run('no function', { type: 'a' }), 'ARGUMENT')
    throws(() => queue.run(equal), 'TYPE_REQUIRED')
  })

  test('acquire gives a slot, which is taken until it is released', 'slots', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1 })
    const slot = await queue.acquire({ type: 'a' })
    equal([slot.type, slot.signal.aborted, queue.running], ['a', false, 1])
    const result = stage.add(queue, 1, { type: 'b' })
    await stage.quiet()
    equal([gate.started.length, queue.waiting], [0, 1])
    slot.release()
    slot.release()
    await gate.until(1)
    gate.started[0].done(null, 'done')
    equal([await result, queue.stats().done, queue.stats().misuse], ['done', 2, 0])
  })

  test('a queue of null has no runner for good', 'slots', async stage => {
    const queue = await stage.open(null, { scheduler: 'equal' })
    for (const call of [() => queue.add(1, { type: 'a' }), () => queue.push(1), () => queue.pushType('a', 1), () => queue.map([])]) throws(call, 'RUNNER')
    equal(await queue.run(() => 1, { type: 'a' }), 1)
    const slot = await queue.acquire({ type: 'a' })
    const refused = reasonOf(queue.acquire({ type: 'a' })) // it waits for a turn of its own
    const closed = queue.close({ drain: false })
    equal(slot.signal.reason.code, 'FAIRLANE_ERR_CLOSED')
    slot.release()
    equal([(await refused).code, await closed], ['FAIRLANE_ERR_CLOSED', 0])
    await rejects(queue.acquire({ type: 'a' }), 'CLOSED')
  })
}
