'use strict'

// Tests of the contract that an engine does not pass yet, by their titles. PENDING=1 runs them, too.

const PENDING = { memory: [], disk: [], broker: [] }

module.exports = { itOf }

/** @returns {Function} `it` of mocha, but for what is pending */
function itOf (engine) {
  return (title, run) => {
    if (process.env.PENDING === '1' || !PENDING[engine].includes(title)) it(title, run)
  }
}
