'use strict'

// HOT (bench: history). The types of the records that are kept: numbers for them, which fit into a row, and counts by state.
//
//   numbers   Map  type → number               a multiple of eight: where the counts of the type are
//   texts     [ [type, …], … ]                 in chunks of 1024 types
//   counts    [ Int32Array, … ]                eight counts a type: its records, those that do not wait, nothing, those in states 3 to 7
//   first     counts[0]                        which is always there, and has the types of most queues
//
// How many wait and run is what is left: so each transition of a job on its usual way counts one number up, and takes from none.
//
// A type without a record gives its number back, and a chunk without types is given up: types that were invented cost nothing once their
// records are gone.

const { WAITING, RUNNING, DELAYED, DONE, FAILED, CANCELLED } = require('./segment')

const CHUNK = 1024 // types
const COUNTS = 8
const CHUNK_SHIFT = 13 // of their counts
const FIRST_END = 2 ** CHUNK_SHIFT
const CHUNK_MASK = FIRST_END - 1
const ALL = 0
const BEGUN = 1

class Names {
  constructor () {
    this.numbers = new Map()
    this.first = new Int32Array(CHUNK * COUNTS)
    this.counts = [] // by chunk; undefined for one that was given up
    this.texts = [] // by chunk
    this.free = [] // by chunk: numbers in it that nobody has
    this.releaseCount = 0 // how often a type has given its number back
    this.releasedAt = [] // by chunk: what that was when one of its numbers was given back last
    this.openChunk(0, this.first)
    this.lowest = 0 // no chunk before that one has a free number
    this.lastType = undefined
    this.lastNumber = -1 // of that type; -1: of none
  }

  /**
   * One more record of a type has come, of a job that waits.
   * @param {number} [guess] what its number was before: a look-up in the Map took 10 ns more
   * @returns {number} the number of the type
   */
  add (type, guess = FIRST_END) {
    const isRight = guess < FIRST_END && type !== undefined && this.texts[0][guess / COUNTS] === type
    const number = isRight ? guess : this.numberOf(type)
    if (number < FIRST_END) this.first[number + ALL]++
    else this.counts[number >> CHUNK_SHIFT][(number & CHUNK_MASK) + ALL]++
    return number
  }

  /** Whether a type has one record, so that its number may have been another type's before. */
  isOnly (number) {
    return this.counts[number >> CHUNK_SHIFT][(number & CHUNK_MASK) + ALL] === 1
  }

  /** Jobs of a type that wait. */
  waitingOf (number) {
    if (number < FIRST_END) return this.first[number + ALL] - this.first[number + BEGUN]
    const counts = this.counts[number >> CHUNK_SHIFT]
    const at = number & CHUNK_MASK
    return counts[at + ALL] - counts[at + BEGUN]
  }

  /** Jobs of a type that run. */
  runningOf (number) {
    const counts = this.counts[number >> CHUNK_SHIFT]
    if (counts === undefined) return 0 // no type has such a number any more
    return runningAt(counts, number & CHUNK_MASK)
  }

  /** A job came from one state to another. */
  move (number, from, to) {
    const counts = this.counts[number >> CHUNK_SHIFT]
    const at = number & CHUNK_MASK
    if (from === WAITING) counts[at + BEGUN]++
    else if (from !== RUNNING) counts[at + from]--
    if (to === WAITING) counts[at + BEGUN]--
    else if (to !== RUNNING) counts[at + to]++
  }

  /** Records of a type, all of jobs in one state, are gone. */
  drop (number, state, count = 1) {
    const counts = this.counts[number >> CHUNK_SHIFT]
    const at = number & CHUNK_MASK
    if (state !== WAITING) counts[at + BEGUN] -= count
    if (state > RUNNING) counts[at + state] -= count
    counts[at + ALL] -= count
    if (counts[at + ALL] === 0) this.release(number)
  }

