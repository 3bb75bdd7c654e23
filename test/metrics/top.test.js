'use strict'

// snapshot({ top, by, windowMs }), timeline(), and what the numbers say of those who wait and of runners that go on.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { channels, Metrics } = require('../../lib/metrics')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')
const { Frequent } = require('../../lib/metrics/frequent')
const { Oldest } = require('../../lib/metrics/waits')
const { seeded, seedFromEnvironment } = require('../support/random')
const gates = require('../support/gates')
const { withoutTime } = require('../support/time')
const { quiet, turns } = require('../support/turns')

const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }

function opened (options, metricsOptions) {
  const gate = gates()
  const clock = fakeClock()
  const metrics = new Metrics(metricsOptions)
  const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 2, clock, observers: metrics, ...options })
  return { gate, clock, metrics, queue }
}

/** A queue whose jobs take as many ms as their payloads say; those of negative payloads fail. */
function timed (options, metricsOptions) {
  const clock = fakeClock()
  const metrics = new Metrics(metricsOptions)
  const queue = fairlane((ms, done) => {
    clock.setTimeout(() => done(ms < 0 ? new Error('expected') : null), Math.abs(ms))
  }, { scheduler: 'equal', concurrency: 2, clock, observers: metrics, ...options })
  const pass = async (ms, stepMs = 10) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await turns(4)
      clock.advance(Math.min(stepMs, ms - passed))
    }
    await turns(4)
  }
  return { clock, metrics, queue, pass }
}

const typesOf = ({ types }) => types.map(({ type }) => type)

