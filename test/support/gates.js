'use strict'

// The runner of fairlane/testing whose jobs end when the test says so, with the payloads at hand.

const { gateRunner } = require('../../lib/testing/gates')

module.exports = gates

/**
 * @returns {object} `runner` for the queue; `started`, the jobs in the order in which they began
 *   (`{ payload, done, context }`); `payloads`, theirs; `until(n)`, a promise of the n-th start;
 *   `release(n)`, ends the n oldest open jobs with their own payload as the result; `open`, those still running
 */
function gates () {
  const gate = gateRunner()
  const payloads = []
  const runner = (payload, done, context) => {
    payloads.push(payload)
    return gate.runner(payload, done, context)
  }
  return { ...gate, runner, payloads }
}
