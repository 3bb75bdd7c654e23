'use strict'

// Jobs that were accepted and could not be written: they are none, and leave the places that they had. All that failed together are taken
// out at once, since that looks at all jobs that wait.

const { idOf } = require('../run/records')

class Reverts {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ admission, flushes, idle, keys, report: { counts, ledger }, retries, stage, status }) {
    this.admission = admission
    this.flushes = flushes
    this.idle = idle
    this.keys = keys
    this.counts = counts
    this.ledger = ledger
    this.retries = retries
    this.stage = stage
    this.status = status
    this.reverted = new Map() // what stands in the queue for them, until they are taken out together → their types
  }

  /** A job that stands in the queue could not be written. @param {number | object} job what stands there for it */
  revert (job, type) {
    if (this.status.error !== undefined) return
    if (this.reverted.size === 0) queueMicrotask(() => this.removeReverted())
    this.reverted.set(job, type)
  }

  // private from here on

  removeReverted () {
    const reverted = this.reverted
    this.reverted = new Map()
    const numbers = new Set([...reverted.keys()].map(knownAs))
    this.stage.withdraw(list => list.remove(job => reverted.has(job) || numbers.has(job)), () => {})
    for (const [job, type] of reverted) {
      this.retries.drop(knownAs(job))
      this.keys.lost(knownAs(job))
      this.counts.unaccept(type)
    }
    for (const job of reverted.keys()) this.forget(job)
    this.admission.freed()
    this.idle.check()
  }

  forget (job) {
    const seq = idOf(job) // undefined: of a job that was never given to the store
    this.retries.left(job)
    this.flushes.settled(seq)
    if (seq !== undefined) this.ledger?.unaccepted(seq)
  }
}

/** What rooms know a job by: its number, from when the store was given it, whatever stands in the queue for it. */
function knownAs (job) {
  return idOf(job) ?? job
}

module.exports = { Reverts }
