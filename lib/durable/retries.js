'use strict'

// Jobs that wait without standing in the queue: until their time has come, or, after crashes, until it is their turn to be tried
// alone. One timer for all times, the queue's own.

const { rethrow } = require('../clock')

/** A job whose time has not come. */
class DelayedJob {
  constructor (retries, seq, type) {
    this.retries = retries
    this.seq = seq
    this.type = type
    this.position = -1 // in the heap of deadlines
    this.order = 0
  }

  whenDue () {
    this.retries.due(this)
  }
}

class Retries {
  /**
   * @param {object} deadlines of the queue
   * @param {(seq: number, type: string | undefined) => void} place puts a job whose time has come into the queue
   */
  constructor (deadlines, place) {
    this.deadlines = deadlines
    this.place = place
    this.delayed = new Set()
    this.suspects = [] // { seq, type }: were running when the process ended, and have one attempt left
    this.triedAlone = 0 // the suspect that is in the queue
    this.isStopped = false
  }

  get size () {
    return this.delayed.size + this.suspects.length
  }

  /** Has a job placed in so many ms. */
  add (seq, type, ms) {
    const job = new DelayedJob(this, seq, type)
    this.delayed.add(job)
    if (this.isStopped) return
    try {
      this.deadlines.add(job, ms)
    } catch (err) {
      rethrow(err) // of a clock of the caller's own; the timer of the next job serves this one too
    }
  }

  /** Has a job placed when no other one of these is in the queue. */
  addSuspect (seq, type) {
    this.suspects.push({ seq, type })
    this.nextSuspect()
  }

  /** A job has settled, or was taken out. */
  settled (seq) {
    if (seq !== this.triedAlone) return
    this.triedAlone = 0
    this.nextSuspect()
  }

  /** From here on nothing falls due. */
  stop () {
    this.isStopped = true
    for (const job of this.delayed) this.deadlines.remove(job)
  }

  /** @returns {{ seq: number, type: string | undefined }[]} those that wait here, in no particular order */
  list () {
    return [...this.suspects, ...this.delayed]
  }

  /** Takes jobs of list() out. */
  remove (jobs) {
    const gone = new Set(jobs)
    this.suspects = this.suspects.filter(job => !gone.has(job))
    for (const job of jobs) {
      if (this.delayed.delete(job)) this.deadlines.remove(job)
    }
  }

  // private from here on

  due (job) {
    // a job that fell due at the same time may have had this one removed
    if (this.delayed.delete(job)) this.place(job.seq, job.type)
  }

  nextSuspect () {
    if (this.triedAlone !== 0 || this.suspects.length === 0) return
    const { seq, type } = this.suspects.shift()
    this.triedAlone = seq
    this.place(seq, type)
  }
}

module.exports = { Retries }
