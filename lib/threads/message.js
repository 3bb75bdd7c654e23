'use strict'

// Jobs that are sent to a thread together. To piscina a message is its own signal, in the form of an event emitter: that costs 20 ns, and
// an AbortController 2 µs. While the message is under way, piscina's listener ends its thread.

class Message {
  /** @param {object} pool that it is sent by @param {object[]} jobs */
  constructor (pool, jobs) {
    this.pool = pool
    this.jobs = jobs
    this.number = -1 // in the pool, once it is sent
    this.listener = undefined
    this.isSent = false // its jobs may have begun; not known of a single one, which is never sent again
    this.isLost = false // its thread has ended, or is ending
    this.error = undefined // by what
    this.hasBegun = true // it was in a thread that had loaded the module
  }

  /** What stands at the end of one with several jobs: it is read when all before it could be cloned. @returns {object} */
  end () {
    const message = this
    return { get isSent () { return (message.isSent = true) } }
  }

  once (event, listener) {
    this.listener = listener
  }

  /** piscina is done with the message: it was answered, or its thread has ended, or it could not be sent. */
  removeListener () {
    this.listener = undefined
    if (!this.pool.isLosing) return
    this.isLost = true
    this.pool.losing.push(this)
  }
}

module.exports = { Message }
