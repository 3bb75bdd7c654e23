'use strict'

const assert = require('node:assert/strict')
const { rmSync } = require('node:fs')
const { join } = require('node:path')
const fairlane = require('../..')
const { OBSERVE } = require('../../lib/core/internals')
const { durable } = require('../../lib/durable')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')
const { quiet } = require('../support/turns')

const HOUR = 3600000
const DEFAULT_BOUNDS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000]

/** What is shown of a type. */
function shown (metrics, type) {
  return metrics.snapshot().types.find(each => each.type === type)
}

/** @returns {number[]} zeros but for some counts, by bucket */
function buckets (length, counts) {
  return Array.from({ length }, (_, i) => counts[i] ?? 0)
}

describe('metrics', function () {
  it('say whether a label is the text of one type', async function () {
    const isTypeOf = (types, options) => {
      const metrics = new Metrics({ maxTypes: 4, ...options })
      const queue = fairlane(() => {}, { observers: metrics })
      for (const type of types) queue.pushType(type, 1)
      queue.push(1)
      return metrics.snapshot().types.map(({ type, isType }) => [type.slice(0, 5), isType])
    }
    const types = ['a', 'b'.repeat(127), 'c'.repeat(128), 'd\uD800', 'more', 'other']
    assert.deepEqual(isTypeOf(types), [['a', true], ['bbbbb', true], ['ccccc', false], ['d\uFFFD', false], ['other', false]])
    assert.deepEqual(isTypeOf(['a'], { labelOf: () => 'plan' }), [['', false], ['plan', false]])
  })

  it('show counts and times of each type, by the clock of the queue', async function () {
    const clock = fakeClock(1000)
    const metrics = new Metrics({ name: 'mails' })
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, observers: metrics, clock, maxWaiting: 2 })
    for (const type of ['a', 'b', 'a']) queue.pushType(type, 1)
    queue.pushType('a', 1)
    await gate.until(1)
    clock.advance(10)
    gate.release()
    await gate.until(2)
    clock.advance(20)
    gate.fail(new Error('no'))
    await gate.until(3)
    queue.pushType('b', 1)
    clock.advance(5)
    queue.remove(({ type }) => type === 'b')
    const { types: [a, b], ...rest } = metrics.snapshot()
    const refused = { FAIRLANE_ERR_QUEUE_FULL: 1 }
    assert.deepEqual(rest, { name: 'mails', boundsMs: DEFAULT_BOUNDS, fairness: undefined, starving: [], standstillMs: 0, refused })
    assert.deepEqual(a, {
      type: 'a',
      isType: true,
      waiting: 0,
      running: 1,
      overdue: 0,
      accepted: 2,
      done: 1,
      failed: 0,
      cancelled: 0,
      retried: 0,
      throttled: 0,
      postponed: 0,
      oldestWaitMs: undefined,
      slotMs: 15,
      spent: 0,
      waitMs: { sum: 30, p50: 1, p99: 49.5, buckets: buckets(17, { 0: 1, 5: 1 }) },
      runMs: { sum: 10, p50: 7.5, p99: 9.95, buckets: buckets(17, { 3: 1 }) }
    })
    assert.deepEqual([b.accepted, b.failed, b.cancelled, b.waiting, b.slotMs], [2, 1, 1, 0, 20])
    assert.deepEqual([b.waitMs.buckets, b.runMs.buckets], [buckets(17, { 3: 1 }), buckets(17, { 4: 1 })])
  })

  it('put times that equal a bound into its bucket, and sum them up exactly', async function () {
    const clock = fakeClock(Date.UTC(2030, 0))
    const metrics = new Metrics({ bucketsMs: [0.5, 1, 7] })
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, observers: metrics, clock })
    const runs = [0, 0.25, 0.5, 0.75, 1, 1.25, 7, 7.25, 1e12]
    queue.push(0)
    for (const [i, ms] of runs.entries()) {
      await gate.until(i + 1)
      clock.advance(ms)
      queue.push(0)
      gate.release()
    }
    await quiet()
    const { runMs, waitMs } = shown(metrics, '')
    assert.deepEqual(runMs.buckets, [3, 2, 2, 2])
    assert.equal(runMs.sum, runs.reduce((sum, ms) => sum + ms, 0))
    assert.deepEqual(waitMs, { sum: 0, p50: 0.25, p99: 0.495, buckets: [10, 0, 0, 0] })
  })

  it('are empty before a queue has them', function () {
    const rest = { fairness: undefined, starving: [], standstillMs: 0, types: [], refused: {} }
    assert.deepEqual(new Metrics().snapshot(), { name: 'default', boundsMs: DEFAULT_BOUNDS, ...rest })
    assert.deepEqual(new Metrics().timeline(), [])
  })

  it('observe one queue', function () {
    const metrics = new Metrics()
    const observe = metrics[OBSERVE]
    fairlane(() => {}, { observers: [metrics] })
    assert.throws(() => fairlane(() => {}, { observers: [metrics] }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => observe.call(metrics, {}, undefined, {}), { code: 'FAIRLANE_ERR_OPTION' })
  })

  it('take no unknown option, and no wrong value', function () {
    for (const options of [
      null, 1, [], { nmae: 'a' }, { name: '' }, { name: 1 }, { maxTypes: -1 }, { maxTypes: 1.5 }, { maxTypes: Infinity }, { maxTypes: '1' }, { otherType: '' },
      { clock: 'fast' }, { labelOf: 'plan' }, { labelOf: null }, { windowMs: 0 }, { windowMs: '5' }, { windowMs: Infinity }, { starveMs: 0.5 }, { starveMs: 2 ** 31 }, { bucketsMs: [] }, { bucketsMs: 5 }, { bucketsMs: [0, 1] }, { bucketsMs: [2, 1] }, { bucketsMs: [1, 1] }, { bucketsMs: [1, Infinity] },
      { bucketsMs: [NaN] }, { bucketsMs: ['1'] }, { bucketsMs: Array.from({ length: 65 }, (_, i) => i + 1) }
    ]) assert.throws(() => new Metrics(options), { code: 'FAIRLANE_ERR_OPTION' })
  })

  it('count by the groups of types, if they are told to', async function () {
    const groupOf = type => type === 'odd' ? undefined : type[0]
    const schedulerOptions = { groupOf, groupWeights: { z: 2 }, groupCaps: { b: 3, z: 1 } }
    const metrics = new Metrics({ labelOf: 'group', otherType: 'none' })
    const queue = fairlane((payload, done) => done(), { scheduler: 'equal', schedulerOptions, observers: metrics })
    for (const type of ['a1', 'a2', 'b1', 'odd', 'a1']) queue.pushType(type, 1)
    await queue.onIdle()
    assert.deepEqual(metrics.snapshot().types.map(({ type, isType, done }) => [type, isType, done]), [
      ['z', false, 0], ['b', false, 1], ['a', false, 3], ['none', false, 1]
    ])
    await quiet()
  })

  it('place no groups whose weights a function gives, and refuse a queue without groups', function () {
    const metrics = () => new Metrics({ labelOf: 'group' })
    const own = metrics()
    fairlane(() => {}, { scheduler: 'equal', schedulerOptions: { groupOf: () => 'g', groupWeights: () => 1 }, observers: own })
    assert.deepEqual(own.snapshot().types, [])
    for (const options of [{}, { scheduler: 'equal' }, { scheduler: 'fair' }]) {
      assert.throws(() => fairlane(() => {}, { ...options, observers: metrics() }), { code: 'FAIRLANE_ERR_OPTION', message: /group/ })
    }
    const taking = { queued () {}, next () {}, started () {}, ended () {}, groupOf: () => 'mine' }
    fairlane(() => {}, { scheduler: taking, observers: metrics() })
  })

  it('keep no bounds that the caller changes later', function () {
    const bucketsMs = [1, 2]
    const metrics = new Metrics({ bucketsMs })
    bucketsMs.push(0)
    metrics.snapshot().boundsMs.push(0)
    assert.deepEqual(metrics.snapshot().boundsMs, [1, 2])
  })

  it('read the system clock for each entry if that is asked', async function () {
    const metrics = new Metrics({ clock: 'exact' })
    const queue = fairlane((ms, done) => {
      const until = performance.now() + ms
      while (performance.now() < until);
      done()
    }, { observers: [metrics, new History()] })
    await queue.add(3)
    assert(shown(metrics, '').runMs.sum >= 2.9)
  })

  it('keep no records, and lose no job', async function () {
    const metrics = new Metrics()
    let ledger
    const observer = { [OBSERVE]: (...given) => (ledger = metrics[OBSERVE](...given)) }
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: observer })
    for (let i = 0; i < 50000; i++) queue.pushType(`type ${i % 3}`, i)
    await queue.onIdle()
    assert(ledger.records.endedCount <= 8192)
    const counts = metrics.snapshot().types.map(({ accepted, done }) => [accepted, done])
    assert.deepEqual(counts, [[16667, 16667], [16667, 16667], [16666, 16666]])
  })

  it('join a history that was read from a file', async function () {
    const folder = temporaryFolder()
    try {
      const first = new History()
      const queue = fairlane((n, done) => done(), { observers: first })
      for (let i = 0; i < 100; i++) queue.pushType(`former ${i}`, i)
      await queue.add(1, { type: 'a' })
      await first.save(join(folder, 'file'))
      const history = await History.open(join(folder, 'file'))
      const metrics = new Metrics()
      await fairlane((n, done) => done(), { observers: [history, metrics] }).add(2, { type: 'a' })
      assert.equal(history.counts('a').done, 2)
      assert.deepEqual(metrics.snapshot().types.map(({ type, done }) => [type, done]), [['a', 1]])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('leave the records of a history to its own options', async function () {
    for (const isFirst of [true, false]) {
      const history = new History({ keep: 5, keepMs: 1e6 })
      const observers = isFirst ? [new Metrics(), history] : [history, new Metrics()]
      const queue = fairlane((n, done) => done(), { observers })
      for (let i = 0; i < 30; i++) queue.push(i)
      await queue.onIdle()
      assert.deepEqual([...history.list({ limit: 2 })].map(({ id }) => id), [30, 29])
    }
  })
})

describe('types in metrics', function () {
  it('get a place as they come, and beyond maxTypes share one, however many there are', async function () {
    const metrics = new Metrics({ maxTypes: 3, otherType: 'rest' })
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', observers: metrics })
    for (let i = 0; i < 10000; i++) queue.pushType(`type ${i}`, i)
    await queue.onIdle()
    const { types } = metrics.snapshot()
    assert.deepEqual(types.map(({ type, accepted, done }) => [type, accepted, done]), [
      ['type 0', 1, 1], ['type 1', 1, 1], ['type 2', 1, 1], ['rest', 9997, 9997]
    ])
  })

  it('have names that nobody is harmed by', async function () {
    const metrics = new Metrics()
    const long = 'x'.repeat(10000)
    const names = ['__proto__', 'constructor', '"', '\\', '\n', '<b>', '', `${long}1`, `${long}2`, 'a\ud800', 'a\udfff', 'other']
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: metrics })
    for (const name of names) queue.pushType(name, 1)
    await queue.onIdle()
    const { types } = metrics.snapshot()
    assert.deepEqual(types.map(({ type, done }) => [type, done]), [
      ...names.slice(0, 7).map(name => [name, 1]), ['x'.repeat(128), 2], ['a\ufffd', 2], ['other', 1]
    ])
  })

  it('give their place away when nothing has happened in it for an hour since it was read', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ maxTypes: 2 })
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: [metrics, new History()], clock })
    const names = () => metrics.snapshot().types.map(({ type, done }) => `${type} ${done}`)
    const run = type => queue.add(1, { type })
    await run('a')
    await run('b')
    clock.advance(2 * HOUR)
    await run('c') // nobody has read
    assert.deepEqual(names(), ['a 1', 'b 1', 'other 1'])
    clock.advance(HOUR - 1)
    await run('d')
    clock.advance(1)
    await run('a')
    await run('c')
    await run('d')
    assert.deepEqual(names(), ['a 2', 'other 3', 'c 1'])
    clock.advance(HOUR)
    queue.pause().pushType('a', 1)
    metrics.snapshot()
    clock.advance(HOUR)
    queue.pushType('e', 1).pushType('b', 1)
    assert.deepEqual(metrics.snapshot().types.map(({ type, waiting }) => [type, waiting]), [['a', 1], ['other', 1], ['e', 1]])
    queue.resume()
    await queue.onIdle()
    assert.deepEqual(names(), ['a 3', 'other 4', 'e 1'])
  })
})

