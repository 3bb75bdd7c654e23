'use strict'

// HOT (bench: http-admission). Jobs that start before the call that brings them returns, where a slot is free: for owners of a queue whose
// callers wait on the stack for it, as the requests of a server. A job that starts at once has no deadline for its waiting, no scope of its
// own and no pass of the event loop; one that has to wait gets them then, and is a job as all others.

const { abortedError } = require('../arguments/errors')
const { asyncScope } = require('../platform/context')
const { COST, readCost } = require('../job/cost')
const { startNow } = require('./immediate')
const { settle } = require('./running')
const { Ticket } = require('./tickets/tickets')
const { Verdict } = require('./verdict')

class Entrance {
  /**
   * @param {object} internals of the queue
   * @param {(payload: any, done: (err?: any) => void) => void} onStart in the place of the queue's runner
   */
  constructor ({ acceptCost, admission, dispatch, list, read, tickets }, onStart) {
    this.acceptCost = acceptCost
    this.onStart = onStart
    this.admission = admission
    this.dispatch = dispatch
    this.list = list
    this.read = read
    this.tickets = tickets
    this.parked = new Map() // type → how many jobs of it are parked
    admission.delayedOf = type => this.parked.get(type) ?? 0
  }

  /** The time, by the queue's clock. */
  now () {
    return this.read.clock.now()
  }

  /**
   * Whether a job of the type might start at once: a slot is free, and nothing waits that comes before it. Then it is put in, and asked
   * whether it may wait only if it has not started: slots may be free that those who wait may not have.
   */
  mayStart (type) {
    const { admission, dispatch, list } = this
    if (list.size > 0 && (!admission.hasTypes || list.waitingWith(type) > 0)) return false
    return dispatch.running < dispatch.concurrency && !admission.isClosed
  }

  /**
   * @param {number} [ownCount] 1: the job waits already
   * @returns {FairlaneError | undefined} what a job of the type is refused by that is to wait
   */
  refuse (type, ownCount = 0) {
    const error = this.admission.refuse(type, ownCount)
    if (error !== undefined) this.read.ledger?.refused(type, error)
    return error
  }

  /** As refuse(), of a job whose type is not known yet: what all are refused by. @param {string | undefined} type that it counts as */
  refuseUnknown (type) {
    return this.admission.accepts(undefined) ? undefined : this.refuse(type)
  }

  /** @returns {number} what a job of the type is to cost; by default as much as any @throws FAIRLANE_ERR_ARGUMENT */
  readCost (cost = COST, type) {
    const units = readCost(cost, 'FAIRLANE_ERR_ARGUMENT')
    this.acceptCost(units, type)
    return units
  }

  /**
   * Puts a job in, which was not refused. It has started when this returns, if it may start now.
   * @param {(err: any) => void} whenSettled
   * @param {number} maxWaitMs
   * @param {number} cost
   * @returns {object} the ticket of the job, for leave()
   */
  enter (type, payload, whenSettled, maxWaitMs, cost) {
    const { dispatch, list, tickets } = this
    const ticket = new Ticket(tickets, whenSettled, undefined, tickets.timeoutMs, undefined)
    ticket.work = this
    if (cost !== COST) ticket.cost = cost
    dispatch.accepted++
    list.pushTicket(type, payload, ticket)
    if (dispatch.running < dispatch.concurrency) {
      list.beginPass()
      startNow(dispatch)
    }
    if (ticket.job === undefined && !ticket.isRetired) this.wait(ticket, maxWaitMs)
    return ticket
  }

  /** Takes out a job that waits: it is told. O(1). @param {() => FairlaneError} [makeError] */
  leave (ticket, makeError = abortedError) {
    const verdict = new Verdict(makeError)
    this.dispatch.interruptions.interrupt([ticket], () => verdict)
  }

  /** A job that was not refused waits outside for something else than a slot, maybe for its type. It counts as a delayed one. */
  park (type) {
    this.parked.set(type, (this.parked.get(type) ?? 0) + 1)
    this.dispatch.delayed++
  }

  /** It does not any more. Unless it enters now, settle() has to follow. */
  unpark (type) {
    const count = this.parked.get(type) - 1
    if (count === 0) this.parked.delete(type)
    else this.parked.set(type, count)
    this.dispatch.delayed--
  }

  /** A job that was parked is gone: others may be accepted, and the queue be idle. */
  settle () {
    this.dispatch.withoutStarting(() => {})
  }

  /** Calls item.whenDue() in so many ms. @param {{ position: number, order: number, whenDue: () => void }} item */
  limit (item, ms) {
    this.tickets.deadlines.addAnyway(item, ms)
  }

  unlimit (item) {
    this.tickets.deadlines.remove(item)
  }

  /** The payloads of the jobs that run. */
  running () {
    return this.dispatch.pending.list().map(({ payload }) => payload)
  }

  // what its tickets ask, as of Slots

  start ({ scope }, job, payload) {
    const { onStart } = this
    const done = err => settle(job, err)
    if (scope === undefined) onStart(payload, done)
    else scope.runInAsyncScope(onStart, undefined, payload, done)
  }

  /** None is tried again, whatever it fails with. */
  get comesBack () {
    return false
  }

  // private from here on

  /** It could not start: from here on its time is limited, and it keeps the context of its caller. */
  wait (ticket, maxWaitMs) {
    const { dispatch, tickets } = this
    if (dispatch.running < dispatch.concurrency) dispatch.wake()
    if (tickets.keepsContext) ticket.scope = asyncScope()
    tickets.watch(ticket, { maxWaitMs })
  }
}

module.exports = { Entrance }
