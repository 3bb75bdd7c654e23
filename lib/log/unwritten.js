'use strict'

// What has become of jobs that the log does not say, since it could not be written: it has happened in the store's tables, and is written
// when that is possible. What is gone comes first and alone, since it gives room back, and may take more of the reserve. The texts of
// errors come last, and take nothing of that.

const { CLAIM } = require('./claims')

const PART = 100
const SMALL_PART = 10 // where room is short

class Unwritten {
  /** @param {object} store whose tables say what is to be written */
  constructor (store) {
    this.store = store
    this.gone = new Set() // jobs that are finished
    this.changed = new Set() // jobs that have another state
    this.cut = new Set() // jobs whose state the log says, but for the text of an error
  }

  get size () {
    return this.gone.size + this.changed.size
  }

  /** Whether jobs have ended that would run again after a crash. A retry is none of them: the log has the attempt that failed. */
  get hasEnds () {
    if (this.gone.size > 0) return true
    for (const seq of this.changed) if (this.store.states.get(seq).claim === CLAIM.END) return true
    return false
  }

  /** The state of a job is being written, whole or not. */
  isCut (seq, isCut) {
    if (isCut) this.cut.add(seq)
    else if (this.cut.size > 0) this.cut.delete(seq)
  }

  /** A job is not live any more. */
  forget (seq) {
    if (this.changed.size > 0) this.changed.delete(seq)
    if (this.cut.size > 0) this.cut.delete(seq)
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

  /**
   * Writes the states of jobs, first those that may take most of the reserve, and none together with one that may take less.
   * @returns {boolean} whether the operating system has all of it
   */
  writeChanged () {
    const { states } = this.store
    const byClaim = new Map()
    for (const seq of this.changed) {
      const claim = states.get(seq).claim
      if (!byClaim.has(claim)) byClaim.set(claim, [])
      byClaim.get(claim).push(seq)
    }
    const append = part => { for (const seq of part) this.store.setState(seq, states.get(seq)) }
    return [...byClaim.keys()].sort((a, b) => b - a).every(claim => this.writeAll(this.changed, byClaim.get(claim), append))
  }

  /** Writes states again that were cut, if there is room without the reserve. @returns {boolean} as writeChanged() */
  writeCut () {
    const { store } = this
    return this.writeAll(this.cut, [...this.cut], part => {
      for (const seq of part) store.writeState(seq, store.states.get(seq), true)
    }, true)
  }

  // private from here on

  /**
   * Part by part, since there may be room for some. If the disk is found to be full, what has failed is tried once more with the room of
   * the reserve.
   */
  writeAll (from, seqs, append, sparesReserve = false) {
    const { log } = this.store
    let at = 0
    while (at < seqs.length) {
      log.commitAlone()
      if (log.error !== undefined) return false
      const { isSpent } = log.reserve
      const part = seqs.slice(at, at + (isSpent ? SMALL_PART : PART))
      for (const seq of part) from.delete(seq)
      append(part)
      const { group } = log
      log.commitNow(false, sparesReserve)
      if (group.error === undefined) {
        at += part.length
        continue
      }
      for (const seq of part) from.add(seq)
      if (isSpent || !log.reserve.isSpent) return false
    }
    return true
  }
}

module.exports = { Unwritten }
