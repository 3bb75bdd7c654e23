'use strict'

// Time as a queue takes it from a clock of the caller's own, which may throw, give what is no number, or go back: it never throws
// and never goes back.
//
//   reading          time
//   as it should be  the reading
//   none             stands still
//   goes back        stands still, then goes on from there at the clock's pace, until the clock is as far itself

const { typeError } = require('../arguments/errors')

class SteadyClock {
  /**
   * @param {{ now: () => number, setTimeout: Function, clearTimeout: Function }} clock
   * @throws FAIRLANE_ERR_OPTION if its first reading is no time, and what the clock throws
   */
  constructor (clock) {
    this.clock = clock
    this.time = -Infinity // the last that now() gave
    this.lag = 0 // by so much the clock is behind
    this.failure = undefined // the error, if the last reading was none
    this.isUnsure = false // the last reading was none, or it went back
    this.now()
    if (this.failure !== undefined) throw this.failure
  }

  /** The time. One reading, and a second one if that is no good: many faults are over by then. */
  now () {
    this.failure = undefined
    this.isUnsure = false
    let time = this.read()
    if (!(time >= this.time)) time = this.read()
    if (time >= this.time) {
      this.failure = undefined
      this.time = time
    } else {
      this.isUnsure = true
      if (this.failure === undefined) this.lag += this.time - time
    }
    return this.time
  }

  /** A timer says that it is so late by now, which is later than what now() gave. */
  reach (time) {
    this.time = time
  }

  setTimeout (fn, ms) {
    return this.clock.setTimeout(fn, ms)
  }

  clearTimeout (timer) {
    this.clock.clearTimeout(timer)
  }

  // private from here on

  /** @returns {number} NaN, and sets failure, if the clock gives none */
  read () {
    let time
    try {
      time = this.clock.now()
      if (isTime(time)) {
        this.failure = undefined
        if (time < this.time) return time + this.lag
        this.lag = 0
        return time
      }
    } catch (err) {
      this.failure = err || typeError('FAIRLANE_ERR_OPTION', 'clock.now() threw without a reason')
      return NaN
    }
    this.failure = typeError('FAIRLANE_ERR_OPTION', 'clock.now() must return a finite number')
    return NaN
  }
}

/** From 2^53 ms on, milliseconds do not count any more. */
function isTime (value) {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

module.exports = { SteadyClock }
