'use strict'

// HOT (bench: schedulers). The oldest job starts among the types that run fewer jobs than their cap: a share of all slots,
// a number for all types, a number for one; the lowest applies.
//
// Promises: jobs start in the order in which quickq 0.10.2 starts them when it may look at all waiting jobs. With `hard` a
// cap is never exceeded, else only when no type is below its own. O(log types) per pick.

const { RunQueue, Ranked } = require('./run-queue')
const { readFlag } = require('../lib/arguments/fields')
const { Caps, capReaders, readOptions } = require('./options')

const readers = { ...capReaders, hard: (value, name) => readFlag(value, name, 'FAIRLANE_ERR_OPTION') }

/** Its key is headSeq of the lane when it was placed. */
class State extends Ranked {
  constructor (lane) {
    super()
    this.lane = lane
    this.ranking = undefined // that it is in
    this.limit = 0 // how many running jobs are too many, of capsVersion
    this.capsVersion = -1
  }
}

/** The lane scheduler behind `scheduler: 'capped'`. */
class Capped {
  /**
   * @param {object} [options]
   * @param {number} [options.maxTypeShare=0.8] of all slots, 0 to 1
   * @param {number} [options.maxTypeCap=Infinity] jobs of one type that run at once
   * @param {Record<string, number> | Map<string, number> | null} [options.typeCaps={}] the same for single types;
   *   adds to those given before, null removes them
   * @param {boolean} [options.hard=false] whether slots stay free rather than that a cap is exceeded
   * @param {number} [options.concurrency=10] what shares are shares of; a queue sets it to its own
   * @throws FAIRLANE_ERR_OPTION
   */
  constructor (options) {
    this.caps = new Caps(0.8)
    this.capsVersion = 0
    this.hard = false
    this.mayStall = true // with a hard cap of 0
    this.below = new RunQueue() // the types that wait and are below their cap, by the arrival of their oldest jobs
    this.capped = new RunQueue() // ... and that are not
    this.configure(options)
  }

  /**
   * Changes the options that are given. O(types at their caps), and O(1) if only `concurrency` changes and the share is the same number
   * of slots then. @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options) {
    const { caps } = this
    const { maxTypeCap, typeCaps } = caps
    const shareLimit = caps.shareLimit()
    if (!readOptions(options, readers, name => name === 'hard' ? this : caps)) return this
    if (shareLimit === caps.shareLimit() && maxTypeCap === caps.maxTypeCap && typeCaps === caps.typeCaps) return this
    this.capsVersion++
    for (const { lane } of [...this.capped]) this.place(lane)
    return this
  }

  queued (lane) {
    const { state } = lane
    if (state !== undefined && state.ranking !== undefined && state.key === lane.headSeq) return
    this.place(lane)
  }

  /** @returns {object | undefined} the lane whose oldest job is to start */
  next () {
    const { below } = this
    let { first } = below
    while (first !== undefined && first.capsVersion !== this.capsVersion) { // it may be at its cap since the options changed
      this.place(first.lane)
      first = below.first
    }
    if (first === undefined && !this.hard) first = this.capped.first
    return first?.lane
  }

  started (lane) {
    this.place(lane)
  }

  ended (lane) {
    // who is below the cap stays there
    if (lane.state.ranking === this.capped) this.place(lane)
  }

  removed (lane) {
    this.place(lane)
  }

  paused (lane) {
    this.place(lane)
  }

  resumed (lane) {
    this.place(lane)
  }

  /** Types with a cap of their own keep a lane of their own. */
  isNamed (type) {
    return this.caps.typeCaps.has(type)
  }

  /** @returns {number} how many jobs of a type may run at once */
  capOf (type) {
    return this.caps.limitOf({ type, isShared: false })
  }

  /** Whether a lane may be served before another one. */
  precedes (other, lane) {
    return other.headSeq < lane.headSeq || lane.running >= this.caps.limitOf(lane)
  }

  // private from here on

  /** Puts the lane into the ranking where it belongs now, if any. */
  place (lane) {
    const state = lane.state ?? (lane.state = new State(lane))
    if (state.capsVersion !== this.capsVersion) {
      state.limit = this.caps.limitOf(lane)
      state.capsVersion = this.capsVersion
    }
    const ranking = this.rankingOf(lane)
    if (state.ranking === ranking) {
      if (ranking !== undefined) ranking.update(state, lane.headSeq)
      return
    }
    if (state.ranking !== undefined) state.ranking.remove(state)
    state.ranking = ranking
    if (ranking !== undefined) ranking.insert(state, lane.headSeq)
  }

  rankingOf (lane) {
    if (lane.size === 0 || lane.isPaused) return undefined
    return lane.running < lane.state.limit ? this.below : this.capped
  }
}

module.exports = { Capped }
