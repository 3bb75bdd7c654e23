'use strict'

// Turns of the event loop: what a test waits for instead of sleeping.

module.exports = { turn, turns, quiet, nextMs }

/** Resolves in the next turn of the event loop. */
function turn () {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves after `count` turns. */
async function turns (count) {
  for (let i = 0; i < count; i++) await turn()
}

/**
 * Enough turns for a queue with a few jobs that has nothing to wait for to do all that it is ever going to do, though it starts one in
 * each.
 */
function quiet () {
  return turns(30)
}

/** Resolves when the clock shows another millisecond: what comes next is later than all that came before, to whoever orders by it. */
async function nextMs () {
  const now = Date.now()
  while (Date.now() === now) await turn()
}
