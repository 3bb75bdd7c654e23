'use strict'

// Rates of cost of the whole queue, over all processes.

const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const { Purse } = require('../../lib/distributed/limits/purse')
const { define } = require('../../lib/distributed/limits/units')
const gates = require('../support/gates')
const { seeded, seedFromEnvironment } = require('../support/random')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { until } = require('./until')

const HOUR_MS = 3600000
const ofQueue = (limit, intervalMs = HOUR_MS) => ({ scheduler: 'equal', rate: { limit, intervalMs, of: 'cost' } })

describeWithRedis('units of a rate of the whole queue', function () {
  const at = atServer()

  for (const scheduler of ['equal', 'fair', undefined]) {
    const seed = seedFromEnvironment()
    it(`never let jobs start that cost more than is left in any process, with ${scheduler} (SEED=${seed})`, async () => {
      const random = seeded(seed)
      const [limit, intervalMs] = [600, 1000]
      const starts = []
      let worst = 0
      const runner = async (payload, { spent }) => {
        const now = performance.now()
        const start = { at: now, units: payload }
        starts.push(start)
        let sum = 0
        for (const { at, units } of starts) if (at > now - intervalMs) sum += units
        worst = Math.max(worst, sum)
        if (random.chance(0.3)) {
          await sleep(random.below(5))
          spent(start.units = random.below(payload + 1))
        }
        await sleep(random.below(10))
      }
      const options = { ...ofQueue(limit, intervalMs), scheduler, concurrency: 4 }
      const queues = []
      for (let i = 0; i < 3; i++) queues.push(await at.open(runner, options))
      const jobs = []
      for (let i = 0; i < 60; i++) {
        const cost = i % 20 === 10 ? 200 + random.below(300) : random.below(20)
        jobs.push({ payload: cost, cost, ...scheduler && { type: 'abc'[random.below(3)] } })
      }
      await queues[0].pushAll(jobs)
      await until(() => starts.length === jobs.length)
      assert.ok(worst <= limit, `${worst}`)
    })
  }

  it('are held by nobody at a broker that came back empty, until somebody has written the limits again', async () => {
    const queue = await at.open(null, ofQueue(10))
    at.server.cli('flushall')
    assert.equal(await queue.heldMs(), 0)
  })

  it('are waited for by the job that is next, and others of any type wait behind it, in each process', async () => {
    for (const scheduler of ['equal', 'fair', undefined]) {
      const gate = gates()
      const queue = await at.open(gate.runner, { ...ofQueue(10), settleBy: 'callback', scheduler, concurrency: 5, name: `${at.name}-${scheduler}` })
      const push = (type, payload, cost) => scheduler ? queue.pushType(type, payload, { cost }) : queue.push(payload, { cost })
      await push('a', 'first', 6)
      await gate.until(1)
      await push('b', 'large', 10)
      await until(async () => await queue.heldMs() > HOUR_MS - 60000)
      for (const n of [1, 2, 3]) await push(n === 1 ? 'c' : 'a', 'small', 1)
      await sleep(50)
      assert.deepEqual(gate.payloads, ['first'])
      gate.started[0].context.spent(0)
      await gate.until(2)
      await sleep(50)
      assert.deepEqual(gate.payloads, ['first', 'large'])
      gate.started[1].context.spent(7)
      await gate.until(5)
      assert.equal(queue.stats().spent, 0 + 7 + 3)
      gate.release(5)
    }
  })

  it('are of use to other processes when they are given back, and are charged beyond the limit', async () => {
    const all = [gates(), gates()]
    const queues = []
    for (const gate of all) queues.push(await at.open(gate.runner, { ...ofQueue(10), settleBy: 'callback', concurrency: 1 }))
    await queues[0].pushType('a', 'first', { cost: 4 })
    await until(() => all.some(gate => gate.open.length === 1))
    const busy = all.findIndex(gate => gate.open.length === 1)
    const [one, other] = [all[busy], all[1 - busy]]
    const { spent } = one.started[0].context
    spent(15)
    await queues[0].pushType('b', 'second', { cost: 8 })
    await until(async () => await queues[busy].heldMs() > HOUR_MS - 60000)
    assert.equal(await queues[busy].heldMs('b') > HOUR_MS - 60000, true)
    spent(12)
    spent(3)
    await sleep(50)
    assert.equal(other.payloads.length, 0)
    spent(2)
    await until(() => other.payloads.length === 1)
    assert.deepEqual(queues.map(queue => queue.stats().spent).sort(), [2, 8])
    assert.throws(() => queues[0].pushType('a', 1, { cost: 11 }), { code: 'FAIRLANE_ERR_ARGUMENT', message: /above the limit of 10/ })
    for (const gate of all) gate.release()
  })

  it('hold beside starts and places, and as long as there is such a rate', async () => {
    const gate = gates()
    const rate = [{ limit: 3, intervalMs: HOUR_MS }, { limit: 10, intervalMs: HOUR_MS, of: 'cost' }, { limit: 12, intervalMs: HOUR_MS, of: 'cost' }]
    const queue = await at.open(gate.runner, { ...ofQueue(1), rate, settleBy: 'callback', globalConcurrency: 2, concurrency: 5 })
    await queue.pushAll(Array(6).fill({ type: 'a', payload: 1, cost: 5 }))
    await gate.until(2)
    gate.release(2)
    await sleep(50)
    assert.equal(gate.payloads.length, 2) // of units
    await queue.setRates({ rate: [{ limit: 3, intervalMs: HOUR_MS }, { limit: 100, intervalMs: HOUR_MS, of: 'cost' }] })
    await gate.until(3)
    gate.release()
    await sleep(50)
    assert.equal(gate.payloads.length, 3) // of starts
    await queue.setRates({ rate: null })
    await gate.until(5)
    gate.started[4].context.spent(1) // nobody counts it
    gate.release(2)
    await gate.until(6)
    await queue.setRates({ rate: { limit: 100, intervalMs: HOUR_MS, of: 'cost' } })
    gate.started[5].context.spent(9) // it has begun without
    await queue.pushType('a', 1, { cost: 60 }) // what was charged before counts still
    await gate.until(7)
    gate.release(2)
  })

  describe('as the broker gives them', () => {
    let client
    let keys
    let count = 0
    before(() => { define(client = new Redis(at.server.path)) })
    after(() => client.disconnect())

    async function limit (...rate) {
      keys = ['fleet', 'units', 'line'].map(what => `{units-${count}}:.${what}`)
      count++
      await client.hset(keys[0], 'generation', '5', 'rate', JSON.stringify(rate))
    }

    async function ask (need, { token = 'a', ahead = 0, charge = 0, back = [], generation = '5', goodMs = 50 } = {}) {
      const [answered, units, mark, waitMs, charged] = await client.fairlaneUnits(
        ...keys, generation, token, need, ahead, goodMs, 'PUBLISH', keys[0], charge, ...back
      )
      return { answered, units, mark, waitMs, charged }
    }
    const given = async (...args) => (await ask(...args)).units

    it('are none for a process that knows other limits, and as many as one wants where there is no such rate', async () => {
      await limit({ limit: 5, intervalMs: 1000, of: 'cost' })
      assert.deepEqual(await ask(1, { generation: '4' }), { answered: '5', units: undefined, mark: undefined, waitMs: undefined, charged: undefined })
      await limit({ limit: 1, intervalMs: 1000 })
      assert.equal(await given(70), 70)
      await client.del(keys[0])
      assert.equal((await ask(1)).answered, '')
    })

    it('are all that a job needs, and more while nobody else waits', async () => {
      await limit({ limit: 10, intervalMs: 60000, of: 'cost' }, { limit: 30, intervalMs: 90000, of: 'cost' })
      assert.equal(await given(3, { ahead: 2 }), 5)
      const { units, waitMs } = await ask(6)
      assert.equal(units, 0)
      assert.ok(waitMs > 59000 && waitMs < 60200, `${waitMs}`)
      assert.equal(await given(1, { token: 'b', ahead: 3 }), 0) // behind it
      assert.ok((await ask(-1, { token: '', goodMs: 0 })).waitMs > 59000) // of that which waits first
      assert.equal(await given(4), 4)
      assert.equal(await given(1, { token: 'c' }), 0)
      assert.equal(await given(1, { token: 'b', ahead: 3 }), 1)
    })

    it('go to whoever has waited longest, and are his no more who does not ask', async () => {
      await limit({ limit: 10, intervalMs: 60000, of: 'cost' })
      const { mark } = await ask(10)
      for (const token of ['b', 'c', 'd']) assert.equal(await given(4, { token }), 0)
      const heard = []
      const messages = client.duplicate()
      messages.on('message', (channel, text) => heard.push(JSON.parse(text)))
      await messages.subscribe(keys[0])
      await ask(0, { back: [mark, 5] })
      await until(() => heard.length === 1)
      assert.deepEqual(heard[0], { freed: ['b'] })
      assert.deepEqual([await given(4, { token: 'c' }), await given(0, { token: 'b' }), await given(4, { token: 'c' })], [0, 0, 4])
      await until(() => heard.length === 2)
      assert.deepEqual(heard[1], { freed: ['c'] })
      await client.hset(keys[2], 'd', '1:1:4')
      assert.equal(await given(1, { token: 'e' }), 1)
      messages.disconnect()
    })

    it('count until their time is over, by a clock that never goes back; more than the limit has the whole window', async () => {
      await limit({ limit: 10, intervalMs: 1000, of: 'cost' })
      const { charged } = await ask(0, { charge: 25 })
      assert.equal(await given(1), 0)
      const last = Number(await client.hget(keys[1], 'last'))
      await client.hset(keys[1], 'last', last + 5000)
      const { units, mark } = await ask(12)
      assert.equal(units, 12)
      assert.ok(mark > last + 5000)
      assert.equal(await given(1), 0)
      await ask(0, { back: [charged, 25, mark, 3] }) // of what is over nothing comes back
      assert.equal(await given(1), 1)
      await client.hdel(keys[1], ...(await client.hkeys(keys[1])).filter(field => field.startsWith('1000:') && !/(first|sum)$/.test(field)))
      assert.ok((await ask(10)).waitMs >= 0) // what others have taken away is waited for by nobody
    })
  })
})

