'use strict'

// How the command line comes to a queue at a broker: it has no part in what the processes of the queue do.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createServer } = require('node:net')
const { distributed } = require('../../lib/distributed')
const { openAtBroker } = require('../../lib/distributed/visit')
const { describeWithRedis, startRedis } = require('../support/redis')
const gates = require('../support/gates')

const HOUR_MS = 3600000

describeWithRedis('a queue at a broker that is visited', function () {
  let redis, queue, visitor

  before(async () => { redis = await startRedis() })
  after(() => redis.stop())
  beforeEach(() => redis.cli('FLUSHALL'))
  afterEach(async () => {
    await visitor?.queue.close()
    await queue?.close({ timeoutMs: 0 })
    queue = visitor = undefined
  })

  const open = async (runner, options) => (queue = await distributed(runner, { connection: redis.connection, name: 'mails', ...options }))
  const visit = async () => (visitor = await openAtBroker({ connection: redis.connection, name: 'mails', pushTimeoutMs: 10000 }))
  const all = async type => {
    const jobs = []
    for await (const job of visitor.jobs(type)) jobs.push(job)
    return jobs
  }

  /** All that the broker has. */
  function contents () {
    const keys = redis.cli('KEYS', '*').split('\n').sort()
    return keys.map(key => [key, redis.cli('DUMP', key)])
  }

  it('has each job, in whatever state, and each of its times', async () => {
    const gate = gates()
    const runner = (payload, done, context) => payload === 'dead' ? done(new Error('no')) : gate.runner(payload, done, context)
    await open(runner, { concurrency: 1, maxAttempts: 1, priorityMs: 1, scheduler: 'equal' })
    await queue.pushType('a', 'dead')
    await queue.pushType('a', 'runs')
    await gate.until(1)
    await queue.pauseGlobal()
    for (const payload of ['first', 'second']) await queue.pushType('b', payload)
    await queue.pushType('b', 'urgent', { priority: 5 })
    await queue.pushType('b', 'later', { delayMs: HOUR_MS })
    await visit()
    const jobs = await all()
    assert.deepEqual(jobs.map(({ type, state, payload }) => `${type} ${state} ${payload}`).sort(), [
      'a dead dead', 'a running runs', 'b delayed later', 'b waiting first', 'b waiting second', 'b waiting urgent'
    ])
    const named = name => jobs.find(({ payload }) => payload === name)
    assert(named('later').dueAt > Date.now() + HOUR_MS / 2)
    assert(Math.abs(named('dead').at - Date.now()) < HOUR_MS)
    for (const { pushedAt } of jobs) assert(Math.abs(pushedAt - Date.now()) < HOUR_MS)
    assert(jobs.indexOf(named('first')) < jobs.indexOf(named('second')))
    assert.deepEqual((await all('a')).length, 2)
    gate.release(1)
  })

  it('is not changed by a look', async () => {
    await open(async () => { throw new Error('no') }, { maxAttempts: 1, schedules: { often: { everyMs: 1000 } } })
    await queue.pushType('a', 1)
    await queue.onIdle()
    await queue.close()
    const before = contents()
    await visit()
    await visitor.queue.counts()
    await visitor.queue.counts('a')
    await visitor.queue.types()
    await visitor.queue.deadLetters()
    await visitor.queue.listSchedules()
    await all()
    await visitor.queue.close()
    assert.deepEqual(contents(), before)
  })

  it('can be paused and told to go on', async () => {
    await open(null, { rate: { limit: 5, intervalMs: 1000 } })
    await visit()
    await visitor.queue.pauseGlobal()
    assert.equal(redis.cli('HGET', '{fairlane:mails}:.fleet', 'paused'), '1')
    await visitor.queue.resumeGlobal()
  })

  it('is opened with as many partitions and the serializer that it has', async () => {
    await open(null, { partitions: 3, serialize: { encode: text => Buffer.from(text), decode: String } })
    for (const type of ['a', 'b', 'c']) await queue.pushType(type, 'abc')
    await queue.pushType('a', 'next')
    await visit()
    assert.deepEqual((await all()).map(({ type, payload }) => `${type} ${payload}`).sort(), ['a abc', 'a next', 'b abc', 'c abc'])
    assert.deepEqual((await all('a')).map(({ payload }) => String(payload)), ['abc', 'next'])
    await visitor.queue.setSchedule('often', { everyMs: HOUR_MS, payload: Buffer.from('xyz') })
    await visitor.queue.runSchedule('often')
    assert((await all()).some(({ payload }) => String(payload) === 'xyz'))
  })

  it('leaves out jobs that end while it looks', async () => {
    await open(null)
    await queue.push(1)
    await visit()
    for (const key of redis.cli('KEYS', '*:j.*').split('\n')) redis.cli('DEL', key)
    assert.deepEqual(await all(), [])
  })

  it('fails where the broker refuses what it is asked', async () => {
    await open(null)
    await queue.push(1)
    await visit()
    for (const key of redis.cli('KEYS', '*:wait').split('\n')) redis.cli('SET', key, 'of somebody else')
    await assert.rejects(all(), /WRONGTYPE/)
  })

  it('is refused where there is no such queue, and no broker', async () => {
    await assert.rejects(visit(), { code: 'FAIRLANE_ERR_ARGUMENT', message: /There is no queue mails/ })
    assert.equal(redis.cli('DBSIZE'), '0')
    const away = { connection: 'redis://127.0.0.1:1', name: 'mails', pushTimeoutMs: 10000 }
    await assert.rejects(openAtBroker(away), { code: 'FAIRLANE_ERR_BROKER', message: /ECONNREFUSED/ })
    redis.cli('SET', '{fairlane:mails}:.queue', 'of somebody else')
    await assert.rejects(visit(), { code: 'FAIRLANE_ERR_BROKER', message: /WRONGTYPE/ })
  })

  it('is refused in time by who does not answer, and where there is no cluster', async () => {
    const server = createServer(socket => { socket.resume().on('error', () => {}) }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `redis://127.0.0.1:${server.address().port}`
    try {
      for (const connection of [url, [url]]) {
        await assert.rejects(openAtBroker({ connection, name: 'mails', pushTimeoutMs: 100 }), { code: 'FAIRLANE_ERR_BROKER' })
      }
    } finally {
      server.close()
    }
  })
})
