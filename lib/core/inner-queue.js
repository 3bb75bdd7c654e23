'use strict'

// What the owner of an inner queue gets beside its public methods. It keeps its jobs elsewhere (on disk, at a broker), puts numbers, or
// whatever, into the list, and is told by one function how they end.

const { whenAborted } = require('../platform/signals')
const { NO_EXTRAS } = require('./options')
const { SharedTicket } = require('./tickets/tickets')

class InnerQueue {
  /**
   * @param {object} internals of the queue
   * @param {(payload: any, err: any, result: any) => void} whenSettled called for jobs that end while they run, or waited too long
   */
  constructor ({ list, dispatch, tickets, admission, close, hold, letGo }, whenSettled) {
    this.list = list
    this.dispatch = dispatch
    this.tickets = tickets
    this.admission = admission
    this.whenSettled = whenSettled
    this.sharedTickets = [new SharedTicket(tickets, whenSettled, 0)] // by priority; later those of others
    this.deadlines = tickets.deadlines
    this.close = close // (drain, timeoutMs, cause)
    this.hold = hold // nothing starts until letGo(), whatever users pause and resume meanwhile
    this.letGo = letGo
    tickets.isInner = dispatch.isInner = true
  }

  /** In the runner's call: the ticket of its job, for limit(). */
  starting () {
    return this.tickets.starting
  }

  /** ... and when, by the queue's clock, it would have waited for too long; Infinity: never. */
  get waitsUntil () {
    return this.tickets.waitsUntil
  }

  /** From now on the time of a job is limited, whose ticket starting() gave. @param {number} [timeoutMs] in the place of the queue's */
  limit (ticket, timeoutMs) {
    if (timeoutMs !== undefined) ticket.timeoutMs = timeoutMs
    this.tickets.limit(ticket)
  }

  /** As Admission.refuse(). */
  refuse (type) {
    return this.admission.refuse(type)
  }

  /** As Admission.fullElsewhere(). */
  fullElsewhere (type, waiting, limit) {
    return this.admission.fullElsewhere(type, waiting, limit)
  }

  /** Whether jobs run in the contexts of their pushes. */
  get keepsContext () {
    return this.tickets.keepsContext
  }

  /** How many runners of a type go on in their slots though their jobs have settled; without a scheduler they have none. O(all such) */
  overdueOf (type) {
    let count = 0
    for (const { origin } of this.dispatch.madeInterruptions?.overdue.keys() ?? []) if (origin?.type === type) count++
    return count
  }

  /** So many jobs more, or fewer, wait elsewhere for their time. */
  delay (count) {
    const { admission, dispatch } = this
    dispatch.delayed += count
    if (count < 0 && dispatch.isWatched) admission.check()
  }

  /** Has admission count those, too. @param {(type: string) => number} countOf how many of them are of a type */
  countDelayed (countOf) {
    this.admission.delayedOf = countOf
  }

  /**
   * Puts a job into the list that is not to be refused. Unless it has to, it takes no more room than the list's own.
   * @param {number} [priority] lists without levels do not ask for it
   */
  place (type, payload, atHead, maxWaitMs, priority = 0) {
    const { list, dispatch, tickets, whenSettled } = this
    dispatch.accept()
    if (maxWaitMs === Infinity && !tickets.keepsContext) {
      list[atHead ? 'unshift' : 'push'](type, payload, this.sharedTicketOf(priority))
    } else {
      const ticket = tickets.issue((err, result) => whenSettled(payload, err, result), NO_EXTRAS)
      if (priority > 0) ticket.priority = priority
      list[atHead ? 'unshiftTicket' : 'pushTicket'](type, payload, ticket)
      tickets.watch(ticket, { signal: undefined, maxWaitMs })
    }
  }

  /**
   * Has the scheduler know what jobs cost, as far as their owner does when they get their slots. What that learns later the tickets of the
   * jobs are told, by spent().
   * @param {{ expectedOf: (payload: any) => number, knownOf: (payload: any) => number }} costs by what stands for a job: what it is charged
   *   when it gets its slot, and what there must be room for by then
   */
  shareCosts (costs) {
    const { SharedCosts } = require('./limits/costs')
    this.dispatch.countCosts(new SharedCosts(this.dispatch, this.list, costs))
  }

  /** The job that was chosen has given its slot back, since it costs more than there is room for: others wait behind it. */
  chooseAgain (type) {
    this.list.costs?.chooseAgain(type)
  }

  /** The first job of a type may cost something else than before. */
  look (type) {
    const { dispatch, list } = this
    const lane = list.holds?.list.find(type)
    if (lane !== undefined) list.holds.adjust(lane)
    dispatch.wake()
  }

  sharedTicketOf (priority) {
    const { sharedTickets } = this
    return sharedTickets[priority] ?? (sharedTickets[priority] = new SharedTicket(this.tickets, this.whenSettled, priority))
  }

  /**
   * Cancels waiting jobs without a word.
   * @param {(list: object) => object} take takes them out, and returns a list of them
   * @param {(payload: any) => void} visit called for each, in order
   */
  withdraw (take, visit) {
    this.dispatch.interruptions.withdraw(() => {
      const removed = take(this.list)
      removed.forEach(payload => visit(payload))
      return removed
    })
  }

  /** Settles a job that has started, unless it has been: it is told error, and its runner's signal says so. Its slot stays its runner's. */
  interrupt (ticket, error) {
    this.dispatch.interruptions.interrupt([ticket], () => ({ hasFailed: false, releases: false, error: () => error }))
  }

  /** Calls the caller's code, in the context of nobody's push. */
  call (fn) {
    this.dispatch.call(fn)
  }

  /** Calls onAbort when the signal aborts. @returns {() => void} lets the signal go */
  whenAborted (signal, onAbort) {
    return whenAborted(signal, onAbort)
  }
}

module.exports = { InnerQueue }
