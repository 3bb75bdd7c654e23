'use strict'

// Question: what do metrics cost a job, and a scrape?
//
// fairlane without metrics, with fairlane/metrics, with a history beside them, and with two histograms observed by hand, of prom-client and
// of OpenTelemetry (../metrics/recorders.js). Starts, ends, and what was counted are compared. What is added is the time less that of
// fairlane without metrics in the same round.

const { entriesFor, versionIn } = require('../durable/peers')
const { BURST, CONCURRENCY, addedTo, createLoad } = require('../history/bursts')
const { recorded } = require('../history/recorders')
const { recorders, versionOf } = require('../metrics/recorders')
const { typeNames } = require('../types')

const SCRAPED = ['metrics', 'metrics, register', 'prom-client by hand']

module.exports = {
  name: 'metrics',
  title: 'Metrics of each type',
  page: 'docs/benchmarks/metrics.md',
  about: `Bursts of ${BURST.toLocaleString('en')} jobs, ${CONCURRENCY} at a time, from before the first push until the last end; the least of all bursts. The runner does ` +
    'nothing. equal is that scheduler with ten types. By hand, two histograms are observed for each job, with the labels queue and type and the same bounds, and the ' +
    'clock is read three times. A scrape is the text for Prometheus, of 100 types with times in all their histograms.',
  metrics: [
    { key: 'least', label: 'time', unit: 'ns/job', best: true },
    { key: 'added', label: 'added by metrics', unit: 'ns/job' },
    { key: 'ms', label: 'a scrape', unit: 'ms', best: true },
    { key: 'bytes', label: 'size', unit: 'B' }
  ],
  budgetMs: 30000,

  cells ({ quick }) {
    const cost = ['sync', 'setImmediate'].flatMap(style => [undefined, 'equal'].map(scheduler => ({
      id: scheduler === undefined ? style : `${style}-${scheduler}`,
      label: scheduler === undefined ? style : `${style}, ${scheduler}`,
      section: 'What metrics cost a job',
      kind: 'cost',
      style,
      scheduler,
      bursts: quick ? 2 : 60,
      contenders: entriesFor(Object.keys(recorders).filter(name => name !== 'metrics, register'), recorders, {})
    })))
    return [...cost, {
      id: 'scrape',
      label: '100 types',
      section: 'What a scrape takes',
      kind: 'scrape',
      types: 100,
      times: quick ? 2 : 100,
      contenders: entriesFor(SCRAPED, recorders, {})
    }].map(cell => ({ weight: 1, ...cell }))
  },

  versionOf: name => versionIn(recorders[name], {}) ?? versionOf(name),

  measure (cell, contender) {
    return KINDS[cell.kind](cell, recorders[contender].open())
  },

  derive: addedTo
}

const KINDS = {
  async cost ({ style, scheduler, bursts }, recorder) {
    const load = createLoad(recorder, style, scheduler)
    let least = Infinity
    for (let i = 0; i < bursts; i++) least = Math.min(least, await load.burst())
    load.check()
    await recorder.close(bursts * BURST)
    return { least }
  },

  async scrape ({ types, times }, recorder) {
    const names = typeNames(types)
    const { queue, push } = recorded(recorder, (id, done) => { setImmediate(done) }, { scheduler: 'equal', concurrency: CONCURRENCY })
    for (let id = 1; id <= 10 * types; id++) push(id, names[id % types])
    await queue.onIdle()
    await recorder.close(10 * types)
    let least = Infinity
    let bytes = 0
    for (let i = 0; i < times; i++) {
      const begun = performance.now()
      const text = await recorder.scrape()
      least = Math.min(least, performance.now() - begun)
      bytes = Buffer.byteLength(text)
    }
    return { ms: least, bytes }
  }
}
