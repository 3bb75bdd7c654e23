'use strict'

// How many calls are made in one turn of the event loop: more of them, as for pushes of ten thousand types, would block it. Calls are
// counted and not timed, since what a call costs comes in microtasks, when all have been made.

class Pace {
  /** @param {number} most calls in a turn */
  constructor (most) {
    this.most = most
    this.count = 0 // of calls in this turn
    this.waiting = [] // calls for later turns, in order; there are none before that is so many
  }

  /** Makes a call, in this turn or in a later one. @param {() => Promise<any>} call @returns {Promise<any>} of it */
  run (call) {
    if (this.count < this.most) {
      this.add()
      return call()
    }
    return new Promise(resolve => this.waiting.push({ call, resolve }))
  }

  // private from here on

  add () {
    if (this.count++ === 0) setImmediate(() => this.turn())
  }

  turn () {
    this.count = 0
    for (const { call, resolve } of this.waiting.splice(0, this.most)) {
      this.add()
      resolve(call())
    }
  }
}

module.exports = { Pace }
