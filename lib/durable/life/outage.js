'use strict'

// The time in which the log of a job queue cannot be written: the disk is full, or there are no descriptors. What becomes of jobs
// meanwhile takes room of the reserve, or is kept in memory and written later; no job is started whose attempt could not be written.
//
//            a write fails                    all is written, and the disk has room
//   writing ──────────────▶ holding ◀──┐ ──────────────────────────────────────────▶ writing
//                              │       │ a write fails, or there is no room for attempts
//                              └──▶ starting, from the reserve, while that has room for attempts
//
// What holds starts is want of room for them, and ends that are not written. A state that could not be written does not: it frees nothing.
// It tries again by itself. Only a log that has failed for good ends the queue, and that is not its business.

const { warn } = require('../../arguments/errors')
const { CLAIM } = require('../../log/claims')
const { FRAME_BYTES, STATE_BYTES } = require('../../log/format')
const { JobState, MOST_CUT_BYTES } = require('../run/job-state')

const FIRST_MS = 100
const MAX_MS = 10000
// What becomes of an attempt takes so much at most.
const OUTCOME_BYTES = FRAME_BYTES + MOST_CUT_BYTES

class Outage {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ report: { events }, stage, store }) {
    this.events = events
    this.stage = stage
    this.deadlines = stage.deadlines
    this.store = store
    this.whenHeld = undefined // called when no more jobs are started: those that were not called lose their slots
    this.attemptsCount = 0 // attempts that are written and have not ended; those who make them count them
    this.error = store.fullness() // what failed last: the disk may have been full when the queue was opened
    this.isOn = false // and was told
    this.isHolding = false
    this.isDue = false // it will be met in a microtask
    this.isTrying = false
    this.hasFailed = false // since the last try
    this.lacksRoom = false // for attempts, or there may be some again
    this.unreadSeq = 0 // a job whose record could not be read
    this.triesCount = 0
    this.position = -1 // among the deadlines
    this.order = 0
    this.isGivenUp = false
    this.isStopped = false
    this.waiters = [] // promises of callers that wait until all is written
    this.hasWarned = false
  }

  /** Jobs that are over are alive on disk: they run again when the queue is opened again. */
  get isLosing () {
    return this.store.unwritten.hasEnds
  }

  /** Writes that a job is gone. @returns {object | undefined} the group that this is in, if it is in one */
  finish (seq) {
    // one that could not be written is tried again when it is time
    if (this.store.unwritten.gone.size > 0) this.store.ackLater(seq)
    else return this.store.ack(seq)
  }

  /** Writes the state of a job. @returns {object | undefined} as finish() */
  change (seq, state) {
    const { store } = this
    const isWritable = !this.isHolding && (!this.isOn || store.log.reserve.isSpent)
    if (isWritable) return store.setState(seq, state)
    store.setStateLater(seq, state)
  }

  /**
   * Writes that a job is started.
   * @returns {object | undefined} the group that this is in; undefined if there is no room: starts are about to be held
   */
  attempt (seq, attempts, error) {
    const { store } = this
    const err = this.mayStart() ? undefined : store.fullness()
    if (err === undefined) return store.setState(seq, JobState.started(attempts, error))
    this.error = err
    this.hasFailed = true
    this.lacksRoom = true
    store.condenser.hurry()
    this.meetLater()
  }

  /** @returns {Promise<void>} resolves when the group is safe, or what it stood for in another one; rejects only if the log ends before */
  async safe (group) {
    const { log, unwritten } = this.store
    for (let first = group; ; first = undefined) {
      try {
        if (first !== undefined) return await first.promise
        while (unwritten.size > 0) await this.next()
        return await log.flush()
      } catch (err) {
        if (log.error !== undefined || this.isStopped) throw err
      }
      // the write that failed was this one, which is tried again, or another one beside it
      await (this.isOn ? this.next() : new Promise(setImmediate))
    }
  }

  /** What has become of jobs could not be written. */
  begin (err) {
    this.error = err
    this.hasFailed = true
    this.meetLater()
  }

  /** The disk is full; what is written from here on takes room of the reserve. */
  spend (err) {
    this.error = err
    this.meetLater()
  }

  /** A record could not be read, though nothing is wrong with it. */
  beginRead (err, seq) {
    this.unreadSeq = seq
    this.begin(err)
  }

  /** There may be room again. */
  freed () {
    if (!this.isOn) return
    this.lacksRoom = true
    this.meetLater()
  }

  /** @returns {Promise<void>} resolves when all is written; once it is given up after a last try, or two, since one may give room back */
  async close () {
    while (this.isLosing && !this.isGivenUp && !this.isStopped) await this.next().catch(() => {})
    if (!this.isStopped) this.tryToWrite()
    await this.store.rest()
    if (!this.isStopped && this.isLosing) this.tryToWrite()
    this.stop(this.error)
  }

  /** The queue closes, and does not wait. */
  giveUp () {
    this.isGivenUp = true
    this.tell(waiter => waiter.resolve())
  }

  /** Nothing is written any more. */
  stop (err) {
    this.isStopped = true
    this.error = err
    this.deadlines.remove(this)
    this.tell(waiter => waiter.reject(err))
  }

  /** It is time to try again. */
  whenDue () {
    this.lacksRoom = true
    this.tryToWrite()
  }

  // private from here on

  meetLater () {
    if (this.isDue || this.isTrying) return
    this.isDue = true
    // not in the middle of what the log is about
    queueMicrotask(() => {
      this.isDue = false
      if (this.isStopped) return
      this.holdIfFailed()
      this.tryToWrite()
    })
  }

  tryToWrite () {
    this.deadlines.remove(this)
    this.isTrying = true
    const isOver = this.writeAll()
    this.isTrying = false
    if (this.isStopped) return
    if (isOver) {
      this.end()
      return
    }
    this.holdIfFailed()
    this.tryLater()
    this.announce()
    if (this.lacksRoom) this.startFromReserve()
  }

  /**
   * Lets jobs start if the reserve has room for that. After a write that has failed somebody else may have taken the room, so that waits
   * for the next try.
   */
  startFromReserve () {
    this.lacksRoom = false
    const { log, unwritten } = this.store
    if (log.reserve.isSpent && this.unreadSeq === 0 && unwritten.gone.size === 0 && this.mayStart()) this.letGo()
  }

  /** @returns {boolean} whether all is as it should be */
  writeAll () {
    const { compactor, log, unwritten } = this.store
    log.reserve.restore()
    const isAcked = unwritten.writeGone()
    compactor.look()
    if (!isAcked || !unwritten.writeChanged()) return false
    if (log.reserve.isSpent || !unwritten.writeCut()) return false
    if (!this.canRead()) return false
    this.unreadSeq = 0
    return true
  }

  /** Whether there is room for an attempt, and for what becomes of it and of those that have not ended. */
  mayStart () {
    const { compactor, log } = this.store
    if (!log.reserve.isSpent) return true
    if (compactor.usesReserve) return false
    return log.roomFor(CLAIM.START) >= STATE_BYTES && log.roomFor(CLAIM.STATE) >= STATE_BYTES + (this.attemptsCount + 1) * OUTCOME_BYTES
  }

  canRead () {
    const { table } = this.store
    if (this.unreadSeq === 0 || !table.find(this.unreadSeq)) return true
    try {
      this.store.record(this.unreadSeq)
      return true
    } catch (err) {
      return !isShortage(err)
    }
  }

  holdIfFailed () {
    if (!this.hasFailed) return
    this.hasFailed = false
    this.isHolding = true
    this.stage.hold()
    this.whenHeld()
  }

  letGo () {
    if (!this.isHolding) return
    this.isHolding = false
    this.stage.letGo()
  }

  announce () {
    if (this.isOn) return
    this.isOn = true
    if (!this.hasWarned) warn('FAIRLANE_WARN_OUTAGE', `A durable queue cannot write its log and keeps retrying. ${this.error.message}`)
    this.hasWarned = true
    this.events.tell('outage', this.error)
  }

  end () {
    this.triesCount = 0
    this.letGo()
    this.tell(waiter => waiter.resolve())
    if (!this.isOn) return
    this.isOn = false
    this.events.tell('outageover')
  }

  tryLater () {
    const ms = Math.min(FIRST_MS * 2 ** this.triesCount++, MAX_MS) * (0.75 + Math.random() / 4)
    this.deadlines.addAnyway(this, ms)
  }

  next () {
    if (this.isStopped) return Promise.reject(this.error)
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }))
  }

  tell (how) {
    for (const waiter of this.waiters.splice(0)) how(waiter)
  }
}

/** No descriptors are left: that passes, and says nothing about what was to be opened. */
function isShortage ({ cause }) {
  return cause?.code === 'EMFILE' || cause?.code === 'ENFILE'
}

module.exports = { Outage, isShortage }
