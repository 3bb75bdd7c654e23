'use strict'

// What is asked of single jobs by their ids, and what is done with those that will not be tried again.

const { equal, expect, reasonOf, rejects, throws } = require('./expect')

const coded = code => Object.assign(new RangeError('expected'), { code })

exports.single = function ({ test, has }) {
  /** An id that no job has. */
  const unknownId = () => has('risingIds') ? 987654321 : 't:nobody'

  test('get gives a job that waits, runs, is delayed, or is dead', 'lookup', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1, maxAttempts: 2, backoffMs: 600000 })
    const runs = await queue.pushType('t', { n: 1 })
    await gate.until(1)
    const waits = await queue.pushType('t', 2)
    const common = { type: 't', attempts: 0, dueAt: undefined, error: undefined }
    for (const [id, state, payload] of [[runs, 'running', { n: 1 }], [waits, 'waiting', 2]]) {
      const found = await queue.get(id)
      equal({ ...common, id, state, payload }, Object.fromEntries(['type', 'attempts', 'dueAt', 'error', 'id', 'state', 'payload'].map(name => [name, found[name]])))
    }
    const retry = stage.next(queue, 'retry')
    gate.fail(coded('E_OWN'))
    await retry
    const { state, attempts, error, dueAt } = await queue.get(runs)
    equal([state, attempts, error.name, error.code], ['delayed', 1, 'RangeError', 'E_OWN'])
    expect(Math.abs(dueAt - Date.now() - 600000) < 60000, `due at ${dueAt}`)
    equal(await queue.get(unknownId()), undefined)
  })

  test('listRunning gives the jobs that run, those first that have run longest', 'lookup', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 2, maxAttempts: 2, backoffMs: 1 })
    equal(await queue.listRunning(), [])
    const ids = []
    for (const [i, type] of ['a', 'b', 'a'].entries()) {
      ids.push(await queue.pushType(type, 'x'.repeat(1000)))
      if (i < 2) await gate.until(i + 1)
    }
    const shown = async options => (await queue.listRunning(options)).map(({ id, type, attempt, overdue }) => [id, type, attempt, overdue])
    // at a broker a job that was taken and waits for a slot here is among them; and two may have been taken in one ms
    const both = [[ids[0], 'a', 1, false], [ids[1], 'b', 1, false]]
    equal((await shown()).slice(0, 2).sort(([, a], [, b]) => a.localeCompare(b)), both)
    equal([await shown({ type: 'b' }), (await shown({ limit: 1 })).length], [both.slice(1), 1])
    equal(await shown({ type: 'none' }), [])
    gate.fail(coded('E_OWN'))
    await gate.until(3)
    gate.release()
    await gate.until(4)
    await stage.until(async () => (await shown()).length === 2)
    equal((await shown()).sort(([, , a], [, , b]) => a - b), [[ids[2], 'a', 1, false], [ids[0], 'a', 2, false]])
    for (const options of [{ limit: 0 }, { limit: 1.5 }, { more: 1 }, 5]) throws(() => queue.listRunning(options), 'ARGUMENT')
    while (gate.open.length > 0) gate.release()
  })

  test('get has the last progress of a job', 'lastProgress', async stage => {
    const { gate, queue } = await stage.openGated()
    const told = stage.next(queue, 'progress')
    const id = await queue.push(1)
    await gate.until(1)
    gate.started[0].context.progress({ percent: 40 })
    equal((await told).value, { percent: 40 })
    await stage.until(async () => (await queue.get(id))?.progress !== undefined)
    equal((await queue.get(id)).progress, { percent: 40 })
    gate.release()
  })

  test('cancel takes a job away that waits or is delayed, and says whether there was one', 'lookup', async stage => {
    const { gate, queue } = await stage.openGated()
    queue.pause()
    const ids = [await queue.push(1), await queue.push(2, { delayMs: 600000 })]
    for (const id of ids) equal([await queue.cancel(id), await queue.cancel(id), await queue.get(id)], [true, false, undefined])
    equal(await queue.cancel(unknownId()), false)
    queue.resume()
    await queue.onIdle()
    equal(gate.started.length, 0)
  })

  test('cancel tells the runner of a job that runs by its signal, and it is not tried again', 'lookup', async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    const told = stage.listen(queue, 'retry', 'failed', 'done', 'cancelled')
    const id = await queue.push(1)
    await gate.until(1)
    const { signal } = gate.started[0].context
    const aborted = new Promise(resolve => signal.addEventListener('abort', resolve))
    equal(await queue.cancel(id), true)
    await aborted
    equal(signal.reason.code, 'FAIRLANE_ERR_ABORTED')
    await stage.until(() => told.length === 1)
    equal([told[0][0], told[0][1].id, told[0][1].error.code], ['cancelled', id, 'FAIRLANE_ERR_ABORTED'])
    gate.fail(signal.reason)
    await queue.onIdle()
    equal([gate.started.length, told.length], [1, 1])
  })

  test('dead letters are jobs that have failed for good: with their error and the time, the oldest first', 'deadLetters', async stage => {
    const queue = await stage.open(async payload => { throw coded(`E_${payload}`) }, { settleBy: 'promise', scheduler: 'equal', maxAttempts: 2, backoffMs: 1, concurrency: 1 })
    const since = Date.now()
    const ids = []
    for (const [type, payload] of [['a', 1], ['b', 2], ['a', 3]]) {
      const failed = stage.next(queue, 'failed')
      ids.push(await queue.pushType(type, payload))
      await failed
      const now = Date.now()
      await stage.until(() => Date.now() > now) // within a ms there may be no order
    }
    const letters = await queue.deadLetters()
    equal(letters.map(({ id, type, payload, attempts }) => [id, type, payload, attempts]), [[ids[0], 'a', 1, 2], [ids[1], 'b', 2, 2], [ids[2], 'a', 3, 2]])
    const [{ error, at }] = letters
    equal([error instanceof Error, error.name, error.message, error.code], [true, 'RangeError', 'expected', 'E_1'])
    expect(at >= since - 1000 && at <= Date.now() + 1000, `at ${at}`)
    const idsOf = async options => (await queue.deadLetters(options)).map(({ id }) => id)
    equal(await idsOf({ limit: 2 }), ids.slice(0, 2))
    equal(await idsOf({ type: 'a' }), [ids[0], ids[2]])
    equal(await idsOf({ after: ids[0] }), ids.slice(1))
    equal(await idsOf({ after: ids[0], limit: 1 }), [ids[1]])
    equal(await idsOf({ type: 'a', after: ids[0] }), [ids[2]])
    equal(await idsOf({ after: ids[2] }), [])
    equal((await queue.get(ids[0])).state, 'dead')
    equal(await queue.cancel(ids[0]), false)
  })

  test('retryDead queues a dead letter again, with all its attempts, and deleteDead deletes one', 'deadLetters', async stage => {
    let isDown = true
    const seen = []
    const queue = await stage.open((payload, done, { attempt }) => {
      seen.push([payload, attempt])
      done(isDown ? coded('E') : null, payload)
    }, { settleBy: 'callback', maxAttempts: 2, backoffMs: 1, concurrency: 1 })
    const ids = [await queue.push(1), await queue.push(2)]
    await queue.onIdle()
    isDown = false
    const done = stage.next(queue, 'done')
    equal(await queue.retryDead(ids[0]), true)
    const { id, attempt } = await done
    equal([id, attempt, seen.at(-1)], [ids[0], 1, [1, 1]])
    equal(await queue.deleteDead(ids[1]), true)
    await queue.onIdle()
    equal(await queue.deadLetters(), [])
    for (const asked of [...ids, unknownId()]) equal([await queue.retryDead(asked), await queue.deleteDead(asked)], [false, false])
  })

  test('wait gives the result of a pushed job, to all who ask', 'waiting', async stage => {
    const { gate, queue } = await stage.openGated({ maxAttempts: 1 })
    const ids = [await queue.push('good'), await queue.push('bad')]
    const results = ids.map(id => queue.wait(id))
    const again = queue.wait(ids[0])
    reasonOf(results[1])
    await gate.until(2)
    for (const { payload, done } of gate.started) payload === 'good' ? done(null, 'result') : done(coded('E_BAD'))
    equal([await results[0], await again], ['result', 'result'])
    const error = await reasonOf(results[1])
    equal([error instanceof Error, error.message, error.code], [true, 'expected', 'E_BAD'])
  })

  test('wait gives what a job was cancelled with', 'waiting', async stage => {
    const { queue } = await stage.openGated()
    queue.pause()
    const id = await queue.push(1)
    const result = queue.wait(id)
    reasonOf(result)
    await queue.cancel(id)
    await rejects(result, 'ABORTED')
  })

  test('wait is left by a signal, and the job goes on', 'waiting', async stage => {
    const { gate, queue } = await stage.openGated()
    const id = await queue.push(1)
    const controller = new AbortController()
    const result = queue.wait(id, { signal: controller.signal })
    reasonOf(result)
    await gate.until(1)
    controller.abort()
    await rejects(result, 'ABORTED')
    equal([(await queue.get(id)).state, gate.started[0].context.signal.aborted], ['running', false])
    gate.release()
  })

  test('wait says so if the result is not kept', 'waiting', async stage => {
    const { queue } = await stage.openGated()
    await rejects(queue.wait(unknownId()), 'RESULT')
  })

  test('wait gives the result of a job that has ended', 'results', async stage => {
    const queue = await stage.open(async payload => payload, { settleBy: 'promise' })
    const id = await queue.push('kept')
    await queue.onIdle()
    equal(await queue.wait(id), 'kept')
  })
}
