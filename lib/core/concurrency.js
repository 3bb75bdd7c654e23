'use strict'

// How many jobs may run at once, as the user says it; and while the owner of an inner queue lets nothing start, what it will be then.

const PAUSED = -1

class Concurrency {
  constructor (dispatch) {
    this.dispatch = dispatch
    this.last = dispatch.concurrency // that the user said, but for pauses
    this.held = undefined
  }

  /** -1 while paused. */
  get value () {
    return this.held ?? this.dispatch.concurrency
  }

  get isPaused () {
    return this.value === PAUSED
  }

  pause () {
    this.allow(PAUSED)
  }

  /** Ends a pause, too. */
  set (concurrency) {
    this.allow(this.last = concurrency)
  }

  /** Nothing starts until letGo(), whatever users pause and resume meanwhile. */
  hold () {
    this.held ??= this.dispatch.concurrency
    this.dispatch.concurrency = PAUSED
  }

  letGo () {
    this.dispatch.concurrency = this.held
    this.held = undefined
  }

  // private from here on

  allow (concurrency) {
    if (this.held === undefined) this.dispatch.concurrency = concurrency
    else this.held = concurrency
  }
}

module.exports = { Concurrency }
