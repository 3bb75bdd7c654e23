'use strict'

// Who waits for the results of jobs: add(). A job is on disk as any other, and survives the process; a promise does not.
//
//   add ──▶ pushed ──▶ … ──▶ the job has ended: its result, or what it failed with
//              │              │
//              └ not written  └ the queue has closed: the job is on disk, and the promise rejects

const { abortedError, resultLostError } = require('../../arguments/errors')
const { callbackOf } = require('../../platform/promised')
const { Signals } = require('../../platform/signals')
const { idOf, renumber } = require('../run/records')

/** A job whose result somebody waits for. */
class Waited {
  constructor (job) {
    this.job = job // what stands in the queue for it
    this.isKept = false // somebody wants it who has no signal
    this.sharers = new Set() // those who have one
    let resolve
    this.promise = new Promise(_resolve => { resolve = _resolve })
    this.settle = callbackOf(resolve)
  }
}

class Results {
  /** @param {{ [name: string]: object }} parts of the queue, of which the jobs come later */
  constructor (parts) {
    this.parts = parts
    this.intake = parts.intake
    this.keys = parts.keys
    this.waited = new Map() // what stands in the queue → Waited
    this.signals = new Signals((signal, sharers) => this.abort(signal, sharers))
  }

  /**
   * The whole of an add(). Arguments as of Intake.push().
   * @param {AbortSignal} [signal] ends the job, if nobody else wants it
   * @returns {Promise<any>} of the result
   */
  add (type, payload, atHead, said, signal) {
    if (signal?.aborted) return Promise.reject(abortedError(signal.reason))
    const { job, promise, entry } = this.intake.accept(type, payload, atHead, said)
    if (job === undefined) return promise
    if (entry?.isOver || this.parts.dead.has(job)) return entry.promise ?? Promise.reject(resultLostError())
    const waited = this.waitFor(job, entry !== undefined)
    if (entry === undefined) promise.catch(err => this.end(waited, err))
    if (signal === undefined && (entry === undefined || said.onDuplicate === 'join')) {
      waited.isKept = true
      return waited.promise
    }
    return this.share(waited, promise, signal)
  }

  /** Somebody has pushed a job, perhaps one that is there, who does not wait for it. */
  keep (job) {
    const waited = this.waited.size === 0 ? undefined : this.waited.get(job)
    if (waited !== undefined) waited.isKept = true
  }

  /** A job is written that was not. */
  written (held, seq) {
    const waited = renumber(this.waited, held, seq)
    if (waited !== undefined) waited.job = seq
  }

  /** A job has ended. */
  settled (seq, err, result) {
    const waited = this.waited.size === 0 ? undefined : this.waited.get(seq)
    if (waited === undefined) return
    this.keys.keepResult(seq, waited.promise)
    this.end(waited, err, result)
  }

  /** Nothing more will be known of jobs that have not ended. */
  close (error) {
    for (const waited of [...this.waited.values()]) this.end(waited, error)
  }

  // private from here on

  waitFor (job, wasThere) {
    let waited = this.waited.get(job)
    if (waited === undefined) {
      waited = new Waited(job)
      waited.isKept = wasThere
      this.waited.set(job, waited)
    }
    return waited
  }

  end (waited, err, result) {
    if (this.waited.get(waited.job) !== waited) return
    this.waited.delete(waited.job)
    for (const sharer of waited.sharers) this.signals.remove(sharer.signal, sharer)
    waited.sharers.clear()
    waited.settle(err, result)
  }

  /** @returns {Promise<any>} of one who may leave the job, or whose payload may not be written */
  share (waited, pushed, signal) {
    return new Promise((resolve, reject) => {
      const sharer = { waited, signal, reject }
      waited.promise.then(resolve, reject)
      pushed.catch(reject)
      if (signal === undefined) {
        waited.isKept = true
        return
      }
      waited.sharers.add(sharer)
      this.signals.add(signal, sharer)
      if (signal.aborted) queueMicrotask(() => this.abort(signal, [sharer])) // by encode
    })
  }

  /** Some leave; jobs that all have left are cancelled. */
  abort (signal, sharers) {
    const deserted = new Set()
    for (const sharer of [...sharers]) {
      const { waited, reject } = sharer
      this.signals.remove(signal, sharer)
      if (!waited.sharers.delete(sharer)) continue
      reject(abortedError(signal.reason))
      if (!waited.isKept && waited.sharers.size === 0) deserted.add(waited)
    }
    if (deserted.size === 0) return
    if ([...deserted].some(({ job }) => idOf(job) === undefined)) this.parts.admission.writeNow()
    this.parts.jobs.cancelNow(new Set([...deserted].map(({ job }) => idOf(job))))
  }
}

module.exports = { Results }
