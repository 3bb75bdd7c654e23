'use strict'

const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const { Throttled } = require('../..')
const { define } = require('../../lib/distributed/broker/scripts')
const { Answer } = require('../../lib/distributed/broker/takes')
const { FIELDS_TAKEN, KEYS_TO_TAKE } = require('../../lib/distributed/broker/scripts/take')
const { Metrics } = require('../../lib/metrics')
const { CostModel } = require('../support/cost-model')
const gates = require('../support/gates')
const { seeded, seedFromEnvironment } = require('../support/random')
const { describeWithRedis } = require('../support/redis')
const { playRounds, rounds } = require('../support/rounds')
const { atServer } = require('./opened')
const { until } = require('./until')

const HOUR_MS = 3600000
const perType = (limit, intervalMs = HOUR_MS) => ({ settleBy: 'callback', scheduler: 'equal', ratePerType: { limit, intervalMs, of: 'cost' } })

/** A clock of which no two looks are the same. */
function ticking (next) {
  return { now: next, setTimeout: (fn, ms) => setTimeout(fn, ms), clearTimeout: timer => clearTimeout(timer) }
}

describeWithRedis('the costs of jobs at a broker', function () {
  const at = atServer()
  let client
  beforeEach(() => { client = new Redis(at.server.path) })
  afterEach(() => client.disconnect())

  const keyOf = what => `{fairlane:${at.name}}:a:${what}`

  it('are those of all processes, of which each is told when units are free', async () => {
    const all = [gates(), gates()]
    const queues = []
    for (const gate of all) queues.push(await at.open(gate.runner, { ...perType(10), concurrency: 1 }))
    await queues[0].pushType('a', 'first', { cost: 10 })
    await until(() => all.some(gate => gate.open.length === 1))
    const busy = all.findIndex(gate => gate.open.length === 1)
    await queues[busy].pushType('a', 'second', { cost: 8 })
    const other = all[1 - busy]
    await until(async () => await queues[busy].heldMs('a') > HOUR_MS - 60000)
    assert.equal(other.payloads.length, 0)
    all[busy].started[0].context.spent(2)
    await until(() => other.payloads.length === 1) // whose process had been told to wait
    assert.deepEqual(queues.map(queue => queue.stats('a').spent).sort(), [2, 8])
    for (const gate of all) gate.release(1)
  })

  it('are in the records of jobs, and those of a push that replaces one', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { ...perType(20), priorityMs: 1000 })
    queue.pause()
    await queue.pushAll([{ type: 'a', payload: 1, cost: 7 }, { type: 'a', payload: 'large', key: 'k', cost: 15 }])
    await queue.pushType('a', 'plain', { key: 'p', cost: 5 })
    await queue.pushType('a', 'small', { key: 'k', onDuplicate: 'replace', cost: 4 })
    await queue.pushType('a', 'none', { key: 'p', onDuplicate: 'replace' })
    await queue.pushType('a', 'later', { cost: 8, delayMs: 10 })
    queue.resume()
    await gate.until(4)
    assert.deepEqual([gate.payloads.slice(0, 3), queue.stats('a').spent], [[1, 'small', 'none'], 7 + 4 + 1 + 8])
    gate.release(4)
  })

  it('are charged again for each attempt, with what the runner has said last', async () => {
    const gate = gates()
    const metrics = new Metrics()
    const queue = await at.open(gate.runner, { ...perType(100), maxAttempts: 3, backoffMs: 1, observers: metrics })
    await queue.pushType('a', 1, { cost: 30 })
    await gate.until(1)
    const { spent } = gate.started[0].context
    spent(50)
    spent(20)
    gate.fail(new Error('again'))
    await gate.until(2)
    spent(9) // of an attempt that is over
    gate.started[1].context.spent(20)
    assert.equal(queue.stats('a').spent, 40)
    gate.open.shift().done(new Throttled(1))
    await gate.until(3)
    assert.equal(queue.stats('a').spent, 60)
    gate.open.shift().done()
    await until(() => metrics.snapshot().types[0]?.spent === 60)
    assert.ok((await queue.heldMs('a')) === 0)
  })

  it('may be refused: above a limit of the type, and in a rate of the whole queue', async () => {
    const byType = new Map([['a', [{ limit: 9, intervalMs: 1000, of: 'cost' }, { limit: 5, intervalMs: 2000, of: 'cost' }, { limit: 1, intervalMs: 1000 }]]])
    const queue = await at.open(async () => {}, { ratePerType: byType, scheduler: 'equal' })
    const code = 'FAIRLANE_ERR_ARGUMENT'
    assert.throws(() => queue.pushType('a', 1, { cost: 6 }), { code })
    assert.throws(() => queue.add(1, { type: 'a', cost: 6 }), { code })
    assert.throws(() => queue.pushAll([{ type: 'b', payload: 1, cost: 6 }, { type: 'a', payload: 1, cost: 6 }]), { code })
    await queue.pushType('b', 1, { cost: 6 })
    await queue.setRates({ rate: { limit: 4, intervalMs: 1000, of: 'cost' } })
    for (const type of ['a', 'b']) assert.throws(() => queue.pushType(type, 1, { cost: 5 }), { code })
    await queue.pushType('a', 1, { cost: 4 })
    for (const cost of [-1, 0.5, '1', null]) assert.throws(() => queue.setSchedule('x', { everyMs: 1000, type: 'a', cost }), { code })
  })

  for (const concurrency of [1, 3]) {
    it(`are shared where the scheduler charges by them, with ${concurrency} slots`, async () => {
      const units = { dear: 0, cheap: 0 }
      let most = 0
      const queue = await at.open(async (payload, { type, spent }) => {
        spent(payload)
        units[type] += payload
        if (units.cheap < 150 && units.dear < 150) most = Math.max(most, Math.abs(units.dear - units.cheap))
        await sleep(5) // longer than a call of the broker
      }, { scheduler: 'equal', schedulerOptions: { chargeBy: 'cost' }, concurrency })
      queue.pause()
      await queue.pushAll([...Array(15).fill({ type: 'dear', payload: 10, cost: 6 }), ...Array(150).fill({ type: 'cheap', payload: 1 })])
      queue.resume(concurrency)
      await queue.onIdle()
      assert.ok(most <= 11 + 10 * concurrency, `${most}`)
      assert.deepEqual([queue.stats('dear').spent, queue.stats('cheap').spent], [150, 150])
    })
  }

  it('are told a scheduler that needs them, as soon as a job is known, and not for a slot that is given back', async () => {
    const lanes = new Set()
    const jobs = new Map() // by when they started → what was charged
    const log = []
    let now = 0
    const scheduler = {
      needsClock: true,
      needsCost: true,
      queued: lane => lanes.add(lane),
      next: () => [...lanes].find(lane => lane.size > 0 && !lane.isPaused),
      started (lane, at, cost) { jobs.set(at, [cost]) },
      charged (lane, difference, startedAt) { jobs.get(startedAt).push(difference) },
      ended (lane, startedAt, at, cost) { log.push([...jobs.get(startedAt), cost]) }
    }
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', scheduler, clock: ticking(() => now++), concurrency: 1, backoffMs: 1 })
    await queue.pushType('a', 'first', { cost: 7 })
    await gate.until(1)
    gate.started[0].context.spent(9)
    gate.fail(new Error('again'))
    await gate.until(2)
    assert.equal(queue.stats('a').spent, 18)
    gate.release()
    await queue.onIdle()
    at.server.cli('publish', `{fairlane:${at.name}}:.wake`, JSON.stringify([1, ['a']])) // there is none
    await until(() => log.length >= 3)
    for (const parts of log) assert.equal(parts.slice(0, -1).reduce((sum, part) => sum + part), parts.at(-1), JSON.stringify(log))
    const charged = log.filter(parts => parts.at(-1) > 0)
    assert.deepEqual(charged, [[1, 6, 2, 9], [7, 2, 9]])
    assert.ok(log.some(parts => parts.join() === '9,-9,0'), JSON.stringify(log))
  })

  it('take a few entries however often they are corrected, and none where that costs nothing', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { ...perType(1000000), concurrency: 3 })
    await queue.pushType('a', 1, { cost: 500000 })
    await queue.pushType('a', 2, { cost: 0 })
    await gate.until(2)
    const { spent } = gate.started[0].context
    for (let i = 1; i <= 200; i++) {
      spent(500000 + i)
      await Promise.resolve() // each is sent
      await Promise.resolve()
    }
    const charged = () => client.hget(keyOf(nameOf(gate)), 'charged')
    await until(async () => await charged() === '500200')
    assert.ok(await client.hlen(keyOf('.starts')) < 10)
    spent(3)
    await until(async () => await charged() === '3')
    assert.equal(await unitsCounted(), 3)
    gate.release(2)
  })

  const nameOf = gate => gate.started[0].context.id.split(':').at(-1)

  /** What a window of an hour counts. */
  async function unitsCounted () {
    const bytes = await client.hgetBuffer(keyOf('.starts'), `c${HOUR_MS}`)
    return bytes.readDoubleLE(0)
  }

  it('stand in the entry of a slice as they were given back', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { ...perType(1e6), concurrency: 2 })
    await queue.pushType('a', 1, { cost: 500 })
    await gate.until(1)
    for (const total of [900, 200]) gate.started[0].context.spent(total) // the last word of a turn is sent
    await until(async () => await unitsCounted() === 200)
    await queue.pushType('a', 2, { cost: 30 })
    await gate.until(2)
    const window = `c${HOUR_MS}`
    let units = 0
    for (const name of await client.hkeys(keyOf('.starts'))) {
      if (name.startsWith(`${window}:`)) units += (await client.hgetBuffer(keyOf('.starts'), name)).readDoubleLE(8)
    }
    assert.deepEqual([await unitsCounted(), units], [230, 230])
    gate.release(2)
  })

  it('go on where others have written what is no cost', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, perType(10))
    queue.pause()
    const id = await queue.pushType('a', 1, { cost: 5 })
    await client.hset(keyOf(id.split(':').at(-1)), 'cost', 'much')
    queue.resume()
    await gate.until(1)
    assert.equal(queue.stats('a').spent, 1)
    gate.release()
  })

  it('are what the record says, as far as that is a cost', () => {
    const costIn = (name, value) => new Answer([FIELDS_TAKEN.map(field => field === name ? value : null), 'j1', 0, 0, 'g', 0, 0, 0], 0).job.cost
    assert.deepEqual([costIn(), costIn('charged', '5'), costIn('cost', '7'), costIn('cost', '0')], [undefined, 1, 7, 0])
    for (const wrong of ['', 'much', '-1', '0.5', '1e300', 'NaN']) assert.equal(costIn('cost', wrong), wrong === '' ? 0 : 1, wrong)
  })

  describe('in windows', () => {
    const seed = seedFromEnvironment()

    it(`never let jobs be taken that cost more than is left (SEED=${seed})`, () => playRounds(rounds(2), seed, seeded, play))

    for (const isPrioritized of [false, true]) {
      it(`keep no room for later where dear jobs wait behind a cheap one${isPrioritized ? ', by priorities' : ''}`, async () => {
        define(client)
        /** In how many ms the first of jobs with such costs must start, where an interval has 100 units. */
        async function startMs (...costs) {
          await client.flushall()
          const prefix = '{fairlane:raw}:a:'
          const [limits, ready] = ['limits', 'ready'].map(what => `{fairlane:raw}:.${what}`)
          await client.hset(limits, 'generation', 'g', 'rates', JSON.stringify([{ limit: 100, intervalMs: 1000, of: 'cost' }]))
          for (const [n, cost] of costs.entries()) {
            await client.hset(`${prefix}j${n}`, 'name', 'job', 'timestamp', 1, 'cost', cost)
            if (isPrioritized) await client.zadd(`${prefix}prioritized`, n, `j${n}`)
            else await client.lpush(`${prefix}wait`, `j${n}`)
          }
          const [, name, , , , ms] = await client.fairlaneTake(...KEYS_TO_TAKE.map(what => prefix + what), limits, ready, prefix, 'a', 'me', 60000, 'g')
          assert.equal(name, 'j0')
          return ms
        }
        assert.deepEqual([await startMs(1), await startMs(1, 2, 3), await startMs(50)], [2000, 2000, 2000])
        assert.deepEqual([await startMs(51), await startMs(1, 90), await startMs(1, ...Array(14).fill(0), 90)], [50, 50, 50])
        const many = [Array(50).fill(1), Array(51).fill(1), [1, ...Array(30).fill(2)]]
        assert.deepEqual([await startMs(...many[0]), await startMs(...many[1]), await startMs(...many[2])], [2000, 50, 50])
      })
    }

    async function play (random) {
      await client.flushall()
      define(client)
      const prefix = '{fairlane:raw}:a:'
      const [limits, ready] = ['limits', 'ready'].map(what => `{fairlane:raw}:.${what}`)
      const keys = [...KEYS_TO_TAKE.map(what => prefix + what), limits, ready]
      const common = [prefix, 'a', 'me', 60000, 'g']
      const most = random.pick([5, 60, 3000])
      const rates = [{ limit: 1 + random.below(most), intervalMs: 40 + random.below(60), of: 'cost' }]
      if (random.chance(0.5)) rates.push({ limit: 1 + random.below(2 * most), intervalMs: 100 + random.below(100), of: 'cost' })
      if (random.chance(0.5)) rates.push({ limit: 1 + random.below(20), intervalMs: 30 + random.below(60) })
      await client.hset(limits, 'generation', 'g', 'rates', JSON.stringify(rates))
      const model = new CostModel()
      model.setRates(false, rates)
      const jobs = Array.from({ length: 60 }, (_, n) => ({ name: `j${n}`, cost: random.chance(0.9) ? random.below(most) : undefined }))
      for (const { name, cost } of jobs) {
        await client.hset(prefix + name, 'name', 'job', 'timestamp', 1, ...cost === undefined ? [] : ['cost', cost])
        await client.lpush(prefix + 'wait', name)
      }
      const charged = new Map(jobs.map(({ name, cost = 1 }) => [name, cost]))
      const now = async () => { const [s, us] = await client.time(); return s * 1000 + us / 1000 }
      const running = []
      for (let step = 0; step < 150 && await client.llen(prefix + 'wait') > 0; step++) {
        const before = await now()
        const [, name, waitMs, , , startMs] = await client.fairlaneTake(...keys, ...common)
        const after = await now()
        if (name === 0) {
          await sleep(Math.min(waitMs, 20))
        } else {
          running.push({ name, startMs })
          const wrong = model.lacking('a', charged.get(name), after, 0)
          if (wrong !== undefined) throw new Error(`job ${name} of ${charged.get(name)} was taken though ${wrong}`)
          // it counts from when it may start at the latest
          model.charges.push({ at: before + startMs, type: 'a', id: name, units: charged.get(name), isStart: true })
        }
        if (running.length > 0 && random.chance(0.4)) {
          const { name } = random.pick(running)
          const units = random.pick([0, random.below(most), random.below(2 * most)])
          const said = await now()
          const spent = (start, units) => client.fairlaneSpent(...keys, ...common, name, start, units, 'PUBLISH', '{fairlane:raw}:.wake')
          assert.equal(await spent(2, units + 5), 0) // of another start, of which there is none
          await spent(1, units)
          model.correct(name, 'a', charged.get(name), units, said)
          charged.set(name, units)
        }
        if (random.chance(0.1) && running.length > 0) {
          const { name } = running.at(-1)
          const sent = await now()
          const startMs = await client.fairlaneAgain(...keys, ...common, name)
          if (startMs >= 0 && charged.get(name) > 0) model.charges.push({ at: sent + startMs, type: 'a', id: name, units: 0, isStart: true })
        }
      }
      assert.ok(running.length > 3, `${running.length} were taken`)
    }
  })
})
