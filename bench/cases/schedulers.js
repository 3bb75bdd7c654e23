'use strict'

// Question: what does a job cost when a scheduler chooses it, with 100 to 1,000,000 jobs of ten types waiting?
//
// As the case fifo, but each job has a type, ten of them in turn; fairlane without a scheduler gets the same calls and
// ignores the types. 'window' is a custom scheduler of quickq's protocol that does nothing but take the first job. The turn clock
// shows what of equal's price is the clock's.

const { SCHEDULERS, entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')
const { typeNames } = require('../types')

const SIZES = [
  { jobs: 1e2, name: '1e2', bursts: 100, warmups: 30, runs: 30 },
  { jobs: 1e4, name: '1e4', bursts: 1, warmups: 40, runs: 60 },
  { jobs: 1e5, name: '1e5', bursts: 1, warmups: 5, runs: 10 },
  // the first bursts of a million pay for the growth of the process's heap
  { jobs: 1e6, name: '1e6', bursts: 1, warmups: 2, runs: 4 }
]
const QUICK_SIZES = [{ jobs: 1e4, name: '1e4', bursts: 1, warmups: 0, runs: 1 }]

const CONTENDERS = [...SCHEDULERS, 'equal, turn clock', 'equal, groups']
const TYPES = typeNames(10)

module.exports = {
  name: 'schedulers',
  brief: ['sync-1e4', 'setImmediate-1e4'],
  page: 'docs/benchmarks/schedulers.md',
  budgetMs: 20000,
  title: 'A job that a scheduler chooses, by jobs waiting',
  about: 'Jobs of ten types in turn, from before the first push until the last completion, 10 at a time; the runner does ' +
    'nothing but complete in the named style. fairlane is the queue without a scheduler, window a custom scheduler that ' +
    'always takes the first job. equal reads the clock at each end of a job; with the turn clock, once in a turn of the event loop. With groups each type is in one of three.',
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    const cells = []
    for (const style of ['sync', 'setImmediate']) {
      for (const size of quick ? QUICK_SIZES : SIZES) {
        cells.push({
          id: `${style}-${size.name}`,
          label: `${style}, ${size.jobs.toLocaleString('en')} waiting`,
          style,
          ...size,
          contenders: entriesFor(CONTENDERS, style),
          weight: size.jobs >= 1e6 ? 8 : 2
        })
      }
    }
    return cells
  },

  measure ({ style, ...size }, contender) {
    return coldAndWarm(createLoad(contender, style, TYPES), size)
  }
}
