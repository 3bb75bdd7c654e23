'use strict'

// A timer that comes again and again for as long as somebody wants it. It is of the queue's clock, keeps no process alive, and is nobody's
// in particular. The clock is the caller's: it is called when the queue is done with what it is about.

const { asyncScope } = require('../platform/context')
const { callSafely } = require('../platform/clock')

class Ticker {
  /**
   * @param {object} clock
   * @param {number} periodMs until it comes for the first time
   * @param {() => number | undefined} onTick gives in how many ms it is to come again; undefined: not before begin()
   */
  constructor (clock, periodMs, onTick) {
    this.clock = clock
    this.periodMs = periodMs
    this.onTick = onTick
    this.scope = asyncScope() // that of who makes the queue
    this.isOn = false
    this.isSetting = false // the clock's setTimeout is on the stack
  }

  begin () {
    this.isOn = true
    queueMicrotask(() => this.scope.runInAsyncScope(() => callSafely(() => this.set(this.periodMs))))
  }

  // private from here on

  set (ms) {
    this.isSetting = true
    let hasSet = false
    try {
      const timer = this.clock.setTimeout(() => this.fire(), ms)
      if (typeof timer?.unref === 'function') timer.unref()
      hasSet = true
    } finally {
      this.isSetting = false
      if (!hasSet) this.isOn = false // the next job that waits for itself tries again
    }
  }

  fire () {
    // a clock that does not wait would never come to an end
    if (this.isSetting) this.isOn = false
    else this.scope.runInAsyncScope(() => this.tick())
  }

  tick () {
    const ms = this.onTick()
    if (ms === undefined) this.isOn = false
    else callSafely(() => this.set(ms))
  }
}

module.exports = { Ticker }
