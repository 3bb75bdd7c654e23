'use strict'

// Question: what does a queue do for a burst of 20,000 HTTP requests to a server that degrades under load?
//
// The server (../server.js, a process of its own on 127.0.0.1) answers in 4 ms while at most 50 requests are in flight,
// ever more slowly above that, and with 503 when 500 are. All requests are pushed from one loop and go through a keep-alive
// agent; the queues run 48 at a time, 'no queue' sends everything at once and its errors are counted, not hidden.
// Latencies are those of the requests that were answered with 200, from their start; 'push to end' includes the waiting.

const { performance } = require('node:perf_hooks')
const { contenders, entriesFor } = require('../contenders')
const { openServer } = require('../requests')
const { percentile } = require('../statistics')

const SLOTS = 48

module.exports = {
  name: 'http',
  budgetMs: 25000,
  title: 'Real work: a burst of 20,000 HTTP requests to a server that degrades above 50 in flight',
  about: 'Keep-alive connections, 48 requests at a time; the server answers in 4 ms, more slowly above 50 in ' +
    'flight, and with 503 at 500. No queue sends everything at once. p50 and p99 are latencies of single ' +
    'requests that were answered with 200.',
  metrics: [
    { key: 'okPerSecond', label: 'answered with 200', unit: '/s', higherIsBetter: true, best: true },
    { key: 'p50Ms', label: 'p50', unit: 'ms', noRatio: true },
    { key: 'p99Ms', label: 'p99', unit: 'ms', noRatio: true },
    { key: 'pushToEndP99Ms', label: 'push to end, p99', unit: 'ms', noRatio: true },
    { key: 'errors', label: 'errors', unit: '', noRatio: true }
  ],

  cells ({ quick }) {
    const requests = quick ? 1000 : 20000
    return [{
      id: 'burst',
      label: `${requests.toLocaleString('en')} requests`,
      requests,
      contenders: entriesFor(['fairlane', 'async.queue', 'fastq', 'no queue'], 'callback'),
      weight: 8
    }]
  },

  async measure ({ requests }, contender) {
    const server = await openServer()
    const latencies = []
    const sincePush = []
    const errors = {}
    let settled = 0
    const queue = await contenders[contender].create(runner, { concurrency: SLOTS, style: 'callback' })
    const begun = performance.now()

    function runner (number, done) {
      const sent = performance.now()
      server.get(number, (err, status) => {
        const now = performance.now()
        if (!err && status === 200) {
          latencies.push(now - sent)
          sincePush.push(now - begun)
        } else {
          const what = err ? err.code : status
          errors[what] = (errors[what] || 0) + 1
        }
        done()
      })
    }

    await new Promise((resolve, reject) => {
      for (let i = 0; i < requests; i++) {
        queue.push(i, (err) => {
          if (err) return reject(err)
          if (++settled === requests) resolve()
        })
      }
    })
    const seconds = (performance.now() - begun) / 1000
    server.end()

    await new Promise((resolve) => setTimeout(resolve, 2))
    if (settled !== requests) throw new Error(`${contender} miscounted: ${requests} requests, ${settled} settled`)
    const errorCount = requests - latencies.length
    if (errorCount > 0 && contender !== 'no queue') throw new Error(`${contender}: ${JSON.stringify(errors)}`)
    return {
      okPerSecond: latencies.length / seconds,
      p50Ms: percentile(latencies, 50),
      p99Ms: percentile(latencies, 99),
      pushToEndP99Ms: percentile(sincePush, 99),
      errors: errorCount,
      errorCodes: errors
    }
  }
}
