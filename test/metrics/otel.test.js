'use strict'

const assert = require('node:assert/strict')
const { AggregationTemporality, DataPointType, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } = require('@opentelemetry/sdk-metrics')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const { turns } = require('../support/turns')

/** A meter, and what it collects: { name: { unit, points: { attributes: value } } }. */
function example () {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  const provider = new MeterProvider({ readers: [reader] })
  const collect = async () => {
    const { resourceMetrics: { scopeMetrics }, errors } = await reader.collect()
    assert.deepEqual(errors, [])
    const all = scopeMetrics.flatMap(({ metrics }) => metrics)
    return Object.fromEntries(all.map(({ descriptor: { name, unit }, dataPointType, isMonotonic, dataPoints }) => [name, {
      unit,
      isCounter: dataPointType === DataPointType.SUM && isMonotonic,
      points: Object.fromEntries(dataPoints.map(({ attributes, value }) => [Object.values(attributes).join(' '), value]))
    }]))
  }
  return { meter: provider.getMeter('test'), collect, close: () => provider.shutdown() }
}

describe('a meter of OpenTelemetry', function () {
  let meter, collect, close

  beforeEach(function () { ({ meter, collect, close } = example()) })
  afterEach(() => close())

  it('collects counts, and quantiles of the times since it has collected before, in seconds', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ name: 'mails', bucketsMs: [10, 20, 40] })
    metrics.meter(meter)
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, observers: metrics, clock, maxWaiting: 1 })
    queue.pushType('a', 1).pushType('a', 2).pushType('b', 3)
    await gate.until(1)
    clock.advance(15)
    gate.release()
    await gate.until(2)
    const { 'fairlane.job.wait.p50': wait, 'fairlane.job.run.p99': run, ...counts } = await collect()
    assert.deepEqual([wait.unit, wait.points], ['s', { 'mails a': 0.01 }])
    assert.deepEqual([run.unit, run.isCounter, Object.keys(run.points)], ['s', false, ['mails a']])
    assert(Math.abs(run.points['mails a'] - 0.0199) < 1e-9)
    assert.deepEqual(Object.fromEntries(Object.entries(counts).map(([name, { isCounter, points }]) => [name, [isCounter, points]])), {
      'fairlane.jobs.accepted': [true, { 'mails a': 2 }],
      'fairlane.jobs.settled': [true, { 'mails a done': 1, 'mails a failed': 0, 'mails a cancelled': 0 }],
      'fairlane.jobs.refused': [true, { 'mails FAIRLANE_ERR_QUEUE_FULL': 1 }],
      'fairlane.attempts': [true, { 'mails a retried': 0, 'mails a throttled': 0, 'mails a postponed': 0 }],
      'fairlane.joined': [true, { mails: 0 }],
      'fairlane.overdue': [false, { 'mails a': 0 }],
      'fairlane.job.wait.oldest': [false, { 'mails a': 0 }],
      'fairlane.standstill': [false, { mails: 0 }],
      'fairlane.held': [false, { mails: 0 }],
      'fairlane.jobs': [false, { 'mails a waiting': 0, 'mails a running': 1, 'mails a delayed': 0 }],
      'fairlane.job.wait.p99': [false, { 'mails a': 0.0198 }],
      'fairlane.job.run.p50': [false, { 'mails a': 0.015 }],
      'fairlane.slots': [false, { mails: 1 }],
      'fairlane.starving': [false, { mails: 0 }]
    })
    clock.advance(35)
    gate.release()
    await turns(5)
    const later = await collect()
    assert.deepEqual(later['fairlane.job.run.p50'].points, { 'mails a': 0.03 }) // of the second run alone
    assert.deepEqual(later['fairlane.jobs.settled'].points, { 'mails a done': 2, 'mails a failed': 0, 'mails a cancelled': 0 })
  })

  it('shows several queues, each once however often it was given, and how evenly slots are shared', async function () {
    const clock = fakeClock()
    const mails = new Metrics({ name: 'mails', windowMs: 1000 })
    const images = new Metrics({ name: 'images' })
    for (const metrics of [mails, images, mails]) metrics.meter(meter)
    const runner = (n, done) => { clock.setTimeout(done, 10) }
    const queue = fairlane(runner, { scheduler: 'equal', concurrency: 2, observers: mails, clock })
    fairlane(runner, { concurrency: Infinity, observers: images, clock })
    for (let i = 0; i < 400; i++) queue.pushType('a', 1).pushType('b', 1)
    for (let i = 0; i < 220; i++) {
      await turns(3)
      clock.advance(10)
    }
    const { 'fairlane.slots': slots, 'fairlane.starving': starving, 'fairlane.fairness': fairness } = await collect()
    assert.deepEqual(slots.points, { mails: 2 })
    assert.deepEqual(starving.points, { mails: 0, images: 0 })
    assert(fairness.points.mails > 0.98)
  })

  it('shows the times of a place that begins anew', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ maxTypes: 1, bucketsMs: [10] })
    metrics.meter(meter)
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: metrics, clock })
    for (const n of [1, 2]) await queue.add(n, { type: 'a' })
    assert.deepEqual((await collect())['fairlane.job.run.p50'].points, { 'default a': 0.005 })
    clock.advance(3600000)
    metrics.snapshot()
    await queue.add(1, { type: 'b' })
    metrics.snapshot()
    clock.advance(3600000)
    metrics.snapshot()
    await queue.add(1, { type: 'a' })
    assert.deepEqual((await collect())['fairlane.job.run.p50'].points, { 'default a': 0.005 })
  })

  it('refuses a second queue of the same name, and what is no meter', async function () {
    new Metrics().meter(meter)
    assert.throws(() => new Metrics().meter(meter), { name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const value of [undefined, null, {}, meter.createCounter]) assert.throws(() => new Metrics().meter(value), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })
})
