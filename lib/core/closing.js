'use strict'

// How a queue comes to its end: it lets accepted jobs finish, or gives them up, at once or after a time; and it never waits
// for a runner that was told to stop and does not.
//
//   open ──close()──▶ draining ──timeoutMs, or close({ drain: false })──▶ abandoning ──a turn, or its timeoutMs──▶ closed
//                        └────────────────── nothing waits and no slot is taken ────────────┴───────────────────────▲

const { FairlaneError } = require('../arguments/errors')
const { defer } = require('../platform/clock')
const { behindOthers } = require('../platform/promised')
const { whenAborted } = require('../platform/signals')
const { Verdict } = require('./verdict')

class Closing {
  /**
   * @param {object} dispatch
   * @param {object} deadlines
   * @param {(abandonedCount: number) => void} onClosed
   */
  constructor (dispatch, deadlines, onClosed) {
    this.dispatch = dispatch
    this.deadlines = deadlines
    this.onClosed = onClosed
    this.isAbandoning = false
    this.isOver = false
    this.limits = [] // what is due in deadlines
    this.promise = new Promise(resolve => { this.resolve = resolve })
  }

  /** Nothing new comes in: waits for what is there, of which nothing is paused any more. */
  begin (hasTypes) {
    if (hasTypes) this.dispatch.list.resumeAllTypes()
    this.dispatch.wake()
    behindOthers(this.dispatch.idleWaiters.add()).then(() => this.finish())
  }

  /** @returns {Promise<number>} of how many runners go on when it is over */
  end (drain, timeoutMs, cause) {
    if (!drain) this.abandon(timeoutMs, cause)
    else if (timeoutMs !== undefined) this.drain(timeoutMs)
    return this.promise
  }

  // private from here on

  /** Lets jobs finish for so many ms. */
  drain (timeoutMs) {
    if (!this.isOver && !this.isAbandoning) this.limit(timeoutMs, () => this.abandon(undefined, {}))
  }

  /**
   * Settles all jobs. Runners get so many ms to end, without a time one turn of the event loop, which is enough for what
   * follows their signals at once.
   */
  abandon (timeoutMs, cause) {
    if (this.isOver) return
    if (!this.isAbandoning) {
      this.isAbandoning = true
      this.dispatch.interruptions.abandon(new Verdict(unendedError, cause))
    }
    if (this.isOver) return // in a callback time has gone by, and the limit of another call was reached
    if (timeoutMs === undefined) defer(() => this.finish())
    else this.limit(timeoutMs, () => this.finish())
  }

  limit (ms, whenDue) {
    const item = { position: -1, order: 0, whenDue }
    this.limits.push(item)
    this.deadlines.addAnyway(item, ms)
  }

  finish () {
    if (this.isOver) return
    const { running, overdueCount, overrun, untoldCount } = this.dispatch
    // time may run out inside a runner: its job is told when that returns
    if (untoldCount > 0 || running > overdueCount) {
      defer(() => this.finish())
      return
    }
    this.isOver = true
    for (const item of this.limits) this.deadlines.remove(item)
    const abandonedCount = running + overrun
    this.onClosed(abandonedCount)
    this.resolve(abandonedCount)
  }
}

/**
 * Closes a queue when a signal aborts.
 * @param {AbortSignal} signal
 * @param {(cause: { cause: any }) => void} close
 * @returns {() => void} lets the signal go
 */
function closeBy (signal, close) {
  return whenAborted(signal, () => { close({ cause: signal.reason }) })
}

/** @param {{ cause?: any }} options */
function unendedError (options) {
  return new FairlaneError('FAIRLANE_ERR_CLOSED', 'The queue was closed before the job ended', options)
}

module.exports = { Closing, closeBy }
