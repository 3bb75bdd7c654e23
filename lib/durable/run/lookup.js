'use strict'

// What a single job is at the moment, by its id.

const { errorOf } = require('../../job/error-text')
const { DUE, hasStarted } = require('./job-state')

class Lookup {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ attempts, dead, records, retries }) {
    this.attempts = attempts
    this.dead = dead
    this.records = records
    this.retries = retries
  }

  /** @returns {object | undefined} a job as it is now; its payload is decoded when it is asked for. O(log waiting + slots) */
  get (id) {
    return this.records.has(id) ? this.entry(id) : undefined
  }

  /** Whether there is such a job, and it waits or runs. */
  isPending (id) {
    return this.records.has(id) && !this.dead.has(id)
  }

  // private from here on

  entry (id) {
    const { records } = this
    const job = records.read(id)
    const delivery = this.attempts.deliveryOf(id)
    // that of an attempt which has begun is its own
    const before = delivery?.attempt > 0 ? delivery.before : records.states.get(id)
    const state = delivery === undefined ? this.stateOf(id) : 'running'
    return {
      id,
      type: job.type,
      state,
      attempts: before?.attempts ?? 0,
      dueAt: state === 'delayed' ? dueAtOf(before, job.options) : undefined,
      error: before?.error === undefined ? undefined : errorOf(before.error),
      get payload () {
        return records.decode(job)
      }
    }
  }

  /** Of a job without a slot. */
  stateOf (id) {
    if (this.retries.isDelayed(id)) return 'delayed'
    return this.dead.has(id) ? 'dead' : 'waiting'
  }
}

/** When a delayed job is due, in ms since 1970; undefined while the caller is asked. */
function dueAtOf (state, options) {
  if (!hasStarted(state)) return options.dueAt
  return state.phase === DUE ? state.dueAt : undefined
}

module.exports = { Lookup }
