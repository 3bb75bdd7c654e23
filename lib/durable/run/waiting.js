'use strict'

// The jobs that stand in the queue in memory, by their numbers; those that are not written yet as BufferedJobs.

const { COST } = require('../../job/cost')
const { idOf, renumber } = require('./records')

class Waiting {
  /**
   * @param {{ stage: object, store: object }} parts of the queue
   * @param {{ hasTypes: boolean, maxWaitMs: number }} options hasTypes: it has a scheduler
   */
  constructor ({ stage, store }, { hasTypes, maxWaitMs }) {
    this.stage = stage
    this.store = store
    this.hasTypes = hasTypes
    this.maxWaitMs = maxWaitMs
    this.isLimited = maxWaitMs !== Infinity // some jobs may wait for a time only
    this.costs = new Map() // job → what it costs, of those that do not cost as much as any
    this.whenCosted = undefined // called when a job is there of which that is said
    this.isLeft = false // what waits stays on disk: the queue closes, and starts nothing
  }

  /** From here on no job is put into the queue: each stays on disk. */
  leave () {
    this.isLeft = true
  }

  /**
   * Puts a job into the queue, past admission.
   * @param {number | object} job what is to stand there for it
   * @param {number} [priority] says nothing of a queue without levels
   */
  place (job, type, atHead, maxWaitMs = Infinity, priority = 0) {
    if (this.isLeft) return
    this.stage.place(this.hasTypes ? type ?? '' : undefined, job, atHead, maxWaitMs, priority)
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
  found (job, { maxWaitMs = Infinity, cost }) {
    this.limitOf(maxWaitMs)
    this.setCost(job, cost)
  }

  /** What a job costs, be it in the queue or elsewhere. */
  costOf (job) {
    return this.costs.get(idOf(job) ?? job) ?? COST
  }

  /** @param {number | undefined} cost undefined: nothing is said of it */
  setCost (job, cost) {
    if (cost === undefined) return
    this.whenCosted()
    if (cost === COST) this.forget(job)
    else this.costs.set(idOf(job) ?? job, cost)
  }

  /** A job has another payload. It, and those behind it, may have to wait for longer, or not any more. */
  replaceCost (job, type, cost = COST) {
    if (this.costOf(job) === cost) return
    this.setCost(job, cost)
    this.stage.look(this.hasTypes ? type : undefined)
  }

  /** A job is written that was not. */
  written (buffered, seq) {
    renumber(this.costs, buffered, seq)
  }

  /** A job is no more, or is a dead letter. */
  forget (job) {
    this.costs.delete(idOf(job) ?? job)
  }

  /** Whether a job that stands in the queue could not be written: it is about to be taken out. */
  isGone (job) {
    const id = idOf(job)
    return id !== undefined && !this.store.table.find(id)
  }

  /** A job may wait for so long. @returns {number} that; the queue's own limit if nothing was said */
  limitOf (maxWaitMs = this.maxWaitMs) {
    if (maxWaitMs !== Infinity) this.isLimited = true
    return maxWaitMs
  }
}

module.exports = { Waiting }
