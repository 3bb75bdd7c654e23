'use strict'

// Notices that a durable queue has nothing left to do, and tells those who wait for that: `drain`, once for all jobs that were accepted
// before, and onIdle().

class Idle {
  /** @param {{ [name: string]: object }} parts of the queue; core: the queue in memory */
  constructor ({ core, report: { counts, events }, retries, stage }) {
    this.core = core
    this.stage = stage
    this.retries = retries
    this.events = events
    this.counts = counts
    this.drain = null // the caller's function
    this.drainedAt = 0 // how many jobs had been accepted when `drain` was told
    this.waiters = []
    this.isHeldOff = false
  }

  /** Jobs that have not settled, and slots that are taken by runners that go on; no dead letters. */
  get length () {
    return this.core.waiting + this.retries.uncounted + this.core.running
  }

  /** @returns {Promise<void>} */
  wait () {
    if (this.length === 0) return Promise.resolve()
    return new Promise(resolve => this.waiters.push(resolve))
  }

  /** No job is left, perhaps. */
  check () {
    if (this.isHeldOff || this.length > 0) return
    if (this.drainedAt !== this.counts.accepted) {
      this.drainedAt = this.counts.accepted
      if (this.drain !== null) this.stage.call(this.drain)
      this.events.tell('drain')
    }
    if (this.length === 0) for (const resolve of this.waiters.splice(0)) resolve()
  }

  /** Calls fn, which takes jobs out: nobody is told of it before fn has returned. */
  after (fn) {
    const isNested = this.isHeldOff
    this.isHeldOff = true
    try {
      return fn()
    } finally {
      this.isHeldOff = isNested
      this.check()
    }
  }
}

module.exports = { Idle }
