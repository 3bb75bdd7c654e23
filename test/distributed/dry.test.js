'use strict'

// What a type is at the broker when a process has asked for a job of it: still ready, or dry. By the script alone.

const assert = require('node:assert')
const { Redis } = require('ioredis')
const { define } = require('../../lib/distributed/broker/scripts')
const { KEYS_TO_TAKE } = require('../../lib/distributed/broker/scripts/take')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')

describeWithRedis('a question for a job', function () {
  const at = atServer()
  const prefix = '{fairlane:raw}:a:'
  const [limits, ready] = ['limits', 'ready'].map(what => `{fairlane:raw}:.${what}`)
  let client

  before(() => {
    client = new Redis(at.server.path)
    define(client)
  })
  after(() => client.disconnect())

  async function take ({ waiting = 0, prioritized = 0, active = 0, delayedMs = [], known = 'g', meta = {}, limit = {}, heldMs = 0 }) {
    await client.flushall()
    await client.hset(limits, { generation: 'g', ...limit })
    await client.sadd(ready, 'a', 'b')
    let n = 0
    const job = async () => {
      await client.hset(`${prefix}j${++n}`, 'name', 'job', 'timestamp', 1)
      return `j${n}`
    }
    for (let i = 0; i < waiting; i++) await client.lpush(`${prefix}wait`, await job())
    for (let i = 0; i < prioritized; i++) await client.zadd(`${prefix}prioritized`, i, await job())
    for (let i = 0; i < active; i++) await client.lpush(`${prefix}active`, await job())
    for (const ms of delayedMs) await client.zadd(`${prefix}delayed`, (Date.now() + ms) * 4096, await job())
    if (Object.keys(meta).length > 0) await client.hset(`${prefix}meta`, meta)
    if (heldMs > 0) await client.set(`${prefix}limiter`, 1, 'PX', heldMs)
    const keys = KEYS_TO_TAKE.map(what => prefix + what)
    const [fields, , , dueInMs, , , , , , , isDry] = await client.fairlaneTake(...keys, limits, ready, prefix, 'a', 'me', 60000, known)
    const isReady = await client.sismember(ready, 'a') === 1
    assert.equal(await client.sismember(ready, 'b'), 1)
    assert.equal(isReady, isDry !== 1)
    return { hasJob: fields !== 0, isReady, dueInMs }
  }

  const cases = {
    'finds none': [{}, false, false],
    'finds the last one': [{ waiting: 1 }, true, false],
    'finds the last one, with a priority': [{ prioritized: 1 }, true, false],
    'finds one of two': [{ waiting: 2 }, true, true],
    'finds one, and another one has a priority': [{ waiting: 1, prioritized: 1 }, true, true],
    'finds one of two with priorities': [{ prioritized: 2 }, true, true],
    'finds the type paused': [{ waiting: 2, meta: { paused: 1 } }, false, false],
    'finds all types paused': [{ waiting: 2, limit: { paused: 1 } }, false, true],
    'finds the type held': [{ waiting: 2, heldMs: 60000 }, false, true],
    'finds the type at its cap': [{ waiting: 2, active: 1, limit: { cap: 1 } }, false, true],
    'finds the type at its cap, and none waits': [{ active: 1, limit: { cap: 1 } }, false, false],
    'comes by limits that are old': [{ waiting: 1, known: 'before' }, false, true]
  }
  for (const [what, [setting, hasJob, isReady]] of Object.entries(cases)) {
    it(`that ${what} leaves the type ${isReady ? 'ready' : 'dry'}`, async () => {
      assert.deepEqual(await take(setting), { hasJob, isReady, dueInMs: 0 })
    })
  }

  it('says when the next delayed job is due if none waits behind the one that it finds, or if it finds none', async () => {
    for (const [waiting, hasJob] of [[0, false], [1, true]]) {
      const { dueInMs, ...answer } = await take({ waiting, delayedMs: [60000, 20000] })
      assert.deepEqual(answer, { hasJob, isReady: false })
      assert(dueInMs > 15000 && dueInMs <= 20001, `${dueInMs}`)
    }
    assert.deepEqual(await take({ waiting: 2, delayedMs: [60000] }), { hasJob: true, isReady: true, dueInMs: 0 })
  })

  it('finds what is due', async () => {
    assert.deepEqual(await take({ delayedMs: [-1000] }), { hasJob: true, isReady: false, dueInMs: 0 })
    assert.deepEqual(await take({ delayedMs: [-1000, -2000] }), { hasJob: true, isReady: true, dueInMs: 0 })
  })
})
