'use strict'

// Notices a deadlock that the queue can not prevent: jobs that wait for jobs which they have added to the same queue, in all
// slots. A job that adds others without waiting for them does nothing wrong, so it is only a warning.

const { warn } = require('./errors')

const STALL_MS = 10000

class StallWatch {
  /**
   * @param {object} dispatch
   * @param {object} deadlines
   */
  constructor (dispatch, deadlines) {
    this.dispatch = dispatch
    this.deadlines = deadlines
    this.hasWarned = false
    this.progress = 0
    this.position = -1 // in the heap of deadlines
    this.order = 0
  }

  /** A job was added while a runner, or a callback, was on the stack. */
  begin () {
    if (this.hasWarned || this.position !== -1) return
    this.progress = this.progressCount()
    this.deadlines.add(this, STALL_MS)
  }

  /** The queue is empty: nothing to watch, and no timer for it. */
  end () {
    this.deadlines.remove(this)
  }

  whenDue () {
    const { running, concurrency, list } = this.dispatch
    // with a slot free, or paused, it is no deadlock; the next job that is added by another has it watched again
    if (concurrency < 0 || running < concurrency || list.size === 0) return
    if (this.progress !== this.progressCount()) {
      this.begin()
      return
    }
    this.hasWarned = true
    warn('FAIRLANE_WARN_STALLED', `Nothing has started or settled for ${STALL_MS / 1000} s: all ${running} slots are taken and ` +
      `${list.size} jobs wait, and running jobs have added some of these. A job that waits for a job of its own queue keeps its ` +
      'slot meanwhile; when all do, none can go on. Let such jobs have a queue of their own, or do not wait for them in a job.')
  }

  // private from here on

  progressCount () {
    const { accepted, done, failed, cancelled, list } = this.dispatch
    return accepted - list.size + done + failed + cancelled
  }
}

module.exports = { StallWatch }
