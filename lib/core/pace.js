'use strict'

// HOT (bench: fifo, bursts, eventloop). For how long a pass may start jobs before the event loop gets its turn. The clock is read as
// seldom as the time that the last jobs took allows.

const { now } = require('../platform/clock')

// A pass that started jobs for so long yields to the event loop; refills on top of a pass may take as long again.
const SLICE_MS = 1
// Two reads of the clock lie at most so many starts apart: a read costs 30 to 70 ns.
const MAX_STRIDE = 32

class Pace {
  constructor () {
    this.sliceMs = SLICE_MS // tests, and simulations in virtual time, set others: they are to be the same on every machine
    this.turnStart = 0 // while a pass is due or going on: a time in this turn of the event loop
    this.lookedAt = 0 // when the clock was last read
    this.stride = 1
    this.untilLook = 1 // so many starts, one of them not to be made before the clock is read
  }

  /** A pass is due in the next turn: this turn is measured from here. */
  beginTurn () {
    this.turnStart = now()
  }

  /** A pass in a turn of its own. One job is started first, however slow the machine: each pass gets somewhere. */
  beginPass () {
    this.turnStart = this.lookedAt = now()
    this.stride = 1
    this.untilLook = 2
  }

  /** So many starts need no look at the clock. */
  allow (count) {
    this.untilLook = Math.max(this.untilLook, count + 1)
  }

  /** The starts that were allowed do not count for those that follow. */
  goOn () {
    this.untilLook = this.stride
  }

  /** Checks the clock, and sets when to check it next. */
  isTimeUp () {
    const time = now()
    const leftMs = this.turnStart + this.sliceMs - time
    const isSlow = (time - this.lookedAt) * 8 > leftMs
    this.lookedAt = time
    this.untilLook = this.stride = isSlow ? 1 : Math.min(4 * this.stride, MAX_STRIDE)
    return leftMs <= 0
  }
}

module.exports = { Pace }
