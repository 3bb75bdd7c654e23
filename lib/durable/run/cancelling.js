'use strict'

// Takes jobs out of the queue for good: remove(), clear(), cancel(), and those that wait for longer than maxWaitMs. They are gone from the
// disk, and the operating system has that, before anybody is told.

const { clearedError, removedError, typeError } = require('../../arguments/errors')
const { readFunction } = require('../../arguments/fields')
const { options: { readClearOptions, readType } } = require('../../core/internals')

class Cancelling {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ hasTypes: boolean }} options hasTypes: it has a scheduler
   */
  constructor ({ idle, records, removal, retries, stage, store, waiting }, { hasTypes }) {
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
    const take = list => list.remove((job, type) => !this.waiting.isGone(job) && test(this.records.view(job, type)))
    return this.take(take, retries, removedError)
  }

  /** Cancels all jobs, or those of a type. @returns {number} how many */
  clear (options) {
    const { type, reason } = readClearOptions(options)
    if (type !== undefined && !this.hasTypes) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'clear: a queue without a scheduler has no types')
    }
    const retries = this.retries.list(type)
    const take = list => type === undefined ? list.removeAll() : list.removeType(readType(type))
    const cause = reason === undefined ? undefined : { cause: reason }
    return this.take(take, retries, () => clearedError(cause))
  }

  // private from here on

  take (take, retries, makeError) {
    return this.idle.after(() => {
      const jobs = []
      this.stage.withdraw(take, job => jobs.push(job))
      for (const { seq } of this.retries.remove(retries)) jobs.push(seq)
      return this.removal.cancel(jobs, makeError)
    })
  }
}

module.exports = { Cancelling }
