'use strict'

// Pushes whose promise is that of the result. A job is on disk as any other, and survives the process; a promise does not.
//
//   add ──▶ pushed ──▶ … ──▶ the job has ended: its result, or what it failed with
//              │              │
//              └ not written  └ the queue has closed: the job is on disk, and the promise rejects

const { abortedError, resultLostError } = require('../../arguments/errors')
const { idOf } = require('../run/records')

class Adding {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ dead, intake, jobs, records, results, stage, status, writing }) {
    this.dead = dead
    this.intake = intake
    this.jobs = jobs
    this.records = records
    this.results = results
    this.stage = stage
    this.status = status
    this.writing = writing
    results.whenLeft = (signal, rejects, deserted, fault) => this.left(signal, rejects, deserted, fault)
  }

  /**
   * The whole of an add(). Arguments as of Intake.push().
   * @param {AbortSignal} [signal] ends the job, if nobody else wants it
   * @returns {Promise<any>} of the result
   */
  add (type, payload, atHead, jobOptions, signal) {
    if (signal?.aborted) return this.intake.refuse(type, abortedError(signal.reason))
    const { job, promise, entry } = this.intake.accept(type, payload, atHead, jobOptions)
    if (job === undefined) return promise
    if (entry?.isOver || this.dead.has(job)) return entry.promise ?? Promise.reject(resultLostError())
    const waiter = this.results.waitFor(job, entry !== undefined)
    if (entry === undefined) promise.catch(err => this.results.end(waiter, err))
    if (signal === undefined && (entry === undefined || jobOptions.onDuplicate === 'join')) {
      waiter.isKept = true
      return waiter.promise
    }
    return this.share(waiter, promise, signal)
  }

  /**
   * The result of a job that was pushed, by whomever.
   * @param {number} id
   * @param {AbortSignal} [signal] lets go of it, and does nothing to the job
   * @returns {Promise<any>} rejects with FAIRLANE_ERR_RESULT if there is no such job that is to end
   */
  async wait (id, signal) {
    if (signal?.aborted) throw abortedError(signal.reason)
    this.status.check()
    if (!this.records.has(id) || this.dead.has(id)) throw resultLostError()
    const { promise } = this.results.waitFor(id, true)
    return signal === undefined ? promise : this.untilAborted(promise, signal)
  }

  // private from here on

  async untilAborted (promise, signal) {
    let letGo
    const aborted = new Promise((resolve, reject) => {
      letGo = this.stage.whenAborted(signal, () => reject(abortedError(signal.reason)))
    })
    try {
      return await Promise.race([promise, aborted])
    } finally {
      letGo()
    }
  }

  /** @returns {Promise<any>} of one who may leave the job, or whose payload may not be written */
  share (waiter, pushed, signal) {
    return new Promise((resolve, reject) => {
      waiter.promise.then(resolve, reject)
      pushed.catch(reject)
      if (signal === undefined) waiter.isKept = true
      else this.results.sharers.add(waiter, signal, reject)
    })
  }

  /** Some have left; jobs that all have left are cancelled. */
  left (signal, rejects, deserted, fault) {
    const makeError = () => abortedError(signal.reason)
    for (const reject of rejects) reject(fault ?? makeError())
    if (deserted.length === 0) return
    if (deserted.some(({ job }) => idOf(job) === undefined)) this.writing.writeNow()
    this.jobs.cancelNow(new Set(deserted.map(({ job }) => idOf(job))), fault === undefined ? makeError : undefined)
  }
}

module.exports = { Adding }
