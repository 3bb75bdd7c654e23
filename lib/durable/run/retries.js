'use strict'

// Jobs that wait without standing in the queue: until their time has come, for the first attempt or the next one, or, after crashes, until
// it is their turn to be tried alone. One timer for all times, the queue's own.

const { asyncScope } = require('../../platform/context')
const { idOf, renumber } = require('./records')

/** A job whose time has not come. */
class DelayedJob {
  /**
   * @param {number | object} seq what is to stand in the queue for it: an object if it is not written yet
   * @param {string | undefined} type
   * @param {{ atHead: boolean, maxWaitMs: number, priority: number, scope: object | undefined } | undefined} first how it is put into the
   *   queue for the first time; undefined: it was there
   */
  constructor (retries, seq, type, first) {
    this.retries = retries
    this.seq = seq
    this.type = type
    this.first = first
    this.position = -1 // in the heap of deadlines
    this.order = 0
  }

  whenDue () {
    this.retries.due(this)
  }
}

class Retries {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   */
  constructor ({ report: { ledger }, stage, types, waiting }) {
    this.deadlines = stage.deadlines
    this.stage = stage
    this.types = types
    this.waiting = waiting
    this.ledger = ledger
    this.newCount = 0 // of the delayed, those that were never in the queue, which counts them
    this.newCounts = new Map() // type → those of it
    stage.countDelayed(type => this.newCounts.get(type) ?? 0)
    this.delayed = new Map() // seq → DelayedJob
    this.dueOrders = null // type → DueOrder of those, once somebody has asked which is the first
    // were running when the process ended, and have one attempt left
    this.suspects = new Map() // type → { seq, type }[]
    this.suspectsCount = 0 // of those
    this.placed = new Map() // seq → type, of the suspects that stand in the queue: one of each type, since a type may be held up
    this.placedTypes = new Set() // of those
    this.triedAlone = 0 // the suspect that has a slot
    this.isStopped = false
  }

  get size () {
    return this.delayed.size + this.suspectsCount
  }

  /** Of those, the ones that the queue in memory does not count. */
  get uncounted () {
    return this.size - this.newCount
  }

  /** Has a job placed in so many ms; Infinity: when delay() says so. @param {object} [first] as of DelayedJob */
  add (seq, type, ms, first) {
    const job = new DelayedJob(this, seq, type, first)
    this.delayed.set(seq, job)
    this.types.delay(type, 1)
    if (!this.isStopped) {
      if (first !== undefined) this.countNew(job, 1)
      this.deadlines.addAnyway(job, ms)
    }
    if (this.dueOrders !== null) this.putInOrder(job)
  }

  /** Puts a job into the queue that was pushed just now; one with a delay when that is over. */
  placeNew (job, type, atHead, options) {
    const { delayMs, maxWaitMs, priority, cost } = options
    this.waiting.setCost(job, cost)
    if (delayMs > 0) this.placeLater(job, type, atHead, options, delayMs)
    else this.waiting.place(job, type, atHead, this.waiting.limitOf(maxWaitMs), priority)
  }

  /** Has a job put into the queue in so many ms, for the first time: its wait begins then. */
  placeLater (job, type, atHead, { maxWaitMs, priority, cost }, ms) {
    this.waiting.setCost(job, cost)
    const scope = this.stage.keepsContext ? asyncScope() : undefined
    this.add(job, type, ms, { atHead, maxWaitMs: this.waiting.limitOf(maxWaitMs), priority, scope })
  }

  /** A job is written that was not. @returns {boolean} whether it still waits for its time */
  written (buffered, seq) {
    this.waiting.written(buffered, seq)
    const job = renumber(this.delayed, buffered, seq)
    if (job !== undefined) job.seq = seq
    return job !== undefined
  }

  /** @returns {number} when a delayed job is due, by the queue's clock */
  dueAt (seq) {
    return this.deadlines.dueAt(this.delayed.get(seq))
  }

