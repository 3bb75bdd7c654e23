'use strict'

// Jobs that failed as often as they may, and jobs that no attempt can help. They stay on disk, each with its last error, until
// somebody retries or deletes them.

const { JobState } = require('./job-state')
const { errorOf, errorText } = require('../../job/error-text')

class DeadLetters {
  /** @param {{ [name: string]: object }} parts of the queue; the outage writes, or does so later */
  constructor ({ admission, clocks, counts, events, flushes, keys, ledger, outage, records, schedules, status, store, waiting }) {
    this.admission = admission
    this.clocks = clocks
    this.counts = counts
    this.events = events
    this.flushes = flushes
    this.keys = keys
    this.ledger = ledger
    this.outage = outage
    this.records = records
    this.schedules = schedules
    this.status = status
    this.store = store
    this.waiting = waiting
    this.seqs = new Set()
  }

  get size () {
    return this.seqs.size
  }

  has (seq) {
    return this.seqs.has(seq)
  }

  /** The log has one. */
  found (seq) {
    this.seqs.add(seq)
  }

  /** Writes that a live job is dead. */
  add (seq, attempts, err) {
    this.seqs.add(seq)
    this.outage.change(seq, JobState.dead(attempts, errorText(err), this.clocks.now()))
  }

  /**
   * Jobs as users see them, with attempts and error; the oldest one first. O(dead letters), each of which is read if a type is asked for.
   * @param {{ type: string | undefined, limit: number }} options limit: so many at most
   * @returns {object[]}
   */
  list ({ type, limit }) {
    this.records.check()
    const wanted = []
    for (const seq of [...this.seqs].sort((a, b) => a - b)) {
      if (wanted.length === limit) break
      if (type === undefined || this.records.typeOf(seq) === type) wanted.push(seq)
    }
    return wanted.map(seq => {
      const { attempts, error } = this.store.states.get(seq)
      return Object.assign(this.records.entry(seq), { attempts, error: errorOf(error) })
    })
  }

  /** Queues a dead job again, with all its attempts. @returns {Promise<boolean>} false if there is none of this id */
  retry (id) {
    return this.change(id, () => {
      if (this.outage.isOn) throw this.outage.error
      const { type, options: { priority } } = this.records.read(id)
      this.seqs.delete(id)
      const group = this.outage.change(id, JobState.revived)
      this.counts.accepted++
      this.flushes.revived(id)
      this.ledger?.revived(id)
      this.waiting.place(id, type, false, Infinity, priority)
      return group
    })
  }

  /** Takes a dead job off the disk. @returns {Promise<boolean>} false if there is none of this id */
  delete (id) {
    return this.change(id, () => {
      this.seqs.delete(id)
      const group = this.schedules.finish(id)
      this.ledger?.buried(id)
      this.admission.freed()
      return group
    })
  }

  // private from here on

  /** @param {() => object | undefined} change returns the group that it is in; if it throws, nothing has changed: it was not possible now */
  change (id, change) {
    try {
      this.status.check()
      if (!this.seqs.has(id)) return Promise.resolve(false)
      return this.outage.safe(change()).then(() => this.events.whenTold).then(() => true)
    } catch (err) {
      return Promise.reject(err)
    }
  }
}

module.exports = { DeadLetters }
