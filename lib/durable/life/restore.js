'use strict'

// Puts the jobs of a log into the queue when it is opened. They come to stand as if the queue had never been closed:
//
//   those that had a slot │ failed ones whose time has come, the last one first │ those that wait, unshifted ones first
//
// It works in slices, between which the event loop turns. The queue starts nothing meanwhile.

const { Slice } = require('../../platform/slice')
const { NONE } = require('../push/job-options')
const { WAITING, STARTED, DUE, INTERRUPTED, REVIVED, DEAD, OVER, hasStarted } = require('../run/job-state')
const { LONG_WORK, nextTurn } = require('../../log/turns')

// Of putting one job into the queue, in pieces of LONG_WORK.
const PIECES = 2

class Restore {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ maxAttempts: number, isVisited?: boolean }} options isVisited: it is opened by somebody who runs nothing
   */
  constructor ({ clocks, endings, findings, pastTimes, retries, status, store, waiting }, { maxAttempts, isVisited = false }) {
    this.clocks = clocks
    this.endings = endings
    this.findings = findings
    this.pastTimes = pastTimes
    this.retries = retries
    this.status = status
    this.store = store
    this.waiting = waiting
    this.survey = undefined // of the log
    this.ages = undefined // of the jobs, if they have priorities
    this.maxAttempts = maxAttempts
    this.isVisited = isVisited
    this.slice = new Slice(LONG_WORK)
    this.interrupted = [] // jobs that had a slot, in the order of their numbers
    this.due = [] // failed jobs whose time has come
    this.delayed = [] // jobs whose time is to come
  }

  /**
   * @param {object} survey of the log
   * @param {object | undefined} ages of the jobs, if they have priorities
   * @returns {Promise<void>} rejects with the error of the log if that fails meanwhile
   */
  async run (survey, ages) {
    this.survey = survey
    this.ages = ages
    const { table, states, nextSeq } = this.store
    for (let seq = table.first(nextSeq); seq < nextSeq; seq = table.next(seq + 1, nextSeq)) {
      this.take(seq, states.get(seq))
      if (this.slice.isOver(PIECES)) await this.turn()
    }
    await this.placeDue()
    await this.placeInterrupted()
    await this.placeDelayed()
  }

  // private from here on

  async turn () {
    await nextTurn(this.slice)
    if (this.status.error !== undefined) throw this.status.error
  }

  take (seq, state) {
    const { type, atHead, hasOptions, isDamaged } = this.survey.find(seq)
    const options = hasOptions ? this.findings.options(seq, type, state) : NONE
    if (state?.phase === OVER) {
      this.findings.over(seq)
      return
    }
    if (this.findings.isObserved) this.findings.tell(seq, type, this.survey.pushedAt(seq), state, options)
    if (state?.phase === DEAD) {
      this.findings.deadLetter(seq, type)
      return
    }
    this.findings.live(type)
    if (this.isVisited) {
      this.keep(seq, type, atHead, options, state)
      return
    }
    if (isDamaged) {
      this.endings.damaged(seq, type, state?.attempts ?? 0)
      return
    }
    this.ages?.begin(seq)
    this.put(seq, type, atHead, options, state)
    this.ages?.end()
  }

  /** A job that has not settled, where nothing is decided: what becomes of it by its times and attempts is for who runs it. */
  keep (seq, type, atHead, options, state) {
    const dueAt = state?.phase === DUE ? state.dueAt : hasStarted(state) ? 0 : options.dueAt
    const leftMs = this.clocks.leftUntil(dueAt, Infinity)
    if (leftMs > 0) this.retries.add(seq, type, leftMs)
    else this.waiting.place(seq, type, atHead)
  }

  /** A job that has not settled, by what has become of it. */
  put (seq, type, atHead, options, state) {
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
  }

  /** A job that had a slot when the process ended. */
  takeStarted (seq, type, atHead, { attempts }, { maxAttempts = this.maxAttempts }) {
    if (attempts < maxAttempts) this.interrupted.push({ seq, type, atHead, isSuspect: attempts > 0 && attempts >= maxAttempts - 1 })
    else this.endings.crashed(seq, type, attempts)
  }

  /** A job that never had a slot, and whose time may be to come. */
  takeNew (seq, type, atHead, options) {
    const leftMs = this.pastTimes.leftOfDelay(seq, options)
    if (leftMs === 0) this.takeWaiting(seq, type, atHead, options)
    else this.delayed.push({ seq, type, atHead, options, dueAt: this.clocks.time() + leftMs })
  }

  /** A job that never had a slot. */
  takeWaiting (seq, type, atHead, { priority }) {
    const leftMs = this.waiting.isLimited ? this.pastTimes.leftToWait(seq) : Infinity
    if (leftMs > 0) this.waiting.place(seq, type, atHead, leftMs, priority)
    else this.endings.expired(seq, type)
  }

  takeFailed (seq, type, state) {
    const leftMs = this.pastTimes.leftOfBackoff(seq, state)
    if (leftMs === 0) this.due.push({ seq, type, dueAt: state.dueAt })
    else this.retries.add(seq, type, leftMs)
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
      this.retries.placeLater(seq, type, atHead, options, Math.max(0, dueAt - this.clocks.time()))
      if (this.slice.isOver(PIECES)) await this.turn()
    }
  }
}

module.exports = { Restore }
