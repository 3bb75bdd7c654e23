'use strict'

// Rates of types at the broker, whose clock the test sets back by writing windows anew as if their starts had been earlier.

const assert = require('node:assert')
const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atLaterTimes, inSlowTime } = require('./later')
const { atServer } = require('./opened')
const { until } = require('./until')

const HOUR_MS = 3600000

describeWithRedis('a rate of a type at a broker', function () {
  const at = atServer()
  const later = atLaterTimes()
  inSlowTime()
  let client

  beforeEach(() => { client = new Redis(at.server.path) })
  afterEach(() => client.disconnect())

  const key = type => `{fairlane:${at.name}}:${type}:.starts`

  /** How many fields its windows have. */
  const sizeOf = async type => (await client.hkeys(key(type))).filter(field => field !== 'first').length

  /** All starts of a type were earlier. */
  async function age (type, ms) {
    for (const [field, bytes] of Object.entries(await client.hgetallBuffer(key(type)))) {
      if (field === 'first') continue
      const times = field.includes(':') ? [0] : [3, 5, 6]
      for (const index of times) bytes.writeDoubleLE(bytes.readDoubleLE(8 * index) - 1000 * ms, 8 * index)
      await client.hset(key(type), field, bytes)
    }
  }

  /** A queue whose runners end at once, and what has started of it. */
  async function counting (options) {
    const started = []
    const queue = await at.open(async n => { started.push(n) }, { concurrency: 50, ...options })
    return { queue, started }
  }

  const pushed = (queue, count, type = 'a') => Promise.all(Array.from({ length: count }, (_, n) => queue.pushType(type, n)))

  /** The broker has said that no more may start now. */
  const untilBlocked = queue => until(async () => (await queue.counts('a')).running === 0)

  it('lets as many start as it says, and more when these are over', async () => {
    const { queue, started } = await counting({ ratePerType: { limit: 3, intervalMs: HOUR_MS } })
    await pushed(queue, 8)
    await until(() => started.length === 3)
    await untilBlocked(queue)
    await age('a', HOUR_MS / 2)
    await queue.holdType('a', 0) // it is asked again
    await pushed(queue, 1, 'b')
    await until(() => started.length === 4)
    await age('a', HOUR_MS)
    await queue.holdType('a', 0)
    await until(() => started.length === 7)
    await untilBlocked(queue)
    assert.equal((await queue.counts('a')).waiting, 2)
    await queue.clear()
  })

  it('is used by what starts, though the message of a change of its own comes while a job is taken', async () => {
    const { sendCommand, emit } = Redis.prototype
    const connection = purpose => {
      const client = new Redis(at.server.path)
      if (purpose === 'calls') client.sendCommand = (...args) => sendCommand.apply(client, args).finally(() => sleep(10))
      else client.emit = (...args) => args[0] === 'message' ? setTimeout(() => emit.apply(client, args), 15) : emit.apply(client, args)
      return client
    }
    const { queue, started } = await counting({ connection, ratePerType: { limit: 3, intervalMs: HOUR_MS } })
    await pushed(queue, 12)
    for (const count of [3, 6, 9]) {
      await until(() => started.length === count)
      await untilBlocked(queue)
      await age('a', 2 * HOUR_MS)
      await queue.holdType('a', 0)
    }
    await until(() => started.length === 12)
  })

  it('takes a few entries for many starts', async () => {
    const limit = 1200
    const { queue, started } = await counting({ ratePerType: new Map([['a', { limit, intervalMs: HOUR_MS }]]) })
    await pushed(queue, limit + 5)
    await until(async () => await queue.heldMs('a') > 0)
    await untilBlocked(queue)
    assert(started.length > limit / 2 && started.length <= limit) // what was taken ahead and not begun in time is used up, too
    const fields = await sizeOf('a')
    assert(fields < 40, `${fields}`)
    assert((await client.pttl(key('a'))) > HOUR_MS)
    await age('a', 2 * HOUR_MS)
    await queue.holdType('a', 0)
    await until(() => started.length === limit + 5)
    assert(await sizeOf('a') < 10)
  })

  it('is not forgotten before its time when a shorter one has the newest entry', async () => {
    const { queue, started } = await counting({ ratePerType: [{ limit: 5000, intervalMs: HOUR_MS }, { limit: 900, intervalMs: 1000 }] })
    for (const count of [1, 2]) {
      await pushed(queue, 1)
      await until(() => started.length === count)
    }
    assert(await client.pttl(key('a')) > HOUR_MS)
  })

  it('holds beside others, of the same interval, too', async () => {
    const rates = [{ limit: 100, intervalMs: HOUR_MS }, { limit: 5, intervalMs: HOUR_MS }, { limit: 4, intervalMs: 2 * HOUR_MS }]
    const { queue, started } = await counting({ ratePerType: rates })
    await pushed(queue, 10)
    await until(() => started.length === 4)
    await untilBlocked(queue)
    await age('a', 1.5 * HOUR_MS)
    await queue.holdType('a', 0)
    await pushed(queue, 1, 'b')
    await until(() => started.length === 5)
    assert.equal((await queue.counts('a')).waiting, 6)
    await age('a', 2 * HOUR_MS)
    await queue.holdType('a', 0)
    await until(() => started.length === 9)
    await queue.clear()
  })

  it('forgets no start too early that came after another rate has held jobs back', async () => {
    const limit = 1200 // an entry stands for several starts
    const rate = { limit, intervalMs: HOUR_MS }
    const { queue, started } = await counting({ ratePerType: [rate, { limit, intervalMs: 2 * HOUR_MS }] })
    await pushed(queue, limit)
    await until(() => started.length === limit)
    await pushed(queue, limit / 2)
    await age('a', 1.5 * HOUR_MS)
    await queue.holdType('a', 0)
    await until(async () => await client.hexists(key('a'), `${HOUR_MS}:1`) === 0) // the other rate holds jobs back
    await client.hset(`{fairlane:${at.name}}:.limits`, 'rates', JSON.stringify([rate]))
    await queue.holdType('a', 0)
    await until(() => started.length === 1.5 * limit)
    await untilBlocked(queue)
    for (const most of [2 * limit, 2.5 * limit]) {
      await age('a', HOUR_MS * 0.55)
      await pushed(queue, limit)
      await queue.holdType('a', 0) // jobs that come while limits change go back, and count: as many as there are slots, each time
      await until(async () => await queue.heldMs('a') > 0)
      await untilBlocked(queue)
      assert(started.length > most - 200 && started.length <= most, `${started.length} of ${most}`)
    }
    await queue.clear()
  })

  it('that has become lower has as many starts go by as are too many, and a lost entry counts one', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', concurrency: 50, ratePerType: { limit: 6, intervalMs: HOUR_MS } })
    await pushed(queue, 10)
    await gate.until(6)
    await client.hset(`{fairlane:${at.name}}:.limits`, 'rates', JSON.stringify([{ limit: 2, intervalMs: HOUR_MS }]))
    await client.hdel(key('a'), `${HOUR_MS}:1`)
    gate.release(6)
    await untilBlocked(queue)
    assert.equal(gate.payloads.length, 6)
    await age('a', 2 * HOUR_MS)
    await queue.holdType('a', 0)
    await gate.until(8)
    assert.equal((await queue.counts('a')).waiting, 2)
    gate.release(2)
    await queue.clear()
  })

  for (const [limit, what] of [[100, 'starts'], [1, 'goes back if it may not start then'], [undefined, 'starts if there is no rate any more']]) {
    it(`counts a job once more that has waited until it was alone, and it ${what}`, async () => {
      const gate = gates()
      const options = { settleBy: 'callback', concurrency: 2, maxAttempts: 2, leaseMs: 600000 }
      const ratePerType = new Map([['a', { limit: limit ?? 1, intervalMs: HOUR_MS }]])
      const queue = await at.open(gate.runner, { ...options, ratePerType })
      await queue.pushType('b', 'other')
      await gate.until(1)
      queue.pause()
      const id = await queue.pushType('a', 'alone')
      await client.hset(`{fairlane:${at.name}}:${id}`, 'stc', 1) // a process has ended with it
      queue.resume()
      await until(async () => (await queue.counts('a')).running === 1)
      await until(async () => await client.exists(key('a')) === 1)
      await later(10000)
      if (limit === undefined) await client.hdel(`{fairlane:${at.name}}:.limits`, 'rates:a')
      gate.release(1)
      if (limit === 1) {
        await until(async () => (await queue.counts('a')).waiting === 1)
        await queue.clear()
      } else {
        await gate.until(2)
        gate.release(1)
      }
      await queue.onIdle()
      assert.deepEqual(gate.payloads, limit === 1 ? ['other'] : ['other', 'alone'])
      assert.equal(await sizeOf('a'), limit === 100 ? 3 : 2)
    })
  }

  it('has a job go back that does not start in time, and counts it', async () => {
    const { queue, started } = await counting({ ratePerType: { limit: 2, intervalMs: HOUR_MS } })
    const { now } = performance
    performance.now = () => now.call(performance) + 3000 * ++reads // each look at the clock is long after the one before
    let reads = 0
    try {
      await queue.pushType('a', 1)
      await until(async () => await sizeOf('a') === 3)
      await until(async () => await client.llen(`{fairlane:${at.name}}:a:active`) === 0) // with the clock as it is, it would start
    } finally {
      performance.now = now
    }
    await untilBlocked(queue)
    assert.deepEqual(started, [])
    assert.equal((await queue.counts('a')).waiting, 1)
    await queue.clear()
  })

  it('has a job start in time, however long its payload takes to be decoded', async () => {
    const { now } = performance
    const decode = bytes => {
      performance.now = () => now.call(performance) + 5000
      return String(bytes)
    }
    const serialize = { encode: payload => Buffer.from(payload), decode }
    const { queue, started } = await counting({ ratePerType: { limit: 2, intervalMs: HOUR_MS }, serialize })
    try {
      await queue.pushType('a', 'slow')
      await until(() => started.length === 1)
      assert.equal(await sizeOf('a'), 3) // it was taken twice
    } finally {
      performance.now = now
    }
  })
})
