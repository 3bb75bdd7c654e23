'use strict'

// Waits for what another process, or the broker, says only when it is asked. What never comes fails: a test that has hung must not go
// on asking.

const { setTimeout: sleep } = require('node:timers/promises')

const LONGEST_MS = 10000 // within the time that mocha gives a test
const PAUSE_MS = 5
const now = performance.now.bind(performance) // whatever a test makes of the clock

module.exports = { until }

/** @param {() => boolean | Promise<boolean>} test */
async function until (test) {
  const end = now() + LONGEST_MS
  while (!await test()) {
    if (now() > end) throw new Error(`it has not come: ${test}`)
    await sleep(PAUSE_MS)
  }
}
