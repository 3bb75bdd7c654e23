'use strict'

// Jobs that are sent to a thread together, and what becomes of them as a whole. Both sides count messages in memory that they share: the
// thread sleeps until there is another request, and who has got an answer sees whether there are others.

const REQUESTS = 0 // to the thread
const ANSWERS = 1 // from it

class Message {
  /** @param {object} pool that it is sent by @param {object[]} jobs */
  constructor (pool, jobs) {
    this.pool = pool
    this.jobs = jobs
    this.number = -1 // in the pool, once it is sent
    this.thread = undefined // that it was given to
    this.isLost = false // its thread has ended, or is ending
    this.error = undefined // by what
    this.answer = undefined // that was there by then
    this.hasBegun = true // it was in a thread that had loaded the module
  }
}

module.exports = { Message, REQUESTS, ANSWERS }
