'use strict'

// Question: what does a record of each job cost, in time and in memory, and how fast is it asked?
//
// fairlane without a record, with fairlane/history and its two clocks, with an object per job in a Map, and with rows in SQLite that are
// written some later (../history/recorders.js). Starts, ends and records are counted. What is added is the time less that of fairlane
// without a record in the same round. And five operations beside RedoxQL, a database of records with versions, in the loop of its own speed
// test.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { entriesFor, redoxPython, versionIn } = require('../durable/peers')
const { inFolderOfItsOwn, placeCells } = require('../durable/place')
const { heldBytes } = require('../heap')
const { BURST, CONCURRENCY, addedTo, createLoad } = require('../history/bursts')
const { bestQuarter, runFive, OPERATIONS } = require('../history/five')
const { recorders } = require('../history/recorders')

const FIVE = {
  fairlane: { package: 'fairlane', run: runFive },
  RedoxQL: { package: 'RedoxQL', peer: 'redoxql', note: 'in Python, with a core in Rust', run: runRedox }
}
const LABELS = {
  insert: 'insert (push)', update: 'update (start and end)', select: 'select (get)', sum: 'sum of 100 ranges of 100', remove: 'delete (remove)'
}

module.exports = {
  name: 'history',
  title: 'A record of each job',
  page: 'docs/benchmarks/history.md',
  peers: ['node:sqlite', 'redoxql'],
  about: `Bursts of ${BURST.toLocaleString('en')} jobs, ${CONCURRENCY} at a time, from before the first push until the last end; the least of all bursts. ` +
    'The runner does nothing. equal is that scheduler with ten types. The Map has an object per job, the last 100,000 of them, with times from the ' +
    "clock; node:sqlite is such a Map of live jobs, and a table into which a thousand ended ones go in a transaction. 'Five operations' are 10,000 " +
    "of each, those of RedoxQL's speed test, the best quarter of 20 rounds; an update of ours is a job that starts and ends, with its runner. RedoxQL's " +
    'README has 7.8, 20.9, 16.0, 3.9 and 2.3 ms for them, on another machine.',
  metrics: [
    { key: 'least', label: 'time', unit: 'ns/job', best: true },
    { key: 'added', label: 'added by the record', unit: 'ns/job' },
    { key: 'bytes', label: 'memory', unit: 'B/record' },
    ...OPERATIONS.map(key => ({ key, label: LABELS[key], unit: 'ms', best: true }))
  ],
  execArgv: ['--expose-gc'],
  budgetMs: 30000,

  cells ({ quick, peers = {} }) {
    const cost = ['sync', 'setImmediate'].flatMap(style => [undefined, 'equal'].map(scheduler => ({
      id: scheduler === undefined ? style : `${style}-${scheduler}`,
      label: scheduler === undefined ? style : `${style}, ${scheduler}`,
      section: 'What a record costs a job',
      kind: 'cost',
      style,
      scheduler,
      bursts: quick ? 2 : 100,
      contenders: entriesFor(Object.keys(recorders), recorders, peers)
    })))
    const records = quick ? 2 * BURST : 1e6
    return [
      ...cost,
      {
        id: 'size',
        label: `${records.toLocaleString('en')} records`,
        section: 'What a record takes',
        kind: 'size',
        records,
        contenders: entriesFor(['history', 'Map of objects'], recorders, peers)
      },
      {
        id: 'five',
        label: '10,000 of each',
        section: 'Five operations',
        kind: 'five',
        rounds: quick ? 1 : 20,
        contenders: entriesFor(Object.keys(FIVE), FIVE, peers)
      }
    ].map(cell => ({ weight: 1, ...cell }))
  },

  prepare: placeCells,
  versionOf: (name, peers) => versionIn(recorders[name] ?? FIVE[name], peers),

  measure (cell, contender) {
    return inFolderOfItsOwn(cell.folder, folder => KINDS[cell.kind](cell, contender, folder))
  },

  derive: addedTo
}

const KINDS = {
  async cost ({ style, scheduler, bursts }, contender, folder) {
    const recorder = recorders[contender].open(folder)
    const load = createLoad(recorder, style, scheduler)
    let least = Infinity
    for (let i = 0; i < bursts; i++) least = Math.min(least, await load.burst())
    load.check()
    recorder.close(bursts * BURST)
    return { least }
  },

  async size ({ records }, contender, folder) {
    const recorder = recorders[contender].open(folder, records)
    const load = createLoad(recorder, 'sync', 'equal')
    const before = await heldBytes()
    for (let i = 0; i < records / BURST; i++) await load.burst()
    const bytes = (await heldBytes() - before) / records
    load.check()
    recorder.close(records)
    return { bytes }
  },

  five: ({ rounds }, contender) => FIVE[contender].run(rounds)
}

function runRedox (rounds) {
  const { status, stdout, stderr, error } = spawnSync(redoxPython(), [path.join(__dirname, '../history/five_redoxql.py'), String(rounds)], { encoding: 'utf8' })
  if (status !== 0) throw error ?? new Error(`RedoxQL: ${stderr}`)
  const all = JSON.parse(stdout)
  return Object.fromEntries(OPERATIONS.map(name => [name, bestQuarter(all.map(seconds => seconds[name] * 1000))]))
}
