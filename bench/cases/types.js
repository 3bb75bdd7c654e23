'use strict'

// Question: what does a job cost when a scheduler chooses among 10 to 100,000 types?
//
// As the case schedulers, with 100,000 jobs waiting and the types in turn: with 100,000 types each has one job.

const { SCHEDULERS, entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')
const { typeNames } = require('../types')

const COUNTS = [[10, '1e1'], [1e2, '1e2'], [1e3, '1e3'], [1e4, '1e4'], [1e5, '1e5']]
const SIZE = { jobs: 1e5, bursts: 1, warmups: 5, runs: 10 }
const QUICK_SIZE = { jobs: 1e4, bursts: 1, warmups: 0, runs: 1 }

module.exports = {
  name: 'types',
  brief: ['sync-1e2', 'sync-1e4', 'setImmediate-1e4'],
  page: 'docs/benchmarks/schedulers.md',
  budgetMs: 20000,
  title: 'A job that a scheduler chooses, by types',
  about: '100,000 jobs wait, of as many types as named, in turn; otherwise as in the table by jobs waiting.',
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    const cells = []
    for (const style of ['sync', 'setImmediate']) {
      for (const [types, name] of quick ? COUNTS.slice(2, 3) : COUNTS) {
        cells.push({
          id: `${style}-${name}`,
          label: `${style}, ${types.toLocaleString('en')} types`,
          style,
          types,
          ...(quick ? QUICK_SIZE : SIZE),
          contenders: entriesFor(SCHEDULERS, style),
          weight: 3
        })
      }
    }
    return cells
  },

  measure ({ style, types, ...size }, contender) {
    return coldAndWarm(createLoad(contender, style, typeNames(types)), size)
  }
}
