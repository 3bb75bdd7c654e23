'use strict'

// Tests of the contract that an engine does not pass yet, by their titles. PENDING=1 runs them, too.

const PENDING = {
  memory: [],
  disk: [],
  broker: [
    'pushAll is there',
    'pushAll gives the ids of all, in their order',
    'pushAll takes nothing in if one is refused'
  ]
}

module.exports = { itOf }

/** @returns {Function} `it` of mocha, but for what is pending */
function itOf (engine) {
  return (title, run) => {
    if (process.env.PENDING === '1' || !PENDING[engine].includes(title)) it(title, run)
  }
}
