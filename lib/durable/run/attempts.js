'use strict'

// HOT (bench: durable). From the slot that a job was given to its runner: a job is run only when it is safe, and when the operating
// system has the attempt. Until then a pause can take the slot back.
//
//   slot ──▶ written ──▶ safe ──▶ attempt written ──▶ runner
//    ▲                 │
//    └──── recall() ◀──┘

const { warnOfValue } = require('../../job/ignored-return')
const { readSpent } = require('../../job/cost')
const { Delivery } = require('../../job/delivery')
const { NONE } = require('../push/job-options')
const { JobState, hasStarted } = require('./job-state')
const { isShortage } = require('../life/outage')
const { idOf } = require('./records')
const { RunnerContext } = require('./runner-context')
const { decode } = require('../push/serialize')

class Attempts {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ runner: Function, settleBy: string, serialize: object }} options runner: the caller's
   */
  constructor ({ keys, limits, outage, records, report, retries, stage, writing }, { runner, settleBy, serialize }) {
    this.counts = report.counts
    this.events = report.events
    this.keys = keys
    this.ledger = report.ledger
    this.limits = limits
    this.outage = outage
    this.records = records
    this.retries = retries
    this.stage = stage
    this.writing = writing
    this.runner = runner
    this.settleBy = settleBy
    this.serializer = serialize
    this.deliveries = new Map() // what stands in the queue for a job → its Delivery, until that is settled
    this.unwritten = [] // { group, delivery } of attempts that the operating system does not have yet, in order
    this.isOver = false
    this.hasSeenValue = false // of a runner that may call done; more of them mean the same
  }

  /** A job was given a slot. */
  start (job, done, slot) {
    const delivery = new Delivery(job, done, slot, this.stage.starting(), this.stage.waitsUntil)
    this.deliveries.set(job, delivery)
    if (this.limits.isOn) this.limits.limiter.took(delivery)
    if (!this.retries.mayStart(job)) this.giveBack(delivery)
    else if (idOf(job) === undefined) job.written.then(() => this.whenWritten(delivery))
    else this.whenWritten(delivery)
  }

  /** The job lost its slot, or gave it back. @returns {Delivery | undefined} undefined if it had none */
  settled (job) {
    const delivery = this.deliveries.get(job)
    if (delivery === undefined) return undefined
    this.deliveries.delete(job)
    delivery.isSettled = true
    if (delivery.attempt > 0) this.outage.attemptsCount--
    if (!delivery.hasBegun) {
      this.logged()
      if (this.limits.isOn) this.limits.limiter.gaveBack(delivery)
    }
    return delivery
  }

  /** @returns {Delivery | undefined} that of a job which has a slot. O(slots) */
  deliveryOf (seq) {
    return this.deliveries.get(seq) ?? this.deliveriesOf(new Set([seq]))[0]
  }

  /** @param {Set<number>} seqs @returns {Delivery[]} those of these jobs that have slots */
  deliveriesOf (seqs) {
    return [...this.deliveries.values()].filter(({ job }) => seqs.has(idOf(job)))
  }

  /** @returns {Map<string | undefined, number>} how many jobs of each type have slots; without a scheduler, of those that have started */
  runningByType () {
    const counts = new Map()
    for (const { type } of this.deliveries.values()) counts.set(type, (counts.get(type) ?? 0) + 1)
    return counts
  }

  /** The log has gone on, or a delivery may be lost that waits for it. */
  logged () {
    if (this.unwritten.length > 0) queueMicrotask(() => this.runWritten())
  }

  /** The queue was paused: jobs for which test(delivery) is true, and whose runner was not called, lose their slots. */
  recall (test) {
    // the last first, since each stands before all others then
    for (const delivery of [...this.deliveries.values()].reverse()) {
      if (delivery.hasBegun || delivery.isGivenBack || !test(delivery)) continue
      delivery.isRecalled = true
      this.giveBack(delivery)
    }
  }

  /** An attempt is not to count: the job is as before, but for its first start if it had that. */
  uncount (delivery) {
    const { id: seq, attempt, hasBegun } = delivery
    if (attempt === 0) return
    if (hasBegun) this.ledger?.uncounted(seq)
    this.takeBack(delivery)
  }

  /** As uncount(), of which observers are told otherwise. The attempt was written. */
  takeBack ({ id: seq, before, hasBegun }) {
    if (hasStarted(before)) this.outage.change(seq, before)
    else this.outage.change(seq, hasBegun ? JobState.interrupted : JobState.waiting)
  }

  /** The runner of a job says what that has cost so far. @throws FAIRLANE_ERR_ARGUMENT */
  spent (delivery, total) {
    const units = readSpent(total)
    const { id: seq, cost, ticket, hasEnded, isSettled } = delivery
    if (cost === undefined || cost === units || hasEnded || isSettled) return
    this.charges(delivery, units)
    this.retries.setCost(seq, units)
    ticket.spent(units)
  }

  /** The log has failed: no more runners are called. */
  end () {
    this.isOver = true
    this.runWritten()
  }

  // private from here on

  whenWritten (delivery) {
    const seq = idOf(delivery.job)
    const safe = this.writing.whenSafe(seq)
    if (safe !== undefined) safe.then(() => this.attempt(delivery, seq), () => this.giveBack(delivery))
    else if (seq === undefined) this.giveBack(delivery)
    else this.attempt(delivery, seq)
  }

  /** Writes the attempt; the jobs that are started in one turn share a write. They are run in the order in which they come here. */
  attempt (delivery, seq) {
    delivery.id = seq
    if (this.isLost(delivery)) return
    delivery.before = this.records.states.get(seq)
    const { attempts = 0, error } = delivery.before ?? {}
    const group = this.outage.attempt(seq, attempts + 1, error)
    if (group === undefined) return // all that were not called are about to be recalled
    delivery.attempt = attempts + 1
    this.outage.attemptsCount++
    queueMicrotask(() => {
      if (isWritten(group) && this.unwritten.length === 0) this.run(delivery)
      else this.unwritten.push({ group, delivery })
    })
  }

  runWritten () {
    const { unwritten } = this
    while (unwritten.length > 0) {
      const { group, delivery } = unwritten[0]
      // those that could not be written are recalled, with all others that were not called
      const isFailed = group.error !== undefined && this.isLost(delivery)
      if (!isWritten(group) && !isFailed && !this.isOver) return
      unwritten.shift()
      this.run(delivery)
    }
  }

  run (delivery) {
    if (this.isLost(delivery)) return
    let payload
    try {
      const { type, options, bytes } = this.records.read(delivery.id)
      delivery.type = type
      delivery.options = options
      delivery.isFinal = true // what cannot be decoded now can never be
      payload = delivery.payload = decode(this.serializer, bytes, options !== NONE)
      delivery.isFinal = false
      this.stage.limit(delivery.ticket, options.timeoutMs)
    } catch (err) {
      if (isShortage(err)) {
        this.outage.beginRead(err, delivery.id)
        return
      }
      this.begins(delivery)
      delivery.isFinal ||= err.code === 'FAIRLANE_ERR_CORRUPT'
      delivery.fail(err) // of the clock, too
      return
    }
    this.begins(delivery)
    if (this.limits.isOn) this.charge(delivery)
    const value = delivery.run(this.runner, payload, this.settleBy, new RunnerContext(delivery, this.events, this))
    if (value === undefined || this.hasSeenValue) return
    this.hasSeenValue = true
    warnOfValue(this.runner, value)
  }

  /** A job starts. It may have been given another payload, which costs something else, since it has its slot. */
  charge (delivery) {
    this.charges(delivery, this.limits.limiter.starts(delivery))
    const { id: seq, cost, ticket } = delivery
    const units = this.retries.costOf(seq)
    if (cost === undefined || cost === units) return
    this.charges(delivery, units)
    ticket.spent(units)
  }

  /** A job is charged so many units in all, where that is counted. */
  charges (delivery, units) {
    if (units === undefined) return
    const { id: seq, type, cost = 0 } = delivery
    delivery.cost = units
    this.counts.charge(type, units - cost)
    this.ledger?.charged(seq, units - cost)
  }

  /** The runner of a job was not called: it gives its slot back, and is charged nothing. */
  giveBack (delivery) {
    if (this.stage.list.costs !== null) delivery.ticket.spent(0)
    delivery.giveBack()
  }

  begins ({ id: seq, type, options }) {
    if (options !== NONE) this.keys.started(seq)
    this.ledger?.started(seq, type)
  }

  /** Whether something came over a job before its runner was called; then its slot is given back. */
  isLost (delivery) {
    if (delivery.isRecalled) return true
    if (!delivery.isSettled && !this.isOver) return false
    this.giveBack(delivery)
    return true
  }
}

/** Whether the operating system has a group: its buffer was given back. */
function isWritten (group) {
  return group.buffer === undefined
}

module.exports = { Attempts }
