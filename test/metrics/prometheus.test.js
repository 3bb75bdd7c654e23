'use strict'

const assert = require('node:assert/strict')
const { AggregatorRegistry, Registry } = require('prom-client')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { register } = require('../../lib/metrics/prometheus')
const { fakeClock } = require('../../lib/testing')
const { parse } = require('../support/exposition')
const gates = require('../support/gates')
const { seeded, seedFromEnvironment } = require('../support/random')
const { quiet } = require('../support/turns')

const HOSTILE = ['a"b', 'a\\b', 'a\nb', '\\n', '\\', '"', '__proto__', '<script>', '', '\r', '{}', 'x'.repeat(10000), 'tenant,le="1"', 'ünï']

/** A queue of which one job has run for 30 ms, one runs, one was removed, and one was refused. */
async function example (name) {
  const clock = fakeClock()
  const metrics = new Metrics({ name, bucketsMs: [1, 30, 2500] })
  const gate = gates()
  const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, observers: metrics, clock, maxWaiting: 2 })
  for (const n of [1, 2, 3, 4]) queue.pushType('a', n)
  await gate.until(1)
  clock.advance(30)
  gate.release()
  await gate.until(2)
  assert.equal(queue.remove(({ payload }) => payload === 3), 1)
  return { clock, metrics, queue, gate }
}

/** Values of one family by their labels. */
function valuesOf (families, name) {
  return Object.fromEntries(families.get(name).samples.map(({ name, labels: { queue, type, ...rest }, value }) => [[name.split('_').at(-1), ...Object.values(rest)].join(' '), value]))
}

