'use strict'

// Keys of jobs. While a key is taken, an add() with it shares the job that has taken it.
//
//   add ──▶ taken ──────────── started ─────────── settled
//           └─ 'started' ────▶ free │                │
//           └─ 'settled' ───────────┼──────────────▶ free
//           └─ so many ms, and until it has started ─┼────▶ free
//
// Keys belong to types (docs/decisions/0066-key-until-started.md). Those that are taken for a time are forgotten when somebody looks them up after
// it, or when there are twice as many: a Map whose front is taken off again and again gets slow.

const { FairlaneError } = require('../errors')
const { callbackOf } = require('../promised')
const { Signals } = require('../signals')

const FEW = 64

/** A key that is taken, and the job that has taken it. */
class Entry {
  /** @param {string} id @param {{ keyUntil: 'started' | 'settled' | number, delayMs: number | undefined }} plan @param {number} addedAt */
  constructor (keys, id, { keyUntil, delayMs = 0 }, addedAt) {
    this.keys = keys
    this.id = id
    this.keyUntil = keyUntil
    this.delayMs = delayMs
    this.addedAt = addedAt
    this.ticket = undefined // of the job, from its acceptance until it has settled
    this.isAccepted = false
    this.hasStarted = false
    this.isKept = false // somebody shares the job who has no signal
    this.sharers = new Set() // those who have one
    let resolve
    this.promise = new Promise(_resolve => { resolve = _resolve })
    this.callback = callbackOf(resolve)
  }

  accept (ticket) {
    this.ticket = ticket
    this.isAccepted = true
  }

  /** The job starts, perhaps again. */
  start () {
    this.hasStarted = true
    if (this.keyUntil === 'started') this.keys.free(this)
  }

  /** A ticket is retired: that of the job, which has settled, or of an attempt before. */
  end (ticket) {
    if (ticket !== this.ticket) return
    this.ticket = undefined
    if (this.keyUntil === 'settled' || !this.hasStarted) this.keys.free(this)
  }

  /** ... and is told, or lets go of its signal. */
  leave () {
    if (this.ticket !== undefined) return
    for (const sharer of this.sharers) this.keys.signals.remove(sharer.signal, sharer)
    this.sharers.clear()
  }

  /** Whether a time was given for which the key is taken, and that is over. */
  isOver (now) {
    return this.hasStarted && typeof this.keyUntil === 'number' && now >= this.addedAt + this.keyUntil
  }

  get isDeserted () {
    return !this.isKept && this.sharers.size === 0
  }
}

class Keys {
  /** @param {object} tickets the FlowTickets of the queue */
  constructor (tickets) {
    this.tickets = tickets
    this.entries = new Map() // by id
    this.sweepAt = FEW
    this.joinedCount = 0
    this.signals = new Signals((signal, sharers) => this.abort(signal, sharers))
  }

  /**
   * @param {string | undefined} type
   * @param {object} read what add() was given, with a plan that has a key
   * @param {(read: object) => Promise<any>} make adds the job; its promise is of interest only if the job is refused
   * @returns {Promise<any>} of the job's result
   */
  add (type, payload, read, make) {
    const { plan, signal } = read
    if (signal !== undefined && signal.aborted) return make(read) // which refuses it
    const now = this.tickets.deadlines.clock.now()
    const id = idOf(type, plan.key)
    const known = this.find(id, now)
    if (known !== undefined) {
      this.joinedCount++
      this.update(known, payload, plan, now)
      return this.share(known, signal)
    }
    if (this.entries.size >= this.sweepAt) this.sweep(now)
    const entry = new Entry(this, id, plan, now)
    this.entries.set(id, entry)
    read.signal = undefined // who shares the job has it, not the job
    plan.entry = entry
    const promise = make(read)
    if (!entry.isAccepted) {
      this.free(entry)
      promise.catch(entry.callback)
    }
    return this.share(entry, signal)
  }

  /** Somebody else may take the key. */
  free (entry) {
    if (this.entries.get(entry.id) === entry) this.entries.delete(entry.id)
  }

  // private from here on

  find (id, now) {
    const entry = this.entries.get(id)
    if (entry === undefined || !entry.isOver(now)) return entry
    this.entries.delete(id)
    return undefined
  }

  sweep (now) {
    for (const entry of this.entries.values()) if (entry.isOver(now)) this.free(entry)
    this.sweepAt = Math.max(FEW, 2 * this.entries.size)
  }

  /** What the add of a key that is taken does to a job that waits for its first start. */
  update ({ ticket, hasStarted, delayMs, addedAt }, payload, plan, now) {
    if (plan.onDuplicate === 'join' || ticket === undefined || hasStarted || ticket.isTaken) return
    this.tickets.dispatch.list.exchange(ticket, payload)
    if (plan.onDuplicate === 'replace' || !ticket.isDelayed) return
    const dueAt = Math.min(now + (plan.delayMs ?? delayMs), addedAt + plan.maxDelayMs)
    this.tickets.postpone(ticket, Math.max(dueAt - now, 0))
  }

  /** @returns {Promise<any>} of the job, or of one who may leave it by a signal */
  share (entry, signal) {
    if (signal === undefined) {
      entry.isKept = true
      return entry.promise
    }
    return new Promise((resolve, reject) => {
      entry.promise.then(resolve, reject)
      if (entry.ticket === undefined) return // it has settled
      const sharer = { entry, signal, reject }
      entry.sharers.add(sharer)
      try {
        this.signals.add(signal, sharer)
        if (signal.aborted) queueMicrotask(() => this.abort(signal, [sharer])) // inside the scheduler
      } catch (reason) { // of a signal of another make
        queueMicrotask(() => this.abort(signal, [sharer], reason))
      }
    })
  }

  /** Some leave; jobs that all have left are cancelled. */
  abort (signal, sharers, reason = new FairlaneError('FAIRLANE_ERR_ABORTED', 'The job was aborted', { cause: signal.reason })) {
    const deserted = new Set()
    for (const sharer of sharers) {
      const { entry, reject } = sharer
      this.signals.remove(signal, sharer)
      if (!entry.sharers.delete(sharer) || entry.ticket === undefined) continue // the job has settled, if it was not told yet
      reject(reason)
      if (!entry.isDeserted) continue
      this.free(entry)
      deserted.add(entry.ticket)
    }
    if (deserted.size > 0) this.tickets.abort(signal, deserted)
  }
}

/** Of a key within a type, from whose length on no other can have the same. */
function idOf (type, key) {
  return type === undefined ? `:${key}` : `${type.length}:${type}${key}`
}

module.exports = { Keys, idOf }
