'use strict'

// How long work for many goes on before the event loop gets its turn.

const { now } = require('../clock')

/** What a slice is by default: so many ms, and so many pieces of work before the first look at the clock. */
const PACE = Object.freeze({ ms: 2, pieces: 16 })
// A look at the clock costs 30 to 70 ns.
const MOST_PIECES = 32

/** A slice of time, and those that follow it. Where a piece of work is slow, the clock is looked at after each. */
class Slice {
  /** @param {{ ms: number, pieces: number }} pace */
  constructor (pace) {
    this.ms = pace.ms
    this.stride = pace.pieces
    this.begin()
  }

  /** A turn of the event loop has gone by. */
  begin () {
    this.lookedAt = now()
    this.endAt = this.lookedAt + this.ms
    this.untilLook = this.stride
  }

  /** To be asked after each piece of work. */
  isOver () {
    if (--this.untilLook > 0) return false
    const time = now()
    const leftMs = this.endAt - time
    const isSlow = (time - this.lookedAt) * 4 > leftMs
    this.lookedAt = time
    this.untilLook = this.stride = isSlow ? 1 : Math.min(2 * this.stride, MOST_PIECES)
    return leftMs <= 0
  }
}

module.exports = { Slice, PACE }
