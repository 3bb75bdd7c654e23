'use strict'

// Pushes of jobs from the call to the moment when they are safe. Those that admission holds have their place in the queue, and their bytes in
// memory.

const { encode } = require('../../job/serializers')
const { NONE, headOf, optionsOf, refusalOf } = require('./job-options')
const { sizeOf, stampOf, STAMP_BYTES } = require('./serialize')

/** A job that is not written yet. It stands in the queue where others have their number. */
class HeldJob {
  constructor (type, bytes, atHead, options) {
    this.type = type
    this.bytes = bytes
    this.atHead = atHead
    this.options = options
    this.seq = 0 // 0: not written
    this.push = undefined // what admission holds
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }))
    this.written = new Promise(resolve => { this.tellWritten = resolve }) // or cancelled
  }
}

class Intake {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ hasTypes: boolean, serialize: object, now: () => number }} options hasTypes: it has a scheduler. now: in ms since 1970
   * @param {(job: number | HeldJob) => void} whenReverted given what stands in the queue for a job
   *   that could not be written
   */
  constructor ({ admission, counts, keys, ledger, retries, stage, status, store, waiting }, { hasTypes, serialize, now }, whenReverted) {
    this.admission = admission
    this.counts = counts
    this.keys = keys
    this.ledger = ledger
    this.retries = retries
    this.stage = stage
    this.status = status
    this.store = store
    this.waiting = waiting
    this.hasTypes = hasTypes
    this.serializer = serialize
    this.now = now
    this.whenReverted = whenReverted
    this.sharing = undefined // what is done when keys are taken, and
    this.results = undefined // ... who waits for results: made later, since they need this
    this.unsafe = new Map() // seq → promise, for jobs that are not safe yet
  }

  /**
   * The whole of a push.
   * @param {string | undefined} type
   * @param {any} payload
   * @param {boolean} atHead
   * @param {object} [said] of the job, as readPushOptions() gives it
   * @returns {Promise<number>} the number of the job, when it is safe
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  push (type, payload, atHead, said) {
    const { job, promise } = this.accept(type, payload, atHead, said)
    this.results.keep(job)
    return promise
  }

  /**
   * As push().
   * @returns {{ job: number | HeldJob | undefined, promise: Promise<number>, entry: object | undefined }} what stands in the queue for the job,
   *   undefined if it was refused; the entry of its key, if that was taken
   */
  accept (type, payload, atHead, said) {
    const known = this.sharedBy(type, said)
    if (known !== undefined && this.sharing.isJoin(known, said)) return this.sharing.join(known)
    const refusal = known === undefined ? this.refusal(type, 0) : undefined
    if (refusal !== undefined) return this.refuse(type, refusal)
    const now = this.now()
    const encoded = encode(this.serializer, payload)
    // encode may have pushed
    const taken = this.sharedBy(type, said)
    if (taken !== undefined) return this.sharing.isJoin(taken, said) ? this.sharing.join(taken) : this.sharing.replace(taken, encoded, said)
    const options = said === undefined ? NONE : optionsOf(said, now)
    const tooLong = refusalOf(options)
    if (tooLong !== undefined) return this.refuse(type, this.countRejected(tooLong))
    const head = said === undefined ? stampOf(now) : headOf(stampOf(now), options)
    const error = this.refusal(type, sizeOf(type, head.length - STAMP_BYTES + encoded.length)) ??
      this.countRejected(this.store.refusal(1, head.length + encoded.length, type))
    if (error !== undefined) return this.refuse(type, error)
    const accepted = this.write(type, encoded, head, atHead, options)
    const { job } = accepted
    this.counts.accepted++
    if (options.key !== undefined) this.keys.take(type, job, options)
    this.waiting.placeNew(job, type, atHead, options)
    return accepted
  }

  /**
   * Writes a job, or has it held.
   * @param {string | undefined} type
   * @param {Uint8Array} encoded
   * @param {Uint8Array} head what comes before that
   * @param {boolean} atHead
   * @param {JobOptions} options which are in the head
   * @returns {{ job: number | HeldJob, promise: Promise<number>, entry: undefined }} what is to stand in the queue, and its number when it is safe
   */
  write (type, encoded, head, atHead, options) {
    if (this.admission.mayWrite) {
      const seq = this.track(this.store.push([encoded], type, atHead, head, options !== NONE), type, undefined)
      if (options.delayMs > 0) this.ledger?.delayed(seq)
      return { job: seq, promise: this.unsafe.get(seq), entry: undefined }
    }
    const job = new HeldJob(type, Buffer.concat([head, encoded]), atHead, options)
    job.push = this.admission.hold(1, sizeOf(type, job.bytes.length), error => this.writeHeld(job, error))
    return { job, promise: job.promise, entry: undefined }
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
      for (const { seq } of jobs) this.whenReverted(seq)
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

  /** @returns {object | undefined} the entry of the key of a push, if it is taken */
  sharedBy (type, said) {
    const { error, isClosed } = this.status
    if (said?.key === undefined || error !== undefined || isClosed) return undefined
    return this.keys.find(type, said.key)
  }

  refuse (type, error) {
    this.ledger?.refused(type, error)
    return { job: undefined, promise: Promise.reject(error), entry: undefined }
  }

  refusal (type, bytes, count = 1) {
    const { error, isClosed } = this.status
    if (error !== undefined) return this.countRejected(error)
    const name = this.hasTypes ? type : undefined
    const lack = isClosed ? undefined : this.admission.lack(count, bytes)
    if (lack !== undefined) return this.countRejected(this.stage.fullElsewhere(name, lack.waiting, lack.limit))
    return this.stage.refuse(name)
  }

  countRejected (refusal) {
    if (refusal !== undefined) this.counts.rejected++
    return refusal
  }

  /**
   * The store was given one more job.
   * @param {object} group that it is in
   * @param {string | undefined} type
   * @param {HeldJob | undefined} held what stands in the queue, if not the number
   * @returns {number} its number
   */
  track (group, type, held) {
    this.admission.inflightCount++
    const seq = this.store.nextSeq - 1
    const { unsafe } = this
    this.ledger?.accepted(seq, type)
    const safe = group.promise.then(() => seq, err => {
      this.whenReverted(held ?? seq)
      throw err
    })
    // before those who wait for it are told
    const forget = () => unsafe.delete(seq)
    safe.then(forget, forget)
    unsafe.set(seq, safe)
    return seq
  }

  writeHeld (job, error) {
    const refusal = error ?? this.store.refusal(1, job.bytes.length, job.type)
    if (refusal !== undefined) {
      this.cancel(job, refusal)
      this.whenReverted(job)
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

module.exports = { Intake }
