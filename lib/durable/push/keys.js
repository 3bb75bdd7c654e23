'use strict'

// Keys of jobs on disk. While a key is taken, a push with it shares the job that has taken it.
//
//   push ──▶ taken ──────────── started ─────────── settled ─────▶ so many ms are over
//           └─ 'started' ────▶ free │                │
//           └─ 'settled' ───────────┼──────────────▶ free
//           └─ so many ms, and until it has started ─┼─── over ──▶ free, and gone from the disk
//
// A key is taken for all processes that come after this one: the record of its job says so, and that stays on disk, over, as long as the
// key outlives the job. Keys whose time has passed are forgotten when they are looked up, when the queue is opened, and by a timer, in
// slices. Keys belong to types (docs/decisions/0066-key-until-started.md).

const { TakenKey, keyIdOf } = require('../../job/key')
const { Forgetting } = require('../../platform/forgetting')
const { JobState, hasStarted, DEAD, OVER } = require('../run/job-state')
const { renumber } = require('../run/records')
const { LONG_WORK } = require('../../log/turns')

/** A key that is taken, and the job that has taken it. */
class Entry extends TakenKey {
  /**
   * @param {number | object} job what stands in the queue for it; an object while it is not written
   * @param {object} options of the job
   */
  constructor (id, job, options, takenAt) {
    super(id, options, takenAt)
    this.job = job
    this.isOver = false // the job is no more, but for its key
    this.promise = undefined // of its result, if that was waited for
  }

  /** Whether the time for which the key is taken has passed. */
  isFree (now) {
    return now >= this.freeAt
  }

  /** Whether the key outlives the job, if that ends now. */
  outlives (now) {
    return this.freeAt !== Infinity && now < this.freeAt
  }
}

class Keys {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ admission, clocks, outage, stage }) {
    this.admission = admission
    this.clocks = clocks
    this.outage = outage
    this.entries = new Map() // by id
    this.byJob = new Map() // what stands in the queue → Entry
    const call = fn => stage.call(fn)
    this.forgetting = new Forgetting(
      stage.deadlines.clock, call, () => this.entries.values(), (entry, now) => this.look(entry, now), LONG_WORK
    )
  }

  /** @returns {Entry | undefined} that of the job which has taken a key */
  find (type, key) {
    const entry = this.entries.get(idOf(type, key))
    if (entry === undefined || !entry.isFree(this.clocks.time())) return entry
    this.free(entry)
    return undefined
  }

  /** A job takes a key that is free. */
  take (type, job, options) {
    this.put(new Entry(idOf(type, options.key), job, options, this.clocks.time()))
  }

  /**
   * A dead letter is to run again. One that had its key until it had settled takes that again, as nobody else may have it meanwhile.
   * @returns {boolean} false if another job has the key
   */
  retake (type, seq, options) {
    if (options.key === undefined || options.keyUntil !== 'settled') return true
    if (this.find(type, options.key) !== undefined) return false
    this.take(type, seq, options)
    this.byJob.get(seq).hasStarted = true
    return true
  }

  /** A job was found on disk; those that were pushed later come later. @param {number} pushedAt in ms since 1970 */
  found (type, seq, options, state, pushedAt) {
    const { key, keyUntil } = options
    if (key === undefined) return
    const entry = new Entry(idOf(type, key), seq, options, this.clocks.timeOf(pushedAt))
    entry.hasStarted = hasStarted(state)
    entry.isOver = state?.phase === OVER
    if (keyUntil === 'started' && entry.hasStarted) return
    if (keyUntil === 'settled' && state?.phase === DEAD) return
    if (entry.isFree(this.clocks.time())) return
    // the key was free when this one was pushed, whatever the clock says now
    const before = this.entries.get(entry.id)
    if (before !== undefined) this.free(before)
    this.put(entry)
    this.forgetting.note(entry.freeAt)
  }

  /** Whether a job has a key that is taken. */
  has (seq) {
    return this.byJob.has(seq)
  }

  /** A job is written that was not. */
  written (buffered, seq) {
    const entry = renumber(this.byJob, buffered, seq)
    if (entry !== undefined) entry.job = seq
  }

  /** A job could not be written, or was taken back before. */
  lost (job) {
    const entry = this.byJob.get(job)
    if (entry !== undefined) this.free(entry)
  }

  /** The runner of a job is called. */
  started (seq) {
    const entry = this.byJob.get(seq)
    if (entry === undefined) return
    entry.hasStarted = true
    if (entry.keyUntil === 'started') this.free(entry)
    else this.forgetting.note(entry.freeAt)
  }

  /** A job has become a dead letter. */
  settled (seq) {
    const entry = this.byJob.get(seq)
    if (entry !== undefined && !entry.outlives(this.clocks.time())) this.free(entry)
  }

  /** Writes that a job has ended: it is gone, or only its key is left. @returns {object | undefined} as outage.finish() */
  finish (seq) {
    const entry = this.byJob.size === 0 ? undefined : this.byJob.get(seq)
    if (entry === undefined) return this.outage.finish(seq)
    if (entry.outlives(this.clocks.time())) {
      entry.isOver = true
      return this.outage.change(seq, JobState.over)
    }
    this.forget(entry)
    return this.outage.finish(seq)
  }

  /** Who pushes with the key of a job that has ended, if that is taken still, gets this. */
  keepResult (seq, promise) {
    const entry = this.byJob.get(seq)
    if (entry !== undefined) entry.promise = promise
  }

  /** The queue closes: what is over stays on disk until it is opened. */
  stop () {
    this.forgetting.stop()
  }

  // private from here on

  put (entry) {
    this.entries.set(entry.id, entry)
    this.byJob.set(entry.job, entry)
  }

  forget (entry) {
    this.entries.delete(entry.id)
    this.byJob.delete(entry.job)
  }

  /** Another job may take the key. */
  free (entry) {
    this.forget(entry)
    if (!entry.isOver) return
    this.outage.finish(entry.job)
    this.admission.freed()
  }

  /** As Forgetting wants it. */
  look (entry, now) {
    const { freeAt } = entry
    if (now < freeAt) return freeAt
    this.free(entry)
    return Infinity
  }
}

/** Without a scheduler jobs may have no type, which counts as ''. */
function idOf (type = '', key) {
  return keyIdOf(type, key)
}

module.exports = { Keys, idOf }
