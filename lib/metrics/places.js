'use strict'

// HOT. What is counted of each label. A label is the text of a type, cut so that it is fit for a metric; types beyond `maxTypes`
// share one.
//
//   cells   │ nobody's │ place │ place │ … │          Float64: an increment takes no look at what is there
//   place   │ DONE_LESS_RUNS … POSTPONED │ buckets of the wait │ buckets of the run │
//
// Which place a type has, types.js knows. What can be told from others is not counted: jobs that are done have run, and accepted ones have
// ended or are live.
//
// First come, first placed. A place can go to another label when nothing has changed in it for an hour, since something has read it: a
// label that comes back begins at 0, which is a reset for those who read counters.

// The cells of a place, before its buckets.
const DONE_LESS_RUNS = 0 // with the runs that have ended it is how many jobs are done
const UNACCEPTED = 1 // could not be written: they were accepted, and then were none
const FAILED = 2
const CANCELLED = 3
const RETRIED = 4
const USED = 5 // slot time of types whose jobs have all ended; that of others is in types.js
const WAIT_SUM = 6
const RUN_SUM = 7
const SPENT = 8 // units of cost of runs that have ended
const THROTTLED = 9
const POSTPONED = 10
const FIRST_BUCKET = 11

const NOWHERE = 0 // a type without a place
const IDLE_MS = 3600000
const MOST_CHARACTERS = 128
const FIRST_CAPACITY = 8 // places

class Place {
  constructor (label, at) {
    this.label = label
    this.at = at // its first cell
    this.seen = -1 // how many changes there had been when it was last read
    this.idleAt = Infinity // when it may go to another label, if nothing changes
  }
}

class Places {
  /** @param {{ maxTypes: number, otherType: string }} options @param {number} bucketCount of a histogram */
  constructor ({ maxTypes, otherType }, bucketCount) {
    this.maxTypes = maxTypes
    this.otherLabel = fit(otherType)
    this.bucketCount = bucketCount
    this.stride = FIRST_BUCKET + 2 * bucketCount
    this.cells = new Float64Array(FIRST_CAPACITY * this.stride)
    this.end = this.stride // cells from there on are no place's
    this.byLabel = new Map()
    this.ownCount = 0 // places but for that of the others
    this.idleAt = Infinity // no place can go to another label before
    this.former = new Float64Array(this.stride) // what was counted of labels whose places went to others
  }

  /** Where the buckets of the times of runs begin, in a place. */
  get firstOfRun () {
    return FIRST_BUCKET + this.bucketCount
  }

  /**
   * The place of a label, or that of all others.
   * @param {string} label that fits
   * @param {number} ms now
   * @returns {Place}
   */
  placeOf (label, ms) {
    const found = this.byLabel.get(label)
    if (found !== undefined) {
      found.idleAt = Infinity // a type of it has come back
      return found
    }
    if (label === this.otherLabel) return this.open(label)
    if (this.ownCount < this.maxTypes) {
      this.ownCount++
      return this.open(label)
    }
    const idle = ms < this.idleAt ? undefined : this.idlePlace(ms)
    return idle === undefined ? this.placeOf(this.otherLabel, ms) : this.handOver(idle, label)
  }

  /** All that has a place has been read. @param {(place: Place) => boolean} isAtRest whether no job of it is live @param {number} ms now */
  wasRead (isAtRest, ms) {
    this.idleAt = Infinity
    for (const place of this.byLabel.values()) {
      const changes = this.changesOf(place)
      if (!isAtRest(place)) place.idleAt = Infinity
      else if (changes !== place.seen || place.idleAt === Infinity) place.idleAt = ms + IDLE_MS
      place.seen = changes
      this.idleAt = Math.min(this.idleAt, place.idleAt)
    }
  }

  /** What was counted of all labels, by cell of a place. O(places). */
  sum () {
    const sum = this.former.slice()
    for (const { at } of this.byLabel.values()) this.addTo(sum, at)
    return sum
  }

  // private from here on

  addTo (sum, at) {
    for (let i = 0; i < this.stride; i++) sum[i] += this.cells[at + i]
  }

  open (label) {
    if (this.end === this.cells.length) {
      const { cells } = this
      this.cells = new Float64Array(2 * cells.length)
      this.cells.set(cells)
    }
    const place = new Place(label, this.end)
    this.end += this.stride
    this.byLabel.set(label, place)
    return place
  }

  /** @returns {Place | undefined} one that may go to another label */
  idlePlace (ms) {
    for (const place of this.byLabel.values()) {
      if (place.idleAt <= ms && place.seen === this.changesOf(place)) return place
    }
    this.idleAt = Infinity // until they are read again
    return undefined
  }

  /** Its types were released when it was read: none of them has come back. */
  handOver ({ label: former, at }, label) {
    this.byLabel.delete(former)
    this.addTo(this.former, at)
    this.cells.fill(0, at, at + this.stride)
    const place = new Place(label, at)
    this.byLabel.set(label, place)
    return place
  }

  /** Rises with each change of a job that has a place. */
  changesOf ({ at }) {
    const { cells } = this
    let changes = 0
    for (let i = UNACCEPTED; i <= RETRIED; i++) changes += cells[at + i]
    for (let i = THROTTLED; i < this.stride; i++) changes += cells[at + i]
    return changes
  }
}

/**
 * A text as a label: well-formed, since others may become the same text when they are encoded; so short that a hostile name costs little.
 */
function fit (text) {
  return text.slice(0, MOST_CHARACTERS).toWellFormed()
}

module.exports = {
  Places,
  fit,
  MOST_CHARACTERS,
  NOWHERE,
  DONE_LESS_RUNS,
  UNACCEPTED,
  FAILED,
  CANCELLED,
  RETRIED,
  USED,
  WAIT_SUM,
  RUN_SUM,
  SPENT,
  THROTTLED,
  POSTPONED,
  FIRST_BUCKET
}
