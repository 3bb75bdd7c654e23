'use strict'

// Puts the jobs of a log into the queue when it is opened. They come to stand as if the queue had never been closed:
//
//   those that had a slot │ failed ones whose time has come, the last one first │ those that wait, unshifted ones first
//
// It works in slices, between which the event loop turns. The queue starts nothing meanwhile.

const { Slice } = require('../../platform/slice')
const { Batch } = require('../push/batch')
const { NONE, headOf, putOff } = require('../push/job-options')
const { JobState, WAITING, STARTED, DUE, INTERRUPTED, REVIVED, DEAD, OVER } = require('../run/job-state')
const { errorOf } = require('../../job/error-text')
const { headLength, pushedAt, stampOf } = require('../push/serialize')
const { LONG_WORK, nextTurn } = require('../../log/turns')

// Of putting one job into the queue, in pieces of LONG_WORK.
const PIECES = 2
// By so much a time and the sum that it was made of may differ.
const ROUNDING_MS = 1

class Restore {
  /**
   * @param {object} survey of the log
   * @param {object | undefined} ages of the jobs, if they have priorities
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ maxAttempts: number, maxWaitMs: number }} options
   */
  constructor (survey, ages, parts, { maxAttempts, maxWaitMs }) {
    const { admission, clocks, dead, keys, ledger, outage, outcomes, records, retries, schedules, status, store, waiting } = parts
    this.survey = survey
    this.ages = ages
    this.admission = admission
    this.clocks = clocks
    this.dead = dead
    this.keys = keys
    this.ledger = ledger
    this.outage = outage
    this.outcomes = outcomes
    this.records = records
    this.retries = retries
    this.schedules = schedules
    this.status = status
    this.store = store
    this.waiting = waiting
    this.maxAttempts = maxAttempts
    this.maxWaitMs = maxWaitMs
    this.slice = new Slice(LONG_WORK)
    this.interrupted = [] // jobs that had a slot, in the order of their numbers
    this.due = [] // failed jobs whose time has come
    this.delayed = [] // jobs whose time is to come
  }

  /** @returns {Promise<number>} how many jobs there are that have not settled; rejects with the error of the log if that fails meanwhile */
  async run () {
    const { table, states, nextSeq } = this.store
    let count = 0
    for (let seq = table.first(nextSeq); seq < nextSeq; seq = table.next(seq + 1, nextSeq)) {
      if (this.take(seq, states.get(seq))) count++
      if (this.slice.isOver(PIECES)) await this.turn()
    }
    await this.placeDue()
    await this.placeInterrupted()
    await this.placeDelayed()
    return count
  }

  // private from here on

  async turn () {
    await nextTurn(this.slice)
    if (this.status.error !== undefined) throw this.status.error
  }

  /** @returns {boolean} false for a dead letter, and for one that is over */
  take (seq, state) {
    const { type, atHead, hasOptions, isDamaged } = this.survey.find(seq)
    const options = hasOptions ? this.find(seq, type, state) : NONE
    if (state?.phase === OVER) {
      if (!this.keys.has(seq) && !this.schedules.has(seq)) this.outage.finish(seq)
      return false
    }
    if (this.ledger !== undefined) this.record(seq, type, state, options)
    if (isDamaged && state?.phase !== DEAD) {
      this.outcomes.damaged(seq, type, state?.attempts ?? 0)
      return true
    }
    this.ages?.begin(seq)
    const isThere = this.put(seq, type, atHead, options, state)
    this.ages?.end()
    return isThere
  }

  /** As take(), of a job that is not over. */
  put (seq, type, atHead, options, state) {
    if (state?.phase === DEAD) {
      this.dead.found(seq)
      return false
    }
    switch (state?.phase) {
      case undefined:
        this.takeNew(seq, type, atHead, options)
        break
      case WAITING:
        this.takeWaiting(seq, type, atHead, options)
        break
      case REVIVED:
        this.waiting.place(seq, type, atHead, Infinity, options.priority)
        break
      case DUE:
        this.takeFailed(seq, type, state)
        break
      case STARTED:
      case INTERRUPTED:
        this.takeStarted(seq, type, atHead, state, options)
    }
    return true
  }