describe('snapshot({ top })', function () {
  it('is empty before there is a queue, and refuses what is wrong', function () {
    const metrics = new Metrics({ name: 'mails' })
    const { name, by, windowMs, types, totals: { waiting, perSecond, oldestWaitMs } } = metrics.snapshot({})
    assert.deepEqual([name, by, windowMs, types, waiting, perSecond, oldestWaitMs], ['mails', 'share', 0, [], 0, 0, undefined])
    assert.deepEqual([metrics.snapshot({ timeline: true }).timeline, 'timeline' in metrics.snapshot({})], [[], false])
    for (const options of [
      null, 5, 'top', { top: 0 }, { top: 1001 }, { top: NaN }, { top: 2 ** 60 }, { by: 'name' }, { by: '__proto__' }, { windowMs: 0 },
      { windowMs: 900001 }, { windowMs: Infinity }, { most: 5 }, { timeline: 1 }, { timeline: null }
    ]) assert.throws(() => metrics.snapshot(options), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('ranks all types by what happened lately, whatever their labels', async function () {
    const { metrics, queue, pass } = timed({ concurrency: 4 }, { maxTypes: 1 })
    for (let n = 0; n < 20; n++) queue.pushType(`early-${n}`, 1)
    await pass(100)
    for (let n = 0; n < 3; n++) queue.pushType('much', 100)
    for (const ms of [-20, -20]) queue.pushType('fails', ms)
    queue.add(5, { type: 'later', delayMs: 1e6 }).catch(() => {})
    await pass(400)
    const told = metrics.snapshot({ top: 3 })
    assert.deepEqual(typesOf(told).slice(0, 2), ['much', 'fails'])
    const [much, fails] = told.types
    assert.deepEqual([much.slotMs, much.started, much.done, much.isType, much.excess], [300, 3, 3, true, { slotMs: 0, failed: 0 }])
    assert.deepEqual([fails.failed, fails.done, fails.slotMs], [2, 0, 40])
    assert.equal(told.typesCount, 23)
    assert(Math.abs(told.types.reduce((sum, { share }) => sum + share, 0) - 1) < 0.07)
    assert.deepEqual(typesOf(metrics.snapshot({ top: 1, by: 'failed' })), ['fails'])
    assert.deepEqual(told.totals.delayed, 1)
    assert.equal(told.totals.done + told.totals.failed, 25)
    // a minute later nothing of that counts
    await pass(200000, 10000)
    queue.pushType('now', 1)
    await pass(20)
    assert.deepEqual(typesOf(metrics.snapshot({ top: 3 }))[0], 'now')
  })

  it('ranks by what is there now', async function () {
    const { gate, clock, metrics, queue } = opened({ concurrency: 3, timeoutMs: 100 })
    queue.add(1, { type: 'stuck' }).catch(() => {})
    await gate.until(1)
    clock.advance(100)
    for (const type of ['a', 'b']) queue.add(1, { type }).catch(() => {})
    await gate.until(3)
    queue.add(1, { type: 'old', timeoutMs: Infinity })
    clock.advance(50)
    for (let n = 0; n < 3; n++) queue.add(n, { type: 'many', timeoutMs: Infinity })
    clock.advance(1)
    assert.deepEqual(typesOf(metrics.snapshot({ top: 2, by: 'waiting' })), ['many', 'old'])
    const { types: [old] } = metrics.snapshot({ top: 1, by: 'oldestWait' })
    assert.deepEqual([old.type, old.oldestWaitMs, old.waiting], ['old', 51, 1])
    const { types: [stuck], totals, standstillMs } = metrics.snapshot({ top: 1, by: 'overdue' })
    assert.deepEqual([stuck.type, stuck.overdue, stuck.running, stuck.slotMs], ['stuck', 1, 1, 151])
    assert.deepEqual([totals.running, totals.overdue, totals.waiting, totals.oldestWaitMs, standstillMs], [3, 1, 4, 51, 51])
    assert.deepEqual(metrics.snapshot({ top: 1, by: 'share' }).types[0].oldestWaitMs, undefined)
    assert.equal(metrics.snapshot({ top: 9, by: 'share' }).types.find(({ type }) => type === 'many').oldestWaitMs, 1)
    gate.release(3)
    await quiet()
    assert.equal(metrics.snapshot({ by: 'overdue' }).totals.overdue, 0)
  })

  it('knows the groups of a scheduler that has them', function () {
    let groupOf = type => type === 'a' ? 'g' : undefined
    const lanes = new Set()
    const scheduler = {
      mayStall: true, queued: lane => lanes.add(lane), next () {}, started () {}, ended () {}, groupOf: type => groupOf(type)
    }
    const { metrics, queue } = opened({ scheduler })
    queue.pushType('a', 1).pushType('b', 1)
    const groups = () => metrics.snapshot({ top: 5, by: 'waiting' }).types.map(({ type, group }) => [type, group])
    assert.deepEqual(groups(), [['a', 'g'], ['b', undefined]])
    groupOf = () => { throw new Error('expected') }
    assert.deepEqual(groups(), [['a', undefined], ['b', undefined]])
  })

  it('has jobs without a type as one, which is none', async function () {
    const { gate, metrics, queue } = opened({ scheduler: undefined, concurrency: 1 })
    queue.push(1).push(2)
    await gate.until(1)
    const { types: [row], ...rest } = metrics.snapshot({ by: 'waiting' })
    assert.deepEqual([row.type, row.isType, row.waiting, row.running, rest.typesCount], ['', false, 1, 1, 1])
    gate.release()
    await gate.until(2)
    gate.release()
    for (let n = 2; n < 20002; n++) {
      queue.pushType('a', n)
      await gate.until(n + 1)
      gate.release()
    }
    const gone = metrics.snapshot({ top: 2 }).types.find(({ type }) => type === '')
    assert.deepEqual([gone.done, gone.isType, gone.waiting], [2, false, 0])
  })

  it('finds types whose records, and those of all that came with them, are gone', async function () {
    await withoutTime(async () => {
      const { metrics, queue, pass } = timed({ concurrency: 5000 })
      for (let n = 0; n < 5000; n++) queue.pushType(`t${n}`, n === 4000 ? 50 : 1)
      await pass(100)
      for (let n = 0; n < 30000; n++) queue.pushType('quick', 0)
      await pass(200)
      assert.deepEqual(typesOf(metrics.snapshot({ top: 1 })), ['t4000'])
      const { types: [first] } = metrics.snapshot({ top: 1, by: 'failed' })
      assert.equal(first.failed, 0)
      queue.pushType('t4000', 10)
      await pass(20000, 10000)
      await pass(20000, 10000)
      queue.pushType('t4000', 10)
      await pass(20)
      const again = metrics.snapshot({ top: 1, windowMs: 60000 }).types[0]
      assert.deepEqual([again.type, again.done >= 2], ['t4000', true])
      for (const type of ['a', 'b', 'c']) queue.pushType(type, -10)
      await pass(60000, 10000)
      for (const type of ['c', 'd', 'b', 'a']) queue.pushType(type, type === 'a' ? -30 : -10)
      await pass(100)
      queue.pause()
      for (const type of ['a', 'b', 'c', 'e']) queue.pushType(type, 1)
      for (const by of ['share', 'failed', 'overdue']) assert.equal(metrics.snapshot({ top: 1, by, windowMs: 10000 }).types.length, 1)
      assert.deepEqual(typesOf(metrics.snapshot({ top: 1, windowMs: 10000 })), ['a'])
    })
  })

  it('finds those that used most among very many types that are gone, and says how sure that is', async function () {
    await withoutTime(async () => {
      const { metrics, queue, pass } = timed({ concurrency: 50 })
      for (let n = 0; n < 30; n++) queue.pushType('heavy', n % 3 === 0 ? -20 : 20)
      await pass(100)
      for (let n = 0; n < 20000; n++) queue.pushType(`once-${n}`, 1)
      await pass(1500, 2)
      const { types: [first], typesCount } = metrics.snapshot({ top: 5 })
      assert.equal(first.type, 'heavy')
      assert(first.slotMs >= 600 && first.slotMs - first.excess.slotMs <= 600, JSON.stringify(first))
      assert.equal(first.waiting, 0)
      assert(typesCount > 100)
      const { types: [worst] } = metrics.snapshot({ top: 1, by: 'failed' })
      assert.deepEqual([worst.type, worst.failed - worst.excess.failed <= 10, worst.failed >= 10], ['heavy', true, true])
      // and when it comes back, all of it is one
      queue.pushType('heavy', 5)
      await pass(10)
      const [again, ...others] = metrics.snapshot({ top: 20 }).types
      assert.equal(again.type, 'heavy')
      assert(others.every(({ type }) => type !== 'heavy'))
    })
  })

  it('cuts the names of types that are gone, and offers nothing to do with these', async function () {
    await withoutTime(async () => {
      const long = 'x'.repeat(500)
      const { metrics, queue, pass } = timed({ concurrency: 50 })
      queue.pushType(long, 50)
      await pass(60)
      for (let n = 0; n < 20000; n++) queue.pushType('other', 0)
      for (let n = 0; n < 50; n++) queue.pushType(`more-${n}`, 0)
      await pass(100)
      const { type, isType } = metrics.snapshot({ top: 1 }).types[0]
      assert.deepEqual([type, isType], [long.slice(0, 128), false])
    })
  })

  for (const [type, scheduler] of [['stuck', 'equal'], ['', 'equal'], ['', undefined], [undefined, undefined]]) {
    it(`counts the slot time of a runner that outlives all that is known of its type, ${JSON.stringify(type)}, ${scheduler}`, async function () {
      const { gate, clock, metrics, queue } = opened({ scheduler, concurrency: 2, timeoutMs: 10 })
      queue.add(1, { type }).catch(() => {})
      await gate.until(1)
      clock.advance(10)
      for (let n = 0; n < 20000; n++) queue.add(n, { type: 'quick', timeoutMs: Infinity })
      for (let n = 1; n < 20000; n++) {
        if (gate.started.length <= n) await gate.until(n + 1)
        gate.open.splice(1, 1)[0].done()
      }
      await quiet()
      clock.advance(30)
      const row = () => metrics.snapshot({ top: 5 }).types.find(row => row.type === (type ?? ''))
      assert.deepEqual([row().running, row().overdue, row().slotMs], [1, 1, 40])
      assert.equal(metrics.snapshot().types.find(row => row.type === (type ?? '')).slotMs, 40)
      gate.open[0].done()
      await quiet()
      assert.deepEqual([row().running, row().overdue, row().slotMs], [0, 0, 40])
      assert.equal(metrics.snapshot().types.find(row => row.type === (type ?? '')).slotMs, 40)
    })
  }

  it('equals a naive count in random histories', async function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    const { clock, metrics, queue, pass } = timed({ concurrency: 3, maxAttempts: 2, backoffMs: 30 })
    const ends = []
    queue.on('done', ({ type, payload }) => ends.push([clock.now(), type, 'done', Math.abs(payload)]))
    queue.on('failed', ({ type, payload }) => ends.push([clock.now(), type, 'failed', Math.abs(payload)]))
    for (let step = 0; step < 300; step++) {
      for (let n = random.below(4); n > 0; n--) {
        queue.add(random.chance(0.2) ? -20 : 10 * (1 + random.below(3)), { type: `t${random.below(30)}` }).catch(() => {})
      }
      await pass(random.pick([10, 50, 500]))
      if (random.chance(0.2)) await pass(random.below(3) * 20000, 10000)
      const told = metrics.snapshot({ top: 1000, by: random.pick(['share', 'failed', 'waiting', 'oldestWait', 'overdue']) })
      const from = clock.now() - told.windowMs
      for (const what of ['done', 'failed']) {
        const naive = ends.filter(([at,, how]) => at > from && how === what).length
        const sum = told.types.reduce((sum, row) => sum + row[what], 0)
        assert.deepEqual([sum, told.totals[what]], [naive, naive], `SEED=${seed}, ${what} in ${told.windowMs} ms`)
      }
      const { waiting, running, delayed } = queue.stats()
      assert.deepEqual([told.totals.waiting, told.totals.running, told.totals.delayed], [waiting - delayed, running, delayed])
      assert.equal(told.types.reduce((sum, row) => sum + row.waiting, 0), waiting - delayed)
    }
  })
})

describe('space-saving counters', function () {
  it('have the true weight of each name within their error, and all that are heavy', function () {
    const random = seeded(seedFromEnvironment())
    for (let round = 0; round < 20; round++) {
      const capacity = 1 + random.below(40)
      const frequent = new Frequent(capacity)
      const truth = new Map()
      let total = 0
      for (let n = 0; n < 3000; n++) {
        const name = `n${Math.floor(200 * random.next() ** 3)}`
        const weight = 1 + random.below(5)
        truth.set(name, (truth.get(name) ?? 0) + weight)
        total += weight
        frequent.add(name, weight, [weight])
      }
      assert.equal(frequent.entries.size, Math.min(capacity, truth.size))
      for (const { name, weight, excess, sums } of frequent.entries.values()) {
        assert(truth.get(name) <= weight && truth.get(name) >= weight - excess, name)
        assert(excess <= total / capacity)
        assert.equal(sums[0], weight - excess)
      }
      for (const [name, weight] of truth) assert(frequent.entries.has(name) || weight <= total / capacity, name)
    }
  })
})

describe('a quantile of waits', function () {
  it('counts those who still wait, in snapshots of both kinds', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 1 }, { bucketsMs: [10, 100, 1000] })
    for (const n of [1, 2, 3, 4]) queue.pushType('a', n)
    await gate.until(1)
    clock.advance(500)
    const { waitMs } = metrics.snapshot().types[0]
    assert.deepEqual(waitMs.buckets, [1, 0, 0, 0])
    assert(waitMs.p50 > 100, `${waitMs.p50}`)
    assert(metrics.snapshot({}).totals.waitMs.p50 > 100)
    queue.clear()
    assert(metrics.snapshot().types[0].waitMs.p50 < 10)
  })

  it('looks at some of very many, and at those that wait for long', async function () {
    const { clock, metrics, queue } = opened({ concurrency: 1 }, { bucketsMs: [10, 100] })
    queue.pause()
    for (let n = 0; n < 150000; n++) queue.pushType(n % 2 ? 'a' : 'b', n)
    clock.advance(50)
    for (let n = 0; n < 150000; n++) queue.pushType('a', n)
    const { waitMs } = metrics.snapshot().types.find(({ type }) => type === 'a')
    assert(waitMs.p50 < 10 && waitMs.p99 > 10, JSON.stringify(waitMs))
    assert.equal(metrics.snapshot({}).totals.oldestWaitMs, 50)
  })

  it('knows of jobs whose records outlived all that came with them', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 2, observers: undefined })
    assert.deepEqual([clock.now(), gate.open.length, metrics.snapshot().types, queue.waiting], [0, 0, [], 0])
    const strays = opened({ concurrency: 1 }, { bucketsMs: [10, 100] })
    strays.queue.pushType('held', 1).pauseType('held')
    for (let n = 0; n < 60000; n++) strays.queue.pushType(n % 8000 === 1 ? 'held' : 'quick', n)
    for (let n = 0; n < 59992; n++) {
      if (strays.gate.started.length <= n) await strays.gate.until(n + 1)
      strays.gate.release()
    }
    strays.clock.advance(50)
    assert.equal(strays.metrics.snapshot({}).totals.oldestWaitMs, 50)
    assert(strays.metrics.snapshot().types[0].waitMs.p99 > 10)
  })
})

