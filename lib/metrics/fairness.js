'use strict'

// How evenly slot time is shared: Jain's index (Jain, Chiu, Hawe 1984) over what types got in a window, each by its weight. 1 is evenly; if
// one of n has all, it is 1/n. Only types count that could have started jobs all through the window: who has nothing to do gets nothing.

const { SINCE, USED_BEFORE, WINDOW } = require('./types')

// Who has had so much of the slots that its cap allows is kept by that: between two jobs it may run one less when it is looked at.
const NEARLY = 0.9

class Fairness {
  constructor () {
    this.index = undefined // of the last window; undefined if there were fewer than two such types
    this.number = 1 // of the window, which types have that are fit
    this.beganAt = 0
    this.shares = [] // of the window that ends
  }

  /** A window begins before all others, or after a rest. */
  restart (now) {
    this.index = undefined
    this.number++
    this.beganAt = now
  }

  /**
   * Sees a type with waiting jobs.
   * @param {Float64Array} cells of types.js
   * @param {number} at of the type there
   * @param {{ isFit: boolean, cap: number, usedMs: number, now: number }} state isFit: nothing but the scheduler keeps it from starting a
   *   job now; usedMs: its slot time
   * @param {(() => number) | undefined} weigh gives its weight, at the end of a window
   */
  see (cells, at, { isFit, cap, usedMs, now }, weigh) {
    const wasFit = isFit && cells[at + WINDOW] === this.number && cells[at + SINCE] <= this.beganAt
    if (!isFit) cells[at + WINDOW] = 0
    if (weigh === undefined) return
    const gotMs = usedMs - cells[at + USED_BEFORE]
    if (wasFit && gotMs < NEARLY * cap * (now - this.beganAt)) this.shares.push(gotMs / weigh())
    if (!isFit) return
    cells[at + WINDOW] = this.number + 1
    cells[at + USED_BEFORE] = usedMs
  }

  /** All types have been seen at the end of a window; the next one begins. */
  close (now) {
    this.index = indexOf(this.shares.splice(0))
    this.number++
    this.beganAt = now
  }
}

/** @param {number[]} shares @returns {number | undefined} */
function indexOf (shares) {
  const most = Math.max(...shares)
  if (shares.length < 2 || !(most > 0)) return undefined
  let sum = 0
  let squares = 0
  for (const share of shares) { // none is so large or small that its square is not a number of its own
    sum += share / most
    squares += (share / most) ** 2
  }
  return Math.min(sum * sum / (shares.length * squares), 1)
}

module.exports = { Fairness, indexOf }
