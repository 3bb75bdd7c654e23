'use strict'

// Keys of jobs. While a key is taken, an add() with it shares the job that has taken it.
//
//   add ──▶ taken ──────────── started ─────────── settled
//           └─ 'started' ────▶ free │                │
//           └─ 'settled' ───────────┼──────────────▶ free
//           └─ so many ms, and until it has started ─┼────▶ free
//
// A job that is cancelled before its start leaves its key free; one that has started does not shorten the time of its key. Keys belong to types
// (docs/decisions/0066-key-until-started.md). Those that are taken for a time are forgotten when somebody looks them up after it, when there are twice as
// many, or where there are many by a timer: a Map whose front is taken off again and again gets slow.

const { abortedError } = require('../../arguments/errors')
const { Forgetting, MANY } = require('../../platform/forgetting')
const { Signals } = require('../../platform/signals')
const { Promises } = require('../notifications')

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
    this.isTaken = true // the key is; else it is free, or another job has taken it
    this.isAccepted = false
    this.hasStarted = false
    this.isKept = false // somebody shares the job who has no signal
    this.sharers = undefined // a Set of those who have one, if there ever were some
    this.promise = undefined // of the job's result
    this.resolve = undefined // of that promise, if somebody shared the job before add() of the queue had made one
  }

  accept (ticket) {
    this.ticket = ticket
    this.isAccepted = true
  }

  /** What add() of the queue has given: told of the job, a scheduler may have added the same key before. */
  follow (promise) {
    if (this.promise === undefined) this.promise = promise
    else this.resolve(promise)
  }

  /** @returns {Promise<any>} of the job's result, always the same */
  result () {
    return (this.promise ??= new Promise(resolve => { this.resolve = resolve }))
  }

  /** The job starts, perhaps again. */
  start () {
    this.hasStarted = true
    if (this.keyUntil === 'started') this.keys.free(this)
    else if (typeof this.keyUntil === 'number') this.keys.forgetAt(this.overAt)
  }

  /** A ticket is retired: that of the job, which has settled, or of an attempt before. */
  end (ticket) {
    if (ticket !== this.ticket) return
    const { isOverAtEnd } = this
    this.ticket = undefined
    if (isOverAtEnd) this.keys.free(this)
  }

  /** ... and is told, or lets go of its signal. */
  leave () {
    if (this.ticket !== undefined || this.sharers === undefined) return
    for (const sharer of this.sharers) this.keys.signals.remove(sharer.signal, sharer)
    this.sharers.clear()
  }

  /** Whether the key is free when the job ends. A job that a scheduler is being told of starts, whatever comes over it. */
  get isOverAtEnd () {
    return this.keyUntil === 'settled' || !(this.hasStarted || this.ticket.isTaken)
  }

  /** Whether the key is taken for a time, and its job has started: then that time counts. */
  get mayBeOver () {
    return this.hasStarted && typeof this.keyUntil === 'number'
  }

  /** When that time is over. */
  get overAt () {
    return this.addedAt + this.keyUntil
  }

  isOver (now) {
    return this.mayBeOver && now >= this.overAt
  }
}

class Keys {
  /** @param {object} jobs the PlannedJobs of the queue */
  constructor (jobs) {
    this.jobs = jobs
    this.entries = new Map() // by id
    this.sweepAt = FEW // when there are so many, those that are over are forgotten
    const call = fn => jobs.dispatch.freshScope().runInAsyncScope(fn)
    this.forgetting = new Forgetting(jobs.deadlines.clock, call, () => this.entries.values(), (entry, now) => this.look(entry, now))
    this.joinedCount = 0
    this.signals = new Signals((signal, sharers) => this.abort(signal, sharers))
  }

  /**
   * @param {string | undefined} type
   * @param {object} read what add() was given, with a plan that has a key
   * @param {(read: object) => Promise<any>} make adds the job
   * @returns {Promise<any>} of the job's result
   */
  add (type, payload, read, make) {
    const { plan, signal } = read
    if (signal !== undefined && signal.aborted) return make(read) // which refuses it
    const id = idOf(type, plan.key)
    const known = this.find(id)
    if (known !== undefined) {
      this.joinedCount++
      if (plan.onDuplicate !== 'join') this.update(known, payload, plan)
      return this.share(known, signal)
    }
    const entry = this.take(id, plan)
    read.signal = undefined // who shares the job has it, not the job
    plan.entry = entry
    entry.follow(make(read))
    if (!entry.isAccepted) this.free(entry)
    return this.share(entry, signal)
  }

