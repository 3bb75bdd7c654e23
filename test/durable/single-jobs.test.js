'use strict'

// What get() and cancel() are beside what distributed queues promise of them, too (test/shared): on disk, in the middle of writing, in an
// outage.

const assert = require('node:assert')
const { captureWarnings } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, EPOCH, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const waitingIn = queue => [...queue.jobs()].map(({ payload }) => payload)
const stateOf = async (queue, id) => (await queue.get(id))?.state

describe('single jobs of a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('are found with the type that they were pushed with, or none', async () => {
    const queue = await bench.open({ scheduler: 'equal' })
    queue.pause()
    const id = await queue.pushType('t', { a: 1 })
    const found = await queue.get(id)
    assert.deepEqual(found, { id: 1, type: 't', state: 'waiting', attempts: 0, dueAt: undefined, error: undefined, payload: { a: 1 } })
    assert.notEqual(found.payload, found.payload)
    assert.equal(queue.clear(), 1)
    assert.deepEqual(found.payload, { a: 1 })
    await queue.close({ drain: true })
    const plain = await bench.open()
    plain.pause()
    assert.equal((await plain.get(await plain.push('b'))).type, undefined)
  })

  it('are found before they are safe, and are none if they cannot be written', async () => {
    const queue = await bench.open({ ack: 'disk' })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a')
    assert.equal(await stateOf(queue, 1), 'waiting')
    queue.resume()
    await quiet()
    // it has a slot
    assert.equal(await stateOf(queue, 1), 'running')
    release()
    await pushed
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? new Error('EIO') : undefined
    const lost = [queue.push('b'), queue.push('c')].map(push => assert.rejects(push, { code: 'FAIRLANE_ERR_IO' }))
    assert.equal(await queue.get(2), undefined)
    assert.equal(await queue.cancel(3), false)
    bench.disk.fault = () => undefined
    await Promise.all(lost)
    await quiet()
    warnings.release()
  })

  it('are found where they stand after failures, restarts and crashes', async () => {
    await bench.open({ concurrency: 2, backoffMs: 100, maxAttempts: 3 })
    for (const payload of ['failed', 'running', 'waiting']) await bench.queue.push(payload)
    await bench.gate.until(2)
    bench.queue.pause()
    bench.gate.open.shift().done(Object.assign(new RangeError('no'), { code: 'E' }))
    const { state, attempts, dueAt, error } = await bench.queue.get(1)
    assert.deepEqual([state, attempts, dueAt, error.name, error.message, error.code], ['delayed', 1, EPOCH + 100, 'RangeError', 'no', 'E'])
    await bench.reopenAfterKill({ concurrency: 1, backoffMs: 100, maxAttempts: 3 })
    bench.queue.pause()
    const found = await Promise.all([1, 2, 3].map(id => bench.queue.get(id)))
    assert.deepEqual(found.map(({ state, attempts, dueAt }) => [state, attempts, dueAt]), [
      ['delayed', 1, EPOCH + 100], ['waiting', 1, undefined], ['waiting', 0, undefined]
    ])
    bench.clock.advance(100)
    const due = await bench.queue.get(1)
    assert.deepEqual([due.state, due.attempts, due.dueAt, due.error.message], ['waiting', 1, undefined, 'no'])
    bench.queue.clear()
    bench.queue.resume()
  })

  it('are not found once the queue is closed, or its log has failed', async () => {
    const warnings = captureWarnings()
    try {
      const queue = await bench.open()
      const id = await queue.push('a')
      await bench.gate.until(1)
      const asked = queue.cancel(id)
      queue.close({ timeoutMs: 0 })
      for (const call of [asked, queue.get(id), queue.cancel(id), queue.listRunning()]) await assert.rejects(call, { code: 'FAIRLANE_ERR_CLOSED' })
      const next = await bench.reopenAfterKill()
      bench.disk.fault = kind => ['write', 'sync'].includes(kind) ? systemError('EIO') : undefined
      const cancelled = assert.rejects(next.cancel(id), { code: 'FAIRLANE_ERR_IO' })
      await assert.rejects(next.flush(), { code: 'FAIRLANE_ERR_IO' })
      await cancelled
      for (const call of [next.get(id), next.cancel(id)]) await assert.rejects(call, { code: 'FAIRLANE_ERR_IO' })
      await assert.rejects(next.close(), { code: 'FAIRLANE_ERR_IO' })
      await warnings.until(2)
    } finally {
      bench.queue = undefined
      warnings.release()
    }
  })

  it('reject get() if they cannot be read', async () => {
    const queue = await bench.open()
    queue.pause()
    await queue.push('x'.repeat(70000))
    bench.disk.fault = kind => kind === 'read' ? new Error('EIO') : undefined
    await assert.rejects(queue.get(1), { code: 'FAIRLANE_ERR_IO' })
    bench.disk.fault = () => undefined
  })

  it('are cancelled many at once in one look at those that wait, wherever they are', async () => {
    const queue = await bench.open({ concurrency: 1, backoffMs: 100 })
    await queue.push('delayed')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    for (const payload of ['running', 'a', 'b', 'c']) await queue.push(payload)
    await bench.gate.until(2)
    const answers = await Promise.all([1, 2, 3, 5, 3, 77].map(id => queue.cancel(id)))
    assert.deepEqual(answers, [true, true, true, true, true, false])
    assert.deepEqual(waitingIn(queue), ['b'])
    assert.deepEqual(bench.idsOf('cancelled').sort(), [1, 2, 3, 5])
    assert(bench.events.filter(([event]) => event === 'cancelled').every(([, { error }]) => error.code === 'FAIRLANE_ERR_ABORTED'))
    const { cancelled, done, failed, delayed } = queue.stats()
    assert.deepEqual({ cancelled, done, failed, delayed }, { cancelled: 4, done: 0, failed: 0, delayed: 0 })
    bench.gate.release(1)
    await bench.gate.until(3)
    assert.deepEqual(bench.gate.payloads, ['delayed', 'running', 'b'])
  })

  it('look at those that wait only if one of them may be cancelled', async () => {
    const queue = await bench.open({ concurrency: 1 })
    for (const payload of ['running', 'a']) await queue.push(payload)
    await bench.gate.until(1)
    assert.equal(await queue.cancel(1), true)
    assert.deepEqual(waitingIn(queue), ['a'])
  })

  it('never come back when they were cancelled, whatever crashes', async () => {
    const queue = await bench.open({ concurrency: 1, ack: 'disk' })
    for (const payload of ['running', 'waiting', 'left']) await queue.push(payload)
    await bench.gate.until(1)
    assert.deepEqual(await Promise.all([1, 2].map(id => queue.cancel(id))), [true, true])
    await bench.reopenAfterKill()
    await bench.gate.until(1)
    await quiet()
    assert.deepEqual(bench.gate.payloads, ['left'])
  })

  it('resolve cancel() when the disk has it', async () => {
    const queue = await bench.open({ ack: 'disk' })
    queue.pause()
    const id = await queue.push('a')
    const release = holdSyncs(bench.disk)
    let isSafe = false
    const cancelled = queue.cancel(id).then(() => { isSafe = true })
    await quiet()
    assert.deepEqual([isSafe, bench.idsOf('cancelled')], [false, [1]])
    release()
    await cancelled
  })

  it('resolve cancel() when an outage is over, and are gone at once', async () => {
    const warnings = captureWarnings()
    try {
      const queue = await bench.open()
      queue.pause()
      for (const payload of ['a', 'b']) await queue.push(payload)
      bench.disk.fault = kind => kind === 'write' ? systemError('ENOSPC') : undefined
      let isSafe = false
      const cancelled = queue.cancel(1).then(() => { isSafe = true })
      await quiet()
      const again = queue.cancel(2)
      await quiet()
      assert.deepEqual([isSafe, waitingIn(queue), await queue.get(1)], [false, [], undefined])
      bench.disk.fault = () => undefined
      bench.clock.advance(10000)
      await cancelled
      assert.equal(await again, true)
    } finally {
      warnings.release()
    }
    await bench.reopenAfterKill()
    assert.equal(bench.queue.recovered.jobs, 0)
  })

  it('are cancelled when they have a slot and are not safe yet', async () => {
    const queue = await bench.open({ ack: 'disk', concurrency: 1 })
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a')
    await quiet()
    const cancelled = queue.cancel(1)
    await turn()
    assert.deepEqual([queue.running, queue.length], [0, 0])
    release()
    assert.deepEqual([await pushed, await cancelled], [1, true])
    await queue.push('b')
    await bench.gate.until(1)
    assert.deepEqual([bench.gate.payloads, queue.stats().misuse], [['b'], 0])
  })

  it('are cancelled when they were held until they could be written', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1, concurrency: 2 })
    const release = holdSyncs(bench.disk)
    const pushes = ['a', 'b', 'c', 'd'].map(payload => queue.push(payload))
    await quiet()
    release()
    await Promise.all(pushes)
    await bench.gate.until(2)
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map(id => stateOf(queue, id))), ['running', 'running', 'waiting', 'waiting'])
    assert.deepEqual(await Promise.all([2, 4].map(id => queue.cancel(id))), [true, true])
    assert.deepEqual([bench.gate.started[1].context.signal.aborted, waitingIn(queue)], [true, ['c']])
  })

  it('are cancelled while they wait to be tried alone, and let the next one be tried', async () => {
    await bench.open({ maxAttempts: 2 })
    for (const payload of ['a', 'b', 'c', 'd']) await bench.queue.push(payload)
    await bench.gate.until(4)
    const queue = await bench.reopenAfterKill({ maxAttempts: 2 })
    await bench.gate.until(1)
    assert.deepEqual(await Promise.all([1, 2, 3].map(id => stateOf(queue, id))), ['running', 'waiting', 'waiting'])
    assert.deepEqual(await Promise.all([1, 3].map(id => queue.cancel(id))), [true, true])
    await bench.gate.until(2)
    assert.deepEqual(bench.gate.payloads, ['a', 'b'])
    bench.gate.release(2)
    await bench.gate.until(3)
    bench.gate.release(1)
    await queue.onIdle()
    assert.deepEqual(bench.gate.payloads, ['a', 'b', 'd'])
  })

  it('that are cancelled give room back, and are waited for no longer', async () => {
    const queue = await bench.open({ capacity: 2, concurrency: 1 })
    await queue.push('a')
    await queue.push('b')
    await assert.rejects(queue.push('c'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    const flushed = queue.fflush()
    await bench.gate.until(1)
    assert.deepEqual(await Promise.all([queue.cancel(1), queue.cancel(2)]), [true, true])
    await flushed
    assert.deepEqual([queue.length, queue.running], [1, 1])
    await queue.push('c')
    bench.gate.release(1)
    await bench.gate.until(2)
    bench.gate.release(1)
    await queue.onIdle()
  })

  it('stay cancelled whatever their runners and listeners do then', async () => {
    const queue = await bench.open({ concurrency: 3, maxAttempts: 1 })
    for (const payload of ['fails', 'ends', 'goes on']) await queue.push(payload)
    await bench.gate.until(3)
    const [fails, ends] = bench.gate.started
    fails.context.signal.addEventListener('abort', () => fails.done(fails.context.signal.reason))
    ends.context.signal.addEventListener('abort', () => {
      ends.done(null, 'late')
      queue.close({ timeoutMs: 0 })
    })
    assert.deepEqual(await Promise.all([1, 2, 3].map(id => queue.cancel(id))), [true, true, true])
    assert.equal(await queue.close({ drain: true }), 1)
    assert.deepEqual(bench.events.map(([event]) => event), ['cancelled', 'cancelled', 'cancelled'])
    assert.equal(queue.stats().misuse, 0)
    await bench.open()
    assert.equal(bench.queue.recovered.jobs, 0)
  })
})