  /** What was said of a job. */
  find (seq, type, state) {
    const read = this.records.read(seq)
    const { options } = read
    const at = pushedAt(read.bytes)
    this.waiting.found(options)
    this.keys.found(type, seq, options, state, at)
    if (typeof options.keyUntil === 'number' && this.clocks.isAhead(at)) this.rewrite(seq, read, options)
    if (options.schedule !== undefined) this.schedules.found(seq, options.schedule, state)
    return options
  }

  /** Observers hear of a job that was found. */
  record (seq, type, { phase, attempts = 0, dueAt, error } = {}, options) {
    this.ledger.recovered(seq, type, this.clocks.ageOf(this.survey.pushedAt(seq)), attempts, {
      isDelayed: (phase === DUE && this.clocks.isAhead(dueAt)) || (phase === undefined && this.clocks.isAhead(options.dueAt)),
      isDead: phase === DEAD,
      error: error === undefined ? undefined : errorOf(error)
    })
  }

  /** A job that had a slot when the process ended. */
  takeStarted (seq, type, atHead, { attempts }, { maxAttempts = this.maxAttempts }) {
    if (attempts < maxAttempts) this.interrupted.push({ seq, type, atHead, isSuspect: attempts > 0 && attempts >= maxAttempts - 1 })
    else this.outcomes.crashed(seq, type, attempts)
  }

  /** A job that never had a slot, and whose time may be to come. */
  takeNew (seq, type, atHead, options) {
    const { clocks } = this
    const { delayMs, dueAt } = options
    const leftMs = clocks.leftUntil(dueAt, delayMs)
    if (leftMs === 0) {
      this.takeWaiting(seq, type, atHead, options)
      return
    }
    if (clocks.isAhead(dueAt - delayMs - ROUNDING_MS)) this.putOff(seq)
    this.delayed.push({ seq, type, atHead, options, dueAt: clocks.time() + leftMs })
  }

  /** The delay of a job begins anew. */
  putOff (seq) {
    const read = this.records.read(seq)
    this.rewrite(seq, read, putOff(read.options, read.options.delayMs, this.clocks.now()))
  }

  /**
   * The machine's clock was set back behind a time in the record of a job. That gets others, else it would be so at each opening until the clock is there again.
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

  /** A job that never had a slot. */
  takeWaiting (seq, type, atHead, { priority }) {
    const leftMs = this.waiting.isLimited ? this.leftToWait(seq) : Infinity
    if (leftMs > 0) this.waiting.place(seq, type, atHead, leftMs, priority)
    else this.outcomes.expired(seq, type)
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

  takeFailed (seq, type, { attempts, dueAt, delayMs = Infinity, error }) {
    const { clocks } = this
    const leftMs = clocks.leftUntil(dueAt, delayMs)
    if (leftMs === 0) {
      this.due.push({ seq, type, dueAt })
      return
    }
    if (clocks.isAhead(dueAt - delayMs - ROUNDING_MS)) this.outage.change(seq, JobState.due(attempts, clocks.now() + delayMs, delayMs, error))
    this.retries.add(seq, type, leftMs)
  }

  async placeDue () {
    this.due.sort((a, b) => a.dueAt - b.dueAt)
    for (const { seq, type } of this.due) {
      this.waiting.place(seq, type, true)
      if (this.slice.isOver(PIECES)) await this.turn()
    }
  }

  /** In the order in which they got their slots. Those that may kill the process once more, and then are dead, are tried alone. */
  async placeInterrupted () {
    const front = this.interrupted.filter(({ atHead }) => atHead).reverse()
    const inOrder = front.concat(this.interrupted.filter(({ atHead }) => !atHead))
    for (const job of inOrder.toReversed()) {
      if (!job.isSuspect) this.waiting.place(job.seq, job.type, true)
      if (this.slice.isOver(PIECES)) await this.turn()
    }
    this.retries.addSuspects(inOrder.filter(({ isSuspect }) => isSuspect))
  }

  /** One that falls due meanwhile comes behind all that wait. */
  async placeDelayed () {
    for (const { seq, type, atHead, options, dueAt } of this.delayed) {
      this.waiting.placeLater(seq, type, atHead, options, Math.max(0, dueAt - this.clocks.time()))
      if (this.slice.isOver(PIECES)) await this.turn()
    }
  }
}

module.exports = { Restore }
