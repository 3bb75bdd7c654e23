'use strict'

// Cells of the same load with few types and with many: 100,000 jobs wait, of the types in turn.

const { entriesFor } = require('./contenders')
const { createLoad, coldAndWarm } = require('./load')
const { typeNames } = require('./types')

const SIZE = { jobs: 1e5, bursts: 1, warmups: 5, runs: 10 }
const QUICK_SIZE = { jobs: 1e4, bursts: 1, warmups: 0, runs: 1 }
const QUICK_COUNT = 1e3

const metrics = [
  { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
  { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
]

module.exports = { cellsByTypes, measureByTypes, metrics }

/**
 * @param {[number, string][]} counts of types, with their names in the ids of cells; a quick try has that of 1,000 only
 * @param {string[]} contenders keys of contenders
 */
function cellsByTypes (counts, contenders, { quick }) {
  const wanted = quick ? counts.filter(([types]) => types === QUICK_COUNT) : counts
  return ['sync', 'setImmediate'].flatMap(style => wanted.map(([types, name]) => ({
    id: `${style}-${name}`,
    label: `${style}, ${types.toLocaleString('en')} types`,
    style,
    types,
    ...(quick ? QUICK_SIZE : SIZE),
    contenders: entriesFor(contenders, style),
    weight: 3
  })))
}

function measureByTypes ({ style, types, ...size }, contender) {
  return coldAndWarm(createLoad(contender, style, typeNames(types)), size)
}
