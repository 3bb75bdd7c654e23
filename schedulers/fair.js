'use strict'

// HOT (bench: schedulers). quickq's rule: each type gets slots in proportion to its share of the waiting jobs, up to a
// share of all slots; types that have more must let others go first. Among the others the oldest job starts.
//
// Promises: jobs start in the order in which quickq 0.10.2 starts them when it may look at all waiting jobs. A pick costs
// O(running types + log types) however many jobs wait. The weakness is quickq's, too: who queues more gets more.

const { RunQueue, Ranked } = require('./run-queue')
const { readFlag } = require('../lib/arguments/fields')
const { readOptions, readLimit, readPositive } = require('./options')

const readers = {
  concurrency: readPositive,
  maxTypeShare: readLimit,
  maxScanLength: readLimit,
  hard: (value, name) => readFlag(value, name, 'FAIRLANE_ERR_OPTION')
}

/** Its key is headSeq of the lane when it was placed. */
class State extends Ranked {
  constructor (lane) {
    super()
    this.lane = lane
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
    this.ranking = new RunQueue() // of the types that wait, by the arrival of their oldest jobs
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
    if (state !== undefined && state.position !== -1 && state.key === lane.headSeq) return
    this.place(lane)
  }

  /** @returns {object | undefined} the lane whose oldest job is to start */
  next () {
    const { first } = this.ranking
    if (first === undefined) return undefined
    if (this.isEligible(first)) return first.lane
    if (this.maxTypeShare === 0) return this.hard ? undefined : first.lane
    return (this.oldest(this.isEligible) ?? (this.hard ? this.oldest(this.isUnderShare) : first))?.lane
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

  /** Whether a lane may be served before another one. Who has less than its share goes by age; the share grows, unless jobs come. */
  precedes (other, lane, mayGrow) {
    return mayGrow || other.headSeq < lane.headSeq || !this.isEligible({ lane })
  }

  // private from here on

  isUnderShare ({ lane }) {
    return lane.running / this.concurrency < this.maxTypeShare
  }

  isEligible ({ lane }) {
    const share = lane.running / this.concurrency
    return share < this.maxTypeShare && share < lane.size / this.waitingCount
  }

  place (lane) {
    const state = lane.state ?? (lane.state = new State(lane))
    if (lane.size === 0 || lane.isPaused) {
      if (state.position !== -1) this.ranking.remove(state)
    } else if (state.position === -1) {
      this.ranking.insert(state, lane.headSeq)
    } else {
      this.ranking.update(state, lane.headSeq)
    }
  }

  /** Of the types that pass the test the one whose oldest job is oldest. Only running types fail. */
  oldest (test) {
    return this.runningTypesCount < this.maxScanLength ? this.ranking.find(test, this) : this.oldestInScan(test)
  }

  /** The same among the first maxScanLength types: O(maxScanLength × log maxScanLength). */
  oldestInScan (test) {
    let count = 0
    for (const state of this.ranking.inOrder()) {
      if (test.call(this, state)) return state
      if (++count >= this.maxScanLength) return undefined
    }
    return undefined
  }
}

module.exports = { Fair }
