'use strict'

// Runs scripts of package.json one after the other, each of them even if one before it failed, and fails if any did: what
// `a && b` finds in `a` would hide what is wrong in `b`. By npm alone, so that it works in every shell.
//
//   node test/run.js lint test:covered
//   node test/run.js --rounds 20 test:plain     the random tests play so many times as many rounds

const { spawnSync } = require('node:child_process')
const { parseArgs } = require('node:util')
const chromium = require('./support/chromium')
const firefox = require('./support/firefox')
const redis = require('./support/redis-program')

const { values: { rounds }, positionals: scripts } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string' } } })
const env = rounds === undefined ? process.env : { FAIRLANE_ROUNDS: rounds, ...process.env }

const failed = scripts.filter(script => run(script) !== 0)
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
function run (script) {
  return spawnSync(process.execPath, [npm(), 'run', script], { stdio: 'inherit', env }).status
}

/** The program of npm (or of another that has started this one), which the shells of Windows can not be asked for by name alone. */
function npm () {
  const { npm_execpath: path } = process.env
  if (path === undefined) throw new Error('run this by npm: npm test, npm run test:long')
  return path
}
