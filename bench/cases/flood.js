'use strict'

// Question: what does a job cost when one type has queued 100,000 jobs before nine others queue theirs?
//
// The quiet types queue 1,000 jobs each, in turn. A scheduler that looks along the waiting jobs for one of another type
// looks at thousands of the flooding type before it finds one, or gives up, at each pick.

const { SCHEDULERS, entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')
const { typeNames } = require('../types')

const SIZES = { flood: 1e5, quiet: 1e3, bursts: 1, warmups: 1, runs: 8 }
const QUICK_SIZES = { flood: 1e4, quiet: 1e2, bursts: 1, warmups: 0, runs: 1 }
const QUIET_TYPES = 9

module.exports = {
  name: 'flood',
  page: 'docs/benchmarks/schedulers.md',
  budgetMs: 20000,
  title: 'A job when one type floods the queue',
  about: 'One type queues 100,000 jobs, then nine others 1,000 each in turn; the runner completes by setImmediate.',
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    const { flood, quiet, ...size } = quick ? QUICK_SIZES : SIZES
    return [{
      id: 'setImmediate',
      label: `${flood.toLocaleString('en')} jobs of one type ahead of ${QUIET_TYPES} others`,
      flood,
      quiet,
      jobs: flood + QUIET_TYPES * quiet,
      ...size,
      contenders: entriesFor(SCHEDULERS, 'setImmediate'),
      weight: 4
    }]
  },

  measure ({ flood, quiet, ...size }, contender) {
    const quietTypes = typeNames(QUIET_TYPES)
    const types = new Array(flood).fill('flood')
    for (let i = 0; i < quiet; i++) types.push(...quietTypes)
    return coldAndWarm(createLoad(contender, 'setImmediate', types), size)
  }
}
