'use strict'

// The jobs of one type that wait, in the order in which they are to start, by looking at all of them each time.

class LevelsModel {
  constructor (priorityMs = 0) {
    this.priorityMs = priorityMs
    this.waiting = [] // { payload, at, priority, order }
    this.count = 0
  }

  /** @param {number} at in ms, never less than before */
  push (payload, at, priority, atHead = false) {
    const order = atHead ? -++this.count : ++this.count
    this.waiting.push({ payload, at, priority, order })
  }

  has (payload) {
    return this.waiting.some(job => job.payload === payload)
  }

  remove (payload) {
    this.waiting = this.waiting.filter(job => job.payload !== payload)
  }

  /** A job starts. @returns {Error | undefined} what is wrong with that */
  start (payload) {
    const { priorityMs, waiting } = this
    const job = waiting.find(job => job.payload === payload)
    if (job === undefined) return new Error(`${payload} starts, which does not wait`)
    this.remove(payload)
    const before = this.waiting.find(other => this.compare(other, job) < 0)
    if (before !== undefined) return new Error(`${payload} starts before ${before.payload}`)
    const tooLong = job.order > 0 && this.waiting.find(({ at }) => at < job.at - 15 * priorityMs)
    if (tooLong) return new Error(`${payload} starts, and ${tooLong.payload} has waited longer than it may`)
  }

  // private from here on

  /**
   * Below 0: a must start before b. What would have been pushed in the same millisecond may start in any order, if it is not of one
   * priority.
   */
  compare (a, b) {
    if (a.order < 0 || b.order < 0 || a.priority === b.priority) return a.order - b.order
    return this.keyOf(a) - this.keyOf(b)
  }

  keyOf ({ at, priority }) {
    return at - priority * this.priorityMs
  }
}

module.exports = { LevelsModel }
