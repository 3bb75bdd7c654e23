'use strict'

// Turns of the event loop: what a test waits for instead of sleeping.

module.exports = { turn, turns, quiet, spin }

/** Resolves in the next turn of the event loop. */
function turn () {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves after `count` turns. */
async function turns (count) {
  for (let i = 0; i < count; i++) await turn()
}

/** Enough turns for a queue that has nothing to wait for to do all that it is ever going to do. */
function quiet () {
  return turns(6)
}

/** Keeps the thread busy, as a slow synchronous runner does. */
function spin (ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}
