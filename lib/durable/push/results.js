'use strict'

// Who waits for the results of jobs, until these have ended. adding.js says how they come.

const { Sharers } = require('../../job/sharers')
const { callbackOf } = require('../../platform/promised')
const { renumber } = require('../run/records')

/** A job whose result somebody waits for. */
class ResultWaiter {
  constructor (job) {
    this.job = job // what stands in the queue for it
    this.isKept = false // somebody wants it who has no signal
    this.isSettled = false
    this.sharers = undefined // a Set of those who have one, if there ever were some
    let resolve
    this.promise = new Promise(_resolve => { resolve = _resolve })
    this.settle = callbackOf(resolve)
  }
}

class Results {
  /** @param {{ keys: object }} parts of the queue */
  constructor ({ keys }) {
    this.keys = keys
    this.waiters = new Map() // what stands in the queue → ResultWaiter
    this.whenLeft = undefined // told when some have left by their signal, as Sharers says it
    this.sharers = new Sharers((signal, rejects, deserted, fault) => this.whenLeft(signal, rejects, deserted, fault))
  }

  /** Somebody has pushed a job, perhaps one that is there, who does not wait for it. */
  keep (job) {
    const waiter = this.waiters.size === 0 ? undefined : this.waiters.get(job)
    if (waiter !== undefined) waiter.isKept = true
  }

  /** A job is written that was not. */
  written (buffered, seq) {
    const waiter = renumber(this.waiters, buffered, seq)
    if (waiter !== undefined) waiter.job = seq
  }

  /** A job has ended. */
  settled (seq, err, result) {
    const waiter = this.waiters.size === 0 ? undefined : this.waiters.get(seq)
    if (waiter === undefined) return
    this.keys.keepResult(seq, waiter.promise)
    this.end(waiter, err, result)
  }

  /** Nothing more will be known of jobs that have not ended. */
  close (error) {
    for (const waiter of [...this.waiters.values()]) this.end(waiter, error)
  }

  /** Somebody waits for the result of a job. @param {boolean} wasThere it was pushed by somebody else @returns {ResultWaiter} */
  waitFor (job, wasThere) {
    let waiter = this.waiters.get(job)
    if (waiter === undefined) {
      waiter = new ResultWaiter(job)
      waiter.isKept = wasThere
      this.waiters.set(job, waiter)
    }
    return waiter
  }

  /** A job has ended, or was not written; a second time is none. */
  end (waiter, err, result) {
    if (this.waiters.get(waiter.job) !== waiter) return
    this.waiters.delete(waiter.job)
    waiter.isSettled = true
    this.sharers.release(waiter)
    waiter.settle(err, result)
  }
}

module.exports = { Results }