describe('units in hand', () => {
  const turns = async () => { for (let n = 0; n < 6; n++) await new Promise(resolve => setImmediate(resolve)) }
  let asked
  let answers
  let refused
  let looks
  let woken
  let broker
  let purse

  beforeEach(() => {
    asked = []
    answers = []
    refused = []
    looks = woken = 0
    const client = {
      defineCommand () {},
      async fairlaneUnits (...args) {
        const [, , , , , need, ahead, , , , charge, ...back] = args
        asked.push({ need, ahead, charge, back })
        const answer = answers.shift() ?? ['1', need, 'm', 0, 'c']
        if (answer instanceof Error) throw answer
        return answer
      }
    }
    broker = { name: 'q', isReady: true, isClosed: false, client, troubles: { refused: what => refused.push(what) } }
    const limits = { terms: { generation: '1' }, async look () { looks++ } }
    purse = new Purse({ broker, limits, wake: () => woken++ }, 'me', [{ limit: 100, intervalMs: 10000 }])
  })
  afterEach(() => purse.stop())

  const now = () => performance.now()

  it('are asked for once, taken, and given back as they were charged', async () => {
    assert.deepEqual([purse.has(0, now()), purse.has(5, now()), purse.has(5, now())], [true, false, false])
    await turns()
    assert.deepEqual(asked, [{ need: 5, ahead: 0, charge: 0, back: [] }])
    assert.equal(woken > 0 && purse.has(5, now()), true)
    const charge = purse.take(5)
    assert.equal(purse.settle(charge, 3, now()), true)
    assert.equal(purse.has(2, now()), true)
    purse.correct(charge, 4)
    await turns()
    purse.correct(charge, 4) // nothing has changed
    purse.correct(charge, 0)
    await turns()
    assert.deepEqual(asked.slice(1).map(({ charge, back }) => [charge, back]), [[1, []], [0, ['c', 1, 'm', 3]]])
  })

  it('come back when their time is over, whether a pass has them or not', async () => {
    purse.has(5, now())
    await turns()
    const charge = purse.take(3)
    const late = now() + 1000
    assert.equal(purse.settle(charge, 4, late), false)
    await turns()
    assert.deepEqual(asked[1], { need: 4, ahead: 0, charge: 0, back: ['m', 5] })
    purse.putBack(purse.take(4), late)
    await turns()
    assert.deepEqual(asked[2], { need: 0, ahead: 0, charge: 0, back: ['m', 4] })
    await until(() => asked.length > 2 && purse.grant === undefined) // in its own time
  })

  it('are asked for again by whoever waits, and not when nobody does', async () => {
    answers.push(['1', 0, 'm', 5, 'c'], ['1', 0, 'm', 60000, 'c'])
    purse.has(7, now())
    await turns()
    await until(() => woken > 1)
    purse.has(7, now())
    await turns()
    assert.equal(asked.length, 2)
    purse.has(7, now())
    assert.equal(purse.settle(purse.take(2), 2, now()), false) // another one waits
    await turns()
    assert.equal(asked.length, 2)
    purse.look()
    purse.rest()
    await turns()
    assert.deepEqual(asked[2].need, 0)
    purse.rest()
    await turns()
    assert.equal(asked.length, 3)
  })

  it('come back of a grant that is not the last one, also while the queue closes, and are asked for by the limits that hold', async () => {
    purse.has(5, now())
    await turns()
    const charge = purse.take(5)
    answers.push(['2'], ['1', 50, 'n', 0, 'c'], Object.assign(new Error('refused by the test')))
    purse.has(50, now())
    await turns()
    assert.equal(looks, 1)
    purse.has(50, now())
    await turns()
    assert.equal(purse.grant.units, 50)
    broker.isClosed = true
    assert.equal(purse.settle(charge, 2, now()), true)
    await turns()
    assert.deepEqual([asked.at(-1).back, refused], [['m', 3], []])
  })

  it('that are given back are lost with a call, and what is charged is charged again', async () => {
    purse.has(9, now())
    await turns()
    const [one, other] = [purse.take(4), purse.take(4)]
    for (const charge of [one, other]) assert.equal(purse.settle(charge, 4, now()), true)
    answers.push(new Error('ERR refused by the test'))
    purse.correct(one, 1)
    purse.correct(other, 6)
    await turns()
    assert.deepEqual([asked[1].charge, asked[1].back, refused.length], [2, ['m', 3], 1])
    await until(() => asked.length > 2)
    assert.deepEqual([asked[2].charge, asked[2].back.includes(3)], [2, false])
    answers.push(['2'])
    purse.correct(one, 0)
    purse.correct(other, 8)
    await until(() => looks === 1 && asked.length > 4)
    assert.deepEqual(asked.at(-1).charge, 2)
    broker.isReady = false
    purse.look()
    purse.has(50, now())
    await turns()
    assert.equal(refused.length, 1)
    await until(() => woken > 3)
    broker.isReady = true
  })
})
