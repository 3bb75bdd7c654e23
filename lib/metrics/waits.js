'use strict'

// For how long those have waited that wait now: who asks only those that have started hears of no tenant whose jobs do not start.

const { ROWS, WORDS, TYPE, WAITING } = require('../ledger/segment')
const { changedAt } = require('../ledger/versions')
const { STRIDE } = require('./tallies')
const { SINCE } = require('./types')

const MOST_ROWS = 2 ** 16 // of jobs that are looked at; of more, that many at even distances
const MOST_OLDEST = 1000 // jobs that wait: later ones came later, but for those that were delayed

/**
 * Counts jobs that wait by their age so far. O(records), up to `mostRows`.
 * @param {object} meter
 * @param {number} ms now
 * @param {(number: number) => any} keyOf what they are counted by, from the number of the type
 * @param {number} [mostRows=65536]
 * @returns {Map<any, number[]>} counts by bucket, whose sums are those of the jobs that wait, more or less
 */
function waitsBy ({ buckets, records }, ms, keyOf, mostRows = MOST_ROWS) {
  const all = new Map()
  let lastKey, counts // most rows are of the same key as the one before
  const step = Math.max(1, Math.ceil(records.segments.length * ROWS / mostRows))
  const see = (rows, row, weight) => {
    if (rows.stateOf(row) !== WAITING) return
    const key = keyOf(rows.words[row * WORDS + TYPE])
    if (counts === undefined || key !== lastKey) {
      if (!all.has(key)) all.set(key, new Array(buckets.count).fill(0))
      lastKey = key
      counts = all.get(key)
    }
    counts[buckets.indexOf(Math.max(ms - changedAt(rows, row), 0))] += weight
  }
  for (const segment of records.segments) {
    if (segment === undefined || segment.liveCount === 0) continue
    for (let row = 0; row < ROWS; row += step) see(segment, row, step)
  }
  for (const row of records.strays.rows.values()) see(records.strays, row, 1)
  return all
}

/** For how long the jobs have waited that are to start next, by the number of their type. */
class Oldest {
  /** @param {object} meter @param {string[]} [only] it is asked for these types only. O(types with jobs), or O(these) */
  constructor ({ eachHead, records, types: { cells } }, only) {
    this.cells = cells // of a type of which it is not known it is for how long some of its jobs have waited, at most
    this.since = only === undefined ? new Float64Array(cells.length / STRIDE).fill(NaN) : [] // in ms; NaN, undefined: not known
    eachHead(id => {
      const rows = records.find(id)
      if (rows !== undefined) this.since[rows.words[records.row * WORDS + TYPE] / STRIDE] = changedAt(rows, records.row)
    }, only)
  }

  /** @param {number} ms now */
  msOf (number, ms) {
    const since = this.since[number / STRIDE]
    return Math.max(ms - (since > -Infinity ? since : this.cells[number + SINCE]), 0)
  }
}

/**
 * For how long that job has waited which has waited longest, or one that has waited nearly as long: some of the oldest are looked at.
 * @returns {number | undefined} undefined if none waits
 */
function oldestMs ({ records }, ms) {
  let since = Infinity
  let left = MOST_OLDEST
  const see = (rows, row) => {
    if (rows.stateOf(row) !== WAITING) return
    left--
    since = Math.min(since, changedAt(rows, row))
  }
  for (const row of records.strays.rows.values()) see(records.strays, row)
  for (const segment of records.segments) {
    if (left <= 0) break
    if (segment !== undefined && segment.liveCount > 0) for (let row = 0; row < ROWS; row++) see(segment, row)
  }
  return since === Infinity ? undefined : Math.max(ms - since, 0)
}

module.exports = { Oldest, oldestMs, waitsBy }
