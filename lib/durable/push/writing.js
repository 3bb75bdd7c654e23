'use strict'

// Jobs that were accepted, from there to the moment when they are safe. Those that admission buffers have their place in the queue, and
// their bytes in memory.
//
//   accepted ─┬─▶ written ──▶ safe
//             └─▶ buffered, until it is their turn ──▶ written

const { Batch } = require('./batch')
const { NONE } = require('./job-options')
const { sizeOf } = require('./serialize')

/** A job that is not written yet. It stands in the queue where others have their number. */
class BufferedJob {
  constructor (type, bytes, atHead, options) {
    this.type = type
    this.bytes = bytes
    this.atHead = atHead
    this.options = options
    this.seq = 0 // 0: not written
    this.push = undefined // what admission buffers
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }))
    this.written = new Promise(resolve => { this.tellWritten = resolve }) // or cancelled
  }
}

class Writing {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ admission, keys, report: { ledger }, results, retries, reverts, store }) {
    this.admission = admission
    this.keys = keys
    this.ledger = ledger
    this.results = results
    this.retries = retries
    this.reverts = reverts
    this.store = store
    this.unsafe = new Map() // seq → promise, for jobs that are not safe yet
  }

  /**
   * Writes a job, or has it buffered.
   * @param {string | undefined} type
   * @param {Uint8Array} encoded
   * @param {Uint8Array} head what comes before that
   * @param {boolean} atHead
   * @param {JobOptions} options which are in the head
   * @returns {{ job: number | BufferedJob, promise: Promise<number>, entry: undefined }} what is to stand in the queue, and its number when
   *   it is safe
   */
  write (type, encoded, head, atHead, options) {
    if (this.admission.mayWrite) {
      const seq = this.track(this.store.push([encoded], type, atHead, head, options !== NONE), type, undefined)
      if (options.delayMs > 0) this.ledger?.delayed(seq)
      return { job: seq, promise: this.unsafe.get(seq), entry: undefined }
    }
    const job = new BufferedJob(type, Buffer.concat([head, encoded]), atHead, options)
    job.push = this.admission.buffer(1, sizeOf(type, job.bytes.length), error => this.writeBuffered(job, error))
    return { job, promise: job.promise, entry: undefined }
  }

  /** Writes all that is buffered now, whatever is under way. */
  writeNow () {
    this.admission.writeNow()
  }

  /** Jobs that were buffered are none any more. */
  freed () {
    this.admission.freed()
  }

  /** @returns {Batch} of jobs that are to be written together */
  batch () {
    return new Batch(this.store)
  }

  /** @returns {object} the group that a batch is in */
  writeBatch (batch) {
    return this.admission.write(batch)
  }

  /** @returns {Promise<any> | undefined} undefined if the job, which is written, is safe */
  whenSafe (seq) {
    return this.unsafe.get(seq)
  }

  /**
   * Jobs of a push that were given to the store together. They share a promise: one for each takes as long as writing it.
   * @param {{ seq: number, type: string | undefined, delayMs: number }[]} jobs
   * @param {object} group that they are in
   * @returns {Promise<void>} resolves when they are safe
   */
  trackAll (jobs, group) {
    const { unsafe } = this
    const forget = () => {
      for (const { seq } of jobs) unsafe.delete(seq)
    }
    const safe = group.promise.then(forget, err => {
      for (const { seq, type } of jobs) this.reverts.revert(seq, type)
      forget()
      throw err
    })
    for (const { seq, type, delayMs } of jobs) {
      this.ledger?.accepted(seq, type)
      if (delayMs > 0) this.ledger?.delayed(seq)
      unsafe.set(seq, safe)
    }
    return safe
  }

  /** Takes back a job that has not been written; a second time is none. */
  cancel (job, error) {
    this.admission.drop(job.push)
    this.keys.lost(job)
    job.reject(error)
    job.tellWritten()
  }

  // private from here on

  /**
   * The store was given one more job.
   * @param {object} group that it is in
   * @param {string | undefined} type
   * @param {BufferedJob | undefined} buffered what stands in the queue, if not the number
   * @returns {number} its number
   */
  track (group, type, buffered) {
    this.admission.inflightCount++
    const seq = this.store.nextSeq - 1
    const { unsafe } = this
    this.ledger?.accepted(seq, type)
    const safe = group.promise.then(() => seq, err => {
      this.reverts.revert(buffered ?? seq, type)
      throw err
    })
    // before those who wait for it are told
    const forget = () => unsafe.delete(seq)
    safe.then(forget, forget)
    unsafe.set(seq, safe)
    return seq
  }

  writeBuffered (job, error) {
    const refusal = error ?? this.store.refusal(1, job.bytes.length, job.type)
    if (refusal !== undefined) {
      this.cancel(job, refusal)
      this.reverts.revert(job, job.type)
      return
    }
    job.seq = this.track(this.store.push([job.bytes], job.type, job.atHead, undefined, job.options !== NONE), job.type, job)
    this.keys.written(job, job.seq)
    this.results.written(job, job.seq)
    if (this.retries.written(job, job.seq)) this.ledger?.delayed(job.seq)
    const { resolve, reject } = job
    this.unsafe.get(job.seq).then(resolve, reject)
    job.tellWritten()
    // it may stand in the queue for long
    job.type = job.bytes = job.options = job.push = job.promise = job.resolve = job.reject = job.written = job.tellWritten = undefined
  }
}

module.exports = { Writing }
