'use strict'

// The two clocks of a queue on disk, and which of them says what. docs/why/durability.md has a table of what follows from this.
//
//   the machine's clock   ms since 1970. Anybody may set it, forward or back, whether the queue is open or not. Times are written by it,
//                         and schedules go by it; other parts that need it are given it as `now`
//   the queue's clock     from a start of its own, and never back. All that passes while the queue is open is measured by it: delays,
//                         backoff, keys, waits, rates, limits of time
//
// A time that was written is read once, when the queue is opened, and becomes one by the queue's clock here. If it is to come, though it
// was the time of something that had happened, the machine's clock was set back meanwhile: then it counts as now.

class Clocks {
  /**
   * @param {{ stage: object }} parts of the queue
   * @param {{ now: () => number }} options now: of the machine's clock
   */
  constructor ({ stage }, { now }) {
    this.now = now
    this.queue = stage.deadlines.clock
  }

  /** By the queue's clock. */
  time () {
    return this.queue.now()
  }

  /** How many ms ago a time was that was written. */
  ageOf (written) {
    return Math.max(0, this.now() - written)
  }

  /** When it was, by the queue's clock. */
  timeOf (written) {
    return this.time() - this.ageOf(written)
  }

  /** Whether what was written as past is still to come. */
  isAhead (written) {
    return written > this.now()
  }

  /** In how many ms a time comes that was at most so many ms ahead when it was written; 0: it has come. */
  leftUntil (written, mostMs) {
    return Math.min(Math.max(0, written - this.now()), mostMs)
  }
}

module.exports = { Clocks }
