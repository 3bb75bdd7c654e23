'use strict'

// Which jobs are dead letters: they failed as often as they may, or no attempt can help them. They stay on disk, each with its last error.

const { errorText } = require('../../job/error-text')
const { JobState } = require('./job-state')

class Dead {
  /** @param {{ [name: string]: object }} parts of the queue; the outage writes, or does so later */
  constructor ({ clocks, keys, outage }) {
    this.clocks = clocks
    this.keys = keys
    this.outage = outage
    this.seqs = new Set()
  }

  get size () {
    return this.seqs.size
  }

  has (seq) {
    return this.seqs.has(seq)
  }

  /** The log has one. */
  found (seq) {
    this.seqs.add(seq)
  }

  /** Writes that a live job is dead. */
  add (seq, attempts, err) {
    this.keys.settled(seq)
    this.seqs.add(seq)
    this.outage.change(seq, JobState.dead(attempts, errorText(err), this.clocks.now()))
  }

  /** A dead letter is to run again, or is to go. */
  remove (seq) {
    this.seqs.delete(seq)
  }

  /** @returns {number[]} the oldest one first */
  list () {
    return [...this.seqs].sort((a, b) => a - b)
  }
}

module.exports = { Dead }
