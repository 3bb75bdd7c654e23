'use strict'

// What one node gives out, by calls of processes that are not there.

const assert = require('node:assert')
const { Redis } = require('ioredis')
const { EARLY, LOST, define } = require('../../lib/distributed/limits/permits')
const { describeWithRedis, startRedis } = require('../support/redis')
const { until } = require('./until')

const GOOD_MS = 50
const AHEAD_MS = 200
const GENERATION = '5'

describeWithRedis('permits and places', function () {
  let server
  let client
  let count = 0
  let keys
  let messages
  before(async () => {
    server = await startRedis()
    client = new Redis(server.path)
    define(client)
  })
  after(async () => {
    messages?.disconnect()
    client.disconnect()
    await server.stop()
  })

  async function limit ({ rate, concurrency }) {
    keys = ['fleet', 'permits', 'places'].map(what => `{test-${count}}:.${what}`)
    count++
    await client.hset(keys[0], 'generation', GENERATION)
    if (rate !== undefined) await client.hset(keys[0], 'rate', JSON.stringify(rate))
    if (concurrency !== undefined) await client.hset(keys[0], 'concurrency', concurrency)
  }

  async function ask ({
    token = 'a', held = 0, places = 0, free = 0, isKnown = 0, now = 0, all = now, promisedMs = 0, unused = [], generation = GENERATION, leaseMs = 1000
  }) {
    const [answered, waitMs, granted, state, others, ...grants] = await client.fairlanePermits(
      ...keys, generation, token, leaseMs, held, places, isKnown, now, all, GOOD_MS, AHEAD_MS, 'PUBLISH', keys[0], free, promisedMs,
      ...unused
    )
    const permits = []
    for (let at = 0; at < grants.length; at += 3) permits.push({ count: grants[at], inMs: grants[at + 1], mark: grants[at + 2] })
    return { generation: answered, waitMs, places: granted, state, others, permits }
  }

  /** What processes are told from now on. */
  async function messagesOf (channel) {
    const told = []
    messages ??= client.duplicate()
    messages.on('message', (from, text) => { if (from === channel) told.push(JSON.parse(text)) })
    await messages.subscribe(channel)
    return told
  }

  const sum = permits => permits.reduce((total, { count }) => total + count, 0)

  it('does nothing for a process that knows other limits', async () => {
    await limit({ rate: [{ limit: 5, intervalMs: 1000 }], concurrency: 3 })
    assert.deepEqual(await ask({ now: 1, places: 1, generation: '4' }), {
      generation: '5', waitMs: undefined, places: undefined, state: undefined, others: undefined, permits: []
    })
    await client.del(keys[0])
    assert.equal((await ask({ now: 1 })).generation, '')
    assert.equal(await client.exists(...keys), 0)
  })

  it('gives as many at once as the rate has, and no more than are wanted', async () => {
    await limit({ rate: [{ limit: 5, intervalMs: 60000 }] })
    assert.deepEqual((await ask({ now: 2, all: 4 })).permits.map(({ count, inMs }) => [count, inMs]), [[2, 0]])
    assert.equal(sum((await ask({ now: 9 })).permits), 3)
    const { permits, waitMs } = await ask({ now: 1 })
    assert.deepEqual(permits, [])
    assert(waitMs > 59000 && waitMs <= 60200, `${waitMs}`)
  })

  it('counts those again that were not used, and all others whatever became of them', async () => {
    await limit({ rate: [{ limit: 5, intervalMs: 60000 }] })
    const [{ mark }] = (await ask({ now: 5 })).permits
    assert.equal(sum((await ask({ now: 9, unused: [mark, 2] })).permits), 2)
    assert.equal(sum((await ask({ now: 9, unused: [String(Number(mark) + 60000), 3] })).permits), 0)
    let given = sum((await ask({ now: 9, unused: [mark, 99] })).permits)
    await until(async () => (given += sum((await ask({ now: 9 })).permits)) >= 5) // evenly, since it was used up
    assert.equal(given, 5)
  })

  for (const [title, rate] of [
    ['the windows say', [{ limit: 4, intervalMs: 1000 }]],
    ['the lower of two limits of an interval says', [{ limit: 5, intervalMs: 1000 }, { limit: 4, intervalMs: 1000 }]]
  ]) {
    it(`gives permits of times to come, which are as far apart as ${title}`, async () => {
      await limit({ rate })
      const marks = []
      await until(async () => {
        const { permits } = await ask({ now: 1, all: 3 })
        for (const { count, mark } of permits) for (let n = 0; n < count; n++) marks.push(Number(mark))
        return marks.length >= 14
      })
      assert.deepEqual(marks, marks.toSorted((a, b) => a - b))
      for (let at = 4; at < marks.length; at++) assert(marks[at] - marks[at - 4] >= 1000 + GOOD_MS, `${marks}`)
      const ms = marks[12] - marks[0]
      assert(ms < 3 * 1100, `3 rounds take ${ms} ms`)
    })
  }

  it('heeds several windows', async () => {
    await limit({ rate: [{ limit: 3, intervalMs: 1000 }, { limit: 4, intervalMs: 60000 }] })
    assert.equal(sum((await ask({ now: 9 })).permits), 3)
    let given = 0
    let waitMs
    await until(async () => {
      const answer = await ask({ now: 9 })
      given += sum(answer.permits)
      waitMs = answer.waitMs
      return given > 0 && waitMs > 5000
    })
    assert.equal(given, 1)
    assert(waitMs > 55000)
  })

  it('has processes that get none come back one after the other', async () => {
    await limit({ rate: [{ limit: 2, intervalMs: 60000 }] })
    await ask({ now: 2 })
    const [first, second] = [await ask({ now: 1 }), await ask({ now: 1 })]
    assert(second.waitMs - first.waitMs > 25000)
    assert((await ask({ now: 1 })).waitMs - first.waitMs > 55000)
  })

  it('keeps the time that a process was told, as long as it is none of other limits', async () => {
    await limit({ rate: [{ limit: 2, intervalMs: 60000 }] })
    await ask({ now: 2 })
    const { waitMs } = await ask({ now: 1 })
    const promisedMs = waitMs + 30000
    for (let n = 0; n < 3; n++) assert.equal((await ask({ now: 1, promisedMs })).waitMs, promisedMs)
    assert((await ask({ now: 1 })).waitMs - waitMs < 31000)
    for (const none of [waitMs - 20000, waitMs + 400000]) assert.notEqual((await ask({ now: 1, promisedMs: none })).waitMs, none)
  })

  it('tells those who wait for long of permits that come back, and has them come first', async () => {
    await limit({ rate: [{ limit: 3, intervalMs: 60000 }] })
    const told = await messagesOf(keys[0])
    const [{ mark }] = (await ask({ now: 3 })).permits
    for (const token of ['b', 'c', 'd']) await ask({ token, now: 1 })
    await ask({ token: 'b', now: 1 }) // it has asked last now
    const { waitMs, permits } = await ask({ now: 1, unused: [mark, 2] })
    assert.deepEqual([waitMs, permits], [50, []])
    await until(() => told.length === 1)
    assert.deepEqual(told, [{ freed: ['c', 'd'] }])
    await until(async () => (await ask({ token: 'c', now: 1 })).permits.length > 0) // evenly, since it was used up
    await ask({ token: 'b', unused: [mark, 1] }) // it tells of one, and goes on waiting
    await until(() => told.length === 2)
    assert.deepEqual(told[1], { freed: ['b'] })
    await ask({ unused: [mark, 1] }) // nobody waits, and there are no more
    await until(async () => (await ask({ now: 1 })).permits.length > 0)
    assert.equal(told.length, 2)
  })

  it('tells no process that waits for less than a second, or has not asked for long, and no more than 16', async () => {
    await limit({ rate: [{ limit: 2, intervalMs: 60000 }] })
    const told = await messagesOf(keys[0])
    const [{ mark }] = (await ask({ now: 2 })).permits
    for (let n = 0; n < 20; n++) await ask({ token: `process-${n}`, now: 1 })
    const waiting = (await client.hget(keys[1], 'waiting')).split(',')
    assert.deepEqual([waiting.length, waiting[0], waiting[30]], [32, 'process-0', 'process-15'])
    await client.hset(keys[1], 'waiting', ['gone', Number(waiting[1]) - 16000, 'there', waiting[1]].join())
    await ask({ unused: [mark, 2] })
    await until(() => told.length > 0)
    assert.deepEqual(told, [{ freed: ['there'] }])
    await limit({ rate: [{ limit: 1, intervalMs: 1000 }] })
    await ask({ now: 1 })
    await ask({ token: 'soon', now: 1 })
    assert.equal(await client.hget(keys[1], 'waiting'), '')
  })

  it('goes on where it was when a server with a clock that is behind has taken over', async () => {
    await limit({ rate: [{ limit: 2, intervalMs: 60000 }] })
    await ask({ now: 2 })
    const last = Number(await client.hget(keys[1], 'last'))
    await client.hset(keys[1], 'last', last + 3600000, 'tail', last + 3600000)
    await client.hset(keys[1], '60000:first', Math.floor((last + 3600000) / 60)) // the window with it
    for (const field of (await client.hkeys(keys[1])).filter(name => /^60000:\d/.test(name))) await client.hdel(keys[1], field)
    await client.hset(keys[1], `60000:${Math.floor((last + 3600000) / 60)}`, 2)
    const { permits, waitMs } = await ask({ now: 1 })
    assert.deepEqual(permits, [])
    assert(waitMs < 61000)
    assert(Number(await client.hget(keys[1], 'shift')) > 3500000)
  })

  it('is not kept when it is over, and keeps a thousand slices of a window at most', async () => {
    await limit({ rate: [{ limit: 1000000, intervalMs: 1000 }] })
    for (let n = 0; n < 1500; n++) await ask({ now: 1 })
    assert(await client.hlen(keys[1]) < 1200)
    assert(await client.pttl(keys[1]) > 0)
  })

  it('gives no permit to a process that has no place', async () => {
    await limit({ rate: [{ limit: 5, intervalMs: 60000 }], concurrency: 2 })
    const first = await ask({ token: 'a', places: 2, now: 2 })
    assert.deepEqual([first.places, sum(first.permits), first.waitMs], [2, 2, 0])
    const second = await ask({ token: 'b', places: 1, now: 2 })
    assert.deepEqual([second.places, second.permits, second.waitMs], [0, [], 1000])
    const third = await ask({ token: 'a', held: 2, free: 1, isKnown: 1, places: 1, now: 1 })
    assert.deepEqual([third.places, sum(third.permits), third.waitMs], [0, 1, 0])
  })

  it('has each process let go of its share where more run than the limit lets', async () => {
    await limit({ concurrency: 9 })
    await ask({ token: 'a', places: 6 })
    await ask({ token: 'b', places: 3 })
    await client.hset(keys[0], 'concurrency', 3)
    assert.equal((await ask({ token: 'a', held: 6, isKnown: 1, places: 1 })).places, -4)
    assert.equal((await ask({ token: 'b', held: 3, isKnown: 1 })).places, -2)
    assert.equal((await ask({ token: 'c', places: 1 })).places, 0)
    assert.equal((await ask({ token: 'a', held: 2, isKnown: 1 })).places, -1)
    assert.equal((await ask({ token: 'b', held: 1, isKnown: 1 })).places, 0)
    assert.equal((await ask({ token: 'a', held: 2, isKnown: 1 })).places, 0)
    assert.equal((await ask({ token: 'a', held: 1, isKnown: 1 })).places, 0)
    assert.equal((await ask({ token: 'c', places: 2 })).places, 1)
  })

  it('gives no places before all processes can have said what they run, and has none start by its own', async () => {
    await limit({ concurrency: 3 })
    const [seconds] = await client.time()
    await client.hset(keys[0], 'placesFrom', (Number(seconds) + 2) * 1000)
    const early = [await ask({ token: 'a', places: 2 }), await ask({ token: 'b', held: 2, places: 1, leaseMs: 5000 })]
    for (const { places, state, waitMs } of early) {
      assert.deepEqual([places, state], [0, EARLY])
      assert(waitMs > 900 && waitMs <= 2000, `${waitMs}`)
    }
    await until(async () => (await ask({ token: 'a', places: 2, leaseMs: 5000 })).places === 1)
    assert.equal((await ask({ token: 'b', held: 2, isKnown: 1 })).state, 0)
  })

  it('gives places, as many as are free, and tells of free ones those who wait', async () => {
    await limit({ concurrency: 7 })
    const told = await messagesOf(keys[0])
    assert.equal((await ask({ token: 'a', places: 5 })).places, 5)
    assert.equal((await ask({ token: 'b', places: 5 })).places, 2)
    const denied = await ask({ token: 'c', places: 1 })
    assert.deepEqual([denied.places, denied.others, denied.waitMs], [0, 1, 1000])
    assert.equal((await ask({ token: 'a', held: 5, isKnown: 1 })).others, 2)
    await ask({ token: 'a', held: 4, isKnown: 1 })
    await until(() => told.length > 0)
    assert.equal(told.length, 1)
    assert(['b', 'c'].includes(told[0].freed.join()), JSON.stringify(told))
    assert.equal((await ask({ token: 'c', places: 2 })).places, 1)
    for (const token of ['a', 'b', 'c']) await ask({ token, isKnown: 1 })
    assert.equal(await client.exists(keys[2]), 0)
  })

  it('counts no places whose lease is over, and says so to their process', async () => {
    await limit({ concurrency: 2 })
    await ask({ token: 'a', places: 2 })
    let answer
    await until(async () => (answer = await ask({ token: 'b', places: 2 })).places === 2)
    assert.equal((await ask({ token: 'a', held: 2, isKnown: 1 })).state, LOST)
    answer = await ask({ token: 'a', held: 2 }) // one that has not asked before has what runs there counted
    assert.deepEqual([answer.state, answer.places], [0, -1])
    assert.equal((await ask({ token: 'b', held: 1, places: 1, isKnown: 1 })).places, -1)
  })

  it('lets no lease end by a time in which nobody could call', async () => {
    await limit({ concurrency: 2 })
    await ask({ token: 'a', places: 2, leaseMs: 60000 })
    await client.hincrby(keys[2], 't:at', -3600000)
    assert.equal((await ask({ token: 'b', places: 1, leaseMs: 60000 })).places, 0)
    assert.equal((await ask({ token: 'a', held: 2, isKnown: 1, leaseMs: 60000 })).state, 0)
  })
})
