'use strict'

// What users do with dead letters: look at them, retry them, delete them.

const { JobState } = require('./job-state')
const { errorOf } = require('../../job/error-text')

class DeadLetters {
  /** @param {{ [name: string]: object }} parts of the queue; the outage writes, or does so later */
  constructor ({ dead, endings, flushes, outage, records, report: { counts, events, ledger }, status, waiting }) {
    this.dead = dead
    this.endings = endings
    this.flushes = flushes
    this.outage = outage
    this.records = records
    this.counts = counts
    this.events = events
    this.ledger = ledger
    this.status = status
    this.waiting = waiting
  }

  /**
   * Jobs as users see them, with attempts, error and when they died, in ms since 1970; the oldest one first. O(dead letters).
   * @param {{ type: string | undefined, limit: number, after: number | undefined }} which as of Dead.list()
   * @returns {Promise<object[]>}
   */
  async list (which) {
    this.records.check()
    return this.dead.list(which).map(seq => {
      const { attempts, error, dueAt } = this.records.states.get(seq)
      return Object.assign(this.records.entry(seq), { attempts, error: errorOf(error), at: dueAt === 0 ? undefined : dueAt })
    })
  }

  /** Takes all dead letters off the disk, or those of a type. O(dead letters). @returns {number} how many */
  clear (type) {
    if (this.status.error !== undefined || this.status.isOver) return 0
    const seqs = this.dead.list({ type })
    for (const seq of seqs) {
      this.dead.remove(seq)
      this.endings.deleted(seq)
    }
    this.records.commit()
    return seqs.length
  }

  /** Queues a dead job again, with all its attempts. @returns {Promise<boolean>} false if there is none of this id, or its key is taken */
  retry (id) {
    return this.change(id, () => {
      if (this.outage.isOn) throw this.outage.error
      const { type, options } = this.records.read(id)
      if (!this.dead.mayRevive(id, type, options)) return false
      // before it is dead no more, so that its type is not forgotten
      this.counts.accept(type)
      this.dead.remove(id)
      const group = this.outage.change(id, JobState.revived)
      this.flushes.revived(id)
      this.ledger?.revived(id)
      this.waiting.setCost(id, options.cost)
      this.waiting.place(id, type, false, Infinity, options.priority)
      return group
    })
  }

  /** Takes a dead job off the disk. @returns {Promise<boolean>} false if there is none of this id */
  delete (id) {
    return this.change(id, () => {
      this.dead.remove(id)
      return this.endings.deleted(id)
    })
  }

  // private from here on

  /**
   * @param {() => object | false | undefined} change returns the group that it is in, or false if it may not be; if it throws, nothing has
   *   changed: it was not possible now
   */
  change (id, change) {
    try {
      this.status.check()
      if (!this.dead.has(id)) return Promise.resolve(false)
      const group = change()
      if (group === false) return Promise.resolve(false)
      return this.outage.safe(group).then(() => this.events.whenTold).then(() => true)
    } catch (err) {
      return Promise.reject(err)
    }
  }
}

module.exports = { DeadLetters }
