'use strict'

// How the command line comes to a queue at a broker: it has no part in what the processes of the queue do.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createServer } = require('node:net')
const { Redis } = require('ioredis')
const { distributed } = require('../../lib/distributed')
const { openAtBroker } = require('../../lib/distributed/visit')
const { describeWithRedis, startRedis } = require('../support/redis')
const gates = require('../support/gates')

const HOUR_MS = 3600000
const MANY = 1100 // jobs of a type, more than are read in one step

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

  const lengthOf = answer => Array.isArray(answer) ? Math.max(answer.length, ...answer.map(lengthOf)) : 0

  /** Runs fn(). @returns {Promise<number>} how long the longest list in an answer to this process was */
  async function longestAnswer (fn) {
    const { sendCommand } = Redis.prototype
    let most = 0
    Redis.prototype.sendCommand = function (command, ...rest) {
      command.promise.then(answer => { most = Math.max(most, lengthOf(answer)) }, () => {})
      return sendCommand.call(this, command, ...rest)
    }
    try {
      await fn()
    } finally {
      Redis.prototype.sendCommand = sendCommand
    }
    return most
  }

  const pushMany = (type, count, options) => queue.pushAll(Array.from({ length: count }, (_, payload) => ({ ...options, type, payload })))

  it('has each job of types that have many, in whatever state, by steps whose answers are no larger', async () => {
    const gate = gates()
    const runner = (payload, done, context) => context.type === 'dead' ? done(new Error('no')) : gate.runner(payload, done, context)
    await open(runner, { concurrency: 2 * MANY, prefetch: 0, maxAttempts: 1 })
    await queue.pauseGlobal('waiting')
    const pushed = new Set()
    for (const type of ['dead', 'running', 'waiting', 'delayed']) {
      for (const id of await pushMany(type, MANY, type === 'delayed' ? { delayMs: HOUR_MS } : undefined)) pushed.add(id)
    }
    await gate.until(MANY)
    while ((await queue.counts()).dead < MANY) await new Promise(setImmediate)
    await queue.pushType('few', 1, { delayMs: HOUR_MS })
    await visit()
    let jobs
    const most = await longestAnswer(async () => { jobs = await all() })
    assert(most < MANY, `${most}`)
    for (const { id, type, state, pushedAt, at, dueAt, payload } of jobs.filter(({ type }) => type !== 'few')) {
      assert(pushed.has(id))
      assert(Number.isInteger(payload))
      assert.equal(state, type)
      assert(Math.abs(pushedAt - Date.now()) < HOUR_MS)
      assert.equal(at === undefined, type !== 'dead')
      assert.equal(dueAt > Date.now() + HOUR_MS / 2, type === 'delayed')
    }
    assert.equal(new Set(jobs.map(({ id }) => id)).size, 4 * MANY + 1)
    assert.deepEqual(new Set((await all('waiting')).map(({ type }) => type)), new Set(['waiting']))
    gate.release(MANY)
  })

  it('has each job that stays, wherever it goes meanwhile', async () => {
    await open(null)
    const pushed = new Set(await pushMany('a', MANY))
    await visit()
    const [wait, delayed] = ['wait', 'delayed'].map(what => `{fairlane:mails}:a:${what}`)
    // as jobs that are retried do, all at once
    const leave = "for _, name in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[2], 2^53, name) end redis.call('DEL', KEYS[1])"
    const back = "for _, name in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do redis.call('LPUSH', KEYS[1], name) end redis.call('DEL', KEYS[2])"
    let count = 0
    for await (const { id } of visitor.jobs()) {
      pushed.delete(id)
      if (++count % 100 === 0) redis.cli('EVAL', count % 200 === 0 ? back : leave, '2', wait, delayed)
    }
    assert.equal(pushed.size, 0)
  })

  it('has each job that stays while processes run them, retry them, and queue dead ones again', async () => {
    await open(async () => { throw new Error('no') }, { concurrency: 20, maxAttempts: 3, backoffMs: 1 })
    const pushed = new Set(await pushMany('a', MANY))
    await visit()
    const over = new AbortController()
    const retried = (async () => {
      while (!over.signal.aborted) for (const { id } of await queue.deadLetters({ limit: 100 })) await queue.retryDead(id)
    })()
    const states = new Set()
    for await (const { id, state } of visitor.jobs()) {
      pushed.delete(id)
      states.add(state)
    }
    over.abort()
    await retried
    assert.equal(pushed.size, 0)
    assert(states.size > 1, [...states].join())
  })

  it('has each job though the connection is lost meanwhile', async () => {
    await open(null)
    const pushed = new Set(await pushMany('a', MANY))
    await visit()
    let count = 0
    for await (const { id } of visitor.jobs()) {
      pushed.delete(id)
      if (++count === 10) redis.cli('CLIENT', 'KILL', 'TYPE', 'normal')
    }
    assert.equal(pushed.size, 0)
    assert(count > MANY, `${count}`) // it began again
  })

  it('has each job of types with odd names, in partitions too, and none of another type or queue', async () => {
    for (const partitions of [1, 3]) {
      redis.cli('FLUSHALL')
      const types = ['a*', 'ab', ':?', 'few']
      const pushed = new Set()
      for (const name of ['mail', 'mails', 'mails2']) {
        const opened = await distributed(null, { connection: redis.connection, name, partitions })
        for (const type of types) {
          const ids = await opened.pushAll(Array.from({ length: type === 'few' ? 1 : MANY / 2 }, () => ({ type, payload: name })))
          if (name === 'mails') for (const id of ids) pushed.add(id)
        }
        await opened.close()
      }
      await visit()
      const jobs = await all()
      assert.deepEqual(new Set(jobs.map(({ id, payload }) => payload === 'mails' && id)), pushed)
      assert.equal(jobs[0].type, 'few') // those that are read in order come first
      assert.deepEqual(new Set((await all('a*')).map(({ type }) => type)), new Set(['a*']))
      await visitor.queue.close()
    }
  })

  it('has no results that are kept, and no runners that go on after their jobs', async () => {
    await open(async n => n, { resultTtlMs: HOUR_MS, settleBy: 'promise' })
    const key = what => `{fairlane:mails}:a:${what}`
    for (const count of [1, MANY]) {
      const waited = await queue.pushType('a', 1)
      await queue.wait(waited)
      await queue.pauseGlobal()
      const pushed = new Set(await pushMany('a', count))
      redis.cli('HSET', key('o.1'), 'name', 'overdue', 'overdue', 'j.1', 'data', '{"overdue":"j.1"}', 'opts', '{}', 'timestamp', '1')
      redis.cli('LPUSH', key('active'), 'o.1')
      await visit()
      assert.deepEqual(new Set((await all()).map(({ id }) => id)), pushed)
      await visitor.queue.close()
      redis.cli('DEL', key('active'), key('o.1'))
      await queue.clear()
      await queue.resumeGlobal()
    }
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
