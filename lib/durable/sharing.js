'use strict'

// Pushes whose key is taken: they share the job that has it, and may give it another payload, or put it off, while it waits for its first start.

const { Batch } = require('./batch')
const { headOf } = require('./job-options')
const { idOf } = require('./records')
const { STAMP_BYTES } = require('./serialize')

const ignore = () => {}
const NOT_MOVED = { undo: ignore, finish: ignore }

class Sharing {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ now: () => number }} options now: in ms since 1970
   */
  constructor ({ admission, counts, intake, keys, records, retries, stage, store }, { now }) {
    this.admission = admission
    this.counts = counts
    this.intake = intake
    this.keys = keys
    this.clock = stage.deadlines.clock
    this.records = records
    this.retries = retries
    this.stage = stage
    this.store = store
    this.now = now
  }

  /** Whether a push leaves the job as it is. */
  isJoin ({ hasStarted, isOver }, { onDuplicate }) {
    return onDuplicate === 'join' || hasStarted || isOver
  }

  /** @returns {{ job: number | object, promise: Promise<number>, entry: object }} as Intake.accept(): the number of the job, when it is safe */
  join (entry) {
    this.counts.joined++
    return { job: entry.job, promise: this.idOf(entry), entry }
  }

  /**
   * Gives the job another payload, and with 'postpone' another delay.
   * @param {object} entry of the key
   * @param {Uint8Array} encoded
   * @param {object} said by the push
   * @returns {{ job: number | undefined, promise: Promise<number>, entry: object }} as Intake.accept(): the number of the job, when that is safe;
   *   rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_QUEUE_FULL, FAIRLANE_ERR_TOO_LARGE: then it is as it was
   */
  replace (entry, encoded, said) {
    try {
      if (idOf(entry.job) === undefined) this.admission.writeNow()
      // it could not be
      if (!this.keys.has(entry.job)) return { job: undefined, promise: this.idOf(entry), entry }
      return { job: entry.job, promise: this.rewrite(entry, encoded, said), entry }
    } catch (err) {
      return { job: undefined, promise: Promise.reject(err), entry }
    }
  }

  // private from here on

  idOf ({ job }) {
    const seq = idOf(job)
    if (seq === undefined) return job.promise
    return this.intake.whenSafe(seq) ?? Promise.resolve(seq)
  }

  rewrite (entry, encoded, said) {
    const { job: seq } = entry
    const { type, bytes, options } = this.records.read(seq)
    const refusal = this.refusal(type, bytes.length, encoded.length)
    if (refusal !== undefined) throw refusal
    const ms = this.delayOf(entry, said)
    const changed = ms === undefined ? options : { ...options, delayMs: ms, dueAt: this.now() + ms }
    const batch = new Batch(this.store)
    batch.replace(seq, headOf(bytes.subarray(0, STAMP_BYTES), changed), encoded)
    const group = this.admission.write(batch)
    this.counts.joined++
    const { undo, finish } = ms === undefined ? NOT_MOVED : this.move(seq, this.clock.now() + ms)
    return group.promise.then(() => {
      finish()
      return seq
    }, err => {
      undo()
      throw err
    })
  }

  /** A job is due at another time: later from now on, or earlier once that is written. */
  move (seq, at) {
    const before = this.retries.dueAt(seq)
    const moveTo = time => () => this.retries.postpone(seq, time)
    if (at < before) return { undo: ignore, finish: moveTo(at) }
    this.retries.postpone(seq, at)
    return { undo: moveTo(before), finish: ignore }
  }

  refusal (type, bytes, encodedBytes) {
    const lack = this.admission.lack(0, Math.max(0, encodedBytes - bytes))
    if (lack !== undefined) return this.stage.fullElsewhere(type, lack.waiting, lack.limit)
    return this.store.refusal(1, bytes + encodedBytes, type)
  }

  /** In how many ms from now on a job is due that is to be put off; undefined if it is not. */
  delayOf ({ job, delayMs, pushedAt }, said) {
    if (said.onDuplicate !== 'postpone' || !this.retries.isDelayed(job)) return undefined
    return Math.max(0, Math.min(said.delayMs ?? delayMs, pushedAt + said.maxDelayMs - this.clock.now()))
  }
}

module.exports = { Sharing }
