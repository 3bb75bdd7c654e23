'use strict'

// The end of jobs that were taken out of the queue for good: by their users, by a signal, or since they have waited too long.

const { idOf } = require('./records')

class Removal {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ endings, records, report: { counts, events }, status, store, waiting, writing }) {
    this.endings = endings
    this.records = records
    this.counts = counts
    this.events = events
    this.status = status
    this.store = store
    this.waiting = waiting
    this.writing = writing
  }

  /**
   * Jobs were taken out of the queue for good.
   * @param {(number | object)[]} jobs what stood there for them
   * @param {() => Error} makeError one for each
   * @param {{ types?: Map<number | object, string>, whenLogged?: (group: object | undefined) => void }} [more] types: of jobs, where they
   *   are known. whenLogged: given the last group that says so, if they are in one, before it is written
   * @returns {number} how many of them were jobs: not those that could not be written
   */
  cancel (jobs, makeError, { types, whenLogged = ignore } = {}) {
    const buffered = jobs.filter(job => idOf(job) === undefined)
    // first, for writing others may have them written
    for (const job of buffered) {
      this.writing.cancel(job, makeError())
      this.waiting.forget(job)
    }
    this.store.log.commitNow(false)
    // what could not be written just now is no job: its push tells
    const all = jobs.filter(job => !this.waiting.isGone(job))
    const isHeard = this.events.isHeard('cancelled')
    const events = isHeard ? all.map(job => this.eventOf(job, makeError())) : []
    for (const job of all) this.counts.settle('cancelled', types?.get(job) ?? this.typeOf(job))
    if (this.status.error === undefined) {
      let group
      for (const job of all) if (idOf(job) !== undefined) group = this.endings.finish(idOf(job))
      whenLogged(group)
      this.store.log.commitNow(false)
    }
    this.endings.cancelled(all, makeError)
    if (buffered.length > 0) this.writing.freed()
    for (const event of events) this.events.tell('cancelled', event)
    return all.length
  }

  // private from here on

  /** To be counted: it is not read while no type is. */
  typeOf (job) {
    return this.counts.types.size === 0 ? undefined : this.records.typeIfReadable(job)
  }

  /** `attempt`: how many have ended, or which one runs. */
  eventOf (job, error) {
    const id = idOf(job)
    const { attempts = 0 } = this.records.states.get(id) ?? {}
    return { id, type: this.records.typeIfReadable(job), payload: this.records.payloadIfReadable(job), attempt: attempts, error }
  }
}

function ignore () {}

module.exports = { Removal }
