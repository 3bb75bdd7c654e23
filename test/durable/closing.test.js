'use strict'

// close() of a job queue on disk: what waits stays there, and what runs may end.

const assert = require('node:assert')
const { Throttled, Postponed } = require('../../lib/durable')
const { quiet } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')

describe('close() of a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const payloadsOf = queue => [...queue.jobs()].map(({ payload }) => payload)

  it('leaves what waits, and lets end what runs, however long that takes', async () => {
    const queue = await bench.open({ concurrency: 1, scheduler: 'equal' })
    for (const type of ['a', 'b']) await queue.pushType(type, type)
    await queue.pushType('a', 'delayed', { delayMs: 1000 })
    await bench.gate.until(1)
    const closing = queue.close()
    const { signal } = bench.gate.started[0].context
    bench.clock.advance(3600000)
    await quiet()
    assert.deepEqual([signal.aborted, queue.closed, queue.running, queue.waiting], [false, true, 1, 0])
    bench.gate.release(1)
    assert.equal(await closing, 0)
    assert.deepEqual([bench.gate.payloads, bench.idsOf('done')], [['a'], [1]])
    await bench.open({ scheduler: 'equal', concurrency: 1 })
    assert.deepEqual(payloadsOf(bench.queue).sort(), ['b', 'delayed'])
  })

  it('leaves jobs that were pushed just now, have a slot and were not started, with no attempt', async () => {
    const queue = await bench.open({ ack: 'disk', concurrency: 2, maxInflightOps: 1 })
    const release = holdSyncs(bench.disk)
    const pushes = [1, 2, 3].map(payload => queue.push(payload))
    await quiet()
    const closing = queue.close()
    await quiet()
    release()
    assert.deepEqual([await Promise.all(pushes), await closing], [[1, 2, 3], 0])
    assert.equal(bench.gate.started.length, 0)
    await bench.open()
    await bench.gate.until(3)
    assert.deepEqual(bench.gate.started.map(({ payload, context }) => [payload, context.attempt]), [[1, 1], [2, 1], [3, 1]])
  })

  it('leaves jobs that come back while it waits', async () => {
    const queue = await bench.open({ scheduler: 'equal' })
    for (const payload of ['throttled', 'postponed', 'fails']) await queue.pushType('t', payload)
    await bench.gate.until(3)
    const closing = queue.close()
    const errors = [new Throttled(10), new Postponed(10), new Error('fails')]
    for (const { done } of bench.gate.open.splice(0)) done(errors.shift())
    assert.equal(await closing, 0)
    await bench.open({ scheduler: 'equal', rate: { limit: 1, intervalMs: 1e9 } })
    assert.equal(bench.queue.recovered.jobs, 3)
  })

  it('runs what waits with drain: true, and leaves it if it is called again without', async () => {
    const queue = await bench.open({ concurrency: 1 })
    for (const payload of [1, 2, 3]) await queue.push(payload)
    await bench.gate.until(1)
    const closing = queue.close({ drain: true })
    bench.gate.release(1)
    await bench.gate.until(2)
    assert.equal(queue.close(), closing)
    bench.gate.release(1)
    assert.equal(await closing, 0)
    await bench.open({ concurrency: 1 })
    await bench.gate.until(3)
    assert.deepEqual([bench.gate.payloads, bench.queue.recovered.jobs], [[1, 2, 3], 1])
  })

  it('tells runners when its time is over, and leaves their jobs, with no attempt', async () => {
    const queue = await bench.open()
    await queue.push(1)
    await bench.gate.until(1)
    const closing = queue.close({ timeoutMs: 100 })
    const { signal } = bench.gate.started[0].context
    bench.clock.advance(99)
    assert.equal(signal.aborted, false)
    bench.clock.advance(1)
    assert.deepEqual([signal.reason.code, await closing], ['FAIRLANE_ERR_CLOSED', 1])
    await bench.open()
    await bench.gate.until(2)
    assert.equal(bench.gate.started[1].context.attempt, 1)
  })

  it('comes with its signal, and has its time cut short by another call', async () => {
    const controller = new AbortController()
    const queue = await bench.open({ signal: controller.signal, concurrency: 1 })
    for (const payload of [1, 2]) await queue.push(payload)
    await bench.gate.until(1)
    controller.abort('enough')
    await quiet()
    const { signal } = bench.gate.started[0].context
    assert.deepEqual([queue.closed, queue.waiting, signal.aborted], [true, 0, false])
    assert.equal(await queue.close({ timeoutMs: 0 }), 1)
    assert.equal(signal.aborted, true)
    assert.equal((await bench.open()).recovered.jobs, 2)
  })
})
