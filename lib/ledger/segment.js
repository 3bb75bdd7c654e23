'use strict'

// HOT (bench: history). Records of jobs, in rows of 32 bytes, half a cache line: a job is written three times, and each time one line is
// touched. In columns it took 1.4 times the time under load, and 34 bytes.
//
//            0           8           16          24        28
//   row      │ accepted  │ started   │ ended     │ type    │ state + 8 × attempts │
//            └ f64, ms of the queue's clock ─────┘ └ i32 ────────────────────────┘
//
//   segment  rows of the ids base, base + 1, … base + 8191: a row is found by a subtraction, without an index
//
// `started` is NaN until the job has started. While a job is delayed or waits again, `ended` is the time of that. Texts of errors, older
// attempts and costs are kept beside the rows, of those jobs that have any.

const SHIFT = 13
const ROWS = 2 ** SHIFT // of a segment
const ROW_MASK = ROWS - 1 // the row of an id in its segment: 2 ns less than a subtraction, whose result has to be checked

// Where the parts of a row are in its `times` and its `words`.
const TIMES = 4
const ACCEPTED = 0
const STARTED = 1
const ENDED = 2
const WORDS = 8
const TYPE = 6
const STATE = 7

// The states; 0 is a row without a record. A dead letter is shown as failed, and is kept as live jobs are.
const NONE = 0
const WAITING = 1
const RUNNING = 2
const DELAYED = 3
const DONE = 4
const FAILED = 5
const CANCELLED = 6
const DEAD = 7
const STATE_MASK = 7
const ATTEMPT = 8

const STATE_NAMES = [undefined, 'waiting', 'running', 'delayed', 'done', 'failed', 'cancelled', 'failed']

/** Some records, and what is counted of them. */
class Rows {
  /** @param {number} capacity */
  constructor (capacity) {
    this.base = 0 // the id of the first row, in a segment
    this.newestAt = 0 // when the last of them was accepted, in a segment that is full
    this.count = 0 // records
    this.endedCount = 0 // those of jobs that have ended; dead letters have not
    this.failedCount = 0 // failed ones of these, and dead letters
    this.runningCount = 0 // jobs that run, in a segment
    this.errors = undefined // texts by row, if there are any
    this.versions = undefined // Map row → all versions of a job that was tried again, if there are any
    this.costs = undefined // units by row that jobs were charged, if any were
    this.allot(capacity)
  }

  /** What was there before is not kept. */
  allot (capacity) {
    const bytes = new ArrayBuffer(capacity * 32)
    this.times = new Float64Array(bytes)
    this.words = new Int32Array(bytes)
  }

  /** All rows are empty now. */
  reset () {
    this.count = this.endedCount = this.failedCount = this.runningCount = 0
    this.errors = this.versions = this.costs = undefined
  }

  /** Jobs that have not ended, and dead letters. */
  get liveCount () {
    return this.count - this.endedCount
  }

  stateOf (row) {
    return this.words[row * WORDS + STATE] & STATE_MASK
  }

  acceptedAt (row) {
    return this.times[row * TIMES + ACCEPTED]
  }

  /** A job is charged so many units more, or fewer. */
  charge (row, units) {
    this.costs ??= []
    this.costs[row] = (this.costs[row] ?? 0) + units
  }

  setError (row, text) {
    this.errors ??= []
    this.errors[row] = text
  }

  /** A record goes. */
  clearRow (row) {
    this.words[row * WORDS + STATE] = NONE
    if (this.errors !== undefined) delete this.errors[row]
    if (this.versions !== undefined) this.versions.delete(row)
    if (this.costs !== undefined) delete this.costs[row]
  }

  /** Takes over a record of other rows, into an empty row. */
  copy (row, from, fromRow) {
    for (let i = 0; i < WORDS; i++) this.words[row * WORDS + i] = from.words[fromRow * WORDS + i]
    if (from.errors?.[fromRow] !== undefined) this.setError(row, from.errors[fromRow])
    if (from.costs?.[fromRow] !== undefined) this.charge(row, from.costs[fromRow])
    const versions = from.versions?.get(fromRow)
    if (versions === undefined) return
    this.versions ??= new Map()
    this.versions.set(row, versions)
  }
}

/** Whether a job in that state is one that the ledger must keep. */
function isLive (state) {
  return state <= DELAYED || state === DEAD
}

module.exports = {
  Rows,
  isLive,
  SHIFT,
  ROWS,
  ROW_MASK,
  TIMES,
  ACCEPTED,
  STARTED,
  ENDED,
  WORDS,
  TYPE,
  STATE,
  NONE,
  WAITING,
  RUNNING,
  DELAYED,
  DONE,
  FAILED,
  CANCELLED,
  DEAD,
  STATE_MASK,
  ATTEMPT,
  STATE_NAMES
}