describe('oldestWaitMs of a label', function () {
  const LISTS = [['lanes', {}], ['shared lanes', { maxTypes: 1 }], ['a window', { scheduler: WINDOW }], ['priorities', { priorityMs: 5 }]]
  for (const [kind, options] of LISTS) {
    it(`is for how long the job has waited that is to start next: ${kind}`, async function () {
      const { clock, gate, metrics, queue } = opened({ concurrency: 1, ...options })
      queue.pushType('runs', 1)
      await gate.until(1)
      for (const type of ['a', 'b', 'a']) {
        queue.pushType(type, 1)
        clock.advance(10)
      }
      const oldest = Object.fromEntries(metrics.snapshot().types.map(({ type, oldestWaitMs }) => [type, oldestWaitMs]))
      assert.deepEqual(oldest, { runs: undefined, a: 30, b: 20 })
      assert.deepEqual(metrics.snapshot({ by: 'oldestWait', top: 3 }).types.map(({ oldestWaitMs }) => oldestWaitMs), [30, 20, undefined])
    })
  }

  it('is that of the first job without a scheduler, and else for how long some of the type have waited', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 1, scheduler: undefined })
    queue.push(0)
    await gate.until(1)
    for (const type of ['a', 'b']) {
      queue.pushType(type, 1)
      clock.advance(10)
    }
    const oldest = () => Object.fromEntries(metrics.snapshot().types.map(({ type, oldestWaitMs }) => [type, oldestWaitMs]))
    assert.deepEqual(oldest(), { '': undefined, a: 20, b: 10 })
    queue.clear()
    assert.deepEqual(oldest(), { '': undefined, a: undefined, b: undefined })
  })

  it('is taken from what is known of the type where the job has no record', function () {
    const oldest = new Oldest({ eachHead: visit => visit(5), records: { find () {} }, types: { cells: new Float64Array(8).fill(3) } })
    assert.equal(oldest.msOf(0, 7), 4)
  })

  it('is not looked for behind a thousand jobs of others in a lane that is shared', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 1, maxTypes: 1 })
    queue.pushType('runs', 1)
    await gate.until(1)
    for (let n = 0; n < 1100; n++) queue.pushType('a', n)
    queue.pushType('b', 1)
    clock.advance(10)
    queue.unshiftType('b', 1)
    const oldest = Object.fromEntries(metrics.snapshot().types.map(({ type, oldestWaitMs }) => [type, oldestWaitMs]))
    assert.deepEqual([oldest.a, oldest.b], [10, 0])
    queue.pushType('c', 1)
    clock.advance(5)
    assert.equal(metrics.snapshot({ by: 'oldestWait', top: 9 }).types.find(({ type }) => type === 'c').oldestWaitMs, 5)
  })
})

