'use strict'

// Notices a deadlock that the queue can not prevent: jobs that wait for jobs which they have added to the same queue, in all
// slots. A job that adds others without waiting for them does nothing wrong, so it is only a warning.
//
// Whether add() was called by a job can be told only while its runner is on the stack (following it through each await would slow
// down all promises of the process, before Node 24). So each add() that finds all slots taken begins the watch: in such a
// deadlock the last one of those that wait has done so.

const { callSafely } = require('../platform/clock')
const { warn } = require('../arguments/errors')

const INSIDE_MS = 10000
// The jobs may have been added from outside, and those that run just take long.
const ANYWHERE_MS = 30000

class StallWatch {
  /**
   * @param {object} dispatch
   * @param {{ setTimeout: Function, clearTimeout: Function }} clock
   */
  constructor (dispatch, clock) {
    this.dispatch = dispatch
    this.clock = clock
    this.hasWarned = false
    this.progress = 0
    this.limitMs = 0
    this.timer = undefined
    this.look = this.look.bind(this)
  }

  /** A job was added, or refused, for which somebody may wait. */
  added () {
    const { isBusy, running, concurrency, list } = this.dispatch
    if (running < concurrency || concurrency < 0 || list.size === 0 || this.timer !== undefined || this.hasWarned) return
    this.limitMs = isBusy ? INSIDE_MS : ANYWHERE_MS
    this.begin()
  }

  /** The queue is empty: nothing to watch, and no timer for it. */
  end () {
    const { timer } = this
    if (timer === undefined) return
    this.timer = undefined
    callSafely(() => this.clock.clearTimeout(timer))
  }

  // private from here on

  /** The timer keeps no process alive: one that has nothing else to do will not get to know more. */
  begin () {
    const { dispatch, clock } = this
    this.progress = this.progressCount()
    callSafely(() => {
      this.timer = dispatch.scope.runInAsyncScope(clock.setTimeout, clock, this.look, this.limitMs)
      this.timer?.unref?.()
    })
  }

  look () {
    const { running, concurrency, list } = this.dispatch
    this.timer = undefined
    // with a slot free, or paused, it is no deadlock; the next job that is added to taken slots has it watched again
    if (concurrency < 0 || running < concurrency || list.size === 0) return
    if (this.progress !== this.progressCount()) {
      this.begin()
      return
    }
    this.hasWarned = true
    warn('FAIRLANE_WARN_STALLED', `Nothing has started or settled for ${this.limitMs / 1000} s: all ${running} slots are taken, ` +
      `${list.size} jobs are waiting, and running jobs seem to have added some of them. A job that waits for a job of its own queue ` +
      'keeps its slot; when every slot is kept like that, nothing can go on. Give such jobs a queue of their own, ' +
      'or do not wait for them in a job.')
  }

  progressCount () {
    const { accepted, waiting, done, failed, cancelled } = this.dispatch
    return accepted - waiting + done + failed + cancelled
  }
}

module.exports = { StallWatch }