  /** @returns {string | undefined} the type of a number; undefined, too, if none has it */
  textOf (number) {
    return this.texts[number >> CHUNK_SHIFT]?.[(number & CHUNK_MASK) / COUNTS]
  }

  /** Adds the counts of a type to others, by state. */
  addTo (counts, number) {
    const own = this.counts[number >> CHUNK_SHIFT]
    const at = number & CHUNK_MASK
    counts[WAITING] += own[at + ALL] - own[at + BEGUN]
    counts[RUNNING] += own[at + BEGUN]
    for (let state = DELAYED; state < COUNTS; state++) {
      counts[state] += own[at + state]
      counts[RUNNING] -= own[at + state]
    }
  }

  /** Calls visit(first, counts) for each chunk: the number of its first type, and the counts of all; some may have no record. */
  eachChunk (visit) {
    this.counts.forEach((counts, chunk) => { if (counts !== undefined) visit(chunk << CHUNK_SHIFT, counts) })
  }

  /** Calls visit(first, end) for each chunk in which a type has given its number back since the count of these was so much. O(chunks). */
  eachReleased (count, visit) {
    this.releasedAt.forEach((at, chunk) => { if (at > count) visit(chunk << CHUNK_SHIFT, (chunk + 1) << CHUNK_SHIFT) })
  }

  // private from here on

  numberOf (type) {
    if (type === this.lastType && this.lastNumber >= 0) return this.lastNumber
    const number = this.numbers.get(type) ?? this.open(type)
    this.lastType = type
    this.lastNumber = number
    return number
  }

  open (type) {
    const text = type === undefined ? undefined : copyOf(type)
    const chunk = this.chunkWithRoom()
    const number = this.free[chunk].pop()
    this.texts[chunk][(number & CHUNK_MASK) / COUNTS] = text
    this.numbers.set(text, number)
    return number
  }

  chunkWithRoom () {
    const { counts, free } = this
    let chunk = this.lowest
    while (counts[chunk] !== undefined && free[chunk].length === 0) chunk++
    if (counts[chunk] === undefined) this.openChunk(chunk, new Int32Array(CHUNK * COUNTS))
    this.lowest = chunk
    return chunk
  }

  openChunk (chunk, counts) {
    this.counts[chunk] = counts
    this.texts[chunk] = new Array(CHUNK)
    this.releasedAt[chunk] ??= 0
    this.free[chunk] = Array.from({ length: CHUNK }, (_, i) => ((chunk + 1) * CHUNK - 1 - i) * COUNTS)
  }

  release (number) {
    const chunk = number >> CHUNK_SHIFT
    this.numbers.delete(this.textOf(number))
    this.texts[chunk][(number & CHUNK_MASK) / COUNTS] = undefined
    this.free[chunk].push(number)
    this.releasedAt[chunk] = ++this.releaseCount
    this.lastNumber = -1
    this.lastType = undefined
    if (chunk < this.lowest) this.lowest = chunk
    if (chunk > 0 && this.free[chunk].length === CHUNK) this.counts[chunk] = this.texts[chunk] = this.free[chunk] = undefined
  }
}

/** Jobs that run, by the counts of a type. */
function runningAt (counts, at) {
  // a loop takes twice as long, and metrics ask for all types
  return counts[at + BEGUN] - counts[at + 3] - counts[at + 4] - counts[at + 5] - counts[at + 6] - counts[at + 7]
}

/** Jobs that have not ended, and dead letters, by the counts of a type. */
function liveAt (counts, at) {
  return counts[at + ALL] - counts[at + DONE] - counts[at + FAILED] - counts[at + CANCELLED]
}

/** The same text in memory of its own: engines keep alive what a text was cut from. */
function copyOf (text) {
  return JSON.parse(JSON.stringify(text))
}

module.exports = { Names, ALL, BEGUN, COUNTS, FIRST_END, copyOf, liveAt, runningAt }
