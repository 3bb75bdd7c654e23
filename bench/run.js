'use strict'

// npm run bench [-- case …] [--quick] [--rounds n] [--node path]
//
// Runs the cases: every contender in every cell in a child process of its own, interleaved (A B C A B C …), prints a table
// as each case ends, and writes results/<case>-node<major>.json. A miscount or a crash fails the run, and its case writes
// nothing. --quick runs every case small and once, to see that all works: it writes no files.

const { parseArgs } = require('node:util')
const { CASES, loadCase, runCase } = require('./schedule')
const { describeEnvironment } = require('./environment')
const { createProgress } = require('./progress')
const { tablesOf, toText } = require('./tables')
const { saveResult, loadResults } = require('./store')
const { targetsTable } = require('./targets')

const USAGE = `usage: npm run bench -- [case …] [--quick] [--rounds n] [--node path]
cases: ${CASES.join(', ')}`

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

  const cases = options.names.map(loadCase)
  const progress = createProgress(process.stderr, cases, options)
  const failures = []
  for (const benchCase of cases) {
    const result = await runCase(benchCase, { ...options, environment, progress })
    progress.clear()
    failures.push(...result.failures)
    for (const failure of result.failures) console.error(`FAILED ${failure}\n`)
    if (result.failures.length > 0) continue
    for (const table of tablesOf(result.report)) console.log(toText(table) + '\n')
    if (!options.quick) console.log(`→ ${saveResult(result.report)}\n`)
  }

  if (!options.quick) console.log(toText(targetsTable(loadResults(environment.major))))
  if (failures.length > 0) {
    console.error(`\n${failures.length} measurement(s) failed`)
    process.exitCode = 1
  }
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
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
  } catch (err) {
    return { error: err.message }
  }
  const { quick, node, help } = parsed.values
  const rounds = parsed.values.rounds === undefined ? (quick ? 1 : 5) : Number(parsed.values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) return { error: `--rounds takes a positive integer, not '${parsed.values.rounds}'` }
  const unknown = parsed.positionals.find((name) => !CASES.includes(name))
  if (unknown !== undefined) return { error: `there is no case '${unknown}'` }
  // always in the one order, each once
  const names = parsed.positionals.length === 0 ? CASES : CASES.filter((name) => parsed.positionals.includes(name))
  return { quick, node, help, rounds, names }
}