describe('the text for Prometheus', function () {
  it('has what has been counted, and times in seconds', async function () {
    const { metrics } = await example('mails')
    const families = parse(metrics.toText())
    assert.deepEqual([...families].map(([name, { type }]) => `${name} ${type}`), [
      'fairlane_jobs_accepted_total counter', 'fairlane_jobs_settled_total counter', 'fairlane_jobs_refused_total counter',
      'fairlane_attempts_total counter', 'fairlane_joined_total counter', 'fairlane_jobs gauge', 'fairlane_overdue_runners gauge',
      'fairlane_oldest_wait_seconds gauge', 'fairlane_job_wait_seconds histogram', 'fairlane_job_run_seconds histogram', 'fairlane_cost_total counter',
      'fairlane_slots gauge',
      'fairlane_standstill_seconds gauge', 'fairlane_held_types gauge', 'fairlane_fairness_ratio gauge', 'fairlane_starving_types gauge'
    ])
    for (const [name, { samples }] of families) {
      for (const { labels } of samples) assert.deepEqual([labels.queue, labels.type], ['mails', /refused|joined|slots|standstill|held|starving/.test(name) ? undefined : 'a'])
    }
    assert.deepEqual(valuesOf(families, 'fairlane_jobs_accepted_total'), { total: 3 })
    assert.deepEqual(valuesOf(families, 'fairlane_jobs_settled_total'), { 'total done': 1, 'total failed': 0, 'total cancelled': 1 })
    assert.deepEqual(valuesOf(families, 'fairlane_jobs_refused_total'), { 'total FAIRLANE_ERR_QUEUE_FULL': 1 })
    assert.deepEqual(valuesOf(families, 'fairlane_jobs'), { 'jobs waiting': 0, 'jobs running': 1, 'jobs delayed': 0 })
    assert.deepEqual(valuesOf(families, 'fairlane_job_wait_seconds'), {
      'bucket 0.001': 1, 'bucket 0.03': 2, 'bucket 2.5': 2, 'bucket +Inf': 2, sum: 0.03, count: 2
    })
    assert.deepEqual(valuesOf(families, 'fairlane_job_run_seconds'), {
      'bucket 0.001': 0, 'bucket 0.03': 1, 'bucket 2.5': 1, 'bucket +Inf': 1, sum: 0.03, count: 1
    })
    assert.deepEqual(valuesOf(families, 'fairlane_slots'), { slots: 1 })
  })

  it('says how many slots there are, without end too, and none before there is a queue', function () {
    const metrics = new Metrics()
    assert.deepEqual(valuesOf(parse(metrics.toText()), 'fairlane_slots'), { slots: 0 })
    fairlane(() => {}, { observers: metrics, concurrency: Infinity })
    assert.deepEqual(valuesOf(parse(metrics.toText()), 'fairlane_slots'), { slots: Infinity })
  })

  it('is bytes of UTF-8, whatever the names are', async function () {
    const metrics = new Metrics({ name: 'q"\\\n' })
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: metrics })
    for (const type of HOSTILE) queue.pushType(type, 1)
    await queue.onIdle()
    const bytes = metrics.toText()
    assert(bytes instanceof Uint8Array)
    const { samples } = parse(bytes).get('fairlane_jobs_accepted_total')
    assert.deepEqual(samples.map(({ labels, value }) => [labels.queue, labels.type, value]), HOSTILE.map(name => ['q"\\\n', name.slice(0, 128), 1]))
  })

  it('is whole however long it is', async function () {
    const metrics = new Metrics({ maxTypes: 1000 })
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', observers: metrics })
    for (let n = 0; n < 1000; n++) queue.pushType(`tenant-${n}`, n)
    await queue.onIdle()
    const families = parse(metrics.toText())
    assert.equal(families.get('fairlane_job_run_seconds').samples.length, 1000 * 19)
    assert.deepEqual(families.get('fairlane_jobs_accepted_total').samples.map(({ value }) => value), new Array(1000).fill(1))
  })

  it('says for how long jobs wait, what is tried again, and what stands still', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ name: 'q' })
    const gate = gates()
    const options = { scheduler: 'equal', concurrency: 1, observers: metrics, clock, timeoutMs: 100, maxAttempts: 2, backoffMs: 5 }
    const queue = fairlane(gate.runner, options)
    for (let n = 0; n < 2; n++) queue.add(1, { type: 'a', key: 'k' }).catch(() => {})
    await gate.until(1)
    queue.add(1, { type: 'b', timeoutMs: Infinity }).catch(() => {})
    queue.holdType('b', 10000)
    clock.advance(100)
    clock.advance(1500)
    const families = parse(metrics.toText())
    const of = (name, type) => families.get(name).samples.filter(({ labels }) => labels.type === type)
      .map(({ labels: { outcome }, value }) => outcome === undefined ? value : [outcome, value])
    assert.deepEqual(of('fairlane_attempts_total', 'a'), [['retried', 1], ['throttled', 0], ['postponed', 0]])
    assert.deepEqual([of('fairlane_overdue_runners', 'a'), of('fairlane_oldest_wait_seconds', 'b')], [[1], [1.6]])
    assert.deepEqual([of('fairlane_standstill_seconds'), of('fairlane_joined_total'), of('fairlane_held_types')], [[1.5], [1], [1]])
  })

  it('has at most 50 series for each type', async function () {
    const metrics = new Metrics({ maxTypes: 5 })
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: metrics })
    for (let i = 0; i < 100; i++) queue.pushType(`type ${i}`, 1)
    await queue.onIdle()
    const byType = new Map()
    for (const { samples } of parse(metrics.toText()).values()) {
      for (const { labels: { type } } of samples) if (type !== undefined) byType.set(type, (byType.get(type) ?? 0) + 1)
    }
    assert.equal(byType.size, 6)
    for (const [type, count] of byType) assert(count <= 50, `${type}: ${count}`)
  })

  const seed = seedFromEnvironment()
  it(`has counters that never fall (SEED=${seed})`, async function () {
    const random = seeded(seed)
    const clock = fakeClock()
    const metrics = new Metrics({ maxTypes: 3 })
    const queue = fairlane((n, done) => n === 0 ? done(new Error('no')) : n === 1 ? done() : clock.setTimeout(done, n), {
      scheduler: 'equal', observers: metrics, clock, concurrency: 3, timeoutMs: 40, maxWaiting: 50
    })
    let before = new Map()
    for (let step = 0; step < 300; step++) {
      for (let i = random.below(20); i > 0; i--) queue.pushType(`type ${random.below(6)}`, random.below(60))
      if (random.below(20) === 0) queue.remove(({ payload }) => payload % 2 === 0)
      clock.advance(random.below(30))
      await quiet()
      const now = new Map()
      for (const { type, samples } of parse(metrics.toText()).values()) {
        for (const { name, labels, value } of samples) if (type !== 'gauge') now.set(JSON.stringify([name, labels]), value)
      }
      for (const [key, value] of before) assert(now.get(key) >= value, `${key}: ${now.get(key)} after ${value}`)
      before = now
    }
    assert(before.size > 100)
  })
})

