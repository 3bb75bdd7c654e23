'use strict'

// Turns of the event loop: what a test waits for instead of sleeping.

module.exports = { turn, turns, quiet }

/** Resolves in the next turn of the event loop. */
function turn () {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves after `count` turns. */
async function turns (count) {
  for (let i = 0; i < count; i++) await turn()
}

/** Enough turns for a queue with a few jobs that has nothing to wait for to do all that it is ever going to do, though it starts one in each. */
function quiet () {
  return turns(30)
}
