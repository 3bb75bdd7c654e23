'use strict'

// What becomes of a job when an attempt at it has ended: it is done, dead, or tried again. Each of them is noted in the log first, and told
// then. Also what a push comes to that could not be written.
//
//   attempt ends ─┬─ well ──────────────────────────▶ done: gone
//                 ├─ badly, attempts left ──────────▶ retry
//                 ├─ Throttled, Postponed ──────────▶ as before, but not at once
//                 ├─ badly, none left, or no use ───▶ failed: a dead letter
//                 └─ was taken back: pause, close ──▶ as before

const { backoffAfter } = require('../../job/backoff')
const { rethrow } = require('../../platform/clock')
const { crashedError, overdueError } = require('../../arguments/errors')
const { errorText } = require('../../job/error-text')
const { endOf } = require('../../job/outcome')
const { heldMsOf } = require('../../job/postponing')
const { JobState } = require('./job-state')
const { idOf } = require('./records')

class Outcomes {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ maxAttempts: number, backoffMs: Function, now: () => number }} options now: in ms since 1970
   */
  constructor (parts, { maxAttempts, backoffMs, now }) {
    const { admission, attempts, clocks, counts, dead, events, flushes, idle, keys, ledger, limiting, outage, records, results, retries, schedules, stage, status, store, waiting } = parts
    this.admission = admission
    this.attempts = attempts
    this.clocks = clocks
    this.counts = counts
    this.dead = dead
    this.events = events
    this.flushes = flushes
    this.idle = idle
    this.keys = keys
    this.ledger = ledger
    this.limiting = limiting
    this.outage = outage
    this.records = records
    this.results = results
    this.retries = retries
    this.schedules = schedules
    this.stage = stage
    this.status = status
    this.store = store
    this.waiting = waiting
    this.maxAttempts = maxAttempts
    this.backoffMs = backoffMs
    this.now = now
    this.abandoned = new Set() // deliveries whose runners the closing queue has told to end
    this.reverted = new Set() // jobs that could not be written, until they are taken out together
  }

  /** The queue in memory has settled a job that had a slot: by the end of its runner, a limit of time, or since it closes. */
  settled (delivery, err, result) {
    if (this.status.error !== undefined || delivery.isCancelled) return
    if (delivery.isSettledBy(err) || err?.code === 'FAIRLANE_ERR_TIMEOUT') this.ended(delivery, err, result)
    else this.interrupted(delivery, err)
  }

  /** A job was running each time that the process ended, and has no attempt left. */
  crashed (seq, type, attempts) {
    this.bury(seq, type, attempts, crashedError(attempts))
  }

  /** A job whose record has gone bad on the disk, and was moved as such. */
  damaged (seq, type, attempts) {
    try {
      this.records.read(seq)
    } catch (err) {
      this.bury(seq, type, attempts, err)
    }
  }

  /** A job has waited too long while nobody had the queue open. */
  expired (seq, type) {
    const error = overdueError()
    this.counts.cancelled++
    this.finish(seq)
    this.ledger?.cancelled(seq, error)
    this.events.tell('cancelled', { id: seq, type, error })
  }

  /** Takes a job off the disk. @returns {object | undefined} the group that says so, if it is in one */
  finish (seq) {
    const group = this.schedules.finish(seq)
    this.left(seq)
    this.admission.freed()
    return group
  }

  /** A job that stands in the queue could not be written. All that failed together are taken out at once. */
  revert (job) {
    if (this.status.error !== undefined) return
    if (this.reverted.size === 0) queueMicrotask(() => this.removeReverted())
    this.reverted.add(job)
  }

  // private from here on

  ended (delivery, error, result) {
    const { id: seq, type, attempt, isFinal, options } = delivery
    switch (endOf(error, attempt, options?.maxAttempts ?? this.maxAttempts, isFinal)) {
      case 'done': return this.done(delivery, result)
      case 'throttled': return this.throttled(delivery, error)
      case 'postponed': return this.postponed(delivery, error)
      case 'retry': return this.retry(seq, type, attempt, error)
      default: this.bury(seq, type, attempt, error)
    }
  }

  /** Something else than its time limit came over an attempt before its runner had ended. */
  interrupted (delivery, err) {
    if (delivery.isRecalled) {
      this.attempts.uncount(delivery)
      this.placeAgain(delivery)
      return
    }
    // the slot was given back
    if (err === undefined) return
    // the queue closes: the job stays on disk, unless its runner ends well before that is over
    this.abandoned.add(delivery)
    delivery.onceWell(result => {
      if (this.status.isOver || this.status.error !== undefined) return
      this.abandoned.delete(delivery)
      this.done(delivery, result)
    })
  }

  placeAgain ({ job, slot, waitsUntil }) {
    if (this.waiting.isGone(job)) return
    this.retries.recalled(job)
    this.waiting.place(job, slot.type, true, waitsUntil === Infinity ? Infinity : Math.max(0, waitsUntil - this.clocks.time()))
  }

  done ({ id: seq, type, attempt }, result) {
    this.counts.done++
    this.finish(seq)
    this.ledger?.ended(seq, false, undefined)
    this.results.settled(seq, undefined, result)
    this.events.tell('done', { id: seq, type, attempt, result })
  }

  /** The job counts as delayed while the caller is asked for how long that is to be, who may cancel it or close the queue. */
  retry (seq, type, attempt, error) {
    this.retries.add(seq, type, Infinity)
    this.ledger?.undecided(seq, error)
    const delayMs = backoffAfter(this.backoffMs, attempt, error, rethrow)
    if (!this.store.live.has(seq)) return // cancelled
    if (delayMs === Infinity) {
      this.retries.drop(seq)
      this.bury(seq, type, attempt, error)
      return
    }
    this.counts.retried++
    this.outage.change(seq, JobState.due(attempt, this.now() + delayMs, delayMs, errorText(error)))
    this.ledger?.again(seq, error)
    this.retries.delay(seq, delayMs)
    this.retries.settled(seq)
    this.events.tell('retry', { id: seq, type, attempt, error, delayMs })
  }

  /** The type of the job is held, and the job waits as the first of it. The attempt does not count. */
  throttled (delivery, error) {
    const { id: seq, slot: { type } } = delivery
    this.counts.throttled++
    this.attempts.takeBack(delivery)
    this.retries.add(seq, type, Infinity)
    this.ledger?.postponed(seq, error)
    this.limiting.throttle(type, heldMsOf(error, this.stage.deadlines.clock, this.now))
    if (!this.retries.isDelayed(seq)) return // a scheduler has cleared or closed the queue
    this.retries.drop(seq)
    this.ledger?.due(seq)
    this.retries.recalled(seq)
    this.waiting.place(seq, type, true)
  }

  /** The job waits for its time, as after an attempt that has failed. This one does not count. */
  postponed ({ id: seq, type, attempt, before }, error) {
    const { delayMs } = error
    this.outage.change(seq, JobState.due(attempt - 1, this.now() + delayMs, delayMs, before?.error))
    this.ledger?.postponed(seq, error)
    this.retries.add(seq, type, delayMs)
    this.retries.settled(seq)
  }

  /** Makes a dead letter of a job. */
  bury (seq, type, attempt, error) {
    this.counts.failed++
    this.keys.settled(seq)
    this.dead.add(seq, attempt, error)
    this.ledger?.dead(seq, error)
    this.left(seq)
    this.results.settled(seq, error)
    this.events.tell('failed', { id: seq, type, attempt, error })
    this.events.tell('jobfailed', error, () => this.records.entry(seq))
  }

  /** A job has settled, or is none. */
  left (seq) {
    this.retries.settled(seq)
    this.flushes.settled(seq)
  }

  /** A job could not be written; without a number it is one that was never given to the store. */
  forget (seq) {
    this.left(seq)
    if (seq !== undefined) this.ledger?.unaccepted(seq)
  }

  removeReverted () {
    const reverted = this.reverted
    this.reverted = new Set()
    this.stage.withdraw(list => list.remove(job => reverted.has(job)), () => {})
    for (const job of reverted) {
      this.retries.drop(job)
      this.keys.lost(job)
    }
    this.counts.accepted -= reverted.size
    for (const job of reverted) this.forget(idOf(job))
    this.admission.freed()
    this.idle.check()
  }
}

module.exports = { Outcomes }
