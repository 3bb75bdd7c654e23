'use strict'

// How long work goes on, for many jobs or over many bytes, before the event loop gets its turn.

const { now } = require('./clock')

/** What a slice is by default: so many ms, and so many pieces of work before the first look at the clock. */
const PACE = Object.freeze({ ms: 2, pieces: 16 })
// A look at the clock costs 30 to 70 ns.
const MOST_PIECES = 32 // or as many as there are before the first one

/** A slice of time, and those that follow it. Where a piece of work is slow, the clock is looked at after each. */
class Slice {
  /** @param {{ ms: number, pieces: number }} pace */
  constructor (pace) {
    this.ms = pace.ms
    this.stride = pace.pieces
    this.longestStride = Math.max(pace.pieces, MOST_PIECES)
    this.begin()
  }

  /** A turn of the event loop has gone by. */
  begin () {
    this.lookedAt = now()
    this.endAt = this.lookedAt + this.ms
    this.untilLook = this.stride
  }

  /** To be asked after each piece of work, or after so many at once. */
  isOver (pieces = 1) {
    this.untilLook -= pieces
    if (this.untilLook > 0) return false
    const time = now()
    const leftMs = this.endAt - time
    const isSlow = (time - this.lookedAt) * 4 > leftMs
    this.lookedAt = time
    this.untilLook = this.stride = isSlow ? 1 : Math.min(2 * this.stride, this.longestStride)
    return leftMs <= 0
  }
}

module.exports = { Slice, PACE }
