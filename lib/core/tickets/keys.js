'use strict'

// Keys of jobs in memory, as lib/job/key.js has them. While a key is taken, an add() with it shares the job that has taken it.
//
// A job that is cancelled before its start leaves its key free; one that has started does not shorten the time of its key. Those that are
// taken for a time are forgotten when somebody looks them up after it, when there are twice as many, or where there are many by a timer: a
// Map whose front is taken off again and again gets slow.

const { abortedError } = require('../../arguments/errors')
const { COST } = require('../../job/cost')
const { TakenKey, keyIdOf } = require('../../job/key')
const { Sharers } = require('../../job/sharers')
const { Forgetting, MANY } = require('../../platform/forgetting')
const { Promises } = require('../notifications')

const FEW = 64

/** A key that is taken, and the job that has taken it. */
class Entry extends TakenKey {
  constructor (keys, id, plan, takenAt) {
    super(id, plan, takenAt)
    this.keys = keys
    this.ticket = undefined // of the job, from its acceptance until it has settled
    this.isTaken = true // the key is; else it is free, or another job has taken it
    this.isAccepted = false
    this.isKept = false // somebody shares the job who has no signal
    this.promise = undefined // of the job's result
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
    else if (typeof this.keyUntil === 'number') this.keys.forgetAt(this.freeAt)
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
    if (this.ticket === undefined) this.keys.sharers.release(this)
  }

  /** Whether the key is free when the job ends. A job that a scheduler is being told of starts, whatever comes over it. */
  get isOverAtEnd () {
    return this.keyUntil === 'settled' || !(this.hasStarted || this.ticket.isTaken)
  }

  /** Whether its job has settled, if that was not told yet. */
  get isSettled () {
    return this.ticket === undefined
  }
}

// Of most keys, whose entries have no room for these.
Object.assign(Entry.prototype, {
  sharers: undefined, // a Set of those who have a signal, if there ever were some
  resolve: undefined // of the promise, if somebody shared the job before add() of the queue had made one
})

class Keys {
  /** @param {object} jobs the PlannedJobs of the queue */
  constructor (jobs) {
    this.jobs = jobs
    this.entries = new Map() // by id
    this.sweepAt = FEW // when there are so many, those that are over are forgotten
    const call = fn => jobs.dispatch.freshScope().runInAsyncScope(fn)
    this.forgetting = new Forgetting(jobs.deadlines.clock, call, () => this.entries.values(), (entry, now) => this.look(entry, now))
    this.joinedCount = 0
    this.sharers = new Sharers((signal, rejects, deserted, fault) => this.left(signal, rejects, deserted, fault))
  }

  /**
   * @param {string | undefined} type
   * @param {object} read what add() was given, with a plan that has a key
   * @param {{ addNew: (type: string | undefined, payload: any, read: object) => Promise<any> }} intake adds the job
   * @returns {Promise<any>} of the job's result
   */
  add (type, payload, read, intake) {
    const { plan, signal } = read
    if (signal !== undefined && signal.aborted) return intake.addNew(type, payload, read) // which refuses it
    const id = keyIdOf(type, plan.key)
    const known = this.find(id)
    if (known !== undefined) {
      this.joinedCount++
      this.jobs.note(type, 'joined')
      if (plan.onDuplicate !== 'join') this.update(known, payload, read)
      return this.share(known, signal)
    }
    const entry = this.take(id, plan)
    read.signal = undefined // who shares the job has it, not the job
    plan.entry = entry
    entry.follow(intake.addNew(type, payload, read))
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
    if (entry === undefined || entry.freeAt === Infinity || this.now < entry.freeAt) return entry
    this.free(entry)
    return undefined
  }

  take (id, plan) {
    const isTimed = typeof plan.keyUntil === 'number'
    const takenAt = isTimed || plan.delayMs > 0 ? this.now : 0
    if (isTimed && this.entries.size >= this.sweepAt) this.sweep()
    const entry = new Entry(this, id, plan, takenAt)
    this.entries.set(id, entry)
    return entry
  }

  sweep () {
    this.forgetting.begin()
    this.sweepAt = Math.max(FEW, 2 * this.entries.size)
  }

  /** As Forgetting wants it. */
  look (entry, now) {
    const { freeAt } = entry
    if (now < freeAt) return freeAt
    this.free(entry)
    return Infinity
  }

  /** What the add of a key that is taken does to a job that waits for its first start. */
  update (entry, payload, { plan, work }) {
    const { ticket, hasStarted } = entry
    if (ticket === undefined || hasStarted || ticket.isTaken) return
    this.jobs.dispatch.list.exchange(ticket, payload)
    if (ticket.cost !== (plan.cost ?? COST)) this.setCost(ticket, plan.cost ?? COST)
    if (ticket.work !== undefined || work !== undefined) {
      ticket.work = work
      ticket.scope = this.jobs.tickets.scopeOf(work) // what a function of another caller is to run in
    }
    if (plan.onDuplicate === 'replace' || !ticket.isDelayed) return
    this.jobs.postpone(ticket, entry.delayAfter(plan, this.now))
  }

  /** A job that waits costs something else: it, and those behind it, may have to wait for longer, or not any more. */
  setCost (ticket, cost) {
    const { dispatch, dispatch: { list } } = this.jobs
    ticket.cost = cost
    if (!ticket.isDelayed) list.holds?.adjust(ticket.lane)
    dispatch.wake()
  }

  /** @returns {Promise<any>} of the job, or of one who may leave it by a signal */
  share (entry, signal) {
    if (signal === undefined) {
      entry.isKept = true
      return entry.result()
    }
    return new Promise((resolve, reject) => {
      entry.result().then(resolve, reject)
      if (!entry.isSettled) this.sharers.add(entry, signal, reject)
    })
  }

  /** Some have left, and are told in slices; jobs that all have left are cancelled, and told behind them. */
  left (signal, rejects, deserted, reason = abortedError(signal.reason)) {
    for (const entry of deserted) if (entry.isOverAtEnd) this.free(entry) // before others are told, who may add it
    const left = new Promises(rejects, { error: () => reason })
    if (deserted.length > 0) this.jobs.tickets.abort(signal, new Set(deserted.map(({ ticket }) => ticket)), left)
    else this.jobs.dispatch.telling.tell(left)
  }
}

module.exports = { Keys }
