'use strict'

// What README.md and the first table of docs/benchmarks say about cost: a cell of each of five cases, with the queues of that table.
// `npm run bench -- headline` measures just these, all on one Node, in about five minutes.

const { NO_SCOPE } = require('./contenders')
const { loadCase } = require('./schedule')

const QUEUES = ['fairlane', 'quickq', 'fastq', 'async.queue', 'p-limit', 'p-queue']

/** The case whose row README.md has as a sentence. */
const HEADLINE = 'add'

/** names: of the contenders that stand for queues, where those have other names; the value is the first metric's. */
const ROWS = [
  { label: 'a job with a callback, ns', of: 'fifo', id: 'setImmediate-1e4', names: { fairlane: NO_SCOPE } },
  { label: 'a job with a promise, ns', of: 'add', id: '1e4', names: { fairlane: 'fairlane.add', fastq: 'fastq.promise' } },
  { label: 'a job that a scheduler chooses, ns', of: 'schedulers', id: 'setImmediate-1e4', names: { fairlane: 'equal', quickq: 'quickq fair' } },
  { label: 'memory of a waiting job, bytes', of: 'memory', id: '1e4', names: {} },
  { label: 'longest block of the event loop, ms', of: 'eventloop', id: 'nextTick', names: {} }
]

/** @returns {object[]} the five cases, each with that one cell, and in it the queues of the table */
function headlineCases () {
  return ROWS.map(({ of, id, names }) => {
    const benchCase = loadCase(of)
    const cells = (options) => benchCase.cells(options).filter((cell) => cell.id === id).map((cell) => limited(cell, names))
    return { ...benchCase, cells }
  })
}

function limited (cell, names) {
  const wanted = ['fairlane', ...QUEUES.map((queue) => names[queue] ?? queue)] // ratios are to fairlane
  return { ...cell, contenders: cell.contenders.filter(({ name, cannot }) => !cannot && wanted.includes(name)) }
}

/** @returns {string} how its results of a case are kept */
function headlineOf (name) {
  return `headline-${name}`
}

module.exports = { HEADLINE, QUEUES, ROWS, headlineCases, headlineOf }