describe('running, in metrics', function () {
  const BESIDE = [metrics => metrics, metrics => [new History(), metrics, channels()], metrics => [channels(), metrics, new Metrics()]]
  for (const observers of BESIDE) {
    it('means slots that are taken: runners that go on after their timeout count, as overdue', async function () {
      const metrics = new Metrics()
      const { clock, gate, queue } = opened({ concurrency: 1, timeoutMs: 10, maxAttempts: 1, observers: observers(metrics) })
      queue.add(1, { type: 'a' }).catch(() => {})
      await gate.until(1)
      clock.advance(25)
      const [a] = metrics.snapshot().types
      assert.deepEqual([a.running, a.overdue, a.failed, a.accepted, a.slotMs, a.runMs.sum], [1, 1, 1, 1, 25, 10])
      gate.release()
      await quiet()
      const [later] = metrics.snapshot().types
      assert.deepEqual([later.running, later.overdue, later.failed, later.slotMs, later.runMs.sum], [0, 0, 1, 25, 10])
    })
  }

  it('has none of those whose slots were released', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 1, timeoutMs: 10, onTimeout: 'release' })
    queue.add(1, { type: 'a' }).catch(() => {})
    await gate.until(1)
    clock.advance(25)
    const [{ running, overdue, slotMs }] = metrics.snapshot().types
    assert.deepEqual([running, overdue, slotMs, queue.stats().overrun], [0, 0, 10, 1])
    gate.release()
    await quiet()
  })

  it('has a job twice that is tried again while its runner goes on', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 2, timeoutMs: 10, maxAttempts: 2, backoffMs: 5, scheduler: undefined })
    queue.add(1, { type: 'a' }).catch(() => {})
    await gate.until(1)
    clock.advance(10)
    clock.advance(5)
    await gate.until(2)
    const [{ running, overdue, retried }] = metrics.snapshot().types
    assert.deepEqual([running, overdue, retried], [2, 1, 1])
    gate.release(2)
    await quiet()
    assert.deepEqual([metrics.snapshot().types[0].running, queue.running], [0, 0])
  })

  it('counts attempts that were throttled and postponed', async function () {
    const clock = fakeClock()
    const metrics = new Metrics()
    const errors = [new fairlane.Throttled(5), new fairlane.Postponed(5), new fairlane.Postponed(5), null]
    const queue = fairlane((payload, done) => done(errors.shift()), { scheduler: 'fair', clock, observers: metrics })
    queue.pushType('a', 1)
    for (let n = 0; n < 5; n++) {
      await quiet()
      clock.advance(5)
    }
    const [{ throttled, postponed, retried, done }] = metrics.snapshot().types
    assert.deepEqual([throttled, postponed, retried, done], [1, 2, 0, 1])
  })
})

