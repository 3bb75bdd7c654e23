'use strict'

// StrykerJS runs the tests by this, in place of its own runner for mocha, which reaches for a file that mocha 12 does not have
// (docs/decisions/0044-mutants.md). Each mutant has a process of its own, with those tests alone that come across it.
//
// A test that waits for what never comes fails as soon as nothing else is under way, and one that never ends when its time is over.

const { fork } = require('node:child_process')
const { readFileSync, writeFileSync } = require('node:fs')
const { relative } = require('node:path')

const TICK_MS = 100
const LEAST_MS = 3000 // a test has so long, and half as long again as it took without a mutant
const [PASSED, FAILED] = [0, 1] // as StrykerJS counts
const TESTS = 'mutation-tests.json' // in the copy of the project in which they run
const NAMESPACE = '__stryker__' // a global that StrykerJS knows

if (require.main === module) process.once('message', runTests)
else exports.strykerPlugins = [{ kind: 'TestRunner', name: 'mocha', factory: () => new MutationRunner() }]

class MutationRunner {
  constructor () {
    this.kills = new Map() // how many mutants the tests of each file have found: they come first
    this.loadedTests = undefined
  }

  capabilities () {
    return { reloadEnvironment: true }
  }

  async dryRun ({ testFiles }) {
    const { tests, mutantCoverage, ending } = await this.run({ files: testFiles })
    if (ending !== undefined) return { status: 'error', errorMessage: ending }
    const unique = [...new Map(tests.map(test => [test.id, test])).values()]
    writeFileSync(TESTS, JSON.stringify(unique))
    return { status: 'complete', tests: unique, mutantCoverage }
  }

  async mutantRun ({ activeMutant, testFilter, hitLimit }) {
    const { kills } = this
    const tests = testFilter.map(id => this.tests.get(id))
    const files = [...new Set(tests.map(test => test.fileName))]
    const slownesses = new Map(files.map(file => [file, sum(tests.filter(test => test.fileName === file).map(test => test.timeSpentMs))]))
    files.sort((a, b) => (kills.get(b) ?? 0) - (kills.get(a) ?? 0) || slownesses.get(a) - slownesses.get(b))

    const { failed, count, ending } = await this.run({ files, testFilter, hitLimit, mutant: activeMutant.id })
    if (ending !== undefined) return { status: 'timeout', reason: ending }
    if (failed === undefined) return { status: 'survived', nrOfTests: count }
    kills.set(failed.fileName, (kills.get(failed.fileName) ?? 0) + 1)
    return { status: 'killed', killedBy: [failed.id], failureMessage: failed.failureMessage, nrOfTests: count }
  }

  /** Those of the run without a mutant, by id. That may have been another runner's. */
  get tests () {
    return (this.loadedTests ??= new Map(JSON.parse(readFileSync(TESTS)).map(test => [test.id, test])))
  }

  /** @returns {Promise<object>} what runTests() has found, or `ending`: why it has found nothing */
  run (job) {
    const child = fork(__filename, { stdio: 'ignore', env: { ...process.env, __STRYKER_ACTIVE_MUTANT__: job.mutant ?? '' } })
    return new Promise(resolve => {
      let leftMs = Infinity // of the time in which this process runs: the machine may sleep
      const timer = setInterval(() => {
        leftMs -= TICK_MS
        if (leftMs <= 0) resolve({ ending: 'out of time' })
      }, TICK_MS)
      child.on('message', ({ begun, end }) => {
        if (end !== undefined) resolve(end)
        else if (job.mutant !== undefined) leftMs = LEAST_MS + 1.5 * this.tests.get(begun).timeSpentMs
      })
      child.once('exit', code => resolve({ ending: `ended with ${code}` }))
      child.once('close', () => clearInterval(timer))
      child.send(job)
    }).finally(() => child.kill('SIGKILL'))
  }
}

/** In a process of its own: runs the tests of these files, or of them those that are asked for until one fails. */
async function runTests ({ files, testFilter, hitLimit, mutant }) {
  process.channel.unref()
  const state = globalThis[NAMESPACE] = { activeMutant: mutant, hitCount: 0, hitLimit }
  const { default: Mocha } = await import('mocha')
  Mocha.Runnable.prototype.resetTimeout = () => {} // its timer would keep a process alive in which nothing is under way
  const bail = mutant !== undefined
  const tests = []
  const hasFailed = ({ status }) => status === FAILED
  for (const file of files) {
    const mocha = new Mocha({ timeout: 0, bail, reporter: class {} })
    mocha.files = [file]
    load(mocha, state)
    if (testFilter !== undefined) keep(mocha.suite, new Set(testFilter))
    await new Promise(resolve => watch(mocha.run(resolve), state, tests))
    mocha.dispose()
    if (bail && tests.some(hasFailed)) break
  }
  process.send({ end: { tests, failed: tests.find(hasFailed), count: tests.length, mutantCoverage: state.mutantCoverage } })
}

/** What loading a file comes across is no test's in particular; what earlier tests have left behind is of the last one. */
function load (mocha, state) {
  const { currentTestId } = state
  state.currentTestId = undefined
  mocha.loadFiles()
  state.currentTestId = currentTestId
}

function watch (runner, state, tests) {
  runner.on('test', test => {
    state.currentTestId = idOf(test)
    process.send({ begun: state.currentTestId })
  })
  runner.on('pass', test => tests.push(outcome(test, PASSED)))
  runner.on('fail', (test, err) => tests.push({ ...outcome(test, FAILED), failureMessage: String(err?.stack ?? err) }))
}

function outcome (test, status) {
  return { id: idOf(test), name: test.fullTitle(), fileName: test.file, timeSpentMs: test.duration ?? 0, status }
}

function keep (suite, ids) {
  suite.tests = suite.tests.filter(test => ids.has(idOf(test)))
  for (const inner of suite.suites) keep(inner, ids)
}

function idOf (test) {
  return `${relative(process.cwd(), test.file)} ${test.fullTitle()}`
}

function sum (numbers) {
  let total = 0
  for (const number of numbers) total += number
  return total
}
