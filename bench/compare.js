'use strict'

// npm run bench -- compare COMMIT case … [--brief] [--rounds n] [--only text] [--own-bench] [--node path] [--folder path]
//
// The code of a commit against that of this working tree: each of our contenders in each cell, in a process of its own, old and new in
// turns, round by round until all is decided. A cell is slower when all of the interval in which its ratio lies is above the limit, and not
// slower when all of it is below; else it is undecided, and has more rounds. --only takes the cells whose label contains the text. --brief
// takes those that the case names as standing for it, fewer rounds, and no longer than nine minutes: what is not decided then says so. The
// old code is run by the bench of today, or with --own-bench by its own, where the two do not know each other's calls. What the old code
// cannot run is left out, and the table says so.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { loadCase, measureOnce } = require('./schedule')
const { ratioInterval } = require('./statistics')
const { number } = require('./tables')

const ROOT = path.join(__dirname, '..')

/**
 * As many as a first look takes; then so many more at a time, until all is decided or there were enough. In some cells the processes come
 * in two groups, by what V8 makes of the code: with fewer rounds one side may have nothing of the faster group.
 */
const FIRST_ROUNDS = 16
const MORE_ROUNDS = 8
const MOST_ROUNDS = 48
const BRIEF_ROUNDS = 32
const BRIEF_MS = 9 * 60000

/** A change that is about something else may make no cell slower than this. */
const LIMIT = 1.03

/** Units of memory. */
const MEMORY = /^(B|bytes|MB)/

/** What both sides have of their own, and the bench, with what it takes from the tests. */
const PACKAGE = ['package.json', 'index.js', 'lib', 'schedulers']
const BENCH = ['bench', 'test/support']

/** What our own bench has that a bench of before may lack: how a child answers. */
const PROTOCOL = ['child.js', 'code.js']

/**
 * @param {string} commit
 * @param {string[]} names of cases
 * @param {{ node: string, rounds?: number, only?: string, brief?: boolean, ownBench?: boolean, folder?: string }} options rounds: the most
 * @param {(text: string) => void} tell
 * @returns {Promise<object[]>} a row for each cell, contender and metric: { what, old, new, ratio, from, to, verdict, rounds }
 */
async function compare (commit, names, options, tell) {
  const benches = checkOut(commit, options)
  const subjects = names.flatMap((name) => subjectsOf(loadCase(name), options))
  const most = options.rounds ?? (options.brief ? BRIEF_ROUNDS : MOST_ROUNDS)
  const until = performance.now() + (options.brief ? BRIEF_MS : Infinity)
  for (let round = 1; round <= most && performance.now() < until && subjects.some(({ isOpen }) => isOpen); round++) {
    tell(`round ${round}: ${subjects.filter(({ isOpen }) => isOpen).length} of ${subjects.length} to be decided`)
    for (const subject of subjects.filter(({ isOpen }) => isOpen)) await measureBoth(subject, round, benches, options)
    if (round >= FIRST_ROUNDS && (round - FIRST_ROUNDS) % MORE_ROUNDS === 0) for (const subject of subjects) decide(subject)
  }
  return subjects.flatMap(rowsOf)
}

/**
 * Both codes get a folder beside the other: a process that loads its files from another disk begins slower.
 * @returns {{ old: string, new: string }} the benches that measure them; they are removed when the process ends
 */
function checkOut (commit, { ownBench = false }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fairlane-compare-'))
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  const folderOf = (side) => path.join(folder, side)
  for (const side of ['old', 'new']) {
    fs.mkdirSync(folderOf(side))
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folderOf(side), 'node_modules'))
  }
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: ROOT, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folderOf('old')], { input: archive })
  for (const name of PACKAGE) copy(path.join(ROOT, name), path.join(folderOf('new'), name))
  const benches = { old: path.join(folderOf('old'), 'bench'), new: path.join(folderOf('new'), 'bench') }
  const replaced = (ownBench ? ['new'] : ['old', 'new']).flatMap((side) => BENCH.map((name) => [side, name]))
  for (const [side, name] of replaced) {
    fs.rmSync(path.join(folderOf(side), name), { recursive: true, force: true })
    copy(path.join(ROOT, name), path.join(folderOf(side), name))
  }
  if (ownBench) for (const file of PROTOCOL) copy(path.join(__dirname, file), path.join(benches.old, file))
  return benches
}

