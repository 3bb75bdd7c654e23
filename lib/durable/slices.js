'use strict'

// Long work in slices, between which the event loop turns.

const MAX_MS = 3
// The clock is read once for so much work: as much as takes a tenth of a ms.
const WEIGHT_PER_LOOK = 500

class Slices {
  constructor () {
    this.begunAt = performance.now()
    this.weight = 0
  }

  /**
   * To be called after each step.
   * @param {number} weight how long that took, in fifths of a µs or so
   * @returns {boolean} whether next() is to be awaited before there is another one
   */
  isOver (weight) {
    this.weight += weight
    if (this.weight < WEIGHT_PER_LOOK) return false
    this.weight = 0
    return performance.now() - this.begunAt > MAX_MS
  }

  /** Has the event loop turn. */
  async next () {
    await new Promise(setImmediate)
    this.begunAt = performance.now()
  }
}

module.exports = { Slices }
