'use strict'

// Pushes whose key is taken: they share the job that has it, and may give it another payload, or put it off, while it waits for its first
// start.

const { headOf, putOff } = require('./job-options')
const { idOf } = require('../run/records')
const { STAMP_BYTES } = require('./serialize')

const ignore = () => {}
const NOT_MOVED = { undo: ignore, finish: ignore }

/** What pushes make of a job. */
class Change {
  /** @param {object} entry of its key @param {{ type: string | undefined, options: object, bytes: Buffer }} record */
  constructor (entry, { type, options, bytes }) {
    this.entry = entry
    this.type = type
    this.options = options
    this.bytes = bytes // its own
    this.encoded = undefined // its payload then
    this.delayMs = undefined // from then on, if it is put off
    this.cost = undefined // what it costs then, if anything is said of that
    this.promise = undefined // of its number, when the change is safe
  }

  /** So many bytes more are on disk then. */
  get growth () {
    return Math.max(0, this.encoded.length - this.bytes.length)
  }
}

class Sharing {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ clocks, keys, records, refusals, report: { counts }, retries, status, writing }) {
    this.clocks = clocks
    this.keys = keys
    this.records = records
    this.refusals = refusals
    this.counts = counts
    this.retries = retries
    this.status = status
    this.writing = writing
  }

  /** @returns {object | undefined} the entry of the key of a push, if it is taken */
  find (type, jobOptions) {
    const { error, isClosed } = this.status
    if (jobOptions?.key === undefined || error !== undefined || isClosed) return undefined
    return this.keys.find(type, jobOptions.key)
  }

  /** Whether a push leaves the job as it is. */
  isJoin ({ hasStarted, isOver }, { onDuplicate }) {
    return onDuplicate === 'join' || hasStarted || isOver
  }

  /**
   * @returns {{ job: number | object, promise: Promise<number>, entry: object }} as Intake.accept(): the number of the job, when it is safe
   */
  join (entry, type) {
    this.counts.note('joined', type)
    return { job: entry.job, promise: this.idOf(entry), entry }
  }

  /**
   * Gives the job another payload, and with 'postpone' another delay.
   * @param {object} entry of the key
   * @param {string | undefined} type
   * @param {Uint8Array} encoded
   * @param {object} jobOptions by the push
   * @returns {{ job: number | undefined, promise: Promise<number>, entry: object }} as Intake.accept(): the number of the job, when that is
   *   safe; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_QUEUE_FULL, FAIRLANE_ERR_TOO_LARGE: then it is as it was
   */
  replace (entry, type, encoded, jobOptions) {
    try {
      if (idOf(entry.job) === undefined) this.writing.writeNow()
      // it could not be
      if (!this.keys.has(entry.job)) return { job: undefined, promise: this.idOf(entry), entry }
      return { job: entry.job, promise: this.rewrite(entry, type, encoded, jobOptions), entry }
    } catch (err) {
      return { job: undefined, promise: Promise.reject(err), entry }
    }
  }

  /**
   * What pushes, one after the other, make of the job that has a key. Reads its record, which blocks.
   * @returns {Change} throws as Records.read()
   */
  begin (entry) {
    return new Change(entry, this.records.read(entry.job))
  }

  /** One more push. @param {Uint8Array} encoded @param {object} jobOptions */
  add (change, encoded, jobOptions) {
    change.encoded = encoded
    change.cost = jobOptions.cost
    change.delayMs = this.delayOf(change.entry, jobOptions) ?? change.delayMs
  }

  /** Why a change cannot be written, after which, and others, there are so many bytes more on disk. @returns {Error | undefined} */
  refusal ({ type, bytes, encoded }, growth) {
    return this.refusals.ofChange(type, growth, bytes.length + encoded.length)
  }

  /** Has a change be written with a batch. Throws as Batch.replace(). */
  put (batch, { entry, bytes, options, encoded, cost, delayMs }) {
    const changed = delayMs === undefined ? options : putOff(options, delayMs, this.clocks.now())
    batch.replace(entry.job, headOf(bytes.subarray(0, STAMP_BYTES), { ...changed, cost }), encoded)
  }

  /** A change is being written. @param {object} group that it is in @returns {Promise<number>} the number of the job, when it is safe */
  follow ({ entry: { job: seq }, type, cost, delayMs }, group) {
    const { undo, finish } = delayMs === undefined ? NOT_MOVED : this.move(seq, this.clocks.time() + delayMs)
    const costBefore = this.retries.costOf(seq)
    this.retries.replaceCost(seq, type, cost) // at once: it may start before the change is safe, and reads that then
    return group.promise.then(() => {
      finish()
      return seq
    }, err => {
      undo()
      this.retries.replaceCost(seq, type, costBefore)
      throw err
    })
  }

  // private from here on

  idOf ({ job }) {
    const seq = idOf(job)
    if (seq === undefined) return job.promise
    return Promise.resolve(this.writing.whenSafe(seq)).then(() => seq)
  }

  rewrite (entry, type, encoded, jobOptions) {
    const change = this.begin(entry)
    this.add(change, encoded, jobOptions)
    const refusal = this.refusal(change, change.growth)
    if (refusal !== undefined) throw refusal
    const batch = this.writing.batch()
    this.put(batch, change)
    this.counts.note('joined', type)
    return this.follow(change, this.writing.writeBatch(batch))
  }

  /** A job is due at another time: later from now on, or earlier once that is written. */
  move (seq, at) {
    const before = this.retries.dueAt(seq)
    const moveTo = time => () => this.retries.postpone(seq, time)
    if (at < before) return { undo: ignore, finish: moveTo(at) }
    this.retries.postpone(seq, at)
    return { undo: moveTo(before), finish: ignore }
  }

  /** In how many ms from now on a job is due that is to be put off; undefined if it is not. */
  delayOf (entry, jobOptions) {
    if (jobOptions.onDuplicate !== 'postpone' || !this.retries.isDelayed(entry.job)) return undefined
    return entry.delayAfter(jobOptions, this.clocks.time())
  }
}

module.exports = { Sharing }
