'use strict'

// What became of the jobs of each type, for as long as the type has records, whatever label it is counted under: by its number in names.js
// of the ledger, as in types.js, and for changes that are not on the usual way of a job.
//
//   counts   │ LESS FAILED CANCELLED RETRIED THROTTLED POSTPONED … │ the next type │ …
//
// Who has a number that another type had before finds what was counted of that one: it is handed on first.

const LESS = 0 // runs that have ended, of jobs that are not done by that
const FAILED = 1
const CANCELLED = 2
const RETRIED = 3
const THROTTLED = 4
const POSTPONED = 5

const STRIDE = 8 // so numbers are places
const FIRST_CAPACITY = 64 // types
const NO_TYPE = null // jobs without a type have a number, too

class Tallies {
  /** @param {(number: number, type: string | null) => void} whenGone told of each type whose number is another's by now, or nobody's */
  constructor (whenGone) {
    this.whenGone = whenGone
    this.counts = new Int32Array(FIRST_CAPACITY * STRIDE)
    this.given = new Float64Array(FIRST_CAPACITY) // slot time of it that its place has by now
    this.serials = new Uint32Array(FIRST_CAPACITY) // how many slices had begun when it came (windows.js)
    this.types = new Array(FIRST_CAPACITY).fill(undefined)
    this.serial = 0
    this.sweptAt = 0 // how many numbers had been given back when it was swept last
  }

  get end () {
    return this.types.length * STRIDE
  }

  /** A type has that number. */
  come (number, type = NO_TYPE) {
    this.reach(number)
    const at = number / STRIDE
    const before = this.types[at]
    if (before === type) return
    if (before !== undefined) this.leave(number)
    this.types[at] = type
    this.serials[at] = this.serial
  }

  /** The type of a number has no jobs and no records. */
  leave (number) {
    const at = number / STRIDE
    this.whenGone(number, this.types[at])
    this.types[at] = undefined
    this.given[at] = 0
    this.counts.fill(0, number, number + STRIDE)
  }

  /** @param {number} what of the above */
  add (number, what, by = 1) {
    this.counts[number + what] += by
  }

  /**
   * Hands on what is known of types that have no records any more. O(types of the chunks in which one has gone).
   * @param {object} names of the ledger
   */
  sweep (names) {
    names.eachReleased(this.sweptAt, (first, end) => {
      for (let number = first; number < Math.min(end, this.end); number += STRIDE) {
        const type = this.types[number / STRIDE]
        if (type !== undefined && !isOf(names, number, type)) this.leave(number)
      }
    })
    this.sweptAt = names.releaseCount
  }

  // private from here on

  reach (number) {
    const at = number / STRIDE
    if (at < this.types.length) return
    const length = 2 * Math.max(this.types.length, at)
    const { counts, given, serials } = this
    this.counts = new Int32Array(length * STRIDE)
    this.counts.set(counts)
    this.given = new Float64Array(length)
    this.given.set(given)
    this.serials = new Uint32Array(length)
    this.serials.set(serials)
    while (this.types.length < length) this.types.push(undefined)
  }
}

function isOf (names, number, type) {
  return type === NO_TYPE ? names.numbers.get(undefined) === number : names.textOf(number) === type
}

module.exports = { Tallies, LESS, FAILED, CANCELLED, RETRIED, THROTTLED, POSTPONED, NO_TYPE, STRIDE }