  /** A job, if it is delayed still, is due in so many ms from now on. */
  delay (seq, ms) {
    const job = this.delayed.get(seq)
    if (job === undefined || this.isStopped) return
    this.deadlines.remove(job)
    this.deadlines.addAnyway(job, ms)
    if (this.dueOrders !== null) this.dueOrders.get(this.orderOf(job)).move(job, this.deadlines.dueAt(job))
  }

  /** As delay(), to a time by the queue's clock. */
  postpone (seq, at) {
    this.delay(seq, Math.max(0, at - this.deadlines.clock.now()))
  }

  /** A job is not delayed any more: it could not be written, or something else becomes of it. */
  drop (seq) {
    const job = this.delayed.get(seq)
    if (job !== undefined && this.forget(job)) this.deadlines.remove(job)
  }

  /** Has jobs placed, each of which is to be tried when no other one of these is, in their order. */
  addSuspects (jobs) {
    for (const { seq, type } of jobs) this.listOf(type).push({ seq, type })
    this.suspectsCount += jobs.length
    this.placeSuspects()
  }

  /** A job was given a slot. @returns {boolean} false for a suspect that must give it back: another one is being tried */
  mayStart (seq) {
    if (!this.placed.has(seq)) return true
    if (this.triedAlone === 0) this.triedAlone = seq
    if (this.triedAlone === seq) return true
    const type = this.placed.get(seq)
    this.unplace(seq)
    this.listOf(type).unshift({ seq, type })
    this.suspectsCount++
    return false
  }

  /** A job lost its slot before it was tried, and waits again, before all others. One that could not be written does not. */
  placeAgain (job, type, maxWaitMs) {
    if (this.waiting.isGone(job)) return
    if (job === this.triedAlone) {
      this.triedAlone = 0
      this.placeSuspects()
    }
    this.waiting.place(job, type, true, maxWaitMs)
  }

  costOf (seq) {
    return this.waiting.costOf(seq)
  }

  /** What a job costs is known better now: a later attempt costs so much. */
  setCost (seq, cost) {
    this.waiting.setCost(seq, cost)
  }

  /** A job that waits has another payload, and so costs something else. */
  replaceCost (seq, type, cost) {
    this.waiting.replaceCost(seq, type, cost)
  }

  /** A job is no more, or is a dead letter. @param {number | object} job what stood in the queue for it */
  left (job) {
    this.waiting.forget(job)
    this.settled(idOf(job))
  }

  /** A job has settled, was taken out, or comes back. */
  settled (seq) {
    if (!this.placed.has(seq)) return
    this.unplace(seq)
    if (seq === this.triedAlone) this.triedAlone = 0
    this.placeSuspects()
  }

  /** What waits here stays on disk. */
  clear () {
    this.remove(this.list())
  }

  /** From here on nothing falls due. */
  stop () {
    this.isStopped = true
    for (const job of this.delayed.values()) this.deadlines.remove(job)
    // the queue in memory closes without waiting for them
    this.stage.delay(-this.newCount)
    this.newCount = 0
    this.newCounts.clear()
  }

  /**
   * @param {string} [type] only those of one type
   * @returns {{ seq: number, type: string | undefined }[]} those that wait here, in no particular order
   */
  list (type) {
    const all = [...[...this.suspects.values()].flat(), ...this.delayed.values()]
    return type === undefined ? all : all.filter(job => (job.type ?? this.types.noType) === type)
  }

  /** @param {Set<number>} seqs @returns {object[]} those of list() that have one of these numbers */
  find (seqs) {
    const suspects = [...this.suspects.values()].flat().filter(({ seq }) => seqs.has(seq))
    const delayed = [...seqs].map(seq => this.delayed.get(seq)).filter(job => job !== undefined)
    return [...suspects, ...delayed]
  }

  /** Whether the time of a job is to come. */
  isDelayed (seq) {
    return this.delayed.has(seq)
  }