describe('metrics of a queue on disk', function () {
  let folder
  beforeEach(function () { folder = temporaryFolder() })
  afterEach(function () { rmSync(folder, { recursive: true }) })

  /** What the queue and its metrics count. */
  function assertAgree (metrics, queue) {
    const { accepted, done, failed, cancelled, retried } = queue.stats()
    const { types } = metrics.snapshot()
    const sum = name => types.reduce((total, type) => total + type[name], 0)
    assert.deepEqual(Object.fromEntries(['accepted', 'done', 'failed', 'cancelled', 'retried'].map(name => [name, sum(name)])), { accepted, done, failed, cancelled, retried })
  }

  it('count attempts, dead letters and what was found on disk', async function () {
    const path = join(folder, 'queue')
    const metrics = new Metrics()
    const failing = new Set([1, 2])
    const runner = async n => { if (failing.has(n)) throw new Error('no') }
    const options = { path, maxAttempts: 2, backoffMs: 0, scheduler: 'equal' }
    const queue = await durable(runner, { ...options, observers: [metrics] })
    for (const n of [0, 1, 2]) await queue.pushType('a', n)
    await queue.onIdle()
    assertAgree(metrics, queue)
    assert.match(new TextDecoder().decode(metrics.toText()), /fairlane_jobs\{state="dead",queue="default",type="a"\} 2/)
    const [first, second] = [...await queue.deadLetters()].map(({ id }) => id)
    failing.clear()
    await queue.retryDead(first)
    await queue.deleteDead(second)
    await queue.onIdle()
    assertAgree(metrics, queue)
    const text = new TextDecoder().decode(metrics.toText())
    for (const state of ['waiting', 'running', 'delayed', 'dead']) assert(text.includes(`fairlane_jobs{state="${state}",queue="default",type="a"} 0`), state)
    queue.pause()
    const id = await queue.pushType('a', 3)
    await queue.pushType('a', 4)
    await queue.cancel(id)
    assertAgree(metrics, queue)
    await queue.close()
    const next = new Metrics()
    const again = await durable(runner, { ...options, observers: next })
    await again.onIdle()
    assertAgree(next, again)
    assert.equal(shown(next, 'a').done, 1)
    await again.close()
  })
})
