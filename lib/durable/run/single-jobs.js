'use strict'

// What is asked of single jobs by their ids: what they are, and that they end. What is cancelled in one turn is taken out together, since that
// looks at all jobs that wait.

const { cancelledError } = require('../../arguments/errors')
const { errorOf } = require('../../job/error-text')
const { DUE, hasStarted } = require('./job-state')
const { idOf } = require('./records')

/** A promise that others settle. */
class Asked {
  constructor () {
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }))
  }
}

class SingleJobs {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ attempts, cancelling, dead, idle, outage, records, retries, stage, status, store }) {
    this.attempts = attempts
    this.cancelling = cancelling
    this.dead = dead
    this.idle = idle
    this.outage = outage
    this.records = records
    this.retries = retries
    this.stage = stage
    this.status = status
    this.store = store
    this.asked = new Map() // id → Asked, of jobs that are to be cancelled at the end of this turn
  }

  /** @returns {Promise<object | undefined>} a job as it is now; its payload is decoded when it is asked for. O(log waiting + slots) */
  async get (id) {
    this.status.check()
    return this.isJob(id) ? this.entry(id) : undefined
  }

  /** @returns {Promise<boolean>} when that is safe; false if there is no such job that waits or runs */
  async cancel (id) {
    this.status.check()
    if (this.asked.size === 0) queueMicrotask(() => this.cancelAsked())
    const asked = this.asked.get(id) ?? new Asked()
    this.asked.set(id, asked)
    return asked.promise
  }

  /** Cancels those of some jobs that wait or run, at once. @param {Set<number | undefined>} ids */
  cancelNow (ids) {
    if (this.status.error !== undefined) return
    const there = new Set([...ids].filter(id => id !== undefined && this.isJob(id) && !this.dead.has(id)))
    if (there.size > 0) this.idle.after(() => this.end(there)).catch(ignore)
  }

  // private from here on

  /** Whether there is such a job: what cannot be written is none. */
  isJob (id) {
    this.store.log.commitNow(false)
    return this.store.live.has(id)
  }

  entry (id) {
    const { records, store } = this
    const job = records.read(id)
    const delivery = this.attempts.deliveryOf(id)
    // that of an attempt which has begun is its own
    const before = delivery?.attempt > 0 ? delivery.before : store.states.get(id)
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

  cancelAsked () {
    const { asked } = this
    this.asked = new Map()
    try {
      this.status.check()
    } catch (err) {
      for (const { reject } of asked.values()) reject(err)
      return
    }
    const ids = new Set([...asked.keys()].filter(id => this.isJob(id) && !this.dead.has(id)))
    const safe = ids.size === 0 ? undefined : this.idle.after(() => this.end(ids))
    for (const [id, { resolve, reject }] of asked) {
      if (ids.has(id)) safe.then(() => resolve(true), reject)
      else resolve(false)
    }
  }

  /** @param {Set<number>} ids of jobs that wait or run @returns {Promise<void>} when that is safe */
  end (ids) {
    const running = this.attempts.deliveriesOf(ids)
    for (const delivery of running) delivery.isCancelled = true
    if (running.length < ids.size) {
      this.retries.remove(this.retries.find(ids))
      this.stage.withdraw(list => list.remove(job => ids.has(idOf(job))), ignore)
    }
    let safe
    this.cancelling.cancel([...ids], cancelledError, group => { safe = this.outage.safe(group) })
    for (const delivery of running) {
      if (delivery.hasBegun) this.stage.interrupt(delivery.ticket, cancelledError())
      else delivery.giveBack()
    }
    return safe
  }
}

/** When a delayed job is due, in ms since 1970; undefined while the caller is asked. */
function dueAtOf (state, options) {
  if (!hasStarted(state)) return options.dueAt
  return state.phase === DUE ? state.dueAt : undefined
}

function ignore () {}

module.exports = { SingleJobs }