  /** Takes jobs of list() out. @returns {object[]} those of them that were still there */
  remove (jobs) {
    const wanted = new Set(jobs)
    const removed = []
    for (const [type, suspects] of this.suspects) {
      for (const job of suspects) if (wanted.has(job)) removed.push(job)
      const left = suspects.filter(job => !wanted.has(job))
      if (left.length > 0) this.suspects.set(type, left)
      else this.suspects.delete(type)
    }
    this.suspectsCount -= removed.length
    for (const job of jobs) {
      if (!this.forget(job)) continue
      removed.push(job)
      this.deadlines.remove(job)
    }
    return removed
  }

  /**
   * The delayed job that falls due first. O(log delayed), the first time O(delayed × log).
   * @param {string | undefined} type undefined: of all, without a scheduler. O(types with delayed jobs)
   * @returns {{ dueAt: number, hasRun: boolean, cost: number } | undefined}
   */
  firstDue (type) {
    if (this.dueOrders === null) {
      this.dueOrders = new Map()
      for (const job of this.delayed.values()) this.putInOrder(job)
    }
    const orders = type === undefined ? [...this.dueOrders.values()] : [this.dueOrders.get(type)]
    let due
    for (const order of orders) {
      if (order === undefined) continue
      const job = order.first
      const dueAt = this.deadlines.dueAt(job)
      if (due === undefined || dueAt < due.dueAt) due = { dueAt, hasRun: job.first === undefined, cost: this.costOf(job.seq) }
    }
    return due
  }

  // private from here on

  putInOrder (job) {
    const { DueOrder } = require('../../platform/due-order')
    const type = this.orderOf(job)
    if (!this.dueOrders.has(type)) this.dueOrders.set(type, new DueOrder())
    this.dueOrders.get(type).add(job, this.deadlines.dueAt(job))
  }

  takeOutOfOrder (job) {
    const type = this.orderOf(job)
    const order = this.dueOrders.get(type)
    order.drop(job)
    if (order.size === 0) this.dueOrders.delete(type)
  }

  /** The type in whose order a delayed job stands. */
  orderOf ({ type }) {
    return type ?? this.types.noType
  }

  due (job) {
    // a job that fell due at the same time may have had this one removed
    if (!this.forget(job)) return
    if (this.ledger !== undefined && idOf(job.seq) !== undefined) this.ledger.due(idOf(job.seq))
    this.waiting.placeDue(job.seq, job.type, job.first)
  }

  /** @returns {boolean} whether it was still there */
  forget (job) {
    if (this.delayed.get(job.seq) !== job) return false
    this.delayed.delete(job.seq)
    if (this.dueOrders !== null) this.takeOutOfOrder(job)
    this.types.delay(job.type, -1)
    if (job.first !== undefined && !this.isStopped) this.countNew(job, -1)
    return true
  }

  /** A job comes to those that were never in the queue, or leaves them. */
  countNew ({ type }, change) {
    this.newCount += change
    this.countType(type, change)
    this.stage.delay(change)
  }

  countType (type = '', change) {
    const count = (this.newCounts.get(type) ?? 0) + change
    if (count > 0) this.newCounts.set(type, count)
    else this.newCounts.delete(type)
  }

  /** While none is being tried, the first suspect of each type stands in the queue. O(types of suspects). */
  placeSuspects () {
    if (this.triedAlone !== 0) return
    // each is placed before all others
    for (const [type, suspects] of [...this.suspects].reverse()) {
      if (this.placedTypes.has(type)) continue
      const { seq } = suspects.shift()
      this.suspectsCount--
      if (suspects.length === 0) this.suspects.delete(type)
      this.placed.set(seq, type)
      this.placedTypes.add(type)
      this.waiting.place(seq, type, true)
    }
  }

  listOf (type) {
    if (!this.suspects.has(type)) this.suspects.set(type, [])
    return this.suspects.get(type)
  }

  unplace (seq) {
    this.placedTypes.delete(this.placed.get(seq))
    this.placed.delete(seq)
  }
}

module.exports = { Retries }
