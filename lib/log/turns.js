'use strict'

// Lets the event loop turn: in the middle of long work, and with ack 'os'. Calls are acknowledged then without waiting for anything, so
// that a caller who awaits one after the other would never leave the queue of microtasks: no timer would fire, no sync end, no file be
// closed.

// Long work is done in slices. A piece takes a fifth of a µs or so, so the first look at the clock comes after a tenth of a ms.
const LONG_WORK = Object.freeze({ ms: 3, pieces: 500 })
const MAX_MS = 5
// The clock is read at each fourth call. At each one it made pushes of 16 B in series 4 % slower, like this 2 % (Node 20).
const CALLS_PER_LOOK = 4

class Turns {
  constructor () {
    this.lastAt = performance.now()
    this.callsCount = 0
  }

  /** Whether the event loop may not have turned for so long that the next acknowledgement should wait for it. */
  isDue () {
    if (++this.callsCount < CALLS_PER_LOOK) return false
    this.callsCount = 0
    return performance.now() - this.lastAt > MAX_MS
  }

  /** Is told that the event loop has turned. */
  noted () {
    this.lastAt = performance.now()
  }

  /** @returns {Promise<T>} the value; now, or in the next turn if one is due */
  resolve (value) {
    if (!this.isDue()) return Promise.resolve(value)
    return new Promise(resolve => setImmediate(() => {
      this.noted()
      resolve(value)
    }))
  }
}

/** Has the event loop turn before a slice goes on. */
async function nextTurn (slice) {
  await new Promise(setImmediate)
  slice.begin()
}

module.exports = { Turns, LONG_WORK, nextTurn }
