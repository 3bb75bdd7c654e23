'use strict'

// Which jobs are dead letters: they failed as often as they may, or no attempt can help them. They stay on disk, each with its last error.

const { errorText } = require('../../job/error-text')
const { JobState } = require('./job-state')

class Dead {
  /** @param {{ [name: string]: object }} parts of the queue; the outage writes, or does so later */
  constructor ({ clocks, keys, outage, types }) {
    this.clocks = clocks
    this.keys = keys
    this.outage = outage
    this.types = types
    this.bySeq = new Map() // seq → type
    this.sorted = undefined // the seqs in order, since the last change
  }

  get size () {
    return this.bySeq.size
  }

  has (seq) {
    return this.bySeq.has(seq)
  }

  /** The log has one. */
  found (seq, type) {
    this.bySeq.set(seq, type)
    this.sorted = undefined
    this.types.bury(type, 1)
  }

  /** Writes that a live job is dead. */
  add (seq, type, attempts, err) {
    this.keys.settled(seq)
    this.found(seq, type)
    this.outage.change(seq, JobState.dead(attempts, errorText(err), this.clocks.now()))
  }

  /** A dead letter is to run again. @returns {boolean} false if another job has its key */
  mayRevive (seq, type, options) {
    return this.keys.retake(type, seq, options)
  }

  /** A dead letter is to run again, or is to go. */
  remove (seq) {
    this.types.bury(this.bySeq.get(seq), -1)
    this.bySeq.delete(seq)
    this.sorted = undefined
  }

  /**
   * @param {{ type?: string, limit?: number, after?: number }} which of a type, so many at most, behind that one
   * @returns {number[]} the oldest one first
   */
  list ({ type, limit = Infinity, after = 0 }) {
    const seqs = this.inOrder()
    const found = []
    for (let i = placeBehind(seqs, after); i < seqs.length && found.length < limit; i++) {
      if (type === undefined || this.bySeq.get(seqs[i]) === type) found.push(seqs[i])
    }
    return found
  }

  // private from here on

  inOrder () {
    return (this.sorted ??= [...this.bySeq.keys()].sort((a, b) => a - b))
  }
}

/** @returns {number} the place of the first one above a number. O(log numbers) */
function placeBehind (numbers, number) {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle] > number) high = middle
    else low = middle + 1
  }
  return low
}

module.exports = { Dead }
