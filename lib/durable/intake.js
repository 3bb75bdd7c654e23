'use strict'

// Pushes from the call to the moment when they are safe. At most `maxInflightOps` are written and not acknowledged; those beyond
// have their place in the queue, and their bytes in memory, and are written when it is their turn.

/** A job that is not written yet. It stands in the queue where others have their number. */
class HeldJob {
  constructor (type, bytes, atHead) {
    this.type = type
    this.bytes = bytes
    this.atHead = atHead
    this.seq = 0 // 0: not written
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }))
    this.written = new Promise(resolve => { this.tellWritten = resolve }) // or cancelled
  }
}

class Intake {
  /**
   * @param {object} store
   * @param {number} maxInflightOps
   * @param {(job: number | HeldJob) => void} whenReverted given what stands in the queue for a job
   *   that could not be written
   */
  constructor (store, maxInflightOps, whenReverted) {
    this.store = store
    this.maxInflightOps = maxInflightOps
    this.whenReverted = whenReverted
    this.inflightCount = 0
    this.unsafe = new Map() // seq → promise of its number, for jobs that are not safe yet
    this.held = new Set() // HeldJobs and functions, in order
    this.heldCount = 0
    this.heldBytes = 0
  }

  /**
   * @param {string | undefined} type
   * @param {Uint8Array} encoded
   * @param {Uint8Array} stamp what comes before that
   * @param {boolean} atHead
   * @returns {{ job: number | HeldJob, promise: Promise<number> }} what is to stand in the queue, and its number when it is safe
   */
  push (type, encoded, stamp, atHead) {
    if (this.inflightCount < this.maxInflightOps) {
      const seq = this.track(this.store.push([encoded], type, atHead, stamp), undefined)
      return { job: seq, promise: this.unsafe.get(seq) }
    }
    const job = new HeldJob(type, Buffer.concat([stamp, encoded]), atHead)
    this.held.add(job)
    this.heldCount++
    this.heldBytes += sizeOf(type, job.bytes.length)
    return { job, promise: job.promise }
  }

  /** @returns {Promise<number> | undefined} undefined if the job, which is written, is safe */
  whenSafe (seq) {
    return this.unsafe.get(seq)
  }

  /** Takes back a job that has not been written; a second time is none. */
  cancel (job, error) {
    if (this.held.has(job)) this.forget(job)
    job.reject(error)
    job.tellWritten()
  }

  /** Calls fn when all that is held now is written, at once if nothing is. */
  afterHeld (fn) {
    if (this.heldCount === 0) fn()
    else this.held.add(fn)
  }

  /** A group of the log is settled. */
  settled (group) {
    this.inflightCount -= group.pushesCount
    for (const next of this.held) {
      if (typeof next === 'function') {
        this.held.delete(next)
        next()
      } else if (this.inflightCount < this.maxInflightOps) {
        this.writeHeld(next)
      } else {
        return
      }
    }
  }

  /** The log has failed: what is held is lost. */
  fail (error) {
    const held = [...this.held]
    this.held.clear()
    this.heldCount = this.heldBytes = 0
    for (const next of held) {
      if (typeof next === 'function') next()
      else this.cancel(next, error)
    }
  }

  // private from here on

  /**
   * The store was given one more job.
   * @param {object} group that it is in
   * @param {HeldJob | undefined} held what stands in the queue, if not the number
   * @returns {number} its number
   */
  track (group, held) {
    const { unsafe } = this
    const seq = this.store.nextSeq - 1
    this.inflightCount++
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

  writeHeld (job) {
    const refusal = this.store.refusal(1, job.bytes.length, job.type)
    if (refusal !== undefined) {
      this.cancel(job, refusal)
      this.whenReverted(job)
      return
    }
    this.forget(job)
    job.seq = this.track(this.store.push([job.bytes], job.type, job.atHead), job)
    const { resolve, reject } = job
    this.unsafe.get(job.seq).then(resolve, reject)
    job.tellWritten()
    // it may stand in the queue for long
    job.type = job.bytes = job.promise = job.resolve = job.reject = job.written = job.tellWritten = undefined
  }

  forget (job) {
    this.held.delete(job)
    this.heldCount--
    this.heldBytes -= sizeOf(job.type, job.bytes.length)
  }
}

/** How many bytes of a job are its own on disk: its type, its payload and the time of its push. */
function sizeOf (type, length) {
  return length + (type === undefined ? 0 : Buffer.byteLength(type))
}

module.exports = { Intake, sizeOf }
