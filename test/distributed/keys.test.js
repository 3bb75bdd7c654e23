'use strict'

// Jobs that share a key, pushed by several processes: until when it is taken, and what others get who push with it.

const assert = require('node:assert')
const { once } = require('node:events')
const { Postponed } = require('../../lib/distributed')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('a key of jobs at a broker', function () {
  const at = atServer()
  const openRig = openRigged(at)

  const openGated = (gate, options) => at.open(gate.runner, { settleBy: 'callback', ...options })
  const keyOf = what => `{fairlane:${at.name}}:a:${what}`
  const push = (queue, n, options) => queue.pushType('a', n, { key: 'k', ...options })

  it('is free when its job first starts, so that no update is lost', async () => {
    const gate = gates()
    const [one, other] = [await at.open(null), await at.open(null)]
    const first = await push(one, 1)
    assert.equal(await push(other, 2), first)
    const worker = await openGated(gate, { concurrency: 1, prefetch: 0 })
    await gate.until(1)
    const second = await push(other, 3)
    assert.notEqual(second, first)
    assert.equal(await push(one, 4), second)
    gate.release(1)
    await gate.until(2)
    assert.deepEqual(gate.payloads, [1, 3])
    assert.deepEqual([one.stats().accepted, one.stats().joined, other.stats().accepted, other.stats().joined], [1, 1, 1, 1])
    gate.release(1)
    await worker.onIdle()
  })

  it('is that of its type only, and may be a number, or long', async () => {
    const queue = await at.open(null)
    const ids = []
    for (const [type, key] of [['a', 5], ['b', 5], ['a', '5'], ['a', 'x'.repeat(1000)], ['a', 'x'.repeat(1000)], ['a', 'x'.repeat(1001)]]) {
      ids.push(await queue.pushType(type, 1, { key }))
    }
    assert.equal(ids[0], ids[2])
    assert.equal(ids[3], ids[4])
    assert.equal(new Set(ids).size, 4)
  })

  it('is taken until its job has settled with keyUntil: settled, though it is retried', async () => {
    const gate = gates()
    const queue = await openGated(gate, { maxAttempts: 2, backoffMs: 1 })
    const options = { keyUntil: 'settled' }
    const first = await push(queue, 1, options)
    await gate.until(1)
    assert.equal(await push(queue, 2, options), first)
    gate.fail(new Error('once'))
    await gate.until(2)
    assert.equal(await push(queue, 3, options), first)
    const failed = once(queue, 'failed')
    gate.fail(new Error('twice'))
    await failed
    const second = await push(queue, 4, options)
    assert.notEqual(second, first)
    assert.equal(await queue.retryDead(first), false)
    await gate.until(3)
    gate.release(1)
    await queue.onIdle()
    assert.equal(await queue.retryDead(first), true)
    await gate.until(4)
    gate.release(1)
    await queue.onIdle()
    assert.deepEqual(gate.payloads, [1, 1, 4, 1])
  })

  it('is free when a job is cancelled before its start, or cleared, or was removed by a tool', async () => {
    const queue = await at.open(null)
    const ids = [await push(queue, 1)]
    await queue.cancel(ids[0])
    assert.equal(at.server.cli('exists', keyOf('.keys')), '0')
    ids.push(await push(queue, 2, { keyUntil: 60000 }))
    await queue.clear()
    ids.push(await push(queue, 3, { keyUntil: 'settled' }))
    assert.equal(new Set(ids).size, 3)
    assert.equal((await queue.counts('a')).waiting, 1)
  })

  it('is taken for a time, at least until its job has started, and so long tells what came of it', async () => {
    const gate = gates()
    const producer = await at.open(null)
    const options = { type: 'a', key: 'k', keyUntil: 60000 }
    const results = [producer.add(1, options), producer.add(2, options)]
    await producer.flush()
    const worker = await openGated(gate)
    await gate.until(1)
    results.push(worker.add(3, options))
    gate.release(1)
    assert.deepEqual(await Promise.all(results), [1, 1, 1])
    assert.equal(await producer.add(4, options), 1)
    assert.equal(await worker.add(5, options), 1)
    // and when it is over
    const [value] = at.server.cli('hvals', keyOf('.keys')).split('\n')
    at.server.cli('hset', keyOf('.keys'), 'k.k', value.replace(/^\d+/, '5'))
    at.server.cli('zadd', keyOf('.timed'), '5', 'k.k')
    const last = worker.add(6, { ...options, keyUntil: 0 })
    await gate.until(2)
    const next = worker.add(7, { ...options, keyUntil: 1 })
    gate.release(1)
    await gate.until(3)
    gate.release(1)
    assert.deepEqual(await Promise.all([last, next]), [6, 7])
  })

  it('tells of a cancellation as long as it is taken', async () => {
    const queue = await at.open((n, { signal }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }))
    const options = { type: 'a', key: 'k', keyUntil: 60000 }
    const first = expectReject(queue.add(1, options), 'FAIRLANE_ERR_ABORTED')
    await until(async () => (await queue.counts('a')).running === 1)
    const id = await push(queue, 2, { keyUntil: 60000 })
    await queue.cancel(id)
    await first
    await expectReject(queue.add(3, options), 'FAIRLANE_ERR_ABORTED')
  })

  it('whose job came by a push and has ended tells that its result is not kept, if it is not', async () => {
    const queue = await at.open(async () => {}, { resultTtlMs: 0 })
    await push(queue, 1, { keyUntil: 60000 })
    await queue.onIdle()
    await expectReject(queue.add(2, { type: 'a', key: 'k', keyUntil: 60000 }), 'FAIRLANE_ERR_RESULT')
  })

  it('has those told who join a job that came by a push', async () => {
    const gate = gates()
    const [worker, other] = [await openGated(gate), await at.open(null)]
    await push(worker, 1, { keyUntil: 'settled' })
    await gate.until(1)
    const results = [other.add(2, { type: 'a', key: 'k' }), worker.add(3, { type: 'a', key: 'k' })]
    await Promise.all([other.flush(), worker.flush()])
    gate.release(1)
    assert.deepEqual(await Promise.all(results), [1, 1])
  })

  it('of a job whose result is no JSON has those told who join it, and not who only push', async () => {
    const queue = await at.open(async () => 1n)
    const done = once(queue, 'done')
    await push(queue, 1)
    assert.equal((await done)[0].result, 1n)
  })

  it('lets a push replace what waits, and one that has started is joined', async () => {
    const gate = gates()
    const queue = await at.open(null)
    const options = { keyUntil: 'settled', onDuplicate: 'replace' }
    const id = await push(queue, 'old', options)
    assert.equal(await push(queue, 'new', options), id)
    const worker = await openGated(gate)
    await gate.until(1)
    assert.equal(await push(queue, 'late', options), id)
    gate.fail(new Postponed(1))
    await gate.until(2)
    assert.deepEqual(gate.payloads, ['new', 'new'])
    gate.release(1)
    await worker.onIdle()
  })

  it('lets a push postpone what is delayed, up to a time from the first one', async () => {
    const queue = await at.open(null)
    const dueInMs = async id => (await queue.get(id)).dueAt - Date.now()
    const options = { onDuplicate: 'postpone', delayMs: 60000 }
    const id = await push(queue, 1, { delayMs: 1000 })
    await push(queue, 2, options)
    assert(await dueInMs(id) > 30000)
    await push(queue, 3, { onDuplicate: 'postpone' }) // by what the first one said
    assert(await dueInMs(id) <= 1000)
    await push(queue, 4, { ...options, maxDelayMs: 10000 })
    const ms = await dueInMs(id)
    assert(ms > 5000 && ms <= 10000, `${ms}`)
    await push(queue, 5, { ...options, maxDelayMs: 0 })
    const { payload } = await queue.get(id)
    assert.equal(payload, 5)
    const worker = await at.open(async n => n)
    const [{ result }] = await once(worker, 'done')
    assert.equal(result, 5)
  })

  it('is taken again by a job that was taken and goes back before it has begun', async () => {
    const gate = gates()
    for (const keyUntil of ['started', 60000]) {
      const { queue: worker, rig } = await openRig(gate.runner)
      const { reached, open: letGo } = rig.delay('fairlaneTake')
      const producer = await at.open(null)
      const id = await push(producer, 1, { keyUntil })
      await reached
      const closing = worker.close()
      letGo()
      await closing
      assert.equal((await producer.get(id)).state, 'waiting')
      assert.equal(await push(producer, 2, { keyUntil, onDuplicate: 'replace' }), id)
      assert.equal((await producer.get(id)).payload, 2)
      await producer.clear()
    }
    assert.deepEqual(gate.payloads, [])
  })

  it('is free when its job has waited for too long before it has begun, whatever it is taken until', async () => {
    const gate = gates()
    for (const keyUntil of ['started', 'settled', 60000]) {
      const producer = await at.open(null)
      const id = await push(producer, 1, { keyUntil, maxWaitMs: 1 })
      const waitsFor = expectReject(producer.wait(id), 'FAIRLANE_ERR_MAX_WAIT')
      const worker = await openGated(gate)
      await waitsFor
      assert.notEqual(await push(producer, 2, { keyUntil, delayMs: 60000 }), id)
      await producer.clear()
      await worker.close()
    }
    assert.deepEqual(gate.payloads, [])
  })

  it('keeps a job for others when one of those who share it leaves, and cancels it when all have', async () => {
    const [one, other] = [await at.open(null), await at.open(null)]
    const controllers = [new AbortController(), new AbortController()]
    const adds = [one, other].map((queue, n) => expectReject(queue.add(n, { type: 'a', key: 'k', signal: controllers[n].signal }), 'FAIRLANE_ERR_ABORTED'))
    await Promise.all([one.flush(), other.flush()])
    const waiting = async () => (await one.counts('a')).waiting
    controllers[0].abort()
    await adds[0]
    await until(() => at.server.cli('--scan', '--pattern', keyOf('j.*')) !== '')
    assert.equal(await waiting(), 1)
    controllers[1].abort()
    await adds[1]
    await until(async () => await waiting() === 0)
  })

  it('goes with its type, when its time is over', async () => {
    const queue = await at.open(async () => {}, { leaseMs: 1000, resultTtlMs: 0 })
    await push(queue, 1, { keyUntil: 1 })
    await push(queue, 1, { key: 'other', keyUntil: 'settled' })
    await until(() => at.keys().filter(key => key.includes(':a:') && !key.includes('.pushed')).length === 0)
  })
})
