'use strict'

// Runs scripts of package.json one after the other, each of them even if one before it failed, and fails if any did: what
// `a && b` finds in `a` would hide what is wrong in `b`. By npm alone, so that it works in every shell.
//
//   node test/run.js lint test:covered
//   node test/run.js --rounds 20 test:plain     the random tests play so many times as many rounds
//   node test/run.js --again test:covered       files in which a test has failed are run once more, by the script test:covered:again

const { spawnSync } = require('node:child_process')
const { existsSync, mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { parseArgs } = require('node:util')
const { scripts: known } = require('../package.json')
const chromium = require('./support/chromium')
const firefox = require('./support/firefox')
const redis = require('./support/redis-program')

const options = { again: { type: 'boolean' }, rounds: { type: 'string' } }
const { values: { again, rounds }, positionals: scripts } = parseArgs({ allowPositionals: true, options })
const env = rounds === undefined ? process.env : { FAIRLANE_ROUNDS: rounds, ...process.env }

const failed = scripts.filter(script => (again && `${script}:again` in known ? runTwice(script) : run(script)) !== 0)
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
if (redis.program === undefined) {
  console.error(`${redis.skippedCount()} tests of fairlane/distributed were skipped, since there is no server: apt-get install redis-server, or set REDIS_SERVER`)
}
if (chromium.program === undefined) {
  console.error(`${chromium.skippedCount()} tests of pages were skipped, since there is no browser: apt-get install chromium, or set CHROMIUM`)
}

if (firefox.program === undefined) {
  console.error('The tests of pages in Firefox were skipped: apt-get install firefox-esr, or set FIREFOX')
}

/** @returns {number | null} its exit code; null if a signal ended it */
function run (script, ...args) {
  return spawnSync(process.execPath, [npm(), 'run', script, ...args], { stdio: 'inherit', env }).status
}

/** Tests that fail by chance pass the second time. What fails without a test (a worker that crashes, coverage) is not tried again. */
function runTwice (script) {
  const folder = mkdtempSync(join(tmpdir(), 'fairlane-failed-'))
  const output = join(folder, 'files')
  try {
    const status = run(script, '--', '--reporter', join(__dirname, 'support/failed-files.js'), '--reporter-option', `output=${output}`)
    if (status === 0 || !existsSync(output)) return status
    const files = readFileSync(output, 'utf8').split('\n')
    return files.includes('') ? status : run(`${script}:again`, '--', ...files)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The program of npm (or of another that has started this one), which the shells of Windows can not be asked for by name alone. */
function npm () {
  const { npm_execpath: path } = process.env
  if (path === undefined) throw new Error('run this by npm: npm test, npm run test:long')
  return path
}
