'use strict'

// What outlives a process: one that closes its queue, and one that is killed.

const { equal, rejects } = require('./expect')

exports.survival = function ({ test, has }) {
  test('leaves jobs with all that was said of them, and dead letters', ['survival', 'lookup'], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', maxAttempts: 1 })
    const failed = stage.next(queue, 'failed')
    const dead = await queue.pushType('t', 'dead')
    await gate.until(1)
    gate.fail(Object.assign(new Error('expected'), { code: 'E' }))
    await failed
    queue.pause()
    const said = { key: 'k', keyUntil: 'settled' }
    const ids = [await queue.pushType('t', 1, said), await queue.pushType('t', 2, { delayMs: 600000, key: 'l' }), await queue.unshiftType('u', 3)]
    const { dueAt } = await queue.get(ids[1])
    await queue.close()

    const seen = []
    const next = await stage.reopen(queue, (payload, done, { id, type, attempt }) => {
      seen.push([id, type, payload, attempt])
      done()
    }, { settleBy: 'callback', scheduler: 'equal', concurrency: 1 })
    equal((await next.deadLetters()).map(({ id, payload, error }) => [id, payload, error.code]), [[dead, 'dead', 'E']])
    const { state, dueAt: still } = await next.get(ids[1])
    equal([state, still], ['delayed', dueAt])
    equal(await next.pushType('t', 'other', { key: 'l' }), ids[1])
    await stage.until(() => seen.length === 2)
    equal(seen.sort(([, one], [, other]) => one.localeCompare(other)), [[ids[0], 't', 1, 1], [ids[2], 'u', 3, 1]])
    equal(await next.cancel(ids[1]), true)
  })

  test('with another serializer the queue is refused', 'serialize', async stage => {
    const { gate, queue } = await stage.openGated({ serialize: 'json' })
    queue.pause()
    await queue.push(1)
    await queue.close()
    await rejects(stage.reopen(queue, gate.runner, { settleBy: 'callback', serialize: 'structured' }), 'SERIALIZER')
  })

  test('of a process that is killed has its job run again, and its attempt counts', 'survival', async stage => {
    const { queue } = await stage.openGated({ maxAttempts: 3 })
    queue.pause()
    const id = await queue.push('poor')
    await stage.crash(queue)
    const { gate } = await gatedAgain(stage, queue)
    await gate.until(1)
    const [{ payload, context }] = gate.started
    equal([payload, context.id, context.attempt], ['poor', id, 2])
    gate.release()
  })

  test('of a process that is killed makes a dead letter of a job without further attempts', 'deadLetters', async stage => {
    const { queue } = await stage.openGated()
    queue.pause()
    const id = await queue.push('poor', { maxAttempts: 1 })
    await stage.crash(queue)
    const { queue: next } = await gatedAgain(stage, queue)
    await stage.until(async () => (await next.deadLetters()).length === 1)
    const [letter] = await next.deadLetters()
    equal([letter.id, letter.payload, letter.error.code], [id, 'poor', 'FAIRLANE_ERR_CRASHED'])
  })

  async function gatedAgain (stage, queue) {
    const { gateRunner } = require('../gates')
    const gate = gateRunner()
    return { gate, queue: await stage.reopen(queue, gate.runner, { settleBy: 'callback', ...has('processes') && { leaseMs: 1000 } }) }
  }
}
