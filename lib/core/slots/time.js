'use strict'

// HOT (bench: add). The time by which slots say how long somebody waited for them. A reading of the system's clock takes 35 to 70 ns, and
// acquire() needs two: so one is used again until a timer says that it is old. A clock of the caller's own is read each time.

const { systemClock } = require('../../platform/clock')

const FRESH_MS = 1

class Time {
  /** @param {{ now: () => number }} clock the queue's */
  constructor (clock) {
    this.clock = clock
    this.isCoarse = clock === systemClock
    this.ms = 0
    this.isFresh = false // that may be used again
    this.age = () => { this.isFresh = false }
  }

  /** Now, to a turn of the event loop. */
  now () {
    return this.isFresh ? this.ms : this.read()
  }

  // private from here on

  read () {
    this.ms = this.clock.now()
    if (this.isCoarse) {
      this.isFresh = true
      systemClock.setTimeout(this.age, FRESH_MS).unref?.() // another one each time: it keeps the context in which it was made
    }
    return this.ms
  }
}

module.exports = { Time }
