'use strict'

// Callers of fflush(), which waits until all jobs up to a number have settled. Jobs are numbered as they are accepted, so each wait counts
// those behind the one before it, and a settlement looks up the one that its number falls into: O(log waits).

class Flushes {
  /** @param {{ stage: object }} parts of the queue: calls each callback that is due */
  constructor ({ stage }) {
    this.stage = stage
    this.waits = [] // { endSeq, unsettledCount, callbacks }, in order
    this.waitedFor = 0
  }

  /**
   * @param {() => void} callback
   * @param {number} endSeq jobs below are waited for
   * @param {number} unsettledCount how many of them there are
   */
  add (callback, endSeq, unsettledCount) {
    const last = this.waits.at(-1)
    if (last !== undefined && last.endSeq === endSeq) {
      last.callbacks.push(callback)
    } else {
      this.waits.push({ endSeq, unsettledCount: unsettledCount - this.waitedFor, callbacks: [callback] })
      this.waitedFor = unsettledCount
    }
    this.check()
  }

  /** A job has settled. */
  settled (seq) {
    if (this.waits.length === 0 || !this.count(seq, -1)) return
    this.check()
  }

  /** A job that had settled is to run again: those who wait for its like wait for it too. */
  revived (seq) {
    this.count(seq, 1)
  }

  /** There is nothing to wait for any more. */
  end () {
    for (const wait of this.waits) wait.unsettledCount = 0
    this.waitedFor = 0
    this.check()
  }

  // private from here on

  count (seq, change) {
    let low = 0
    let high = this.waits.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.waits[middle].endSeq > seq) high = middle
      else low = middle + 1
    }
    if (low === this.waits.length) return false
    this.waits[low].unsettledCount += change
    this.waitedFor += change
    return true
  }

  check () {
    while (this.waits.length > 0 && this.waits[0].unsettledCount === 0) {
      for (const callback of this.waits.shift().callbacks) queueMicrotask(() => this.stage.call(callback))
    }
  }
}

module.exports = { Flushes }
