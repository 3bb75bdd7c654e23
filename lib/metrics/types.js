'use strict'

// HOT (bench: metrics). What is known of each type with records, by its number in names.js of the ledger, which is a multiple of eight:
//
//   cells   │ PLACE SINCE STARTED USED … │ the next type │ … │      Float64: a cache line a type
//
// A type without records gives its number back, and the next one writes over its cells; the array is as long as there were types at once.

const PLACE = 0 // where it is counted, in places.js; NOWHERE: nowhere as yet
const SINCE = 1 // some of its jobs have waited all the time since then
const STARTED = 2 // when a job of it started last
const USED = 3 // the ends of its jobs less their starts: with now for each running job it is its slot time
// of watch.js, which looks at types now and then
const USED_BEFORE = 4 // its slot time when the window began
const WINDOW = 5 // the number of the window in which it could have started jobs all the time
const HELD = 6 // when it was let go after it had been held back; Infinity: it is
const RUNS = 7 // that have ended

const STRIDE = 8
const FIRST_CAPACITY = 64

class Types {
  constructor () {
    this.cells = new Float64Array(FIRST_CAPACITY * STRIDE)
  }

  /** Has room for a type. @param {number} number of it */
  reach (number) {
    const { cells } = this
    if (number < cells.length) return
    this.cells = new Float64Array(2 * Math.max(cells.length, number))
    this.cells.set(cells)
  }
}

module.exports = { Types, PLACE, SINCE, STARTED, USED, USED_BEFORE, WINDOW, HELD, RUNS }
