'use strict'

// All types together: what has been counted of them, and what there is of them now.

const { ALL, BEGUN, COUNTS, runningAt } = require('../ledger/names')
const { DELAYED, DEAD } = require('../ledger/segment')
const { USED: FORMER_USED, DONE_LESS_RUNS, FAILED, CANCELLED, RETRIED, THROTTLED, POSTPONED, FIRST_BUCKET } = require('./places')
const { SINCE, STARTED, USED } = require('./types')

/** Counts and times, since the queue began. */
class Totals {
  /**
   * O(types + places).
   * @param {object} meter
   * @param {number} ms now
   * @param {(first: number, counts: Int32Array) => void} [visit] as of eachChunk() of names.js: is called while the counts are at hand
   */
  constructor (meter, ms, visit = ignore) {
    const { originMs, overdue, places, records: { names }, types: { cells } } = meter
    const sum = places.sum()
    const { bucketCount, firstOfRun } = places
    this.ms = ms
    this.waitBuckets = sum.slice(FIRST_BUCKET, FIRST_BUCKET + bucketCount)
    this.started = addedUp(this.waitBuckets)
    this.done = addedUp(sum.subarray(firstOfRun, firstOfRun + bucketCount)) + sum[DONE_LESS_RUNS]
    this.failed = sum[FAILED]
    this.cancelled = sum[CANCELLED]
    this.retried = sum[RETRIED]
    this.throttled = sum[THROTTLED]
    this.postponed = sum[POSTPONED]
    this.slotMs = sum[FORMER_USED] + overdue.slotMs(ms)
    this.overdue = overdue.size
    this.waiting = this.delayed = this.dead = 0
    this.running = overdue.size
    this.waitingSince = Infinity // since when jobs of some type have waited, and never none
    this.movedAt = meter.endedAt // when a job last started, or ended
    names.eachChunk((first, counts) => {
      this.add(first, counts, cells, ms - originMs)
      visit(first, counts)
    })
  }

  /** Adds some types up: those of a chunk of names.js. */
  add (first, counts, cells, nowMs) {
    let [waiting, running, delayed, dead, usedMs] = [0, 0, 0, 0, 0]
    let { waitingSince, movedAt } = this
    for (let at = 0; at < counts.length; at += COUNTS) {
      const all = counts[at + ALL]
      if (all === 0) continue
      const begun = counts[at + BEGUN]
      const runningHere = runningAt(counts, at)
      waiting += all - begun
      running += runningHere
      delayed += counts[at + DELAYED]
      dead += counts[at + DEAD]
      usedMs += cells[first + at + USED] + runningHere * nowMs
      if (all > begun && cells[first + at + SINCE] < waitingSince) waitingSince = cells[first + at + SINCE]
      if (cells[first + at + STARTED] > movedAt) movedAt = cells[first + at + STARTED]
    }
    this.waiting += waiting
    this.running += running
    this.delayed += delayed
    this.dead += dead
    this.slotMs += usedMs
    this.waitingSince = waitingSince
    this.movedAt = movedAt
  }

  /** For how long jobs have waited, and none has started or ended. */
  get standstillMs () {
    return this.waiting === 0 ? 0 : Math.max(this.ms - Math.max(this.waitingSince, this.movedAt), 0)
  }
}

function ignore () {}

/** @param {Iterable<number>} counts */
function addedUp (counts) {
  let sum = 0
  for (const count of counts) sum += count
  return sum
}

/** What a type, or all, counted since then; what was taken back is not counted again. @returns {number} */
function rise (now, before) {
  return Math.max(now - before, 0)
}

module.exports = { Totals, rise }
