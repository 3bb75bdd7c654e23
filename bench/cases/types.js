'use strict'

// Question: what does a job cost when a scheduler chooses among 10 to 100,000 types?
//
// As the case schedulers, with 100,000 jobs waiting and the types in turn: with 100,000 types each has one job.

const { cellsByTypes, measureByTypes, metrics } = require('../by-types')
const { SCHEDULERS } = require('../contenders')

const COUNTS = [[10, '1e1'], [1e2, '1e2'], [1e3, '1e3'], [1e4, '1e4'], [1e5, '1e5']]

module.exports = {
  name: 'types',
  brief: ['sync-1e2', 'sync-1e4', 'setImmediate-1e4'],
  page: 'docs/benchmarks/schedulers.md',
  budgetMs: 20000,
  title: 'A job that a scheduler chooses, by types',
  about: '100,000 jobs wait, of as many types as named, in turn; otherwise as in the table by jobs waiting.',
  metrics,
  cells: options => cellsByTypes(COUNTS, SCHEDULERS, options),
  measure: measureByTypes
}
