'use strict'

// Waits for what another process, or the broker, says only when it is asked. What never comes fails: a test that has hung must not go
// on asking.

const { setTimeout: sleep } = require('node:timers/promises')

const LONGEST_MS = 100000 // within the time that mocha gives a test
const PAUSE_MS = 5

module.exports = { until }

/** @param {() => boolean | Promise<boolean>} test */
async function until (test) {
  const end = performance.now() + LONGEST_MS
  while (!await test()) {
    if (performance.now() > end) throw new Error(`it has not come: ${test}`)
    await sleep(PAUSE_MS)
  }
}
