'use strict'

// What has become of jobs that the log does not say, since it could not be written: it has happened in the store's tables, and is written
// when that is possible. What is gone comes first and alone, since it gives room back, and may take more of the reserve.

const { CLAIM } = require('./reserve')

const PART = 100

class Unwritten {
  /** @param {object} store whose tables say what is to be written */
  constructor (store) {
    this.store = store
    this.gone = new Set() // jobs that are finished
    this.changed = new Set() // jobs that have another state
  }

  get size () {
    return this.gone.size + this.changed.size
  }

  /** Whatever has become of a job, the log does not say it. */
  add (seq) {
    if (this.store.table.find(seq)) {
      this.changed.add(seq)
      return
    }
    this.changed.delete(seq)
    this.gone.add(seq)
  }

  /** Writes which jobs are gone. @returns {boolean} whether the operating system has all of it */
  writeGone () {
    const seqs = [...this.gone].sort((a, b) => a - b)
    return this.writeAll(this.gone, seqs, part => this.store.ackAgain(part))
  }

  /** Writes the states of jobs. @returns {boolean} whether the operating system has all of it */
  writeChanged () {
    const { store } = this
    return this.writeAll(this.changed, [...this.changed], part => {
      for (const seq of part) store.setState(seq, store.states.get(seq), CLAIM.NONE)
    })
  }

  // private from here on

  /** Part by part, since there may be room for some. What cannot be written comes back by add(). */
  writeAll (from, seqs, append) {
    const { log } = this.store
    for (let i = 0; i < seqs.length; i += PART) {
      log.commitAlone()
      if (log.error !== undefined) return false
      const part = seqs.slice(i, i + PART)
      for (const seq of part) from.delete(seq)
      append(part)
      log.commitNow(false)
      if (part.some(seq => from.has(seq))) return false
    }
    return true
  }
}

module.exports = { Unwritten }
