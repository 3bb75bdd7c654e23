'use strict'

// Jobs leave the queue: they are done, have become dead letters, were cancelled, or have waited too long. It is noted in the log first, and
// told then.

const { crashedError, overdueError } = require('../../arguments/errors')
const { idOf } = require('./records')

class Endings {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ admission, dead, flushes, records, report: { counts, events, ledger }, results, retries, schedules }) {
    this.admission = admission
    this.dead = dead
    this.flushes = flushes
    this.records = records
    this.counts = counts
    this.events = events
    this.ledger = ledger
    this.results = results
    this.retries = retries
    this.schedules = schedules
  }

  /** A job is done. */
  done ({ id: seq, type, payload, attempt }, result) {
    this.counts.settle('done', type)
    this.finish(seq)
    this.ledger?.ended(seq, false, undefined)
    this.results.settled(seq, undefined, result)
    this.events.tell('done', { id: seq, type, payload, attempt, result })
  }

  /** Makes a dead letter of a job. @param {{ id: number, type?: string, payload: any, attempt: number }} about its last attempt */
  bury ({ id: seq, type, payload, attempt }, error) {
    this.dead.add(seq, type, attempt, error)
    this.counts.settle('failed', type)
    this.ledger?.dead(seq, error)
    this.left(seq)
    this.results.settled(seq, error)
    this.events.tell('failed', { id: seq, type, payload, attempt, error })
  }

  /** A job was running each time that the process ended, and has no attempt left. */
  crashed (seq, type, attempts) {
    this.bury(this.aboutOf(seq, type, attempts), crashedError(attempts))
  }

  /** A job whose record has gone bad on the disk, and was moved as such. */
  damaged (seq, type, attempts) {
    try {
      this.records.read(seq)
    } catch (err) {
      this.bury(this.aboutOf(seq, type, attempts), err)
    }
  }

  /** A job has waited too long while nobody had the queue open. */
  expired (seq, type) {
    const error = overdueError()
    const about = this.aboutOf(seq, type, 0)
    this.counts.settle('cancelled', type)
    this.finish(seq)
    this.ledger?.cancelled(seq, error)
    this.events.tell('cancelled', { ...about, error })
  }

  /** Jobs were cancelled, and taken off the disk if they were there. @param {(number | object)[]} jobs what stood in the queue for them */
  cancelled (jobs, makeError) {
    for (const job of jobs) this.results.settled(idOf(job), makeError())
    this.ledger?.cancelledAll(jobs.map(idOf), makeError())
  }

  /** Takes a dead letter off the disk. @returns {object | undefined} as finish() */
  deleted (seq) {
    const group = this.schedules.finish(seq)
    this.ledger?.buried(seq)
    this.admission.freed()
    return group
  }

  /** Takes a job off the disk. @returns {object | undefined} the group that says so, if it is in one */
  finish (seq) {
    const group = this.schedules.finish(seq)
    this.left(seq)
    this.admission.freed()
    return group
  }

  // private from here on

  /** What events tell of a job that has no attempt in this process. */
  aboutOf (seq, type, attempt) {
    return { id: seq, type, payload: this.records.payloadIfReadable(seq), attempt }
  }

  left (seq) {
    this.retries.left(seq)
    this.flushes.settled(seq)
  }
}

module.exports = { Endings }
