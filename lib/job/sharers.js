'use strict'

// Who shares the result of a job. Those who have no signal keep the job; those who have one may leave it by that. A job that all have left
// is deserted: nobody wants it any more.

const { Signals } = require('../platform/signals')

/** Of all jobs of a queue. What is shared has `isKept`, `isSettled`, and `sharers`: a Set, once there were any who may leave. */
class Sharers {
  /**
   * @param {(signal: AbortSignal, rejects: Function[], deserted: object[], fault: any) => void} onLeft given the promises of those who have
   *   left, and what nobody shares any more; fault: what a signal of another make threw, where it was not told
   */
  constructor (onLeft) {
    this.onLeft = onLeft
    this.signals = new Signals((signal, sharers) => this.leave(signal, sharers))
  }

  /** Somebody may leave by a signal, who is told by reject. */
  add (shared, signal, reject) {
    const sharer = { shared, signal, reject }
    ;(shared.sharers ??= new Set()).add(sharer)
    try {
      this.signals.add(signal, sharer)
      // code of the caller's has run since it was looked at first
      if (signal.aborted) queueMicrotask(() => this.leave(signal, [sharer]))
    } catch (fault) {
      queueMicrotask(() => this.leave(signal, [sharer], fault))
    }
  }

  /** The job has settled, and all are told by its promise: their signals are let go. */
  release ({ sharers }) {
    if (sharers === undefined) return
    for (const sharer of sharers) this.signals.remove(sharer.signal, sharer)
    sharers.clear()
  }

  // private from here on

  leave (signal, sharers, fault) {
    const rejects = []
    const deserted = []
    for (const sharer of sharers) {
      const { shared, reject } = sharer
      this.signals.remove(signal, sharer)
      if (!shared.sharers.delete(sharer) || shared.isSettled) continue // the latter: it was not told yet
      rejects.push(reject)
      if (!shared.isKept && shared.sharers.size === 0) deserted.push(shared)
    }
    if (rejects.length > 0) this.onLeft(signal, rejects, deserted, fault)
  }
}

module.exports = { Sharers }
