'use strict'

// Threads for tests, without the hooks that count coverage, and gates: arrays in shared memory by which jobs and tests wait for each other.

const assert = require('node:assert/strict')
const { join } = require('node:path')
const { threads } = require('../../lib/threads')

module.exports = { fileOf, start, counted, endAll, gate, arrived, letPass }

const started = []

function fileOf (name) {
  return join(__dirname, 'modules', name)
}

/** As threads(), of a module of this folder. @returns the runner; endAll() closes it */
function start (name, options) {
  const { NODE_OPTIONS, ...env } = process.env
  const runner = threads(fileOf(name), { threads: 2, env, ...options })
  started.push(runner)
  return runner
}

async function endAll () {
  for (const runner of started.splice(0)) await runner.close()
}

/** What fn gives for a runner whose thread then ends by itself, so that what it has run is counted in the coverage. */
async function counted (file, options, exit, fn) {
  const runner = threads(file, { threads: 1, ...options })
  try {
    return await fn(runner)
  } finally {
    await assert.rejects(runner(exit), { code: 'FAIRLANE_ERR_CRASHED' })
    await runner.close()
  }
}

/** @returns {Int32Array} how many may pass, how many have come */
function gate (openFor = 0) {
  const numbers = new Int32Array(new SharedArrayBuffer(8))
  numbers[0] = openFor
  return numbers
}

/** Resolves when so many have come. */
async function arrived (numbers, count) {
  for (let come; (come = Atomics.load(numbers, 1)) < count;) await Atomics.waitAsync(numbers, 1, come).value
}

/** So many may pass in all. */
function letPass (numbers, count = 1 << 30) {
  Atomics.store(numbers, 0, count)
  Atomics.notify(numbers, 0)
}
