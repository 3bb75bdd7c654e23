'use strict'

// HOT (bench: add). A slot that a caller holds until it gives it back.
//
//   acquire() ──▶ waiting ──start()──▶ held ──release()──▶ free
//                                        └── nobody can reach the slot any more: collected ──▶ free

const { FairlaneError, warn } = require('../../arguments/errors')
const { isThrottled } = require('../../job/postponing')
const { settle } = require('../running')
const { LostSlots } = require('./lost')

const lostSlots = new LostSlots()

/** What the caller has. Nothing of the queue refers to it for long, so that it is collected if the caller loses it. */
class Slot {
  #acquisition

  constructor (acquisition, type, waitedMs) {
    this.#acquisition = acquisition
    this.type = type
    this.waitedMs = waitedMs
  }

  /** Aborts when the job is settled while the slot is held. */
  get signal () {
    return this.#acquisition.ticket.runnersSignal()
  }

  /** A function that gives the slot back; only its first call counts. It may be taken off the slot. */
  get release () {
    return error => { this.#acquisition.end(error) }
  }

  /** As `spent` of a job's context: what has been done in the slot costs so much so far. */
  get spent () {
    return total => { this.#acquisition.ticket.spent(total) }
  }

  [Symbol.dispose] () {
    this.#acquisition.end()
  }
}

/** One call of acquire(), as `work` of its ticket. */
class Acquisition {
  constructor (slots, askedAt) {
    this.slots = slots
    this.askedAt = askedAt
    this.ticket = undefined // these two from the start on
    this.job = undefined // ... and while the slot is held
    this.slot = undefined // itself, as long as it cannot get lost
    this.isRegistered = false // it may get lost
  }

  start (ticket, job, payload, { type }) {
    const { callback, tickets: { dispatch } } = ticket
    this.ticket = ticket
    this.job = job
    ticket.callback = undefined // it tells the promise, which has what it waits for
    const slot = this.slot = new Slot(this, type, this.slots.time.now() - this.askedAt)
    lostSlots.watch(this)
    callback(null, slot)
    return dispatch.givesDone ? undefined : new Promise(() => {}) // where a value would settle the job
  }

  get keepsContext () {
    return false
  }

  get comesBack () {
    return false
  }

  /** The caller gives the slot back. @param {any} [error] truthy: the job has failed */
  end (error) {
    const job = this.leave()
    if (job === undefined) return
    if (isThrottled(error)) this.ticket.tickets.planned.throttle(job.origin?.type, error)
    settle(job, error)
  }

  /** The caller has lost the slot. */
  lose () {
    const job = this.leave()
    if (job === undefined) return
    const { slots } = this
    if (!slots.hasWarned) {
      slots.hasWarned = true
      warn('FAIRLANE_WARN_SLOT_LOST', 'A slot from acquire() was garbage-collected before it was released. It is free again, and its job ' +
        'has failed. Until then other jobs had to wait for it: call release() in a finally block, or write ' +
        '`using slot = await queue.acquire()`.')
    }
    settle(job, new FairlaneError('FAIRLANE_ERR_SLOT_LOST', 'The slot was garbage-collected before it was released'))
  }

  // private from here on

  /** @returns {object | undefined} the job, if the slot was held still */
  leave () {
    const { job } = this
    if (job === undefined) return undefined
    this.job = this.slot = undefined
    if (this.isRegistered) lostSlots.unwatch(this)
    return job
  }
}

module.exports = { Acquisition }
