'use strict'

// For mocha: the tests that play more rounds where they are given time, one at a time per core. `npm run test:rounds`, in npm run
// test:long.

const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

module.exports = { timeout: 3600000, parallel: true, jobs: 2, spec: filesWithRounds() }

/** Those that ask for rounds; test:uncovered has what stands in heap/ and loop/. */
function filesWithRounds () {
  return readdirSync(__dirname, { recursive: true })
    .filter(file => file.endsWith('.test.js') && !/^(heap|loop)\b/.test(file))
    .map(file => join(__dirname, file))
    .filter(path => /require\('[./]+\/support\/rounds'\)/.test(readFileSync(path, 'utf8')))
    .sort()
}
