'use strict'

// onIdle(): who waits for the queue to be idle, that is for all jobs, and for all flushes before.

// So many promises are not worth a slice of time: a burst of 100 synchronous jobs took 8 % longer with it (Node 20; bench: bursts).
const FEW = 16

class IdleWaiters {
  /** @param {object} dispatch whose jobs are waited for; its `isIdleAwaited` says that there are waiters */
  constructor (dispatch) {
    this.dispatch = dispatch
    this.waiters = []
  }

  /** @returns {Promise<void>} resolves when nothing waits, no slot is taken, and all jobs were told */
  add () {
    if (this.dispatch.isIdle()) return Promise.resolve()
    this.dispatch.isIdleAwaited = true
    return new Promise(resolve => this.waiters.push(resolve))
  }

  /** Tells them if it is so. */
  check () {
    const { dispatch, waiters } = this
    if (!dispatch.isIdle() || dispatch.madeFlushes?.areTold === false) return
    dispatch.isIdleAwaited = false
    this.waiters = []
    if (waiters.length <= FEW) {
      for (const resolve of waiters) resolve()
    } else {
      const { Promises } = require('./notifications')
      dispatch.telling.tell(new Promises(waiters))
    }
  }
}

module.exports = { IdleWaiters }
