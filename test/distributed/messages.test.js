'use strict'

// Messages that connections are lost beside, and messages that nobody can read. What looks around every half minute never does here, so
// a job that is pushed runs only if a message says so.

const assert = require('node:assert')
const { randomBytes } = require('node:crypto')
const { Redis } = require('ioredis')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { startProxy } = require('./proxy')
const { until } = require('./until')

const LONG_MS = 20000
const MESSAGES = [
  '', 'garbage', '{', 'null', 'true', '5', '"a"', '[]', '[null]', '[1]', '[1,5]', '[1,"a"]', '[1,{"length":1}]', '["1",["a"]]',
  '[-1,["a"]]', '[1.5,["a"]]', '[1e300,["a"]]', '[281474976710656,["a"]]',
  '[9,[5]]', '[9,[null]]', '[9,["%zz"]]', `[9,["${'x'.repeat(1e5)}"]]`, '{}', '{"cancelled":5}', '{"cancelled":["a"]}',
  '{"cancelled":["%zz","j"]}', '{"cancelled":[1,2]}', '{"cancelled":null}',
  '{"changed":5,"by":"p"}', '{"changed":"%zz","by":"p"}', '{"changed":null}', '{"changed":"a"}', '{"changed":"a","by":5}', '{"freed":5}', '{"freed":"%zz"}', '{"__proto__":{"changed":"a"}}',
  '{"__proto__":null}', '{"constructor":1}', '[["a"]]', '[["a:j"]]', '[["a:j","{"]]', '[["a:j",5]]',
  '[["a:j",null,"{"]]', '[["a:j",null,5]]', '[["a:j",null,"null"]]', '[["a:j",null,"{\\"name\\":5}"]]', '[[{"__proto__":1},"1"]]',
  '['.repeat(1e5), `"${'x'.repeat(1e6)}"`
]

describeWithRedis('messages of the broker', function () {
  const at = atServer()
  const { setTimeout } = global
  let proxy

  beforeEach(async () => {
    global.setTimeout = (fn, ms, ...args) => setTimeout(ms >= LONG_MS ? () => {} : fn, ms, ...args)
    proxy = await startProxy(at.server.path)
  })

  afterEach(() => {
    global.setTimeout = setTimeout
    proxy.close()
  })

  /** @returns {Promise<object[]>} warnings of what is at the broker that came while fn went on */
  async function warningsDuring (fn) {
    const warnings = []
    const heard = warning => warnings.push(warning)
    process.on('warning', heard)
    await fn()
    await new Promise(resolve => setImmediate(resolve))
    process.off('warning', heard)
    return warnings.filter(({ code }) => code === 'FAIRLANE_WARN_BROKER')
  }

  const subscribers = () => Number(at.server.cli('pubsub', 'numsub', `{fairlane:${at.name}}:.wake`).split('\n')[1])

  /** A worker whose messages come through the proxy; whether it was told of jobs since is asked by heard(). */
  async function open (connection) {
    const worker = await at.open(async n => n, { connection, leaseMs: 600000 })
    const producer = await at.open(null)
    return { worker, producer }
  }

  const CONNECTIONS = {
    'of its own': () => ({ path: proxy.path }),
    'of the caller': () => purpose => new Redis(
      purpose === 'messages' ? proxy.path : at.server.path, { maxRetriesPerRequest: 0, retryStrategy: () => 5 }
    )
  }

  for (const [whose, make] of Object.entries(CONNECTIONS)) {
    for (const moment of ['hello', 'info', 'subscribe']) {
      it(`come again after the connection was lost three times in quick succession: at its ${moment}, with a client ${whose}`, async () => {
        const { producer } = await open(make())
        assert.equal(subscribers(), 1)
        proxy.cutAt(moment, 2)
        proxy.cut()
        await until(() => proxy.cutsCount === 2)
        await until(() => subscribers() === 1)
        for (const n of [1, 2]) assert.equal(await producer.add(n, { type: `type-${n}` }), n)
      })
    }
  }

  it('that make no sense are ignored, and warned of once', async () => {
    const { producer } = await open(at.connection)
    assert.equal(await producer.add(1), 1)
    const channels = at.server.cli('pubsub', 'channels', `{fairlane:${at.name}}:*`).split('\n')
    assert.equal(channels.length, 3) // where types are told of, and limits, and the inbox of the producer
    const client = new Redis(at.server.path)
    const pending = producer.add('later', { type: 'paused', delayMs: 60000 })
    pending.catch(() => {})
    const warnings = await warningsDuring(async () => {
      for (const channel of channels) {
        for (const message of [
          ...MESSAGES, ...Array.from({ length: 200 }, (_, n) => randomBytes(n))
        ]) await client.publish(channel, message)
      }
      for (const n of [2, 3]) assert.equal(await producer.add(n, { type: `type-${n}` }), n)
    })
    client.disconnect()
    assert.equal(warnings.length, 2) // of the worker, and of the producer
    for (const { message } of warnings) assert.match(message, /Ignored what cannot be read at the broker: a message on the channel/)
    assert.equal({}.changed, undefined)
  })

  it('are not needed by jobs whose records make no sense: these fail, and others run', async () => {
    const worker = await at.open(async n => n, { maxAttempts: 1, settleBy: 'promise' })
    worker.pause()
    const key = id => `{fairlane:${at.name}}:${id}`
    const RECORDS = {
      data: ['garbage', '', '{', '[1]', '5', 'null', '{"inbox":5}'],
      timestamp: ['garbage', ''],
      delay: ['garbage'],
      opts: ['garbage', '5', 'null', '{"attempts":"a","delay":"a"}'],
      atm: ['-1'],
      stc: ['garbage', '-1'],
      base: ['garbage', '', ',', '-1,-1'],
      fault: ['garbage', '{', 'null', '{"name":5,"message":"a"}', '{"name":"a","message":"b","code":{}}'],
      returnvalue: ['garbage']
    }
    let count = 0
    for (const [field, values] of Object.entries(RECORDS)) {
      for (const value of values) {
        const id = await worker.pushType(`type-${count++}`, count)
        // one that has failed before is looked at more closely
        at.server.cli('hset', key(id), field === 'data' ? 'stc' : 'atm', '1', field, value)
      }
    }
    worker.resume()
    await worker.onIdle()
    const { done, failed, lost } = worker.stats()
    assert.deepEqual([done + failed, lost], [count, 0])
    for (const { error, attempts } of await worker.deadLetters()) {
      assert(error instanceof Error)
      assert(Number.isInteger(attempts))
    }
  })

  it('are not listened to where nobody can read which format the broker has', async () => {
    at.server.cli('hset', `{fairlane:${at.name}}:.queue`, 'format', 'garbage', 'partitions', '1')
    await assert.rejects(at.open(null), { code: 'FAIRLANE_ERR_BROKER' })
  })
})
