'use strict'

// Tells the parts of a queue what was found of jobs on disk, when it is opened.

const { errorOf } = require('../../job/error-text')
const { pushedAt } = require('../push/serialize')
const { DUE, DEAD } = require('../run/job-state')

class Findings {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ clocks, dead, keys, pastTimes, records, report: { counts, ledger }, schedules, waiting }) {
    this.clocks = clocks
    this.dead = dead
    this.keys = keys
    this.pastTimes = pastTimes
    this.records = records
    this.counts = counts
    this.ledger = ledger
    this.isObserved = ledger !== undefined
    this.schedules = schedules
    this.waiting = waiting
  }

  /** A job with options. @returns {JobOptions} */
  options (seq, type, state) {
    const read = this.records.read(seq)
    const { options } = read
    const at = pushedAt(read.bytes)
    this.waiting.found(seq, options)
    this.keys.found(type, seq, options, state, at)
    if (typeof options.keyUntil === 'number') this.pastTimes.checkKey(seq, read, at)
    if (options.schedule !== undefined && !options.byHand) this.schedules.found(seq, options.schedule, state)
    if (options.note !== undefined) this.schedules.foundNote(seq, read)
    return options
  }

  /** A job that is over: its record goes if it says nothing of a key or a schedule any more. */
  over (seq) {
    if (!this.keys.has(seq) && !this.schedules.has(seq)) this.schedules.finish(seq)
  }

  /** A job that has not settled. */
  live (type) {
    this.counts.accept(type)
  }

  /** A dead letter. */
  deadLetter (seq, type) {
    this.dead.found(seq, type)
  }

  /** Observers hear of a job that is not over. @param {number} pushed when, in ms since 1970 */
  tell (seq, type, pushed, { phase, attempts = 0, dueAt, error } = {}, options) {
    this.ledger.recovered(seq, type, this.clocks.ageOf(pushed), attempts, {
      isDelayed: (phase === DUE && this.clocks.isAhead(dueAt)) || (phase === undefined && this.clocks.isAhead(options.dueAt)),
      isDead: phase === DEAD,
      error: error === undefined ? undefined : errorOf(error)
    })
  }
}

module.exports = { Findings }
