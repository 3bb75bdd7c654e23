'use strict'

// Runners that go on in their slots though their jobs have settled. Each has a slot of its type until it ends, and there are at most as
// many as slots.

class OverdueRunner {
  /** @param {any} inner what the one that stands before in the row wants to be told */
  constructor (type, at, sinceMs, inner) {
    this.type = type
    this.at = at // the place that its type had
    this.sinceMs = sinceMs
    this.inner = inner
  }
}

class Overdue {
  constructor () {
    this.runners = new Set()
  }

  get size () {
    return this.runners.size
  }

  begin (type, at, nowMs, inner) {
    const runner = new OverdueRunner(type, at, nowMs, inner)
    this.runners.add(runner)
    return runner
  }

  end (runner) {
    this.runners.delete(runner)
  }

  /** For how long all of them have held their slots. */
  slotMs (nowMs) {
    let sum = 0
    for (const { sinceMs } of this.runners) sum += nowMs - sinceMs
    return sum
  }

  /**
   * @param {'type' | 'at'} key by which they are counted
   * @param {number} [fromMs] slot time before that does not count
   * @returns {Map<any, { count: number, slotMs: number }>}
   */
  by (key, nowMs, fromMs = -Infinity) {
    const sums = new Map()
    for (const runner of this.runners) {
      const sum = sums.get(runner[key]) ?? { count: 0, slotMs: 0 }
      sums.set(runner[key], sum)
      sum.count++
      sum.slotMs += nowMs - Math.max(runner.sinceMs, fromMs)
    }
    return sums
  }
}

module.exports = { Overdue }
