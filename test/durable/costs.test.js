'use strict'

const assert = require('node:assert/strict')
const { Throttled } = require('../..')
const { NONE, headOf, readHead } = require('../../lib/durable/push/job-options')
const { Waiting } = require('../../lib/durable/run/waiting')
const { CostModel } = require('../support/cost-model')
const { playRounds, rounds } = require('../support/rounds')
const { seeded, seedFromEnvironment } = require('../support/random')
const { passingOf } = require('../support/starts')
const { quiet } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')

const NO_COSTS = [-1, 0.5, NaN, Infinity, 2 ** 60, '1', null, true, {}, []]
const LONG = 1000000
const perType = (limit, intervalMs = LONG) => ({ scheduler: 'equal', ratePerType: { limit, intervalMs, of: 'cost' } })
const TYPES = ['a', 'b', 'c']

describe('the costs of jobs on disk', () => {
  let bench
  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const started = () => bench.gate.payloads
  const pass = ms => passingOf(bench.clock)(ms)
  const push = (payload, cost, options) => bench.queue.pushType('a', payload, { cost, ...options })
  /** What is kept of jobs in memory. */
  const kept = () => bench.waiting.costs.size

  const open = (options, how = 'open') => bench[how](options)

  const { setCost } = Waiting.prototype
  before(() => {
    Waiting.prototype.setCost = function (...args) {
      bench.waiting = this // of the queue that was opened last
      return setCost.apply(this, args)
    }
  })
  after(() => { Waiting.prototype.setCost = setCost })

  it('count in rates, of each type and of the whole queue', async () => {
    await open({ ...perType(10, 100), rate: { limit: 12, intervalMs: 100, of: 'cost' } })
    await push('six', 6)
    await push('five', 5)
    await bench.queue.pushType('b', 'other', { cost: 6 })
    await bench.queue.pushType('b', 'plain')
    await pass(1)
    assert.deepEqual(started(), ['six', 'other'])
    await pass(100)
    assert.deepEqual(started().sort(), ['five', 'other', 'plain', 'six'])
    assert.deepEqual([bench.queue.stats().spent, bench.queue.stats('a').spent], [18, 11])
  })

  it('are in their records: they hold when the queue is opened again, after a kill and after a power failure', async () => {
    for (const loss of ['reopen', 'reopenAfterKill', 'afterPowerLoss']) {
      bench = new Bench()
      await open({ ...perType(10), ack: 'disk', concurrency: 3 })
      bench.queue.pause()
      for (const [payload, cost] of [['two', 2], ['nine', 9], ['one', undefined]]) await push(payload, cost)
      await push('later', 10, { delayMs: 50 })
      if (loss === 'afterPowerLoss') bench.disk = bench.disk.afterPowerLoss(seeded(1))
      await open({ ...perType(10), concurrency: 3 }, loss === 'afterPowerLoss' ? 'open' : loss)
      await pass(10)
      assert.deepEqual([started(), kept()], [['two'], 3], loss)
      bench.gate.started[0].context.spent(1)
      await pass(10)
      assert.deepEqual(started(), ['two', 'nine'], loss)
      await bench.queue.close({ timeoutMs: 0 })
    }
  })

  it('are in the record as a field of their own, and no other record has become another one by it', () => {
    const stamp = Buffer.alloc(8)
    assert.deepEqual(readHead(headOf(stamp, { ...NONE, cost: 0 })).cost, 0)
    const { cost, maxAttempts } = readHead(headOf(stamp, { ...NONE, cost: 2 ** 53 - 1, maxAttempts: 3 }))
    assert.deepEqual([cost, maxAttempts], [2 ** 53 - 1, 3])
    assert.equal(headOf(stamp, { ...NONE, cost: 5 }).toString('hex', 8), '0b000a08000000000000001440')
    assert.equal(headOf(stamp, { ...NONE, priority: 5 }).toString('hex', 8), '040005010005')
    assert.equal(readHead(headOf(stamp, { ...NONE, priority: 5 })).cost, undefined)
  })

  it('are corrected by what runners say, which a later attempt is charged with, until the queue is opened again', async () => {
    await open({ ...perType(100), maxAttempts: 9, backoffMs: 0 })
    await push('job', 50)
    await bench.gate.until(1)
    bench.gate.started[0].context.spent(7)
    bench.gate.fail(new Error('again'))
    await pass(1)
    assert.deepEqual([started().length, bench.queue.stats('a').spent], [2, 14])
    bench.gate.started[1].context.spent(8)
    await open({ ...perType(100) }, 'reopen')
    await bench.gate.until(1)
    assert.equal(bench.queue.stats('a').spent, 50)
    bench.gate.started[0].done(new Throttled(5))
    await pass(10)
    assert.equal(bench.queue.stats('a').spent, 100)
  })

  it('say nothing once the attempt has ended, refuse what is none, and are not counted where nobody wants that', async () => {
    await open({ scheduler: 'equal' })
    await push('plain')
    await bench.gate.until(1)
    const { spent } = bench.gate.started[0].context
    spent(5)
    for (const total of NO_COSTS) assert.throws(() => spent(total), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(total))
    assert.deepEqual([bench.queue.stats().spent, bench.waiting.stage.list.costs], [0, null])
    await push('counted', 3)
    await bench.gate.until(2)
    const { context } = bench.gate.started[1]
    context.spent(4)
    context.spent(4)
    bench.gate.release(2)
    await quiet()
    context.spent(9)
    assert.deepEqual([bench.queue.stats().spent, kept()], [4, 0])
  })

  it('are refused above a limit that is known, and where they are none', async () => {
    await open({ ...perType(10), rate: { limit: 20, intervalMs: 1000, of: 'cost' } })
    const { queue } = bench
    for (const cost of [11, ...NO_COSTS]) {
      assert.throws(() => queue.pushType('a', 1, { cost }), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(cost))
      assert.throws(() => queue.add(1, { type: 'a', cost }), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(cost))
      assert.throws(() => queue.pushAll([{ type: 'a', payload: 1 }, { type: 'a', payload: 1, cost }]), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(cost))
    }
    assert.equal(queue.waiting + queue.running, 0)
    assert.deepEqual((await queue.counts('a')).rate, { limit: 10, intervalMs: LONG, of: 'cost' })
    queue.setRates({ ratePerType: { limit: 11, intervalMs: LONG, of: 'cost' } })
    await push('fits', 11)
    await bench.gate.until(1)
  })

  it('are those of the push that replaces a job, also in pushAll() and in the record', async () => {
    for (const ack of ['os', 'disk']) {
      bench = new Bench()
      await open({ ...perType(10), ack, concurrency: 9 })
      await push('first', 5)
      await bench.gate.until(1)
      await push('large', 9, { key: 'k' })
      await push('behind', 2)
      await pass(1)
      assert.deepEqual(started(), ['first'])
      await push('small', 3, { key: 'k', onDuplicate: 'replace' })
      await pass(1)
      assert.deepEqual(started(), ['first', 'small', 'behind'])
      await bench.queue.pushAll([
        { type: 'b', payload: 'one', cost: 4, key: 1 }, { type: 'b', payload: 'two', cost: 9, key: 1, onDuplicate: 'replace' }
      ])
      await pass(1)
      assert.equal(bench.queue.stats('b').spent, 9)
      bench.queue.pause()
      await push('kept', 8, { key: 'r' })
      await push('plain', undefined, { key: 'r', onDuplicate: 'replace' })
      await push('same', undefined, { key: 'r', onDuplicate: 'replace' })
      await open({ ...perType(100), concurrency: 9 }, 'reopen')
      await pass(1)
      assert.equal(bench.queue.stats('a').spent, 5 + 3 + 2 + 1)
      await bench.queue.close({ timeoutMs: 0 })
    }
  })

  it('are those of a push that replaces a job which has its slot, and is not called as yet', async () => {
    await open({ ...perType(100), ack: 'disk', concurrency: 9 })
    const pushed = [push('first', 10, { key: 'k' })]
    for (let i = 0; i < 100 && bench.queue.running === 0; i++) await new Promise(resolve => setImmediate(resolve))
    pushed.push(push('second', 50, { key: 'k', onDuplicate: 'replace' }))
    await Promise.all(pushed)
    await bench.gate.until(1)
    assert.deepEqual([started(), bench.queue.stats('a').spent], [['second'], 50])
  })

  it('are those of a replaced job without a scheduler, too', async () => {
    await open({ rate: { limit: 10, intervalMs: LONG, of: 'cost' } })
    await bench.queue.push('first', { cost: 6 })
    await bench.queue.push('large', { cost: 9, key: 1 })
    await pass(1)
    await bench.queue.push('small', { cost: 4, key: 1, onDuplicate: 'replace' })
    await pass(1)
    assert.deepEqual(started(), ['first', 'small'])
  })

  it('are those of schedules', async () => {
    await open({ ...perType(10), schedules: { tick: { everyMs: 100, type: 'a', payload: 'tick', cost: 6, overlap: true } } })
    await pass(250)
    assert.deepEqual([started().length, bench.queue.stats('a').spent], [1, 6])
    await bench.queue.runSchedule('tick')
    await open({ ...perType(100) }, 'reopen')
    await pass(110)
    const { length } = started()
    assert.ok(length >= 3, `${length}`)
    assert.equal(bench.queue.stats('a').spent, 6 * length)
    for (const cost of NO_COSTS) assert.throws(() => bench.queue.setSchedule('x', { everyMs: 5, type: 'a', cost }), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(cost))
  })

  it('are those of dead letters that are tried again, and are kept for nobody else', async () => {
    await open({ ...perType(100), maxAttempts: 1 })
    await push('dies', 7)
    await bench.gate.until(1)
    bench.gate.fail(new Error('no'))
    await quiet()
    assert.equal(kept(), 0)
    assert.equal(await bench.queue.retryDead(1), true)
    await bench.gate.until(2)
    assert.deepEqual([bench.queue.stats('a').spent, kept()], [14, 1])
    bench.gate.release()
    await quiet()
    assert.equal(kept(), 0)
  })

  it('are not kept of jobs that are cancelled, or could not be written', async () => {
    await open({ ...perType(100), ack: 'disk', maxInflightOps: 1 })
    bench.queue.pause()
    const release = holdSyncs(bench.disk)
    const pushes = [5, 6, 7].map(cost => push(cost, cost).catch(({ code }) => code))
    await quiet()
    bench.queue.clear()
    release()
    await Promise.all(pushes)
    await quiet()
    assert.equal(kept(), 0)
    bench.queue.resume()
    const again = holdSyncs(bench.disk)
    for (const cost of [8, 9]) push(cost, cost).catch(() => {})
    await quiet()
    assert.deepEqual([bench.queue.running, bench.queue.heldMs('a'), kept()], [2, 0, 2]) // of which one is not written as yet
    bench.queue.pause()
    again()
    await quiet()
    assert.equal(bench.queue.clear(), 2)
    assert.equal(kept(), 0)
    await push('later', 5, { delayMs: 1000 })
    assert.equal(kept(), 1)
    bench.queue.remove(() => true)
    assert.equal(kept(), 0)
  })

  it('are charged to nobody while a job loses its slot before its runner is called', async () => {
    const told = []
    const lanes = new Set()
    const scheduler = {
      needsCost: true,
      queued (lane) { lanes.add(lane) },
      next: () => [...lanes].find(({ size, isPaused }) => size > 0 && !isPaused),
      started (lane, now, cost) { told.push(['started', cost]) },
      ended (lane, startedAt, now, cost) { told.push(['ended', cost]) },
      charged (lane, difference) { told.push(['charged', difference]) },
      paused () {},
      resumed () {}
    }
    await open({ scheduler, ack: 'disk', ratePerType: { limit: 10, intervalMs: LONG, of: 'cost' } })
    const release = holdSyncs(bench.disk)
    const pushed = push('job', 6)
    await quiet()
    assert.deepEqual(told, [['started', 6]])
    bench.queue.pause()
    assert.deepEqual(told, [['started', 6], ['charged', -6], ['ended', 0]])
    release()
    await pushed
    bench.queue.resume()
    await bench.gate.until(1)
    bench.gate.started[0].context.spent(8)
    await push('next', 3)
    await quiet()
    assert.deepEqual([started(), bench.queue.stats().spent], [['job'], 8])
    bench.gate.release()
    await quiet()
    assert.deepEqual(told.slice(3), [['started', 6], ['charged', 2], ['ended', 8]])
  })

  it('are counted for a scheduler that needs them, without any rate', async () => {
    const { Capped } = require('../../schedulers')
    const scheduler = Object.assign(new Capped(), { needsCost: true })
    await open({ scheduler })
    await push('plain')
    await bench.gate.until(1)
    assert.equal(bench.queue.stats().spent, 1)
  })

  it('are known to observers', async () => {
    const { History } = require('../../lib/history')
    const history = new History()
    await open({ ...perType(100), observers: history })
    await push('job', 9)
    await bench.gate.until(1)
    bench.gate.started[0].context.spent(4)
    bench.gate.release()
    await quiet()
    assert.deepEqual([history.get(1).cost, history.sum('cost')], [4, 4])
  })

  const seed = seedFromEnvironment()
  it(`never let jobs start that cost more than is left (SEED=${seed})`, () => playRounds(rounds(12), seed, seeded, play))

  async function play (random) {
    bench = new Bench()
    const most = random.pick([5, 64, 1000])
    const makeRate = () => ({ limit: 1 + random.below(most), intervalMs: random.pick([10, 25, 64]), of: random.pick(['cost', 'cost', 'jobs']) })
    const makeRates = () => [...new Map(Array.from({ length: 1 + random.below(2) }, makeRate).map(rate => [`${rate.intervalMs} ${rate.of}`, rate])).values()]
    const model = new CostModel()
    const shown = rates => rates.map(({ of, ...rate }) => of === 'cost' ? { ...rate, of } : rate)
    const charged = new Map()
    const runs = new Set()
    let failure
    const rate = random.chance(0.4) ? makeRates() : undefined
    const ratePerType = makeRates()
    const counts = rates => rates?.some(({ of }) => of === 'cost')
    if (!counts(rate) && !counts(ratePerType)) ratePerType.push({ limit: most, intervalMs: 33, of: 'cost' })
    model.setRates(true, rate && shown(rate))
    model.setRates(false, shown(ratePerType))
    const runner = (payload, done, context) => {
      const now = bench.clock.now()
      const wrong = model.start(payload, context.type, charged.get(payload), now, 1)
      if (wrong !== undefined) failure ??= new Error(`job ${payload} of type ${context.type} started at ${now} though ${wrong}`)
      const run = { job: payload, done, context }
      runs.add(run)
      if (random.chance(0.4)) say(run)
      bench.clock.setTimeout(() => {
        runs.delete(run)
        done(random.pick([undefined, undefined, new Error('again'), new Throttled(5)]))
      }, random.below(20))
    }
    function say ({ job, context }) {
      const units = random.below(2 * most)
      model.correct(job, context.type, charged.get(job), units, bench.clock.now())
      charged.set(job, units)
      context.spent(units)
    }
    const queue = await open({ runner, scheduler: random.pick(['equal', 'fair']), rate, ratePerType, maxAttempts: 2, backoffMs: 5, concurrency: 1 + random.below(5), ack: random.pick(['os', 'disk']) })
    const highest = Math.min(...[...rate ?? [], ...ratePerType].filter(({ of }) => of === 'cost').map(({ limit }) => limit))
    let id = 0
    const steps = [
      () => {
        const job = id++
        const cost = random.chance(0.8) ? random.below(highest + 1) : undefined
        charged.set(job, cost ?? 1)
        queue.pushType(random.pick(TYPES), job, { cost, delayMs: random.chance(0.2) ? random.below(20) : undefined }).catch(() => {})
      },
      () => { for (const run of runs) if (random.chance(0.5)) say(run) },
      () => random.chance(0.2) && queue.remove(({ payload }) => payload % 3 === 0),
      () => random.chance(0.3) && (queue.pause(), queue.resume()),
      () => random.chance(0.2) && queue.holdType(random.pick(TYPES), random.below(10))
    ]
    for (let step = 0; step < 60; step++) {
      random.pick([steps[0], ...steps])()
      await pass(random.below(4))
      if (failure !== undefined) throw failure
    }
    await pass(20000)
    if (failure !== undefined) throw failure
    assert.deepEqual([queue.length, kept()], [0, 0])
    assert.equal(queue.stats().spent, model.charges.reduce((sum, { units }) => sum + units, 0))
    await queue.close()
  }
})
