'use strict'

// Changes the hot files in small ways, one at a time, and looks whether a test notices (docs/decisions/0044-mutants.md). By hand, on
// Node 22 or later. The first time it installs StrykerJS here, where nobody needs it who only runs the tests:
//
//   npm run mutate                     all of them, which takes an hour or two
//   npm run mutate -- heap run-queue    these

const { execFileSync } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { parseArgs } = require('node:util')

const CORE = 'lib/core'
const ORDER = 'test/property/@(schedulers|caps|order).test.js'
const SCHEDULERS = `test/schedulers/@(options|queue|quickq|overflow|reentrant).test.js ${ORDER}`
const LANES = `test/core/lists/@(lane|lanes|compaction|scheduled).test.js test/core/queue/@(cancel|close|drop|fflush|idle|signal|stall|stats|time-limits|type|waits).test.js test/schedulers/misbehaving.test.js ${SCHEDULERS}`
const QUEUE = 'test/core/dispatch/*.test.js test/core/queue/!(arguments|clock|factory|fields|payload|push|settle-by|stall|type|values).test.js'
const LIMITS = 'test/core/limits/*.test.js test/durable/@(costs|limits).test.js'
const EQUAL = 'test/schedulers/@(equal|equal-model|equal-weights|equal-caps|options|overflow|reentrant).test.js'

// File → the tests for it, of which those are run that come across what was changed, until one fails.
const files = {
  heap: ['lib/platform/heap.js', 'test/platform/heap.test.js test/schedulers/run-queue.test.js test/heap/retention.test.js'],
  'run-queue': ['schedulers/run-queue.js', 'test/schedulers/run-queue.test.js test/schedulers/fair.test.js'],
  slice: ['lib/platform/slice.js', 'test/platform/slice.test.js'],
  ring: [`${CORE}/ring.js`, 'test/core/ring.test.js test/core/dispatch/*.test.js test/core/queue/close.test.js'],
  fifo: [`${CORE}/lists/fifo.js`, 'test/core/lists/@(fifo|compaction).test.js test/core/queue/@(cancel|drop|fflush|signal|push).test.js'],
  lane: [`${CORE}/lists/lane.js`, LANES],
  lanes: [`${CORE}/lists/lanes.js`, LANES],
  overflow: [`${CORE}/lists/overflow.js`, LANES],
  'idle-lanes': [`${CORE}/lists/idle-lanes.js`, LANES],
  breaker: [`${CORE}/lists/breaker.js`, `test/core/lists/*.test.js test/schedulers/misbehaving.test.js ${SCHEDULERS}`],
  search: [`${CORE}/lists/search.js`, LANES],
  levels: [`${CORE}/lists/levels.js`, 'test/core/lists/priorities.test.js test/durable/priorities.test.js'],
  holds: [`${CORE}/limits/holds.js`, LIMITS],
  gate: [`${CORE}/limits/gate.js`, 'test/core/limits/@(changes|costs|holds|rates).test.js'],
  limits: [`${CORE}/limits/limits.js`, 'test/core/limits/*.test.js test/core/tickets/context.test.js'],
  limit: [`${CORE}/limits/limit.js`, LIMITS],
  limiter: [`${CORE}/limits/limiter.js`, LIMITS],
  limiting: [`${CORE}/limits/limiting.js`, 'test/core/limits/*.test.js test/core/queue/@(counts|explain).test.js'],
  'limit-options': [`${CORE}/limits/options.js`, 'test/core/limits/*.test.js test/core/lists/priorities.test.js test/core/queue/arguments.test.js'],
  reservations: [`${CORE}/limits/reservations.js`, 'test/core/limits/reservations.test.js test/durable/@(costs|limits).test.js'],
  windows: [`${CORE}/limits/windows.js`, LIMITS],
  'cost-window': [`${CORE}/limits/cost-window.js`, LIMITS],
  costs: [`${CORE}/limits/costs.js`, LIMITS],
  delays: [`${CORE}/tickets/delays.js`, 'test/core/tickets/delays.test.js'],
  dispatch: [`${CORE}/dispatch.js`, `${QUEUE} test/core/queue/@(settle-by|values).test.js test/schedulers/@(queue|reentrant).test.js`],
  running: [`${CORE}/running.js`, `${QUEUE} test/core/queue/settle-by.test.js`],
  interruptions: [`${CORE}/interruptions.js`, `${QUEUE} test/core/inner-queue.test.js test/core/@(limits|tickets)/*.test.js test/schedulers/reentrant.test.js`],
  notifications: [`${CORE}/notifications.js`, QUEUE],
  flushes: [`${CORE}/flushes.js`, `${QUEUE} test/schedulers/@(overflow|reentrant).test.js`],
  idle: [`${CORE}/idle.js`, QUEUE],
  pace: [`${CORE}/pace.js`, `test/core/pace.test.js ${QUEUE} test/core/inner-queue.test.js`],
  tickets: [`${CORE}/tickets/tickets.js`, `${QUEUE} test/core/inner-queue.test.js test/core/@(limits|tickets)/*.test.js test/core/queue/clock.test.js`],
  admission: [`${CORE}/admission.js`, QUEUE],
  deadlines: [`${CORE}/tickets/deadlines.js`, `${QUEUE} test/core/tickets/deadlines.test.js test/core/queue/clock.test.js`],
  fair: ['schedulers/fair.js', `test/schedulers/fair.test.js ${SCHEDULERS}`],
  capped: ['schedulers/capped.js', SCHEDULERS],
  equal: ['schedulers/equal.js', `${EQUAL} ${ORDER} test/property/bound.test.js`],
  'virtual-time': ['schedulers/virtual-time.js', `${EQUAL} ${ORDER} test/property/bound.test.js`],
  'job-lengths': ['schedulers/job-lengths.js', EQUAL],
  groups: ['schedulers/groups.js', 'test/schedulers/groups.test.js test/property/@(alone|levels).test.js'],
  charges: ['schedulers/charges.js', 'test/schedulers/@(charges|groups|equal-model).test.js test/property/levels.test.js'],
  weights: ['schedulers/weights.js', `test/schedulers/weights.test.js ${EQUAL}`],
  options: ['schedulers/options.js', `test/schedulers/@(options|fair|equal|queue).test.js ${ORDER}`]
}

main(parseArgs({ allowPositionals: true }).positionals)

async function main (names) {
  const { Stryker } = await stryker()
  process.env.SEED ??= '1' // the same rounds for each mutant
  for (const name of names.length > 0 ? names : Object.keys(files)) {
    const [file, tests] = files[name]
    await new Stryker(optionsFor(name, file, tests)).runMutationTest()
  }
}

async function stryker () {
  if (!existsSync(join(__dirname, 'node_modules'))) {
    execFileSync(process.execPath, [process.env.npm_execpath, 'install', '--no-package-lock', '--no-audit', '--no-fund'], { cwd: __dirname, stdio: 'inherit' })
  }
  return import(pathToFileURL(require.resolve('@stryker-mutator/core')))
}

function optionsFor (name, file, tests) {
  return {
    mutate: [file],
    plugins: [join(__dirname, 'runner.js')],
    testRunner: 'mocha',
    testFiles: tests.split(' '),
    coverageAnalysis: 'perTest',
    concurrency: 1,
    timeoutMS: 1e8, // the runner looks after that
    tempDirName: join('coverage', `mutants-${name}`),
    ignorePatterns: ['bench', 'coverage', '.nyc_output'],
    checkers: [],
    reporters: ['clear-text'],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false }
  }
}
