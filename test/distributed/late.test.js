'use strict'

// Jobs that no process takes, and that may not wait for long: the keeper ends them.

const assert = require('node:assert')
const { once } = require('node:events')
const { Redis } = require('ioredis')
const { Metrics } = require('../../lib/metrics')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('jobs that wait for too long', function () {
  const at = atServer()
  let client

  beforeEach(() => { client = new Redis(at.server.path) })
  afterEach(() => client.disconnect())

  const key = what => `{fairlane:${at.name}}:${what}`
  const lateCount = type => client.zcard(key(`${type}:.late`))
  const never = () => { throw new Error('the runner was called') }

  /** A process that takes no job, and whose keeper walks twice in a second. */
  async function idle (options) {
    const queue = await at.open(never, { leaseMs: 1000, ...options })
    queue.pause()
    return queue
  }

  it('end by their own time, their callers are told, and their keys are free', async () => {
    const worker = await idle({ observers: new Metrics() })
    const other = await at.open(null, { leaseMs: 1000 })
    const told = once(worker, 'cancelled')
    const added = expectReject(other.add({ n: 1 }, { type: 'a', key: 'k', keyUntil: 'settled', maxWaitMs: 1 }), 'FAIRLANE_ERR_MAX_WAIT')
    await other.flush()
    const joined = expectReject(worker.add({ n: 2 }, { type: 'a', key: 'k' }), 'FAIRLANE_ERR_MAX_WAIT')
    const id = await other.pushType('b', { n: 3 }, { maxWaitMs: 0.5 })
    const stays = await other.pushType('b', { n: 4 }, { maxWaitMs: 3600000 })
    const delayed = await other.pushType('b', { n: 5 }, { maxWaitMs: 1, delayMs: 3600000 })
    await Promise.all([added, joined, expectReject(other.wait(id), 'FAIRLANE_ERR_MAX_WAIT')])
    const [{ type, payload, attempt, error: { code } }] = await told
    assert.deepEqual([['a', { n: 1 }], ['b', { n: 3 }]].some(([t, p]) => t === type && p.n === payload.n), true)
    assert.deepEqual([attempt, code], [0, 'FAIRLANE_ERR_MAX_WAIT'])
    await until(() => worker.stats().cancelled === 2)
    assert.deepEqual([other.stats().cancelled, worker.stats('a').cancelled], [0, 1])
    const { waiting, dead } = await other.counts()
    assert.deepEqual([waiting, dead], [2, 0])
    assert.deepEqual([(await other.get(stays)).state, (await other.get(delayed)).state], ['waiting', 'delayed'])
    assert.equal(await client.hlen(key('a:.keys')), 0)
    await expectReject(other.wait(id), 'FAIRLANE_ERR_MAX_WAIT') // it is kept for resultTtlMs
    await other.clear()
    assert.equal(await lateCount('b'), 0)
  })

  it('end all in one walk, however many they are', async () => {
    const worker = await idle()
    await worker.pushAll(Array.from({ length: 150 }, (_, n) => ({ type: 'a', payload: n, maxWaitMs: 1 })))
    await until(() => worker.stats().cancelled === 150)
  })

  it('are told to metrics', async () => {
    const metrics = new Metrics({ bucketsMs: [600000] })
    const worker = await idle({ observers: metrics })
    await expectReject(worker.add(1, { type: 'a', maxWaitMs: 1 }), 'FAIRLANE_ERR_MAX_WAIT')
    const { types: [{ type, cancelled, waiting }] } = metrics.snapshot()
    assert.deepEqual([type, cancelled, waiting], ['a', 1, 0])
  })

  it('are no longer waited for when they are cancelled, have started or were removed by another tool', async () => {
    const gate = gates()
    const worker = await at.open(gate.runner, { settleBy: 'callback', leaseMs: 1000 })
    const first = worker.add(1, { type: 'a', maxWaitMs: 3600000, maxAttempts: 1 })
    await gate.until(1)
    assert.equal(await lateCount('a'), 0)
    worker.pause()
    const second = await worker.pushType('a', 2, { maxWaitMs: 3600000 })
    assert.equal(await lateCount('a'), 1)
    await worker.cancel(second)
    assert.equal(await lateCount('a'), 0)
    await client.zadd(key('a:.late'), 1, 'removed')
    await until(async () => await lateCount('a') === 0)
    gate.release(1)
    assert.equal(await first, 1)
    assert.equal(worker.stats().cancelled, 1)
  })

  it('wait on when they were taken and went back before they began', async () => {
    const { queue, rig } = await openRigged(at)(never, { leaseMs: 60000 })
    rig.once('fairlaneTake', async call => {
      const answer = await call()
      assert.equal(await lateCount('a'), 0)
      queue.pause()
      return answer
    })
    const id = await queue.pushType('a', 1, { maxWaitMs: 3600000 })
    await until(async () => await client.hget(key(id), 'left') !== null)
    assert.equal(Number(await client.zscore(key('a:.late'), id.slice(2))), Number(await client.hget(key(id), 'late')))
    await queue.clear()
    assert.equal(await lateCount('a'), 0)
  })

  it('wait from the time on to which they were put off', async () => {
    const queue = await at.open(n => n, { leaseMs: 1000 })
    queue.pause()
    const options = { key: 'k', onDuplicate: 'postpone', keyUntil: 'settled', maxWaitMs: 300000 }
    const id = await queue.pushType('a', 1, { ...options, delayMs: 600000 })
    const before = Number(await client.zscore(key('a:.late'), id.slice(2)))
    await queue.pushType('a', 2, { ...options, delayMs: 1200000 })
    const [late, due] = (await client.hmget(key(id), 'late', 'due')).map(Number)
    assert(late >= before + 600000 && late === due + 300000, `${late - before}, ${late - due}`)
    assert.equal(Number(await client.zscore(key('a:.late'), id.slice(2))), late)
    await client.hset(key(id), 'timestamp', '1', 'due', String(Date.now())) // by the time of the push it would be too late
    await client.zadd(key('a:delayed'), 1, id.slice(2))
    const done = once(queue, 'done')
    queue.resume()
    assert.equal((await done)[0].payload, 2)
  })

  it('end by the time of the process that looks, if they have none of their own', async () => {
    const producer = await at.open(null, { leaseMs: 1000, priorityMs: 1000 })
    await producer.pushAll(Array.from({ length: 250 }, (_, n) => ({ type: 'a', payload: n })))
    const kept = [
      await producer.pushType('a', 'own', { maxWaitMs: Infinity }),
      await producer.pushType('a', 'tried'),
      await producer.pushType('a', 'stalled'),
      await producer.pushType('a', 'started'),
      await producer.pushType('a', 'delayed', { delayMs: 3600000 })
    ]
    for (const [n, field] of ['atm', 'stc', 'started'].entries()) await client.hset(key(kept[n + 1]), field, 1)
    await producer.unshiftType('a', 'first') // it goes before all of them
    const due = await producer.pushType('a', 'due', { delayMs: 1000000 })
    await client.hset(key(due), 'timestamp', '1', 'opts', '{}')
    await client.zadd(key('a:delayed'), 4096, due.slice(2))
    const worker = await idle({ maxWaitMs: 1, priorityMs: 1000 })
    await until(async () => (await worker.counts('a')).waiting === kept.length)
    await producer.pushType('b', 'late')
    await until(() => worker.stats('b').cancelled === 1)
    for (const id of kept) assert.notEqual(await worker.get(id), undefined)
    assert.equal(worker.stats('a').cancelled, 252)
    await worker.clear()
  })

  it('are looked for by the clock of the broker', async () => {
    const { now } = Date
    const queue = await at.open(async n => n, { maxWaitMs: 60000 })
    Date.now = () => now() + 3600000
    try {
      assert.equal(await queue.add(1, { type: 'a' }), 1)
    } finally {
      Date.now = now
    }
  })
})
