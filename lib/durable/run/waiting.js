'use strict'

// The jobs that stand in the queue in memory, by their numbers; those that are not written yet as HeldJobs.

const { asyncScope } = require('../../platform/context')
const { idOf } = require('./records')

class Waiting {
  /**
   * @param {{ stage: object, store: object, retries: object }} parts of the queue
   * @param {{ hasTypes: boolean, maxWaitMs: number }} options hasTypes: it has a scheduler
   */
  constructor (parts, { hasTypes, maxWaitMs }) {
    const { stage, store } = parts
    this.parts = parts // of which the retries come later
    this.stage = stage
    this.store = store
    this.hasTypes = hasTypes
    this.maxWaitMs = maxWaitMs
    this.isLimited = maxWaitMs !== Infinity // some jobs may wait for a time only
  }

  /**
   * Puts a job into the queue, past admission.
   * @param {number | object} job what is to stand there for it
   * @param {number} [priority] says nothing of a queue without levels
   */
  place (job, type, atHead, maxWaitMs = Infinity, priority = 0) {
    this.stage.place(this.hasTypes ? type ?? '' : undefined, job, atHead, maxWaitMs, priority)
  }

  /** Puts a job into the queue that was pushed just now; one with a delay when that is over. */
  placeNew (job, type, atHead, options) {
    const { delayMs, maxWaitMs = this.maxWaitMs, priority } = options
    if (delayMs > 0) this.placeLater(job, type, atHead, options, delayMs)
    else this.place(job, type, atHead, this.noted(maxWaitMs), priority)
  }

  /** Has a job put into the queue in so many ms, for the first time: its wait begins then. */
  placeLater (job, type, atHead, { maxWaitMs = this.maxWaitMs, priority }, ms) {
    const scope = this.stage.keepsContext ? asyncScope() : undefined
    this.parts.retries.add(job, type, ms, { atHead, maxWaitMs: this.noted(maxWaitMs), priority, scope })
  }

  /** The time of a job has come. @param {object | undefined} first as of a DelayedJob */
  placeDue (job, type, first) {
    if (first === undefined) {
      this.place(job, type, true)
      return
    }
    const { atHead, maxWaitMs, priority, scope } = first
    if (scope === undefined) this.place(job, type, atHead, maxWaitMs, priority)
    else scope.runInAsyncScope(this.place, this, job, type, atHead, maxWaitMs, priority)
  }

  /** Options of a job are there that were said when it was pushed, perhaps by another process. */
  found ({ maxWaitMs }) {
    this.noted(maxWaitMs)
  }

  /** Whether a job that stands in the queue could not be written: it is about to be taken out. */
  isGone (job) {
    const id = idOf(job)
    return id !== undefined && !this.store.table.find(id)
  }

  // private from here on

  noted (maxWaitMs = Infinity) {
    if (maxWaitMs !== Infinity) this.isLimited = true
    return maxWaitMs
  }
}

module.exports = { Waiting }