describe('a standstill', function () {
  it('is told of once it lasts, and when it is over', async function () {
    const { clock, gate, metrics, queue } = opened({ concurrency: 1 }, { starveMs: 3000 })
    const told = []
    for (const event of ['standstill', 'moving']) metrics.on(event, about => told.push([event, about]))
    const pass = async ms => {
      for (let passed = 0; passed < ms; passed += 1000) {
        clock.advance(1000)
        await turns(3)
      }
    }
    queue.pushType('a', 1).pushType('a', 2).pushType('b', 1)
    await gate.until(1)
    await pass(2000)
    assert.deepEqual([told, metrics.snapshot().standstillMs], [[], 2000])
    await pass(5000)
    const [[event, { waiting, running, sinceMs }]] = told
    assert.deepEqual([told.length, event, waiting, running, sinceMs >= 3000], [1, 'standstill', 2, 1, true])
    gate.release()
    await gate.until(2)
    assert.equal(metrics.snapshot().standstillMs, 0)
    await pass(2000)
    assert.deepEqual(told.map(([event]) => event), ['standstill', 'moving'])
    gate.release()
    await gate.until(3)
    gate.release()
    await pass(10000)
    assert.deepEqual([told.length, metrics.snapshot().standstillMs], [2, 0])
  })
})

