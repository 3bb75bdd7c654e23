'use strict'

// Question: what does groupOf cost, with few types and with many, in few groups and each in one of its own?
//
// As the case types: 100,000 jobs wait, of the types in turn; with 100,000 types each has one job, and is forgotten after it.

const { entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')
const { typeNames } = require('../types')

const COUNTS = [[10, '1e1'], [1e3, '1e3'], [1e5, '1e5']]
const SIZE = { jobs: 1e5, bursts: 1, warmups: 5, runs: 10 }
const QUICK_SIZE = { jobs: 1e4, bursts: 1, warmups: 0, runs: 1 }
const CONTENDERS = ['equal', 'equal, groups', 'equal, each a group']

module.exports = {
  name: 'groups',
  brief: ['sync-1e3'],
  page: 'docs/benchmarks/schedulers.md',
  budgetMs: 20000,
  title: 'A job whose type is in a group',
  about: "100,000 jobs wait, of as many types as named, in turn; with 100,000 each has one job. All with 'equal': without groups, with each type in one of three, with each type in a group of its own.",
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    return ['sync', 'setImmediate'].flatMap(style => (quick ? COUNTS.slice(1, 2) : COUNTS).map(([types, name]) => ({
      id: `${style}-${name}`,
      label: `${style}, ${types.toLocaleString('en')} types`,
      style,
      types,
      ...(quick ? QUICK_SIZE : SIZE),
      contenders: entriesFor(CONTENDERS, style),
      weight: 3
    })))
  },

  measure ({ style, types, ...size }, contender) {
    return coldAndWarm(createLoad(contender, style, typeNames(types)), size)
  }
}