  /** Somebody else may take the key. */
  free (entry) {
    if (!entry.isTaken) return
    entry.isTaken = false
    this.entries.delete(entry.id)
  }

  /** A key is over at a time. Those that are taken for a time retain what came of their jobs. */
  forgetAt (at) {
    if (this.entries.size >= MANY) this.forgetting.note(at)
  }

  // private from here on

  /** The clock is read only where time counts: a read costs 30 to 70 ns. */
  get now () {
    return this.jobs.deadlines.clock.now()
  }

  find (id) {
    const entry = this.entries.get(id)
    if (entry === undefined || !entry.mayBeOver || !entry.isOver(this.now)) return entry
    this.free(entry)
    return undefined
  }

  take (id, plan) {
    const isTimed = typeof plan.keyUntil === 'number'
    const addedAt = isTimed || plan.delayMs > 0 ? this.now : 0
    if (isTimed && this.entries.size >= this.sweepAt) this.sweep()
    const entry = new Entry(this, id, plan, addedAt)
    this.entries.set(id, entry)
    return entry
  }

  sweep () {
    this.forgetting.begin()
    this.sweepAt = Math.max(FEW, 2 * this.entries.size)
  }

  /** As Forgetting wants it. */
  look (entry, now) {
    if (!entry.mayBeOver) return Infinity
    if (now < entry.overAt) return entry.overAt
    this.free(entry)
    return Infinity
  }

  /** What the add of a key that is taken does to a job that waits for its first start. */
  update ({ ticket, hasStarted, delayMs, addedAt }, payload, plan) {
    if (ticket === undefined || hasStarted || ticket.isTaken) return
    this.jobs.dispatch.list.exchange(ticket, payload)
    if (plan.onDuplicate === 'replace' || !ticket.isDelayed) return
    const { now } = this
    const dueAt = Math.min(now + (plan.delayMs ?? delayMs), addedAt + plan.maxDelayMs)
    this.jobs.postpone(ticket, Math.max(dueAt - now, 0))
  }

  /** @returns {Promise<any>} of the job, or of one who may leave it by a signal */
  share (entry, signal) {
    if (signal === undefined) {
      entry.isKept = true
      return entry.result()
    }
    return new Promise((resolve, reject) => {
      entry.result().then(resolve, reject)
      if (entry.ticket === undefined) return // it has settled
      const sharer = { entry, signal, reject }
      ;(entry.sharers ??= new Set()).add(sharer)
      try {
        this.signals.add(signal, sharer)
        if (signal.aborted) queueMicrotask(() => this.abort(signal, [sharer])) // inside the scheduler
      } catch (reason) { // of a signal of another make
        queueMicrotask(() => this.abort(signal, [sharer], reason))
      }
    })
  }

  /** Some leave, and are told in slices; jobs that all have left are cancelled, and told behind them. */
  abort (signal, sharers, reason = abortedError(signal.reason)) {
    const rejects = []
    const deserted = new Set()
    for (const sharer of sharers) {
      const { entry, reject } = sharer
      this.signals.remove(signal, sharer)
      if (!entry.sharers.delete(sharer) || entry.ticket === undefined) continue // the job has settled, if it was not told yet
      rejects.push(reject)
      if (entry.isKept || entry.sharers.size > 0) continue
      if (entry.isOverAtEnd) this.free(entry) // before others are told, who may add it
      deserted.add(entry.ticket)
    }
    if (rejects.length === 0) return
    const left = new Promises(rejects, { error: () => reason })
    if (deserted.size > 0) this.jobs.tickets.abort(signal, deserted, left)
    else this.jobs.dispatch.telling.tell(left)
  }
}

/**
 * Of a key within a type, from whose length on no other can have the same. A key without a type is its own, unless it begins as what is made here: a text
 * that is made has to be hashed each time.
 */
function idOf (type, key) {
  if (type !== undefined) return `\u0000${type.length}:${type}${key}`
  return key.charCodeAt(0) > 1 ? key : `\u0001${key}`
}

module.exports = { Keys, idOf }
