'use strict'

// Times in the records of jobs, read when the queue is opened: how long is left of what they limit. The machine's clock may have been set
// back behind one of them. Then the job gets another record, else it would be so at each opening until the clock is there again.

const { NONE, headOf, putOff } = require('../push/job-options')
const { headLength, pushedAt, stampOf } = require('../push/serialize')
const { Batch } = require('../push/batch')
const { JobState } = require('../run/job-state')

// By so much a time and the sum that it was made of may differ.
const ROUNDING_MS = 1

class PastTimes {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ maxWaitMs: number }} options
   */
  constructor ({ admission, clocks, outage, records, store }, { maxWaitMs }) {
    this.admission = admission
    this.clocks = clocks
    this.outage = outage
    this.records = records
    this.store = store
    this.maxWaitMs = maxWaitMs
  }

  /** How long a job that never had a slot is to be delayed still; 0: it is not. */
  leftOfDelay (seq, { delayMs, dueAt }) {
    const { clocks } = this
    const leftMs = clocks.leftUntil(dueAt, delayMs)
    if (leftMs > 0 && clocks.isAhead(dueAt - delayMs - ROUNDING_MS)) {
      const read = this.records.read(seq)
      this.rewrite(seq, read, putOff(read.options, read.options.delayMs, clocks.now()))
    }
    return leftMs
  }

  /** In how many ms a job that failed is tried again; 0: now. @param {JobState} state */
  leftOfBackoff (seq, { attempts, dueAt, delayMs = Infinity, error }) {
    const { clocks } = this
    const leftMs = clocks.leftUntil(dueAt, delayMs)
    if (leftMs > 0 && clocks.isAhead(dueAt - delayMs - ROUNDING_MS)) {
      this.outage.change(seq, JobState.due(attempts, clocks.now() + delayMs, delayMs, error))
    }
    return leftMs
  }

  /** How long a job may still wait for its first start: counted from its push, or from the end of its delay. */
  leftToWait (seq) {
    const { clocks } = this
    let limitMs = this.maxWaitMs
    try {
      const read = this.records.read(seq)
      const { options } = read
      limitMs = options.maxWaitMs ?? limitMs
      const since = Math.max(pushedAt(read.bytes), options.dueAt)
      if (limitMs !== Infinity && clocks.isAhead(since)) {
        this.rewrite(seq, read, options === NONE ? NONE : { ...options, dueAt: Math.min(options.dueAt, clocks.now()) })
      }
      return clocks.leftUntil(since + limitMs, limitMs)
    } catch {
      return limitMs // that it cannot be read now is no reason not to open the queue
    }
  }

  /** A key is taken for a time, from the push of its job. */
  checkKey (seq, read, at) {
    if (this.clocks.isAhead(at)) this.rewrite(seq, read, read.options)
  }

  // private from here on

  /**
   * Gives a job another record, with a time of its push that is not to come.
   * @param {object} read of it
   * @param {object} options those that it has then
   */
  rewrite (seq, { bytes }, options) {
    const hasOptions = options !== NONE
    const stamp = stampOf(Math.min(pushedAt(bytes), this.clocks.now()))
    const batch = new Batch(this.store)
    batch.replace(seq, hasOptions ? headOf(stamp, options) : stamp, bytes.subarray(headLength(bytes, hasOptions)))
    this.admission.write(batch)
  }
}

module.exports = { PastTimes }
