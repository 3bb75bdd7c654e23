'use strict'

// The timer by which that is forgotten which counts no more, where there is much of it. It keeps no process alive: all that it does is to give memory back.

const { callSafely } = require('../clock')

// So much is worth a timer; less is forgotten when more comes.
const MANY = 1024
const LONGEST_TIMER_MS = 2 ** 31 - 1

class Forgetting {
  /**
   * @param {object} clock
   * @param {(fn: () => void) => void} call calls the caller's code in the context of the queue: the clock is the caller's
   * @param {() => void} forget
   */
  constructor (clock, call, forget) {
    this.clock = clock
    this.call = call
    this.forget = forget
    this.timer = undefined
  }

  /** Has it be done in so many ms, unless it is to be done anyway. */
  plan (ms) {
    if (this.timer !== undefined) return
    const timerMs = Math.min(Math.max(Math.ceil(ms), 1), LONGEST_TIMER_MS)
    this.call(() => callSafely(() => {
      this.timer = this.clock.setTimeout(() => {
        this.timer = undefined
        this.forget()
      }, timerMs)
      this.timer?.unref?.()
    }))
  }
}

module.exports = { Forgetting, MANY }
