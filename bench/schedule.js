'use strict'

// Runs one case: its cells one after the other, in each the rounds interleaved over the contenders, in another order each time, every
// measurement in a child process of its own; then sums the rounds up.

const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { performance } = require('node:perf_hooks')
const { digestsOf } = require('./code')
const { watchOthers, inTenths } = require('./machine')
const { versionOf } = require('./contenders')
const { summarise } = require('./statistics')

/** All cases, in the order in which they run. */
const CASES = ['fifo', 'bursts', 'startup', 'overhead', 'memory', 'eventloop', 'quickq-readme', 'hashing', 'http',
  'add', 'features', 'schedulers', 'types', 'flood', 'groups', 'memory-types', 'fifo-mixed', 'fairness', 'fairness-options', 'durable', 'durable-jobs', 'threads', 'history', 'metrics', 'board', 'flow', 'fetch', 'http-admission', 'distributed', 'distributed-fleet', 'adaptive', 'adaptive-server']

/** No measurement takes longer: it is stopped, and the cell says so. */
const LIMIT_MS = 40000

/**
 * @param {string} name one of CASES
 * @returns {object} the case: { name, title, about, metrics, cells(options), measure(cell, contender) }, a metric is { key, label, unit }
 *   and may have best (summary()), higherIsBetter, noRatio; optionally execArgv for its children, budgetMs (a contender that has used that
 *   up in one cell gets no further rounds there), prepare(cells, options) (what it returns goes into the result file), derive(contenders)
 *   (adds metrics to rounds), mustAgree (a field that has to be the same for all), isDeterministic (one round tells all, and the result is
 *   the same for every Node), peers (names of what has to be installed for some contenders: results without them are not kept) and then
 *   versionOf(name, peers), brief (ids of the cells that stand for it where there is little time), figures (tables.js) and page (which
 *   shows it, if not docs/benchmarks/core.md)
 */
function loadCase (name) {
  return require(`./cases/${name}`)
}

/**
 * @param {object} benchCase from loadCase
 * @param {{ quick: boolean, rounds: number, node: string, folder: string|undefined, peers: object|undefined, environment: object,
 *   progress: object }} options peers: from preparePeers
 * @returns {Promise<{ failures: string[], report: (object|undefined) }>} what went wrong; if nothing did, what a result
 *   file holds
 */
async function runCase (benchCase, { quick, rounds: askedRounds, node, folder, peers, environment, progress }) {
  const cells = benchCase.cells({ quick, peers })
  const rounds = roundsOf(benchCase, askedRounds)
  const failures = []
  const files = new Set()
  const othersCores = watchOthers()
  const details = benchCase.prepare && benchCase.prepare(cells, { folder })

  for (const cell of cells) {
    for (let round = 1; round <= rounds; round++) {
      for (const contender of orderOf(cell.contenders, round)) {
        progress.step(benchCase, cell, contender, round)
        if (!mayRun(contender, benchCase.budgetMs)) continue
        const failure = await measure(benchCase, cell, contender, { node, quick, files })
        if (failure) failures.push(`${benchCase.name}, ${cell.label}, ${contender.name}, round ${round}: ${failure}`)
      }
    }
    const disagreement = disagreementIn(cell, benchCase.mustAgree)
    if (disagreement) failures.push(`${benchCase.name}, ${cell.label}: ${disagreement}`)
  }
  if (failures.length > 0) return { failures }
  const load = { othersCores: inTenths(othersCores()), loadAverage: inTenths(os.loadavg()[0]) }
  return { failures, report: reportOf(benchCase, cells, { rounds, environment: { ...environment, ...load }, peers, details, files }) }
}

/**
 * @param {object} benchCase
 * @param {number} asked
 * @returns {number} how often each of its measurements is taken
 */
function roundsOf (benchCase, asked) {
  return benchCase.isDeterministic ? 1 : asked
}

/**
 * Who runs when: nobody comes after the same one each time, whose traces in page cache and memory would be put down to him. (By a mere
 * rotation all but one would.) A row of a design of E. J. Williams (1949): first, last, second, last but one, … , moved on by one each
 * round; of an odd number every other one the other way round.
 * @param {object[]} contenders
 * @param {number} round from 1 on
 */
function orderOf (contenders, round) {
  const { length } = contenders
  const row = contenders.map((_, i) => {
    const at = i % 2 === 0 ? i / 2 : length - (i + 1) / 2
    return contenders[(at + round - 1) % length]
  })
  return length % 2 === 1 && round % 2 === 0 ? row.reverse() : row
}

function mayRun (contender, budgetMs = Infinity) {
  if (contender.cannot || contender.stopped || contender.failed) return false
  contender.rounds ??= []
  contender.spentMs ??= 0
  const lastMs = contender.rounds.length === 0 ? 0 : contender.spentMs / contender.rounds.length
  return contender.spentMs + lastMs <= budgetMs
}