describe('a registry of prom-client', function () {
  it('shows the same as the text, to Prometheus and as JSON', async function () {
    const { metrics } = await example('mails')
    const registry = new Registry()
    metrics.register(registry)
    const expected = parse(metrics.toText())
    assert.deepEqual(parse(await registry.metrics()), expected)
    const json = await registry.getMetricsAsJSON()
    const shapes = [...expected.values()].map(({ name, type, samples }) => [name, type, samples.length])
    assert.deepEqual(json.map(({ name, type, values }) => [name, type, values.length]), shapes)
  })

  it('shows several queues, each once however often it was registered', async function () {
    const registry = new Registry()
    for (const { metrics } of [await example('mails'), await example('images')]) {
      metrics.register(registry)
      metrics.register(registry)
    }
    const { samples } = parse(await registry.metrics()).get('fairlane_slots')
    assert.deepEqual(samples.map(({ labels }) => labels.queue), ['mails', 'images'])
  })

  it('refuses a second queue of the same name, and what is no registry', async function () {
    const registry = new Registry()
    new Metrics().register(registry)
    assert.throws(() => new Metrics().register(registry), { name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const value of [undefined, null, {}, registry.metrics]) assert.throws(() => new Metrics().register(value), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('is not changed if another metric has one of the names', async function () {
    const registry = new Registry()
    const { metrics } = await example('mails')
    registry.registerMetric({ name: 'fairlane_jobs_accepted_total', get: () => ({ name: 'fairlane_jobs_accepted_total', help: 'x', type: 'gauge', values: [] }) })
    assert.throws(() => metrics.register(registry), /already been registered/)
    assert.deepEqual([...parse(await registry.metrics()).keys()], ['fairlane_jobs_accepted_total'])
  })

  it('goes on after it was reset, and shows all again after it was cleared', async function () {
    for (const type of [Registry.PROMETHEUS_CONTENT_TYPE, Registry.OPENMETRICS_CONTENT_TYPE]) {
      const registry = new Registry(type)
      const { metrics } = await example('mails')
      metrics.register(registry)
      const before = await registry.metrics()
      registry.resetMetrics()
      assert.equal(await registry.metrics(), before)
      registry.clear()
      metrics.register(registry)
      assert.equal(await registry.metrics(), before)
      metrics.register(registry)
      assert.equal(await registry.metrics(), before)
    }
  })

  it('speaks OpenMetrics', async function () {
    const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE)
    const { metrics } = await example('mails')
    metrics.register(registry)
    const text = await registry.metrics()
    assert.match(text, /# TYPE fairlane_jobs_accepted counter\nfairlane_jobs_accepted_total\{queue="mails",type="a"\} 3\n/)
    assert.match(text, /# EOF\n$/)
  })

  it('is added up by a cluster, but for fairness, which has no sum, and for times, of which the longest counts', async function () {
    const processes = []
    for (const [fairness, starving] of [[0.9, []], [1, ['a', 'b']], [0.4, ['a']], [undefined, []]]) {
      const registry = new Registry()
      const counts = { refused: new Map([['CODE', 2]]), slots: 3, joined: 1, heldTypes: 2, standstillMs: 1000 * starving.length }
      register(registry, 'mails', {}, () => ({ name: 'mails', boundsMs: [], states: [], types: [], ...counts, fairness, starving }))
      processes.push(JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()))) // as processes send it
    }
    const families = parse(await AggregatorRegistry.aggregate(processes).metrics())
    assert(Math.abs(valuesOf(families, 'fairlane_fairness_ratio').ratio - (0.9 + 1 + 0.4) / 3) < 1e-9)
    assert.deepEqual(valuesOf(families, 'fairlane_standstill_seconds'), { seconds: 2 })
    assert.deepEqual([valuesOf(families, 'fairlane_joined_total'), valuesOf(families, 'fairlane_held_types')], [{ total: 4 }, { types: 8 }])
    assert.deepEqual(valuesOf(families, 'fairlane_starving_types'), { types: 3 })
    assert.deepEqual(valuesOf(families, 'fairlane_slots'), { slots: 12 })
    assert.deepEqual(valuesOf(families, 'fairlane_jobs_refused_total'), { 'total CODE': 8 })
  })

  it('follows what happens', async function () {
    const { metrics, gate } = await example('mails')
    const registry = new Registry()
    metrics.register(registry)
    gate.release()
    await quiet()
    assert.deepEqual(valuesOf(parse(await registry.metrics()), 'fairlane_jobs'), { 'jobs waiting': 0, 'jobs running': 0, 'jobs delayed': 0 })
  })
})
