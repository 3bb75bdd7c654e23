'use strict'

// What is asked of single jobs by their ids: what they are, and that they end. What is cancelled in one turn is taken out together, since
// that looks at all jobs that wait.

const { cancelledError } = require('../../arguments/errors')
const { idOf } = require('./records')

/** Calls of cancel(), until the end of their turn. */
class PendingCancel {
  constructor () {
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }))
  }
}

class SingleJobs {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ attempts, idle, lookup, outage, removal, retries, stage, status }) {
    this.attempts = attempts
    this.idle = idle
    this.lookup = lookup
    this.outage = outage
    this.removal = removal
    this.retries = retries
    this.stage = stage
    this.status = status
    this.pending = new Map() // id → PendingCancel, of jobs that are to be cancelled at the end of this turn
  }

  /** @returns {Promise<object | undefined>} a job as it is now; its payload is decoded when it is asked for. O(log waiting + slots) */
  async get (id) {
    this.status.check()
    return this.lookup.get(id)
  }

  /** @param {{ type: string | undefined, limit: number }} which @returns {Promise<object[]>} that run, in the order of their starts */
  async running ({ type, limit }) {
    this.status.check()
    const runs = [...this.attempts.deliveries.values()].filter(run => run.hasBegun && (type === undefined || run.type === type))
    return runs.slice(0, limit).map(({ id, type, attempt }) => ({ id, type, attempt, startedAt: undefined, overdue: false }))
  }

  /** @returns {Promise<boolean>} when that is safe; false if there is no such job that waits or runs */
  async cancel (id) {
    this.status.check()
    if (this.pending.size === 0) queueMicrotask(() => this.cancelPending())
    const cancel = this.pending.get(id) ?? new PendingCancel()
    this.pending.set(id, cancel)
    return cancel.promise
  }

  /** Cancels those of some jobs that wait or run, at once. @param {Set<number | undefined>} ids @param {() => Error} [makeError] */
  cancelNow (ids, makeError) {
    if (this.status.error !== undefined) return
    const there = new Set([...ids].filter(id => id !== undefined && this.lookup.isPending(id)))
    if (there.size > 0) this.idle.after(() => this.end(there, makeError)).catch(ignore)
  }

  // private from here on

  cancelPending () {
    const { pending } = this
    this.pending = new Map()
    try {
      this.status.check()
    } catch (err) {
      for (const { reject } of pending.values()) reject(err)
      return
    }
    const ids = new Set([...pending.keys()].filter(id => this.lookup.isPending(id)))
    const safe = ids.size === 0 ? undefined : this.idle.after(() => this.end(ids))
    for (const [id, { resolve, reject }] of pending) {
      if (ids.has(id)) safe.then(() => resolve(true), reject)
      else resolve(false)
    }
  }

  /**
   * @param {Set<number>} ids of jobs that wait or run
   * @param {() => Error} [makeError] one for each
   * @returns {Promise<void>} when that is safe
   */
  end (ids, makeError = cancelledError) {
    const running = this.attempts.deliveriesOf(ids)
    for (const delivery of running) delivery.isCancelled = true
    if (running.length < ids.size) {
      this.retries.remove(this.retries.find(ids))
      this.stage.withdraw(list => list.remove(job => ids.has(idOf(job))), ignore)
    }
    let safe
    this.removal.cancel([...ids], makeError, { whenLogged: group => { safe = this.outage.safe(group) } })
    for (const delivery of running) {
      if (delivery.hasBegun) this.stage.interrupt(delivery.ticket, makeError())
      else delivery.giveBack()
    }
    return safe
  }
}

function ignore () {}

module.exports = { SingleJobs }
