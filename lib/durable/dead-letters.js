'use strict'

// Jobs that failed as often as they may, and jobs that no attempt can help. They stay on disk, each with its last error, until
// somebody retries or deletes them.

const { JobState } = require('./job-state')
const { errorOf, errorText } = require('./serialize')

class DeadLetters {
  /**
   * @param {object} store
   * @param {object} outage which writes, or does so later
   */
  constructor (store, outage) {
    this.store = store
    this.outage = outage
    this.seqs = new Set()
  }

  get size () {
    return this.seqs.size
  }

  /** The log has one. */
  found (seq) {
    this.seqs.add(seq)
  }

  /** Writes that a live job is dead. */
  add (seq, attempts, err) {
    this.seqs.add(seq)
    this.outage.change(seq, JobState.dead(attempts, errorText(err)))
  }

  /** @returns {object[]} what entryOf(seq) gives for each, with attempts and error; the oldest job first */
  list (entryOf) {
    return [...this.seqs].sort((a, b) => a - b).map(seq => {
      const { attempts, error } = this.store.states.get(seq)
      return Object.assign(entryOf(seq), { attempts, error: errorOf(error) })
    })
  }

  /** Writes that a dead job is alive again, with all its attempts. @returns {object | undefined} the group that this is in */
  revive (seq) {
    this.seqs.delete(seq)
    return this.outage.change(seq, JobState.revived)
  }

  /** Writes that a dead job is no more. @returns {object | undefined} the group that this is in */
  delete (seq) {
    this.seqs.delete(seq)
    return this.outage.finish(seq)
  }
}

module.exports = { DeadLetters }
