'use strict'

const assert = require('node:assert')
const { once } = require('node:events')
const { Queue } = require('bullmq')
const { giveChance } = require('../support/chance')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atLaterTimes } = require('./later')
const { atServer } = require('./opened')
const { expectThrow, expectReject } = require('./expectations')
const { until } = require('./until')

const double = async n => 2 * n

describeWithRedis('a distributed queue', function () {
  const at = atServer()
  const later = atLaterTimes()

  it('runs what another process pushes, and tells it the results', async () => {
    await at.open(double)
    const producer = await at.open(null)
    const ids = await Promise.all([producer.push(1), producer.push(2)])
    assert.equal(new Set(ids).size, 2)
    for (const id of ids) assert.equal(typeof id, 'string')
    assert.deepEqual(await Promise.all([3, 4, 5].map(n => producer.add(n))), [6, 8, 10])
    await producer.onIdle()
    const { waiting, delayed, running, dead } = await producer.counts()
    assert.deepEqual({ waiting, delayed, running, dead }, { waiting: 0, delayed: 0, running: 0, dead: 0 })
  })

  it('takes types of any text, and gives them back as they were', async () => {
    const types = ['', ':', '{}', '{a}', '%', '%41', '__proto__', 'constructor', '.ready', 'ä 漢 😀', 'x'.repeat(300)]
    const queue = await at.open(async (payload, { type }) => type)
    assert.deepEqual(await Promise.all(types.map(type => queue.add(0, { type }))), types)
    expectThrow(() => queue.pushType('\ud800', 1), 'FAIRLANE_ERR_TYPE')
    expectThrow(() => queue.pushType(Symbol('a'), 1), 'FAIRLANE_ERR_TYPE')
    expectThrow(() => queue.pushType({}, 1), 'FAIRLANE_ERR_TYPE')
    expectThrow(() => queue.pushType('x'.repeat(1025), 1), 'FAIRLANE_ERR_TOO_LARGE', RangeError)
    expectThrow(() => queue.add(1, { type: '\ud800' }), 'FAIRLANE_ERR_TYPE')
  })

  it('refuses calls that are wrong at once', async () => {
    const queue = await at.open(double, { scheduler: 'fair' })
    const producer = await at.open(null)
    expectThrow(() => queue.push(1), 'FAIRLANE_ERR_TYPE_REQUIRED')
    expectThrow(() => queue.unshift(1), 'FAIRLANE_ERR_TYPE_REQUIRED')
    expectThrow(() => queue.add(1), 'FAIRLANE_ERR_TYPE_REQUIRED')
    const wrong = [
      () => queue.pushType('a', 1, { priority: 1 }), () => queue.add(1, { type: 'a', priority: 1 }),
      () => queue.add(1, { type: 'a', delay: 1 }),
      () => queue.add(1, null), () => queue.add(1, { type: 'a', signal: {} }), () => queue.add(1, { type: 'a', unshift: 1 }),
      () => queue.pushType('a', 1n), () => queue.pushType('a', () => {}), () => queue.get(5), () => queue.cancel(),
      () => queue.retryDead(null), () => queue.deleteDead({}),
      () => queue.close({ wait: 1 }), () => queue.close({ timeoutMs: -1 }), () => queue.clear({ types: 'a' }),
      () => queue.types({ limit: 0 }),
      () => queue.deadLetters({ limit: 'a' }), () => queue.setGlobalCap('a', 0), () => queue.setGlobalConcurrency(0),
      () => queue.setRates({ rate: { limit: 1 } }), () => queue.setRates(), () => queue.hold(-1), () => queue.hold('1'),
      () => queue.holdType('a', -1), () => queue.holdType('a', Infinity), () => queue.holdType('a', '1')
    ]
    for (const call of wrong) assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' }, String(call))
    for (const call of [
      () => producer.pause(), () => producer.resume(), () => producer.pauseType('a'), () => producer.resumeType('a'),
      () => producer.concurrency, () => { producer.concurrency = 1 }, () => producer.paused
    ]) {
      expectThrow(call, 'FAIRLANE_ERR_RUNNER')
    }
    assert.equal(producer.running, 0)
    assert.equal(producer.scheduler, null)
  })

  it('waits for a delay', async () => {
    const times = []
    const queue = await at.open(async () => { times.push(Date.now()) })
    const begin = Date.now()
    const [, late] = await Promise.all([queue.push(1, { delayMs: 150 }), queue.pushType('late', 2, { delayMs: 3600000 })])
    assert.equal((await queue.counts('late')).delayed, 1)
    await queue.cancel(late)
    await queue.onIdle()
    assert.equal(times.length, 1)
    assert(times[0] - begin >= 150, `after ${times[0] - begin} ms`)
  })

  it('queues one job for a key, whoever pushes it', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback' })
    const other = await at.open(null)
    const key = { key: 'k', keyUntil: 'settled' }
    const ids = [await queue.push(1, key), await other.push(2, key), await queue.push(3, { ...key, onDuplicate: 'join' })]
    assert.equal(new Set(ids).size, 1)
    const elsewhere = await queue.pushType('b', 4, key)
    assert.notEqual(elsewhere, ids[0])
    await gate.until(2)
    assert.deepEqual([...gate.payloads].sort(), [1, 4])
    gate.release(2)
    await queue.onIdle()
    assert.notEqual(await queue.push(5, key), ids[0])
    await gate.until(3)
    gate.release(1)
  })

  it('tells all who added a job with the same key its result', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback' })
    const key = { key: 'k', keyUntil: 'settled' }
    const all = [1, 2, 3].map(n => queue.add(n, key))
    await gate.until(1)
    gate.release(1)
    assert.deepEqual(await Promise.all(all), [1, 1, 1])
  })

  it('tries a job again that failed, and makes a dead letter of it in the end', async () => {
    const attempts = []
    const queue = await at.open(async (payload, { attempt }) => {
      attempts.push(attempt)
      throw Object.assign(new RangeError(`failed ${attempt}`), { code: 'E_OWN' })
    }, { maxAttempts: 3, backoffMs: attempt => 5 * attempt })
    const events = []
    for (const event of ['retry', 'failed', 'done']) queue.on(event, value => events.push([event, value]))
    const err = await expectReject(queue.add('p', { type: 'a' }), 'E_OWN')
    assert.equal(err.name, 'RangeError')
    assert.equal(err.message, 'failed 3')
    assert.deepEqual(attempts, [1, 2, 3])
    assert.deepEqual(
      events.map(([event, { attempt, delayMs }]) => [event, attempt, delayMs]),
      [['retry', 1, 5], ['retry', 2, 10], ['failed', 3, undefined]]
    )
    const [dead] = await queue.deadLetters()
    const { id, type, payload, attempts: count, error, at: diedAt } = dead
    assert.deepEqual(
      { type, payload, count, message: error.message, code: error.code },
      { type: 'a', payload: 'p', count: 3, message: 'failed 3', code: 'E_OWN' }
    )
    assert(diedAt > 0)
    assert.equal(id, events[0][1].id)
    assert.deepEqual(
      queue.stats(),
      {
        accepted: 1,
        rejected: 0,
        done: 0,
        failed: 1,
        cancelled: 0,
        retried: 2,
        throttled: 0,
        joined: 0,
        lost: 0,
        spent: 0,
        running: 0,
        overdue: 0,
        prefetched: 0,
        groups: 0,
        misuse: 0,
        overrun: 0
      }
    )
    assert.deepEqual(
      Object.entries(queue.stats('a')).filter(([, count]) => count > 0), [['accepted', 1], ['failed', 1], ['retried', 2]]
    )
  })

  it('gives a dead letter all its attempts that another tool puts back', async () => {
    let isDown = true
    const queue = await at.open(async (payload, { attempt }) => {
      if (isDown || attempt === 1) throw new Error('down')
    }, { maxAttempts: 2, backoffMs: 1, leaseMs: 1000 })
    const id = await queue.pushType('a', 1)
    await once(queue, 'failed')
    isDown = false
    const done = once(queue, 'done')
    const tool = new Queue('a', { connection: at.connection, prefix: `{fairlane:${at.name}}` })
    const [job] = await tool.getFailed()
    assert.equal(job.id, id.split(':')[1])
    await job.retry()
    await tool.close()
    assert.equal((await done)[0].attempt, 2) // the keeper has found it
  })

  it('deletes dead letters', async () => {
    const queue = await at.open(async () => { throw new Error('no') }, { maxAttempts: 1 })
    const ids = [await queue.pushType('a', 1), await queue.pushType('b', 2)]
    await queue.onIdle()
    assert.deepEqual((await queue.deadLetters({ type: 'a' })).map(({ id }) => id), ids.slice(0, 1))
    assert.equal((await queue.deadLetters({ limit: 1 })).length, 1)
    assert.equal(await queue.deleteDead(ids[0]), true)
    assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), ids.slice(1))
  })

  it('cancels a job that runs: its runner is told, and it is not tried again', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', leaseMs: 1000 })
    const other = await at.open(null)
    const cancelled = once(queue, 'cancelled')
    const result = other.add('r', { type: 'a' })
    await gate.until(1)
    const { context } = gate.started[0]
    const aborted = once(context.signal, 'abort')
    assert.equal(await other.cancel(context.id), true)
    await aborted
    assert.equal(context.signal.reason.code, 'FAIRLANE_ERR_ABORTED')
    await expectReject(result, 'FAIRLANE_ERR_ABORTED')
    assert.equal((await cancelled)[0].id, context.id)
    gate.release(1)
    await queue.onIdle()
    assert.equal(gate.payloads.length, 1)
  })

  it('says which types have jobs, the largest first', async () => {
    const queue = await at.open(null)
    await Promise.all(['a', 'b', 'b', 'c', 'c', 'c'].map(type => queue.pushType(type, 1)))
    assert.deepEqual((await queue.types({ limit: 2 })).map(({ type, waiting }) => [type, waiting]), [['c', 3], ['b', 2]])
    assert.equal((await queue.types()).length, 3)
    assert.deepEqual(await queue.counts(), { waiting: 6, delayed: 0, running: 0, dead: 0, types: 3 })
    assert.deepEqual(
      await queue.counts('b'), { waiting: 2, delayed: 0, running: 0, dead: 0, cap: Infinity, rate: null, paused: false, heldMs: 0 }
    )
  })

  it('rejects an add whose signal aborts, and takes its job away if it waits', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', concurrency: 1 })
    await queue.push('r')
    await gate.until(1)
    const controller = new AbortController()
    const result = queue.add('w', { signal: controller.signal })
    await queue.flush()
    controller.abort('why')
    assert.equal((await expectReject(result, 'FAIRLANE_ERR_ABORTED')).cause, 'why')
    await expectReject(queue.add('w', { signal: AbortSignal.abort() }), 'FAIRLANE_ERR_ABORTED')
    await until(async () => (await queue.counts()).waiting === 0)
    gate.release(1)
    await queue.onIdle()
    assert.deepEqual(gate.payloads, ['r'])
  })

  it('cancels jobs that waited too long for their first start', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', concurrency: 1, maxWaitMs: 50 })
    queue.pause()
    const cancelled = once(queue, 'cancelled')
    const result = queue.add('late', { type: 'a' })
    await queue.flush()
    const begin = Date.now()
    await until(() => Date.now() - begin >= 60)
    queue.resume()
    await expectReject(result, 'FAIRLANE_ERR_MAX_WAIT')
    assert.equal((await cancelled)[0].error.code, 'FAIRLANE_ERR_MAX_WAIT')
    assert.equal(gate.payloads.length, 0)
  })

  it('lets a job run for so long only', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', timeoutMs: 20, maxAttempts: 1 })
    await expectReject(queue.add(1), 'FAIRLANE_ERR_TIMEOUT')
    gate.release(1)
  })

  it('makes a dead letter of what cannot be decoded, and of a result that cannot be told', async () => {
    const queue = await at.open(async () => 1n, { backoffMs: 1 })
    await expectReject(queue.add(1), 'FAIRLANE_ERR_ARGUMENT')
    await queue.push(1) // nobody waits for its result
    await once(queue, 'done')
    const other = await at.open(
      async () => {}, { name: `${at.name}-bytes`, serialize: { encode: () => Buffer.from('x'), decode () { throw new Error('no') } } }
    )
    await assert.rejects(other.add(1), /no/)
    assert.equal((await other.deadLetters({})).length, 1)
  })

  it('refuses pushes of a type of which as many wait as may', async () => {
    const queue = await at.open(null, { maxWaitingPerType: { a: 3 } })
    await Promise.all([1, 2, 3].map(n => queue.pushType('a', n)))
    const err = await expectReject(queue.pushType('a', 4), 'FAIRLANE_ERR_TYPE_FULL')
    const { type, waiting, limit, retryAfterMs } = err
    assert.deepEqual({ type, waiting, limit }, { type: 'a', waiting: 3, limit: 3 })
    assert(retryAfterMs > 0)
    const times = []
    for (const chance of [0, 0.99]) {
      const release = giveChance(chance)
      times.push((await expectReject(queue.pushType('a', 4), 'FAIRLANE_ERR_TYPE_FULL')).retryAfterMs)
      release()
    }
    assert(times[1] > 1.1 * times[0], 'up to a fifth longer, by chance')
    await queue.pushType('b', 1)
    await queue.clear({ type: 'a' })
    await until(() => queue.pushType('a', 5).then(() => true, () => false))
    assert.equal(queue.stats('a').accepted, 4)
  })

  it('rejects with FAIRLANE_ERR_RESULT when the result is not kept', async () => {
    const queue = await at.open(null)
    const result = queue.add(1, { type: 'a' })
    await queue.flush()
    at.server.cli('flushall')
    await later(2000)
    await expectReject(result, 'FAIRLANE_ERR_RESULT')
  })

  it('closes when its runners have ended, and refuses what comes then', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', concurrency: 2 })
    const pushes = Promise.all([1, 2, 3, 4].map(n => queue.push(n)))
    await gate.until(2)
    const closed = once(queue, 'close')
    const under = queue.push(5)
    const closing = queue.close()
    assert.equal(queue.closed, true)
    await expectReject(queue.push(6), 'FAIRLANE_ERR_CLOSED')
    await expectReject(queue.add(6), 'FAIRLANE_ERR_CLOSED')
    await expectReject(queue.counts(), 'FAIRLANE_ERR_CLOSED')
    gate.release(2)
    assert.equal(await closing, 0)
    await Promise.all([pushes, under])
    assert.deepEqual(await closed, [0])
    assert.deepEqual(gate.payloads, [1, 2])
    const next = await at.open(async n => n)
    const done = []
    next.on('done', ({ result, attempt }) => done.push([result, attempt]))
    await next.onIdle()
    assert.deepEqual(done.sort(), [[3, 1], [4, 1], [5, 1]])
  })

  it('tells runners to end when it closes without waiting, and does not count their attempts', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', maxAttempts: 1 })
    const waiting = queue.add(1)
    await gate.until(1)
    const { signal } = gate.started[0].context
    assert.equal(await queue.close({ timeoutMs: 0 }), 1)
    assert.equal(signal.aborted, true)
    assert.equal(signal.reason.code, 'FAIRLANE_ERR_CLOSED')
    await expectReject(waiting, 'FAIRLANE_ERR_CLOSED')
    const next = await at.open(async (n, { attempt }) => attempt, { maxAttempts: 1 })
    const [{ result }] = await once(next, 'done')
    assert.equal(result, 1)
    gate.release(1)
  })

  it('takes the work up when BullMQ has added a job', async () => {
    const queue = await at.open(double, { leaseMs: 1000 })
    const done = once(queue, 'done')
    await queue.add(1, { type: 'a' })
    await done
    const tool = new Queue('a', { connection: at.connection, prefix: `{fairlane:${at.name}}` })
    const again = once(queue, 'done')
    await tool.add('by hand', { payload: 21 })
    await tool.close()
    assert.equal((await again)[0].result, 42)
  })
})
