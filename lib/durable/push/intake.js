'use strict'

// Pushes of jobs, from the call until they are accepted: they share the job of their key, are refused, or are written and have a place in
// the queue.

const { encode } = require('../../job/serializers')
const { NONE, headOf, optionsOf, refusalOf } = require('./job-options')
const { sizeOf, stampOf, STAMP_BYTES } = require('./serialize')

class Intake {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ serialize: object, now: () => number }} options now: in ms since 1970
   */
  constructor ({ keys, refusals, report: { counts }, results, retries, sharing, store, writing }, { serialize, now }) {
    this.keys = keys
    this.refusals = refusals
    this.counts = counts
    this.results = results
    this.retries = retries
    this.sharing = sharing
    this.store = store
    this.writing = writing
    this.serializer = serialize
    this.now = now
  }

  /**
   * The whole of a push.
   * @param {string | undefined} type
   * @param {any} payload
   * @param {boolean} atHead
   * @param {object} [jobOptions] of the job, as readPushOptions() gives it
   * @returns {Promise<number>} the number of the job, when it is safe
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  push (type, payload, atHead, jobOptions) {
    const { job, promise } = this.accept(type, payload, atHead, jobOptions)
    this.results.keep(job)
    return promise
  }

  /** A push is refused before it is looked at. @returns {Promise<never>} */
  refuse (type, error) {
    return this.refusals.tell(type, this.refusals.count(error)).promise
  }

  /**
   * As push().
   * @returns {{ job: number | BufferedJob | undefined, promise: Promise<number>, entry: object | undefined }} what stands in the queue for
   *   the job, undefined if it was refused; the entry of its key, if that was taken
   */
  accept (type, payload, atHead, jobOptions) {
    const known = this.sharing.find(type, jobOptions)
    if (known !== undefined && this.sharing.isJoin(known, jobOptions)) return this.sharing.join(known, type)
    const refusal = known === undefined ? this.refusals.of(type, 0) : undefined
    if (refusal !== undefined) return this.refusals.tell(type, refusal)
    const now = this.now()
    const encoded = encode(this.serializer, payload)
    // encode may have pushed
    const taken = this.sharing.find(type, jobOptions)
    if (taken !== undefined) {
      if (this.sharing.isJoin(taken, jobOptions)) return this.sharing.join(taken, type)
      return this.sharing.replace(taken, type, encoded, jobOptions)
    }
    const options = jobOptions === undefined ? NONE : optionsOf(jobOptions, now)
    const tooLong = refusalOf(options)
    if (tooLong !== undefined) return this.refusals.tell(type, this.refusals.count(tooLong))
    const head = jobOptions === undefined ? stampOf(now) : headOf(stampOf(now), options)
    const error = this.refusals.of(type, sizeOf(type, head.length - STAMP_BYTES + encoded.length)) ??
      this.refusals.count(this.store.refusal(1, head.length + encoded.length, type))
    if (error !== undefined) return this.refusals.tell(type, error)
    const accepted = this.writing.write(type, encoded, head, atHead, options)
    const { job } = accepted
    this.counts.accept(type)
    if (options.key !== undefined) this.keys.take(type, job, options)
    this.retries.placeNew(job, type, atHead, options)
    return accepted
  }
}

module.exports = { Intake }
