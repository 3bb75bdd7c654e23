'use strict'

// Callers of add() that wait for results, until the jobs have ended. adding.js says how they come.

const { Sharers } = require('../../job/sharers')
const { callbackOf } = require('../../platform/promised')
const { renumber } = require('../run/records')

/** A job whose result is waited for. */
class ResultWaiter {
  constructor (job) {
    this.job = job // what stands in the queue for it
    this.isKept = false // wanted by a push, or by an add() without a signal
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

  /** A job was pushed, perhaps one that is there, and nobody waits for its result by that push: no signal ends it from here on. */
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

  /**
   * The result of a job is waited for.
   * @param {boolean} wasThere the job is that of another push
   * @returns {ResultWaiter}
   */
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
