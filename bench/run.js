'use strict'

// npm run bench [-- case …] [--quick] [--rounds n] [--node path] [--peers] [--folder path]
//
// Runs the cases: every contender in every cell in a child process of its own, interleaved (A C B, B A C, …), prints a table
// as each case ends, and writes results/<case>-node<major>.json. A miscount or a crash fails the run, and its case writes
// nothing. --quick runs every case small and once, to see that all works: it writes no files. --peers also measures those that
// have to be installed first, and does that (durable/peers.js). --folder is where queues on disk are put, if not in the system's
// folder for temporary files.

const { parseArgs } = require('node:util')
const { CASES, loadCase, runCase } = require('./schedule')
const { describeEnvironment } = require('./environment')
const { createProgress } = require('./progress')
const { tablesOf, toText } = require('./tables')
const { saveResult, loadResults } = require('./store')
const { targetsTable } = require('./targets')
const { preparePeers } = require('./durable/peers')

const USAGE = `usage: npm run bench -- [case …] [--quick] [--rounds n] [--node path] [--peers] [--folder path]
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
  console.log(`Node ${environment.node} on ${environment.cpu} (${environment.cores} cores), ` +
    `${options.quick ? 'a quick try: the numbers mean nothing' : `rounds: ${options.rounds}`}\n`)

  const cases = options.names.map(loadCase).filter(canRun)
  const peerNames = cases.flatMap(({ peers = [] }) => peers)
  const peers = options.peers && peerNames.length > 0 ? prepare({ ...options, names: peerNames, environment }) : undefined
  const progress = createProgress(process.stderr, cases, { ...options, peers })
  const failures = []
  for (const benchCase of cases) {
    const result = await runCase(benchCase, { ...options, peers, environment, progress })
    progress.clear()
    failures.push(...result.failures)
    for (const failure of result.failures) console.error(`FAILED ${failure}\n`)
    if (result.failures.length > 0) continue
    for (const table of tablesOf(result.report)) console.log(toText(table) + '\n')
    if (options.quick) continue
    if (benchCase.peers && peers === undefined) console.log('without --peers: not kept\n')
    else console.log(`→ ${saveResult(result.report)}\n`)
  }

  if (!options.quick) console.log(toText(targetsTable(loadResults(environment.major))))
  if (failures.length > 0) {
    console.error(`\n${failures.length} measurement(s) failed`)
    process.exitCode = 1
  }
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
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
  } catch (err) {
    return { error: err.message }
  }
  const { quick, node, peers, folder, help } = parsed.values
  const rounds = parsed.values.rounds === undefined ? (quick ? 1 : 5) : Number(parsed.values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) return { error: `--rounds takes a positive integer, not '${parsed.values.rounds}'` }
  const unknown = parsed.positionals.find((name) => !CASES.includes(name))
  if (unknown !== undefined) return { error: `there is no case '${unknown}'` }
  // always in the one order, each once
  const names = parsed.positionals.length === 0 ? CASES : CASES.filter((name) => parsed.positionals.includes(name))
  return { quick, node, peers, folder, help, rounds, names }
}
