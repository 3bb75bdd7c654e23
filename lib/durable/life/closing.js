'use strict'

// How a durable queue comes to its end: by close(), its signal, or a log that has failed.
//
//   close() ─▶ nothing new ─┬─ drain: what waits is run ─┬─▶ what runs has ended ─▶ what is buffered is written ─▶ log closed ─┐
//                           └─ else it stays on disk ────┘       ▲                                                             │
//                       timeoutMs: runners are told, and given up┘                                 told ◀── lock given back ◀──┘

const { warn } = require('../../arguments/errors')
const { behindOthers } = require('../../platform/promised')

class Closing {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ admission, leaving, outage, outcomes, report: { events }, stage, status, store }) {
    this.admission = admission
    this.leaving = leaving
    this.outage = outage
    this.outcomes = outcomes
    this.events = events
    this.stage = stage
    this.status = status
    this.store = store
    this.promise = undefined // of the end, once it has begun
    this.limits = [] // of the time until what runs is given up
    this.stopListening = ignore // to the option `signal`
  }

  /**
   * @param {boolean} drain whether what waits is run first
   * @param {number | undefined} timeoutMs until then what runs may end
   * @param {{ cause: any }} [cause] for the runners that are told then
   * @returns {Promise<number>} how many runners had not ended
   */
  close (drain, timeoutMs, cause) {
    if (this.promise === undefined) this.begin(drain, cause)
    else if (!drain) this.leaving.leave()
    if (timeoutMs === 0) this.abandon(cause)
    else if (timeoutMs !== undefined) this.limit(timeoutMs, cause)
    return this.promise
  }

  /** Closes when the signal aborts. */
  closeBy (signal) {
    this.stopListening = this.stage.whenAborted(signal, () => { this.close(false, undefined, { cause: signal.reason }) })
  }

  /** The log has failed: nothing is written any more, and no job started. */
  fail (err) {
    this.status.fail(err)
    // not in the middle of what the log is about
    queueMicrotask(() => {
      warn('FAIRLANE_ERR_IO', `A durable queue is closing because its log failed. ${err.message}`)
      this.close(false, 0)
    })
  }

  // private from here on

  begin (drain, cause) {
    this.status.closing(cause)
    if (!drain) this.leaving.leave()
    this.promise = behindOthers(this.end(this.stage.close(true, undefined, cause)))
    this.promise.catch(ignore)
    this.status.isClosed = true
  }

  limit (timeoutMs, cause) {
    const limit = { position: -1, order: 0, whenDue: () => this.abandon(cause) }
    this.limits.push(limit)
    this.stage.deadlines.addAnyway(limit, timeoutMs)
  }

  /** Gives up what runs. */
  abandon (cause) {
    this.outage.giveUp()
    this.leaving.leave()
    this.stage.close(false, undefined, cause)
  }

  async end (idle) {
    const { status } = this
    const abandonedCount = await idle
    this.stopListening()
    // not before: one that kills the process until then has had its attempt
    if (status.error === undefined) this.outcomes.giveUp()
    await this.admission.writeBuffered()
    await this.outage.close()
    for (const limit of this.limits) this.stage.deadlines.remove(limit)
    await this.store.close().catch(err => { status.error ??= err })
    if (this.outage.isLosing) status.error ??= this.outage.error
    status.over()
    status.end()
    this.events.tell('close', abandonedCount, status.error)
    if (status.error !== undefined) throw status.error
    return abandonedCount
  }
}

function ignore () {}

module.exports = { Closing }