/**
 * One child; puts its result into contender.rounds, and the files that it loaded into `files`. Resolves with what went wrong, if anything
 * did.
 */
async function measure (benchCase, cell, contender, { node, quick, files }) {
  const begun = performance.now()
  const child = await measureOnce(benchCase, cell, contender.name, { node })
  contender.spentMs += performance.now() - begun

  if (child.stopped) {
    contender.stopped = `over ${LIMIT_MS / 1000} s`
    return quick || contender.name === 'fairlane' ? `stopped after ${LIMIT_MS / 1000} s` : undefined
  }
  if (child.failure) {
    contender.failed = true
    return child.failure
  }
  contender.rounds.push(child.result)
  for (const file of child.files) files.add(file)
}

/**
 * @param {object} benchCase from loadCase
 * @param {object} cell of it
 * @param {string} contender its name
 * @param {{ node: string, folder?: string }} options folder: of the bench that is run, if not this one
 * @returns {Promise<{ result: object, files: string[] } | { stopped: true } | { failure: string }>} files: of the package, that were loaded
 */
function measureOnce (benchCase, cell, contender, { node, folder = __dirname }) {
  const { contenders, weight, ...parameters } = cell
  const spec = JSON.stringify({ caseName: benchCase.name, cell: parameters, contender })
  return runChild(node, [...(benchCase.execArgv || []), path.join(folder, 'child.js'), spec])
}

function runChild (node, args) {
  return new Promise((resolve, reject) => {
    // a group of its own, so that what it has started ends with it
    const child = spawn(node, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], detached: true })
    const kill = () => killGroup(child)
    // before the folders are removed in which it works
    process.prependOnceListener('exit', kill)
    let errorText = ''
    let resultText = ''
    let stopped = false
    const timer = setTimeout(() => {
      stopped = true
      kill()
    }, LIMIT_MS)
    child.stderr.setEncoding('utf8').on('data', (text) => { errorText += text })
    child.stdio[3].setEncoding('utf8').on('data', (text) => { resultText += text })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      process.off('exit', kill)
      if (stopped) return resolve({ stopped })
      if (code === 0 && resultText !== '') return resolve(JSON.parse(resultText))
      const how = code === 0 ? 'ended without a result: some jobs never settled' : `ended with ${signal || `code ${code}`}`
      resolve({ failure: `${how}\n${errorText.slice(-2000)}` })
    })
  })
}

function killGroup (child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // no groups here, or nothing of it is left
    child.kill('SIGKILL')
  }
}

function disagreementIn (cell, field) {
  if (field === undefined) return
  const values = new Map()
  for (const { name, rounds = [] } of cell.contenders) {
    for (const round of rounds) {
      if (round[field] !== undefined) values.set(round[field], name)
    }
  }
  if (values.size > 1) return `the contenders disagree on ${field}: ${[...values].map(([value, name]) => `${name} ${value}`).join(', ')}`
}

function reportOf (benchCase, cells, { rounds, environment, peers, details, files }) {
  const { name, title, about, metrics, figures, isDeterministic } = benchCase
  const versions = {}
  for (const cell of cells) {
    for (const contender of cell.contenders) versions[contender.name] ??= versionIn(contender.name)
  }
  return {
    case: name,
    title,
    about,
    ...(isDeterministic ? { isDeterministic } : { date: new Date().toISOString(), environment }),
    ...details,
    versions,
    code: digestsOf(files),
    rounds,
    metrics,
    figures,
    cells: cells.map(sumUp)
  }

  function versionIn (name) {
    return benchCase.versionOf ? benchCase.versionOf(name, peers) : versionOf(name)
  }

  function sumUp ({ contenders, weight, folder, ...parameters }) {
    const byName = {}
    for (const { name, note, syncs, cannot, stopped, rounds = [] } of contenders) byName[name] = { note, syncs, cannot, stopped, rounds }
    if (benchCase.derive) benchCase.derive(byName)
    return { ...parameters, contenders: byName }
  }
}

/**
 * @param {object} report of a case, as result files hold it
 * @returns {object} the same with what the rounds are said to be: in each cell each contender has `{ value, min, max, spread, ratio }` by
 *   metric
 */
function withSummaries (report) {
  const { metrics } = loadCase(report.case)
  const cells = report.cells.map(({ contenders, ...cell }) => {
    const summarised = Object.fromEntries(Object.entries(contenders).map(([name, contender]) => [name, { ...contender }]))
    summarise(summarised, metrics)
    return { ...cell, contenders: summarised }
  })
  return { ...report, metrics, cells }
}

module.exports = { CASES, loadCase, runCase, measureOnce, withSummaries, roundsOf, orderOf }
