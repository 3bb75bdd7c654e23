'use strict'

// Changes the hot files in small ways, one at a time, and looks whether a test notices (docs/decisions/0044-mutants.md). By hand, on
// Node 22 or later:
//
//   npm run mutate                     all of them, which takes hours
//   npm run mutate -- heap run-queue    these

const { join } = require('node:path')
const { parseArgs } = require('node:util')

const CORE = 'lib/core'
const ORDER = 'test/property/@(schedulers|caps|order).test.js'
const SCHEDULERS = `test/schedulers/@(options|queue|quickq|overflow|reentrant).test.js ${ORDER}`
const LANES = `test/core/lists/lanes.test.js test/core/queue/*.test.js ${SCHEDULERS} test/heap/@(types|retention).test.js`

// File → the tests for it (in braces mocha would see no pattern), those first that take no time: a mutant ends with the first that fails.
const files = {
  heap: ['lib/heap.js', 'test/heap.test.js test/schedulers/run-queue.test.js test/heap/retention.test.js'],
  'run-queue': ['schedulers/run-queue.js', 'test/schedulers/run-queue.test.js test/schedulers/fair.test.js'],
  pending: [`${CORE}/pending.js`, 'test/core/dispatch/*.test.js test/core/queue/close.test.js'],
  fifo: [`${CORE}/lists/fifo.js`, 'test/core/lists/fifo.test.js test/core/queue/@(cancel|drop|fflush|signal).test.js test/heap/list.test.js'],
  lane: [`${CORE}/lists/lane.js`, `test/core/lists/lanes.test.js test/core/queue/@(cancel|drop|fflush|signal).test.js ${SCHEDULERS}`],
  lanes: [`${CORE}/lists/lanes.js`, LANES],
  overflow: [`${CORE}/lists/overflow.js`, LANES],
  'idle-lanes': [`${CORE}/lists/idle-lanes.js`, LANES],
  breaker: [`${CORE}/lists/breaker.js`, `test/core/lists/*.test.js test/schedulers/misbehaving.test.js ${SCHEDULERS}`],
  search: [`${CORE}/lists/search.js`, LANES],
  dispatch: [`${CORE}/dispatch.js`, 'test/core/@(dispatch|queue)/*.test.js test/loop/*.test.js test/property/queue.test.js'],
  admission: [`${CORE}/admission.js`, 'test/core/queue/@(admission|waits|close|map).test.js'],
  deadlines: [`${CORE}/deadlines.js`, 'test/core/queue/@(time-limits|foreign|timing|close|signal).test.js'],
  fair: ['schedulers/fair.js', `test/schedulers/fair.test.js ${SCHEDULERS}`],
  capped: ['schedulers/capped.js', SCHEDULERS],
  equal: ['schedulers/equal.js', `test/schedulers/equal.test.js ${SCHEDULERS} test/schedulers/starvation.test.js test/property/bound.test.js`],
  'job-lengths': ['schedulers/job-lengths.js', 'test/schedulers/@(equal|options|starvation).test.js test/property/bound.test.js'],
  options: ['schedulers/options.js', `test/schedulers/@(options|fair|equal|queue).test.js ${ORDER}`]
}

main(parseArgs({ allowPositionals: true }).positionals)

async function main (names) {
  const { Stryker } = await import('@stryker-mutator/core')
  process.env.SEED ??= '1' // the same rounds for each mutant
  for (const name of names.length > 0 ? names : Object.keys(files)) {
    const [file, tests] = files[name]
    await new Stryker(optionsFor(name, file, tests)).runMutationTest()
  }
}

function optionsFor (name, file, tests) {
  const mocha = join('node_modules', 'mocha', 'bin', 'mocha.js')
  return {
    mutate: [file],
    testRunner: 'command', // a process for each mutant: the runner for mocha reaches into what mocha 12 has no more
    commandRunner: { command: `node ${mocha} --bail --reporter dot ${tests.split(' ').map(spec => `"${spec}"`).join(' ')}` },
    coverageAnalysis: 'off',
    concurrency: 1,
    timeoutMS: 20000,
    tempDirName: join('coverage', `mutants-${name}`),
    ignorePatterns: ['bench', 'coverage', '.nyc_output'],
    checkers: [],
    reporters: ['clear-text'],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false }
  }
}