function copy (from, to) {
  fs.cpSync(from, to, { recursive: true, filter: (file) => path.basename(file) !== 'results' })
}

/** What is compared of a case: our contenders in its cells. */
function subjectsOf (benchCase, { only = '', brief = false, folder }) {
  const isAsked = ({ id, label }) => label.includes(only) && (!brief || standsForCase(benchCase, id))
  const cells = benchCase.cells({ quick: false }).filter(isAsked)
  benchCase.prepare?.(cells, { folder })
  return cells.flatMap((cell) => cell.contenders.filter((contender) => isOurs(benchCase, contender)).map(({ name }) => ({
    benchCase, cell, name, isOpen: true, isNew: false, rounds: { old: [], new: [] }
  })))
}

/** A case that names none has few cells. */
function standsForCase ({ brief }, id) {
  return brief === undefined || brief.includes(id)
}

function isOurs (benchCase, { name, cannot }) {
  const versionOf = benchCase.versionOf ?? require('./contenders').versionOf
  return !cannot && String(versionOf(name)).startsWith('fairlane@')
}

/** One process each; which comes first changes from round to round. What the old code fails at in its first round is new: it leaves. */
async function measureBoth (subject, round, benches, { node }) {
  const { benchCase, cell, name, rounds } = subject
  for (const side of round % 2 === 0 ? ['new', 'old'] : ['old', 'new']) {
    const { result, stopped, failure } = await measureOnce(benchCase, cell, name, { node, folder: benches[side] })
    if (failure !== undefined && side === 'old' && round === 1) {
      subject.isNew = true
      subject.isOpen = false
      return
    }
    if (result === undefined) throw new Error(`${benchCase.name}, ${cell.label}, ${name}, ${side}: ${stopped ? 'took too long' : failure}`)
    rounds[side].push(result)
  }
}

function decide (subject) {
  subject.isOpen = !subject.isNew && rowsOf(subject).some(({ verdict }) => verdict === 'undecided')
}

/** A row for each metric that says what a job costs: time, or memory. */
function rowsOf ({ benchCase, cell, name, isNew, rounds }) {
  if (isNew) return [{ what: [benchCase.name, cell.label, name].join(': '), verdict: 'not in the old code' }]
  const metrics = benchCase.metrics.filter((metric, i) => i === 0 || metric.best || MEMORY.test(metric.unit))
  return metrics.filter(({ key }) => rounds.new[0]?.[key] !== undefined).map((metric) => {
    const valuesOf = (side) => rounds[side].map((result) => result[metric.key])
    const interval = ratioInterval(valuesOf('old'), valuesOf('new'), metric)
    return {
      what: [benchCase.name, cell.label, name, ...metrics.length > 1 ? [metric.label] : []].join(': '),
      ...interval,
      verdict: metric.key === 'cold' ? 'not judged' : verdictOf(interval, rounds.new.length), // how a process begins varies too much for any number of rounds
      rounds: rounds.new.length
    }
  })
}

/** @param {{ from: number, to: number }} interval in which the ratio of new to old lies; above 1 is worse @param {number} roundsCount */
function verdictOf ({ from, to }, roundsCount) {
  if (roundsCount < FIRST_ROUNDS) return 'undecided'
  if (from > LIMIT) return 'slower'
  if (to > LIMIT) return 'undecided'
  return to < 1 ? 'faster' : 'not slower'
}

/** @param {object[]} rows from compare() @returns {object} for toText() */
function tableOf (rows, commit) {
  return {
    title: `This working tree to ${commit}`,
    subtitle: `ratios of the best quarter of the rounds; slower means more than ${Math.round(100 * LIMIT - 100)} %`,
    header: ['', 'old', 'new', 'ratio', 'from', 'to', 'rounds', ''],
    rows: rows.map(({ what, old, new: now, ratio, from, to, rounds, verdict }) => ratio === undefined
      ? [what, '', '', '', '', '', '', verdict]
      : [what, number(old), number(now), ratio.toFixed(3), from.toFixed(3), to.toFixed(3), String(rounds), verdict]
    ),
    notes: []
  }
}

module.exports = { BENCH, PACKAGE, compare, subjectsOf, tableOf, verdictOf }
