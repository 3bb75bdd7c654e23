'use strict'

// Who counts and times each job by type: fairlane without anything, fairlane/metrics, alone and with a history, a control of
// fairlane/adaptive, and what a program does by hand with prom-client and with OpenTelemetry: two histograms, observed at the start and at
// the end of each job.
//
// As those in ../history/recorders.js; `scrape()` gives what Prometheus is told, as bytes or a text. Where jobs were pushed and started is
// kept in an array by hand, which costs next to nothing.

const WINDOW = 2 ** 16 // more jobs than ever wait
const BOUNDS_S = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000].map(ms => ms / 1000)

const recorders = {
  fairlane: { package: 'fairlane', open: () => ({ options: {}, close () {} }) },
  metrics: { package: 'fairlane', open: () => withMetrics() },
  'metrics, register': { package: 'fairlane', open: () => withMetrics({ byRegistry: true }) },
  adaptive: { package: 'fairlane', open: withControl },
  'metrics and history': { package: 'fairlane', open: () => withMetrics({ hasHistory: true }) },
  'prom-client by hand': { package: 'prom-client', open: withPromClient },
  'OpenTelemetry by hand': { package: '@opentelemetry/sdk-metrics', open: withOpenTelemetry }
}

function withMetrics ({ hasHistory = false, byRegistry = false } = {}) {
  const { Metrics } = require('../../lib/metrics')
  const metrics = new Metrics({ maxTypes: 1000 })
  const observers = [metrics]
  if (hasHistory) observers.push(new (require('../../lib/history').History)())
  const registry = byRegistry ? registryOf(metrics) : undefined
  return {
    options: { observers },
    scrape: byRegistry ? () => registry.metrics() : () => metrics.toText(),
    close (count) {
      const { types } = metrics.snapshot()
      check(count, ['done', 'accepted'].map(name => types.reduce((sum, type) => sum + type[name], 0)))
    }
  }
}

/** What sets the concurrency is no record, but is told of each job, too. The limit is what it is without it. */
function withControl () {
  const { CONCURRENCY } = require('../history/bursts')
  const { adaptive } = require('../../lib/adaptive')
  return { options: { observers: adaptive({ most: CONCURRENCY, first: CONCURRENCY, least: CONCURRENCY }) }, close () {} }
}

function registryOf (metrics) {
  const { Registry } = require('prom-client')
  const registry = new Registry()
  metrics.register(registry)
  return registry
}

function withPromClient () {
  const { Registry, Histogram } = require('prom-client')
  const registry = new Registry()
  const [wait, run] = ['wait', 'run'].map(name => new Histogram({
    name: `${name}_seconds`, help: name, labelNames: ['queue', 'type'], buckets: BOUNDS_S, registers: [registry]
  }))
  return byHand((histogram, type, seconds) => { histogram.observe({ queue: 'bench', type }, seconds) }, wait, run, {
    scrape: () => registry.metrics(),
    async counts () {
      const sums = await Promise.all([wait, run].map(histogram => histogram.get()))
      return sums.map(({ values }) => values.filter(({ metricName }) => metricName.endsWith('_count')).reduce((sum, { value }) => sum + value, 0))
    }
  })
}

function withOpenTelemetry () {
  const { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } = require('@opentelemetry/sdk-metrics')
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('bench')
  const [wait, run] = ['wait', 'run'].map(name => meter.createHistogram(name, { unit: 's', advice: { explicitBucketBoundaries: BOUNDS_S } }))
  return byHand((histogram, type, seconds) => { histogram.record(seconds, { queue: 'bench', type }) }, wait, run, {
    async counts () {
      const { resourceMetrics: { scopeMetrics: [{ metrics }] } } = await reader.collect()
      return metrics.map(({ dataPoints }) => dataPoints.reduce((sum, { value }) => sum + value.count, 0))
    }
  })
}

/** Times of jobs by hand. */
function byHand (observe, wait, run, { scrape, counts }) {
  const pushedAt = new Float64Array(WINDOW)
  const startedAt = new Float64Array(WINDOW)
  const types = new Array(WINDOW)
  return {
    options: {},
    scrape,
    accepted (id, type = '') {
      pushedAt[id % WINDOW] = performance.now()
      types[id % WINDOW] = type
    },
    started (id) {
      const at = id % WINDOW
      const now = startedAt[at] = performance.now()
      observe(wait, types[at], (now - pushedAt[at]) / 1000)
    },
    ended (id) {
      const at = id % WINDOW
      observe(run, types[at], (performance.now() - startedAt[at]) / 1000)
    },
    async close (count) {
      check(count, await counts())
    }
  }
}

function check (count, counts) {
  for (const counted of counts) if (counted !== count) throw new Error(`${counted} of ${count} jobs were counted`)
}

/** @returns {string} package and version of what does it by hand */
function versionOf (name) {
  const { package: packageName } = recorders[name]
  const { version } = require(`${packageName}/package.json`)
  return `${packageName}@${version}`
}

module.exports = { recorders, versionOf }
