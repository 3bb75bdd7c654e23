'use strict'

// Question: what does a job cost whose result comes by a promise?
//
// fairlane's add(), run() and acquire() against the promises of fastq, p-limit and p-queue: the same async function, the same 10 at a time.

const { entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')

const SIZES = [
  { jobs: 1e2, name: '1e2', bursts: 100, warmups: 20, runs: 20 },
  { jobs: 1e4, name: '1e4', bursts: 1, warmups: 20, runs: 40 },
  { jobs: 1e5, name: '1e5', bursts: 1, warmups: 3, runs: 8 }
]
const QUICK_SIZES = [{ jobs: 1e4, name: '1e4', bursts: 1, warmups: 0, runs: 1 }]

module.exports = {
  name: 'add',
  budgetMs: 10000,
  title: 'A job whose result comes by a promise, by jobs waiting',
  about: 'From before the first call until the last promise has resolved, through a queue that was just made, 10 at a time; ' +
    'the runner is an async function that does nothing. fairlane calls back, the others make promises; bare promises is a loop that ' +
    'does nothing else.',
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    return (quick ? QUICK_SIZES : SIZES).map(size => ({
      id: size.name,
      label: `${size.jobs.toLocaleString('en')} waiting`,
      style: 'promise',
      ...size,
      contenders: entriesFor(['fairlane', 'fairlane.add', 'fairlane.run', 'fairlane.acquire', 'bare promises', 'fastq.promise', 'p-limit', 'p-queue'], 'promise'),
      weight: 1
    }))
  },

  measure ({ style, ...size }, contender) {
    return coldAndWarm(createLoad(contender, style), size)
  }
}
