'use strict'

// Takes jobs out of the queue for good: remove(), clear(), cancel(), and those that wait for longer than maxWaitMs. They are gone from the
// disk, and the operating system has that, before anybody is told.

const { clearedError, removedError } = require('../../arguments/errors')
const { readFunction } = require('../../arguments/fields')

class Cancelling {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ hasTypes: boolean }} options hasTypes: it has a scheduler
   */
  constructor ({ deadLetters, idle, records, removal, retries, stage, store, waiting }, { hasTypes }) {
    this.deadLetters = deadLetters
    this.idle = idle
    this.records = records
    this.removal = removal
    this.retries = retries
    this.stage = stage
    this.store = store
    this.waiting = waiting
    this.hasTypes = hasTypes
  }

  /** Cancels the jobs for which test is true. @returns {number} how many */
  remove (test) {
    readFunction(test, 'remove: the test', 'FAIRLANE_ERR_ARGUMENT')
    // what cannot be written is no job
    this.store.log.commitNow(false)
    const retries = this.retries.list().filter(({ seq, type }) => test(this.records.view(seq, type)))
    return this.take((job, type) => !this.waiting.isGone(job) && test(this.records.view(job, type)), retries, removedError)
  }

  /**
   * Cancels all jobs, or those of a type.
   * @param {{ type: string | undefined, reason: unknown, dead: boolean }} options dead: dead letters go, too
   * @returns {number} how many
   */
  clear ({ type, reason, dead }) {
    const cause = reason === undefined ? undefined : { cause: reason }
    const makeError = () => clearedError(cause)
    let count
    if (type === undefined) {
      count = this.take(() => true, this.retries.list(), makeError)
    } else {
      // what cannot be written is no job, and has no record to be looked at
      if (!this.hasTypes) this.store.log.commitNow(false)
      count = this.take((job, known) => (known ?? this.records.typeIfReadable(job)) === type, this.retries.list(type), makeError)
    }
    return dead ? count + this.deadLetters.clear(type) : count
  }

  // private from here on

  /** @param {(job: number | object, type: string | undefined) => unknown} test type: if the queue has types */
  take (test, retries, makeError) {
    return this.idle.after(() => {
      const jobs = []
      const types = new Map()
      this.stage.withdraw(list => list.remove((job, type) => {
        if (!test(job, type)) return false
        if (type !== undefined) types.set(job, type)
        return true
      }), job => jobs.push(job))
      for (const { seq, type } of this.retries.remove(retries)) {
        jobs.push(seq)
        if (type !== undefined) types.set(seq, type)
      }
      return this.removal.cancel(jobs, makeError, { types })
    })
  }
}

module.exports = { Cancelling }
