'use strict'

// Takes jobs out of the queue for good: remove(), clear(), cancel(), and those that wait for longer than maxWaitMs. They are gone from the
// disk, and the operating system has that, before anybody is told.

const { clearedError, removedError, typeError } = require('../../arguments/errors')
const { options: { readClearOptions, readType } } = require('../../core/internals')
const { idOf } = require('./records')

class Cancelling {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ hasTypes: boolean }} options hasTypes: it has a scheduler
   */
  constructor (parts, { hasTypes }) {
    const { retries, records, results, waiting, stage, idle, store, intake, admission, status, outcomes, counts, events, ledger } = parts
    this.retries = retries
    this.records = records
    this.results = results
    this.waiting = waiting
    this.stage = stage
    this.idle = idle
    this.store = store
    this.intake = intake
    this.admission = admission
    this.status = status
    this.outcomes = outcomes
    this.counts = counts
    this.events = events
    this.ledger = ledger
    this.hasTypes = hasTypes
  }

  /** Cancels the jobs for which test is true. @returns {number} how many */
  remove (test) {
    if (typeof test !== 'function') throw typeError('FAIRLANE_ERR_ARGUMENT', 'remove: the test must be a function')
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

  /**
   * Jobs were taken out of the queue for good.
   * @param {(number | object)[]} jobs what stood there for them
   * @param {() => Error} makeError one for each
   * @param {(group: object | undefined) => void} [whenLogged] given the last group that says so, if they are in one, before it is written
   * @returns {number} how many of them were jobs: not those that could not be written
   */
  cancel (jobs, makeError, whenLogged = ignore) {
    const held = jobs.filter(job => idOf(job) === undefined)
    // first, for writing others may have them written
    for (const job of held) this.intake.cancel(job, makeError())
    this.store.log.commitNow(false)
    // what could not be written just now is no job: its push tells
    const all = jobs.filter(job => !this.waiting.isGone(job))
    this.counts.cancelled += all.length
    const events = this.events.isHeard('cancelled') ? all.map(job => this.eventOf(job, makeError())) : []
    if (this.status.error === undefined) {
      let group
      for (const job of all) if (idOf(job) !== undefined) group = this.outcomes.finish(idOf(job))
      whenLogged(group)
      this.store.log.commitNow(false)
    }
    for (const job of all) this.results.settled(idOf(job), makeError())
    this.ledger?.cancelledAll(all.map(idOf), makeError())
    if (held.length > 0) this.admission.freed()
    for (const event of events) this.events.tell('cancelled', event)
    return all.length
  }

  // private from here on

  take (take, retries, makeError) {
    return this.idle.after(() => {
      const jobs = []
      this.stage.withdraw(take, job => jobs.push(job))
      for (const { seq } of this.retries.remove(retries)) jobs.push(seq)
      return this.cancel(jobs, makeError)
    })
  }

  eventOf (job, error) {
    return { id: idOf(job), type: this.records.typeIfReadable(job), error }
  }
}

function ignore () {}

module.exports = { Cancelling }
