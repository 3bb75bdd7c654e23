'use strict'

// npm run bench [-- case …] [--quick] [--rounds n] [--node path] [--peers] [--folder path] [--busy]
// npm run bench -- headline [--rounds n] [--node path]
// npm run bench -- compare COMMIT case … [--brief] [--rounds n] [--only text] [--own-bench] [--node path]
//
// Runs the cases: every contender in every cell in a child process of its own, interleaved (A C B, B A C, …), prints a table
// as each case ends, and writes results/<case>-node<major>.json. A miscount or a crash fails the run, and its case writes
// nothing. --quick runs every case small and once, to see that all works: it writes no files. --peers also measures those that
// have to be installed first, and does that (durable/peers.js). --folder is where queues on disk are put, if not in the system's
// folder for temporary files. On a machine that does other work nothing is measured, unless --busy says so; the result keeps how much.
//
// headline measures the first table of docs/benchmarks alone (headline.js), compare the code of a commit against this (compare.js).

const { parseArgs } = require('node:util')
const { compare, tableOf } = require('./compare')
const { headlineCases, headlineOf } = require('./headline')
const { busyCores, MOST_BUSY } = require('./machine')
const { costTable } = require('./report')
const { CASES, loadCase, runCase, withSummaries } = require('./schedule')
const { describeEnvironment } = require('./environment')
const { createProgress } = require('./progress')
const { tablesOf, toText } = require('./tables')
const { saveResult, loadResults } = require('./store')
const { targetsTable, peersTables } = require('./targets')
const { preparePeers } = require('./durable/peers')

const ROUNDS = 15

const USAGE = `usage: npm run bench -- [case …] [--quick] [--rounds n] [--node path] [--peers] [--folder path] [--busy]
       npm run bench -- headline [--rounds n] [--node path] [--busy]
       npm run bench -- compare COMMIT case … [--brief] [--rounds n] [--only text] [--own-bench] [--node path] [--folder path] [--busy]
cases: ${CASES.join(', ')}`

// so that whatever ends with the process does, as temporary folders do
for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]]) process.once(signal, () => process.exit(code))

main(process.argv.slice(2)).catch((err) => {
  console.error(err)
  process.exitCode = 1
})

async function main (argv) {
  const options = readOptions(argv)
  if (options.help) return console.log(USAGE)
  if (options.error) {
    console.error(`${options.error}\n${USAGE}`)
    process.exitCode = 2
    return
  }

  const environment = describeEnvironment(options.node)
  if (environment === null) {
    console.error(`--node: '${options.node}' is no Node binary that runs here`)
    process.exitCode = 2
    return
  }
  const busy = options.quick ? 0 : await busyCores()
  if (busy > MOST_BUSY && !options.busy) {
    console.error(`This machine is busy: others take ${busy.toFixed(2)} cores. Measure when it is quiet, or say --busy.`)
    process.exitCode = 3
    return
  }
  console.log(`Node ${environment.node} on ${environment.cpu} (${environment.cores} cores), ` +
    `${options.quick ? 'a quick try: the numbers mean nothing' : `rounds: ${options.rounds ?? 'as many as it takes'}`}\n`)
  process.exitCode = await (options.commit === undefined ? measure(options, environment) : judge(options)) ? 0 : 1
}

/** @returns {Promise<boolean>} whether nothing failed */
async function measure (options, environment) {
  const cases = options.isHeadline ? headlineCases() : options.names.map(loadCase).filter(canRun)
  const peerNames = cases.flatMap(({ peers = [] }) => peers)
  const peers = options.peers && peerNames.length > 0 ? prepare({ ...options, names: peerNames, environment }) : undefined
  const progress = createProgress(process.stderr, cases, { ...options, peers })
  const failures = []
  for (const benchCase of cases) {
    const { failures: ofCase, report } = await runCase(benchCase, { ...options, peers, environment, progress })
    progress.clear()
    failures.push(...ofCase)
    for (const failure of ofCase) console.error(`FAILED ${failure}\n`)
    if (ofCase.length > 0) continue
    for (const table of tablesOf(withSummaries(report))) console.log(toText(table) + '\n')
    if (options.quick) continue
    if (benchCase.peers && peers === undefined) console.log('without --peers: not kept\n')
    else console.log(`→ ${saveResult(report, options.isHeadline ? headlineOf(report.case) : undefined)}\n`)
  }

  const results = loadResults(environment.major)
  if (options.isHeadline && failures.length === 0) console.log(costTable(results).join('\n\n'))
  else if (!options.quick) console.log([...peersTables(results), targetsTable(results)].map(toText).join('\n\n'))
  if (failures.length > 0) console.error(`\n${failures.length} measurement(s) failed`)
  return failures.length === 0
}

/** @returns {Promise<boolean>} whether nothing is slower than it was */
async function judge ({ commit, names, ...options }) {
  const rows = await compare(commit, names, options, (text) => console.error(text))
  console.log(toText(tableOf(rows, commit)))
  return rows.every(({ verdict }) => verdict !== 'slower')
}

/** What a case lacks is told, and it is left out. */
function canRun ({ name, lack }) {
  const lacked = lack?.()
  if (lacked !== undefined) console.error(`SKIPPED ${name}: ${lacked}\n`)
  return lacked === undefined
}

function prepare (options) {
  const peers = preparePeers(options, text => console.log(text))
  for (const [name, { version, cannot }] of Object.entries(peers)) console.log(`${name}: ${version ?? cannot}`)
  console.log()
  return peers
}

function readOptions (argv) {
  let parsed
  try {
    parsed = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        node: { type: 'string', default: process.execPath },
        peers: { type: 'boolean', default: false },
        folder: { type: 'string' },
        busy: { type: 'boolean', default: false },
        only: { type: 'string' },
        brief: { type: 'boolean', default: false },
        'own-bench': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
  } catch (err) {
    return { error: err.message }
  }
  const { 'own-bench': ownBench, ...values } = parsed.values
  const [mode] = parsed.positionals
  const isHeadline = mode === 'headline'
  const commit = mode === 'compare' ? parsed.positionals[1] : undefined
  const asked = mode === 'compare' ? parsed.positionals.slice(2) : parsed.positionals.slice(isHeadline ? 1 : 0)
  if (mode === 'compare' && asked.length === 0) return { error: 'compare takes a commit, and the cases to compare' }
  if (isHeadline && asked.length > 0) return { error: 'headline takes no cases: it has its own' }
  const rounds = values.rounds === undefined ? defaultRounds(values, mode) : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1)) return { error: `--rounds takes a positive integer, not '${values.rounds}'` }
  const unknown = asked.find((name) => !CASES.includes(name))
  if (unknown !== undefined) return { error: `there is no case '${unknown}'` }
  // always in the one order, each once
  const names = asked.length === 0 ? CASES : CASES.filter((name) => asked.includes(name))
  return { ...values, ownBench, isHeadline, commit, rounds, names }
}

/** @returns {number | undefined} how many, if nobody says; compare() knows itself when it has enough */
function defaultRounds ({ quick }, mode) {
  if (mode === 'compare') return undefined
  return quick ? 1 : ROUNDS
}
