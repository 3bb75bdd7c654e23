'use strict'

// HOT (bench: history). Where a ledger has its times from. A reading of the system's clock takes 35 to 70 ns, so a coarse one is used again
// until a timer says that it is old.
//
//   read ──▶ fresh ──▶ fresh ──▶ …     1 ms     old ──▶ read
//             └──── the same time ────┘

const { systemClock } = require('../platform/clock')

const FRESH_MS = 1

class Time {
  /**
   * @param {{ now: () => number }} clock the queue's
   * @param {boolean} isExact each time is read; that of a clock which is not the system's always is
   */
  constructor (clock, isExact) {
    this.clock = clock
    this.isOfSystem = clock === systemClock
    this.isCoarse = this.isOfSystem && !isExact
    this.originMs = this.isOfSystem ? cut(performance.timeOrigin) : 0 // what is shown as 0 of the clock
    this.ms = 0
    this.isFresh = false // that may be used again
    this.age = () => { this.isFresh = false }
  }

  /** Now, as exactly as this need be known. */
  now () {
    return this.isFresh ? this.ms : this.read()
  }

  /** Now, as exactly as this can be known. */
  read () {
    this.ms = this.isOfSystem ? cut(this.clock.now()) : this.clock.now()
    if (this.isCoarse) this.refresh()
    return this.ms
  }

  // private from here on

  refresh () {
    this.isFresh = true
    const timer = systemClock.setTimeout(this.age, FRESH_MS) // another one each time: it keeps the context in which it was made
    if (typeof timer === 'object') timer.unref() // browsers have numbers
  }
}

/** A multiple of 2^-10 ms, so that sums are exact. */
function cut (ms) {
  return Math.floor(ms * 1024) / 1024
}

module.exports = { Time }
