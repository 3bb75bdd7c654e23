'use strict'

// Question: what does groupOf cost, with few types and with many, in few groups and each in one of its own?
//
// As the case types: 100,000 jobs wait, of the types in turn; with 100,000 types each has one job, and is forgotten after it.

const { cellsByTypes, measureByTypes, metrics } = require('../by-types')

const COUNTS = [[10, '1e1'], [1e3, '1e3'], [1e5, '1e5']]
const CONTENDERS = ['equal', 'equal, groups', 'equal, each a group']

module.exports = {
  name: 'groups',
  brief: ['sync-1e3'],
  page: 'docs/benchmarks/schedulers.md',
  budgetMs: 20000,
  title: 'A job whose type is in a group',
  about: "100,000 jobs wait, of as many types as named, in turn; with 100,000 each has one job. All with 'equal': without groups, with each type in one of three, with each type in a group of its own.",
  metrics,
  cells: options => cellsByTypes(COUNTS, CONTENDERS, options),
  measure: measureByTypes
}
