'use strict'

// HOT (bench: flow). What holds back the whole queue: its own limit of rate, and hold().

class Gate {
  /**
   * @param {object} clock
   * @param {() => object} deadlinesOf gives the deadlines of the queue
   * @param {() => void} wake has it start what may start
   */
  constructor (clock, deadlinesOf, wake) {
    this.clock = clock
    this.deadlinesOf = deadlinesOf
    this.wake = wake
    this.limit = undefined
    this.heldUntil = -Infinity
    this.position = -1 // in the heap of deadlines, while jobs wait for it to open
    this.order = 0
  }

  /** Whether a job may start now. If not, the queue is woken when one may. */
  isOpen () {
    const ms = this.waitMs()
    if (ms === 0) return true
    if (this.position === -1) this.deadlinesOf().addAnyway(this, ms)
    return false
  }

  /** In how many ms a job may start; 0: now. */
  waitMs () {
    const isUsedUp = this.limit !== undefined && this.limit.isUsedUp
    if (!isUsedUp && this.heldUntil === -Infinity) return 0
    const now = this.clock.now()
    if (now >= this.heldUntil) this.heldUntil = -Infinity
    return Math.max(isUsedUp ? this.limit.waitMs(now) : 0, this.heldUntil - now, 0)
  }

  /** In how many ms hold() is over, whatever the limit of rate says. */
  holdMs () {
    return Math.max(this.heldUntil - this.clock.now(), 0)
  }

  /** A job has started. */
  count () {
    this.limit?.add(this.clock.now())
  }

  hold (ms) {
    this.heldUntil = ms === 0 ? -Infinity : this.clock.now() + ms
    this.change()
  }

  setLimit (limit) {
    this.limit = limit
    this.change()
  }

  /** Nobody waits for it any more. */
  rest () {
    if (this.position !== -1) this.deadlinesOf().remove(this)
  }

  whenDue () {
    this.wake()
  }

  // private from here on

  /** The queue looks again: it may open sooner. */
  change () {
    this.rest()
    this.wake()
  }
}

module.exports = { Gate }