describe('timeline()', function () {
  it('has buckets of 10 s, as long as there is something to do', async function () {
    const { clock, metrics, queue, pass } = timed({ concurrency: 2 }, { bucketsMs: [100, 1000, 10000] })
    for (let n = 0; n < 40; n++) queue.pushType('a', n % 4 === 0 ? -1000 : 1000)
    await pass(25000, 500)
    const all = metrics.timeline()
    const { timeline, ...told } = metrics.snapshot({ timeline: true })
    assert.deepEqual([told, timeline], [metrics.snapshot({}), all])
    const sum = what => all.reduce((sum, bucket) => sum + bucket[what], 0)
    assert.deepEqual([sum('started'), sum('done'), sum('failed')], [40, 30, 10])
    assert.deepEqual(all.map(({ ms }) => ms >= 10000 || ms === all.at(-1).ms), all.map(() => true))
    assert(Math.abs(all[0].slotsHeld - 2) < 0.1, `${all[0].slotsHeld}`)
    assert(all[0].waiting > 0 && all[0].waitP95Ms > all[0].waitP50Ms)
    const { at } = all.at(-1)
    assert(at <= clock.now())
    await pass(1200000, 30000) // nobody looks while nothing waits
    assert.deepEqual(metrics.timeline().map(({ done, ms }) => [done, ms > 1000000]), [[2, true]])
    await pass(1200000, 30000)
    queue.pushType('a', 100)
    await pass(200)
    queue.pushType('a', 100)
    await pass(50)
    assert.equal(metrics.timeline().at(-1).started, 2)
  })

  it('has at most 90 of them', async function () {
    const { metrics, queue, pass } = timed({ concurrency: 1 })
    for (let n = 0; n < 2000; n++) queue.pushType('a', 1000)
    await pass(1500000, 1000)
    const all = metrics.timeline()
    assert(all.length >= 89 && all.length <= 91, `${all.length}`)
  })
})
