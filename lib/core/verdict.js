'use strict'

// What ends jobs from outside their runners, often many at once: how they are counted, and the error that each of them gets.

const { MANY } = require('./notifications') // from so many on it is cheaper to look at the stack once: that takes as long as to capture some ten

class Verdict {
  /**
   * @param {(about?: any) => FairlaneError} makeError another one each time. Its frame is one of the few that a stack shows: no function
   *   around it
   * @param {any} [about] what it is given
   * @param {{ hasFailed: boolean, releases: boolean }} [effects] hasFailed: jobs are counted as failed, else as cancelled.
   *   releases: a runner that goes on loses its slot
   */
  constructor (makeError, about, { hasFailed = false, releases = false } = {}) {
    this.makeError = makeError
    this.about = about
    this.hasFailed = hasFailed
    this.releases = releases
    this.stack = undefined // of all its errors
  }

  /**
   * So many errors will be asked for. If these are many, they share what `stack` says, which is where this was called. The engine
   * takes 1.5 to 3 µs to capture a stack, and 0.3 µs for all else (Node 20 to 26; bench: blocks).
   */
  prepare (count) {
    if (count < MANY || this.stack !== undefined) return
    try {
      this.stack = this.makeError(this.about).stack
    } catch {} // Error.prepareStackTrace is the caller's
  }

  /** @returns {FairlaneError} of one job: another one each time */
  error () {
    if (this.stack === undefined) return this.makeError(this.about)
    const { stackTraceLimit } = Error
    const isSet = Reflect.set(Error, 'stackTraceLimit', undefined) // not if it is frozen
    const error = this.makeError(this.about)
    if (isSet) Error.stackTraceLimit = stackTraceLimit
    error.stack = this.stack
    return error
  }
}

/** The end of a job that runs, by another hand than its runner's. Of jobs with extras that wait, tickets do the same. */
class End {
  /**
   * @param {object | undefined} ticket
   * @param {{ hasFailed: boolean, releases: boolean, error: () => any }} verdict
   */
  constructor (ticket, verdict) {
    this.ticket = ticket
    this.verdict = verdict
    this.err = undefined
    this.whenSettled = undefined
    this.generation = 0
  }

  /** Whether its runner may have a signal of its own. */
  get hasSignal () {
    return this.ticket !== undefined
  }

  /** The job's own, the same each time. */
  error () {
    this.err ??= this.verdict.error()
    return this.err
  }
}

module.exports = { Verdict, End }
