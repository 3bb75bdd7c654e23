'use strict'

// The jobs that stand in the queue in memory, by their numbers; those that are not written yet as HeldJobs.

const { idOf } = require('./records')
const { pushedAt } = require('./serialize')

class Waiting {
  /**
   * @param {{ stage: object, store: object, records: object }} parts of the queue
   * @param {{ hasTypes: boolean, maxWaitMs: number, now: () => number }} options hasTypes: it has a scheduler. now: in ms since 1970
   */
  constructor ({ stage, store, records }, { hasTypes, maxWaitMs, now }) {
    this.stage = stage
    this.store = store
    this.records = records
    this.hasTypes = hasTypes
    this.maxWaitMs = maxWaitMs
    this.now = now
  }

  /**
   * Puts a job into the queue, past admission.
   * @param {number | object} job what is to stand there for it
   */
  place (job, type, atHead = false, maxWaitMs = Infinity) {
    this.stage.place(this.hasTypes ? type ?? '' : undefined, job, atHead, maxWaitMs)
  }

  /** Puts a job into the queue that was pushed just now. */
  placeNew (job, type, atHead) {
    this.place(job, type, atHead, this.maxWaitMs)
  }

  /** How long a job may still wait for its first start, if there is a limit; counted from its push. */
  leftToWait (job) {
    if (this.maxWaitMs === Infinity) return Infinity
    try {
      const ms = pushedAt(this.records.bytesOf(job)) + this.maxWaitMs - this.now()
      return Math.min(Math.max(0, ms), this.maxWaitMs) // the clock may have been set back
    } catch {
      return this.maxWaitMs // that it cannot be read now is no reason not to open the queue
    }
  }

  /** Whether a job that stands in the queue could not be written: it is about to be taken out. */
  isGone (job) {
    const id = idOf(job)
    return id !== undefined && !this.store.table.find(id)
  }
}

module.exports = { Waiting }
