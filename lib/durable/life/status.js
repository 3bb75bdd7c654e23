'use strict'

// How far a durable queue has come to its end, and why calls are refused from there on. Parts that end something then say so in parts.js,
// each phase in the order in which that is to be done.
//
//   open ──▶ closed: nothing new is taken in ──▶ over: nothing is written any more ──▶ ended: the lock was given back
//     └────▶ failed: the log is gone ──▶ closed

const { closedError } = require('../../arguments/errors')

class Status {
  constructor () {
    this.error = undefined // of the log: nothing is written any more
    this.isClosed = false // nothing new is taken in
    this.cause = undefined // { cause } of the errors from then on, if a signal has closed the queue
    this.isOver = false // the log is closed
    this.whenClosing = [] // functions
    this.whenFailed = [] // ... that are given the error
    this.whenOver = [] // ... that are given why nothing is known from here on
    this.whenEnded = []
  }

  /** @throws FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED: what asks something of jobs is too late */
  check () {
    if (this.error !== undefined) throw this.error
    if (this.isClosed) throw closedError(this.cause)
  }

  /** The queue is about to close. @param {{ cause: any }} [cause] of the errors from then on */
  closing (cause) {
    this.cause = cause
    for (const stop of this.whenClosing) stop()
  }

  /** The log has failed: nothing is written any more, and no job started. */
  fail (err) {
    this.error = err
    for (const stop of this.whenFailed) stop(err)
  }

  /** The log is closed. */
  over () {
    this.isOver = true
    const error = this.error ?? closedError(this.cause)
    for (const stop of this.whenOver) stop(error)
  }

  /** Another process may open the queue. */
  end () {
    for (const stop of this.whenEnded) stop()
  }
}

module.exports = { Status }
