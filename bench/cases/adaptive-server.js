'use strict'

// Question: does a control find the limit of a real server, which degrades above 50 requests in flight?
//
// The server is that of the http case. All requests are pushed from one loop, and go through a keep-alive agent; queues run so many at a
// time as their names say, and with a control, which begins with 8, what that finds. A wrong answer fails the bench, but for refusals.

const fairlane = require('../..')
const { adaptive } = require('../../lib/adaptive')
const { versionOf } = require('../contenders')
const { openServer } = require('../requests')
const { percentile } = require('../statistics')

const FIXED = [16, 24, 48, 64, 100]

module.exports = {
  name: 'adaptive-server',
  page: 'docs/benchmarks/adaptive.md',
  budgetMs: 40000,
  title: 'A real server that degrades above 50 in flight',
  about: 'Requests over keep-alive connections; the server answers in 4 ms, more slowly above 50 in flight, and with 503 at 500. ' +
    'fairlane has a control that begins with 8; the others have fixed limits.',
  metrics: [
    { key: 'okPerSecond', label: 'answered with 200', unit: '/s', higherIsBetter: true, best: true },
    { key: 'p50Ms', label: 'p50', unit: 'ms', noRatio: true },
    { key: 'p99Ms', label: 'p99', unit: 'ms', noRatio: true },
    { key: 'limit', label: 'the limit at the end', unit: '', noRatio: true }
  ],

  cells ({ quick }) {
    const requests = quick ? 2000 : 60000
    return [{
      id: 'burst',
      label: `${requests.toLocaleString('en')} requests`,
      requests,
      contenders: [{ name: 'fairlane' }, ...FIXED.map((limit) => ({ name: `fixed ${limit}` }))],
      weight: 8
    }]
  },

  versionOf: () => versionOf('fairlane'),

  async measure ({ requests }, contender) {
    const server = await openServer()
    const latencies = []
    let refusals = 0
    const observers = contender === 'fairlane' ? adaptive({ least: 2, most: 200, first: 8 }) : []
    const concurrency = contender === 'fairlane' ? undefined : Number(contender.slice('fixed '.length))
    const queue = fairlane(run, { scheduler: 'equal', concurrency, observers })
    const begun = performance.now()
    for (let i = 0; i < requests; i++) queue.pushType(`tenant ${i % 10}`, i, () => {})
    await queue.onIdle()
    const seconds = (performance.now() - begun) / 1000
    server.end()
    if (latencies.length + refusals !== requests) throw new Error(`${contender} miscounted: ${latencies.length} of ${requests} were answered`)
    return {
      okPerSecond: latencies.length / seconds,
      p50Ms: percentile(latencies, 50),
      p99Ms: percentile(latencies, 99),
      limit: queue.concurrency
    }

    function run (number, done) {
      const sent = performance.now()
      server.get(number, (err, status) => {
        if (err) throw err
        if (status === 200) latencies.push(performance.now() - sent)
        else refusals++
        done(status === 200 ? null : Object.assign(new Error('refused'), { status }))
      })
    }
  }
}
