'use strict'

// A job that has failed and is to be tried again. It stands in the place of the job's callback: when that would be called, the caller is
// asked how long the job is to wait. The job counts as delayed from its failure on.

const { backoffAfter } = require('../../job/backoff')
const { rethrow } = require('../../platform/clock')

class Retry {
  /**
   * @param {object} jobs the PlannedJobs of the queue
   * @param {object | undefined} before the ticket of the attempt that has failed
   * @param {object} ticket of the next attempt
   * @param {'throttled' | 'postponed' | 'retry'} end how that one has ended
   */
  constructor (jobs, before, ticket, end) {
    this.jobs = jobs
    this.before = before
    this.ticket = ticket
    this.end = end
  }

  /** Called where the job's callback would be: all counts are right. The job may have been cleared meanwhile. */
  settle (err) {
    this.before?.leave()
    if (!this.ticket.isDelayed) return
    if (this.end === 'throttled') this.throttle(err)
    else if (this.end === 'retry') this.backOff(err, this.ticket.attempt - 1)
    else this.jobs.postpone(this.ticket, err.delayMs, this.ticket.signal)
  }

  // private from here on

  /** The job waits as the first of its type, which is held. */
  throttle (err) {
    const { jobs, ticket } = this
    jobs.throttle(ticket.type, err)
    if (!ticket.isDelayed) return // a scheduler has cleared the queue
    jobs.enter(ticket)
    jobs.tickets.watch(ticket, { signal: ticket.signal, maxWaitMs: Infinity })
  }

  backOff (err, attempt) {
    const { jobs, ticket } = this
    const ms = this.backoffAfter(err, attempt)
    if (!ticket.isDelayed) return
    if (ms === Infinity) {
      jobs.fail(ticket, err)
      return
    }
    jobs.retriedCount++
    jobs.note(ticket.type, 'retried')
    jobs.dispatch.list.recorder?.again(ticket.id, err)
    jobs.hooks.onRetry({ id: undefined, type: ticket.type, payload: ticket.payload, attempt, error: err, delayMs: ms })
    if (ticket.isDelayed) jobs.postpone(ticket, ms, ticket.signal)
  }

  /** What the caller says, in the context of the queue or the push. Infinity: the job is not tried again. */
  backoffAfter (err, attempt) {
    const { jobs: { backoffMs }, ticket: { scope } } = this
    const ask = scope === undefined ? backoffMs : (...args) => scope.runInAsyncScope(backoffMs, undefined, ...args)
    return backoffAfter(ask, attempt, err, rethrow)
  }
}

/** The type of a job that ran, by what its list gave it as origin. */
function typeOf (origin) {
  return origin?.type
}

/** The id of a job that ran, if it is observed. */
function idOf (origin) {
  return typeof origin === 'number' ? origin : origin?.id ?? 0
}

module.exports = { Retry, idOf, typeOf }
