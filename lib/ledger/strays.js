'use strict'

// Records that outlive their segment: jobs that wait or run for long after all those around them have ended, dead letters, and jobs that a
// queue on disk found when it was opened. Their rows are in no order. Those that end here are kept until many more have.

const { Rows, WORDS } = require('./segment')

const FIRST_CAPACITY = 64
// So many that have ended are kept, at most.
const MOST_ENDED = 1024

class Strays extends Rows {
  /** @param {(row: number) => void} discard takes the record of a row out of all counts */
  constructor (discard) {
    super(FIRST_CAPACITY)
    this.discard = discard
    this.rows = new Map() // id → row
    this.free = []
    this.usedCount = 0 // rows that have ever been used
    this.ended = new Float64Array(MOST_ENDED) // a ring of the ids that ended last
    this.endedAt = 0 // where the next one goes
    this.oldestAt = Infinity // none of them was accepted before that
  }

  /** @returns {number} an empty row for an id */
  open (id) {
    const row = this.free.pop() ?? this.usedCount++
    if (row * WORDS === this.words.length) this.grow()
    this.rows.set(id, row)
    return row
  }

  /** Lets go of a row. */
  close (id, row) {
    this.rows.delete(id)
    this.clearRow(row)
    this.free.push(row)
    if (this.rows.size === 0) this.shrink()
  }

  /** A job has ended here: the one that ended longest ago goes. */
  hasEnded (id) {
    this.oldestAt = Math.min(this.oldestAt, this.acceptedAt(this.rows.get(id)))
    const oldest = this.ended[this.endedAt]
    this.ended[this.endedAt] = id
    this.endedAt = (this.endedAt + 1) % MOST_ENDED
    const row = this.rows.get(oldest)
    if (row === undefined) return // it was removed, or there is none yet
    this.discard(row)
    this.close(oldest, row)
  }

  /** Those go that have ended and were accepted by a time. */
  expire (since) {
    if (this.oldestAt > since) return
    this.oldestAt = Infinity
    for (const id of this.ended) {
      const row = this.rows.get(id)
      if (row === undefined) continue
      const acceptedAt = this.acceptedAt(row)
      if (acceptedAt > since) {
        this.oldestAt = Math.min(this.oldestAt, acceptedAt)
        continue
      }
      this.discard(row)
      this.close(id, row)
    }
  }

  /** @returns {number[]} the ids from first to last, ascending */
  idsBetween (first, last) {
    return [...this.rows.keys()].filter(id => id >= first && id <= last).sort((a, b) => a - b)
  }

  // private from here on

  grow () {
    const { words } = this
    this.allot(2 * words.length / WORDS)
    this.words.set(words)
  }

  shrink () {
    this.allot(FIRST_CAPACITY)
    this.free = []
    this.usedCount = 0
    this.errors = this.versions = this.costs = undefined
  }
}

module.exports = { Strays }
