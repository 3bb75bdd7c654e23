'use strict'

// HOT (bench: schedulers). quickq's rule: each type gets slots in proportion to its share of the waiting jobs, up to a
// share of all slots; types that have more must let others go first. Among the others the oldest job starts.
//
// Promises: jobs start in the order in which quickq 0.10.2 starts them when it may look at all waiting jobs. A pick costs
// O(running types + log types) however many jobs wait. The weakness is quickq's, too: who queues more gets more.

const { Heap } = require('../lib/heap')
const { readOptions, readLimit, readPositive, readFlag } = require('./options')

const readers = {
  concurrency: readPositive,
  maxTypeShare: readLimit,
  maxScanLength: readLimit,
  hard: readFlag
}

class State {
  constructor (lane) {
    this.lane = lane
    this.position = -1
    this.headSeq = 0 // of the lane when it was placed
  }
}

/** The lane scheduler behind `scheduler: 'fair'`. */
class Fair {
  /**
   * @param {object} [options]
   * @param {number} [options.maxTypeShare=0.8] the share of the slots from which on a type must let others go first
   * @param {number} [options.maxScanLength=1000] how many types are looked at per pick, one at least, from the one whose job
   *   is oldest on
   * @param {boolean} [options.hard=false] whether a type at its maxTypeShare waits even if only it has jobs
   * @param {number} [options.concurrency=10] what shares are shares of; a queue sets it to its own
   * @throws FAIRLANE_ERR_OPTION
   */
  constructor (options) {
    this.concurrency = 10
    this.maxTypeShare = 0.8
    this.maxScanLength = 1000
    this.hard = false
    this.mayStall = true // with a hard share of 0
    this.waitingCount = 0
    this.runningTypesCount = 0
    this.heap = new Heap() // of the types that wait, by the arrival of their oldest jobs
    this.stack = []
    this.configure(options)
  }

  /** Changes the options that are given. @throws FAIRLANE_ERR_OPTION; then nothing has changed */
  configure (options) {
    readOptions(options, readers, () => this)
    return this
  }

  queued (lane) {
    this.waitingCount++
    const { state } = lane
    if (state !== undefined && state.position !== -1 && state.headSeq === lane.headSeq) return
    this.place(lane)
  }

  /** @returns {object | undefined} the lane whose oldest job is to start */
  next () {
    if (this.heap.size === 0) return undefined
    const { lane } = this.heap.items[0]
    if (this.isEligible(lane)) return lane
    if (this.maxTypeShare === 0) return this.hard ? undefined : lane
    return this.oldest(this.isEligible) ?? (this.hard ? this.oldest(this.isUnderShare) : lane)
  }

  started (lane) {
    this.waitingCount--
    if (lane.running === 1) this.runningTypesCount++
    this.place(lane)
  }

  ended (lane) {
    if (lane.running === 0) this.runningTypesCount--
  }

  removed (lane) {
    this.waitingCount--
    this.place(lane)
  }

  paused (lane) {
    this.waitingCount -= lane.size
    this.place(lane)
  }

  resumed (lane) {
    this.waitingCount += lane.size
    this.place(lane)
  }

  // private from here on

  isUnderShare (lane) {
    return lane.running / this.concurrency < this.maxTypeShare
  }

  isEligible (lane) {
    const share = lane.running / this.concurrency
    return share < this.maxTypeShare && share < lane.size / this.waitingCount
  }

  place (lane) {
    const state = lane.state ?? (lane.state = new State(lane))
    state.headSeq = lane.headSeq
    if (lane.size === 0 || lane.isPaused) {
      if (state.position !== -1) this.heap.remove(state.position)
    } else if (state.position === -1) {
      this.heap.insert(state, lane.headSeq)
    } else {
      this.heap.update(state.position, lane.headSeq)
    }
  }

  /**
   * Of the lanes that pass the test the one whose oldest job is oldest. Only running types fail, so no more lanes than
   * run come before it, and the search goes down the heap only through them.
   */
  oldest (test) {
    if (this.runningTypesCount >= this.maxScanLength) return this.oldestInScan(test)
    const { stack } = this
    const { keys, items, size } = this.heap
    let best
    let bestKey = Infinity
    let depth = 0
    for (let at = 0, end = 1; ;) {
      for (; at < end; at++) {
        if (keys[at] >= bestKey) continue
        if (test.call(this, items[at].lane)) {
          best = items[at].lane
          bestKey = keys[at]
        } else {
          stack[depth++] = at
        }
      }
      if (depth === 0) return best
      at = 4 * stack[--depth] + 1
      end = Math.min(at + 4, size)
    }
  }

  /** The same among the first maxScanLength lanes, visited in order: O(maxScanLength × log maxScanLength). */
  oldestInScan (test) {
    const { keys, items, size } = this.heap
    const found = new Heap()
    found.insert({ at: 0, position: -1 }, keys[0])
    for (let count = 0; (count === 0 || count < this.maxScanLength) && found.size > 0; count++) {
      const { at } = found.items[0]
      found.remove(0)
      if (test.call(this, items[at].lane)) return items[at].lane
      for (let child = 4 * at + 1; child < Math.min(4 * at + 5, size); child++) {
        found.insert({ at: child, position: -1 }, keys[child])
      }
    }
    return undefined
  }
}

module.exports = { Fair }
