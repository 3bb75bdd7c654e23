'use strict'

// HOT (bench: flow). What holds back the whole queue: its own limit of rate, and hold().

const { COST } = require('../../job/cost')

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
    this.wanted = COST // of the job that is to start next, as far as it is known
    this.position = -1 // in the heap of deadlines, while jobs wait for it to open
    this.order = 0
  }

  /** Whether a job may start now that costs nothing. If not, the queue is woken when one may. */
  isOpen () {
    const ms = this.waitMs(0)
    if (ms === 0) return true
    if (this.position === -1) this.deadlinesOf().addAnyway(this, ms)
    return false
  }

  /** The same of the job that is to start next, when it is open. */
  isOpenFor (cost) {
    this.wanted = cost
    const ms = this.waitMs()
    this.stopWaiting() // another job may have waited, and that for longer
    if (ms > 0) this.deadlinesOf().addAnyway(this, ms)
    return ms === 0
  }

  /** In how many ms a job may start; 0: now. @param {number} [cost] of it */
  waitMs (cost = this.wanted) {
    const lacks = this.limit !== undefined && this.limit.lacks(cost)
    if (!lacks && this.heldUntil === -Infinity) return 0
    const now = this.clock.now()
    if (now >= this.heldUntil) this.heldUntil = -Infinity
    return Math.max(lacks ? this.limit.waitMs(now, cost) : 0, this.heldUntil - now, 0)
  }

  /** In how many ms hold() is over, whatever the limit of rate says. */
  holdMs () {
    return Math.max(this.heldUntil - this.clock.now(), 0)
  }

  /** A job has started. @param {object} [charge] what it costs, where that is counted */
  count (charge) {
    this.wanted = COST
    this.limit?.add(this.clock.now(), charge?.units, charge?.mark)
  }

  /** A job that has started is charged other units than it was. @param {Correction} correction */
  correct (correction) {
    if (this.limit?.ofCost === undefined) return
    correction.applyTo(this.limit, this.clock.now())
    this.change()
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
    this.wanted = COST
    this.stopWaiting()
  }

  whenDue () {
    this.wake()
  }

  // private from here on

  /** The queue looks again: it may open sooner. */
  change () {
    this.stopWaiting()
    this.wake()
  }

  stopWaiting () {
    if (this.position !== -1) this.deadlinesOf().remove(this)
  }
}

module.exports = { Gate }
