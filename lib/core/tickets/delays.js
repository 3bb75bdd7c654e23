'use strict'

// Jobs that wait for their time. They are in no list until then, and count as waiting: the list shows and removes them behind those that
// stand in it. A job that comes back keeps the flush generation in which it was accepted.

const { Fifo } = require('../lists/fifo')
const { TypeCounts } = require('../lists/type-counts')
const { RowJob, TypeDelays } = require('./type-delays')

// What is counted of a type for as long as it has jobs.
const COUNTED = ['done', 'failed', 'cancelled', 'rejected', 'retried', 'throttled', 'joined']

class Delays {
  /** @param {object} dispatch of the queue, which counts them @param {object} deadlines of the queue */
  constructor (dispatch, deadlines) {
    this.dispatch = dispatch
    this.deadlines = deadlines
    this.types = new Map() // type → TypeDelays, while there are any
    this.emptied = [] // of those, what may still have a place among the deadlines: the clock is the caller's, and may do anything
  }

  /** A job whose deadlines its ticket sees to. @param {PlannedTicket} ticket with payload, type and generation @param {number} dueAt */
  add (ticket, dueAt) {
    ticket.isDelayed = true
    ticket.dueAt = dueAt
    this.of(ticket.type).addTicket(ticket)
    this.dispatch.delayed++
  }

  /** @returns {TypeDelays} those of its type */
  remove (ticket) {
    const delays = this.types.get(ticket.type)
    ticket.isDelayed = false
    delays.dropTicket(ticket)
    this.left(delays, 1)
    return delays
  }

  /** A delayed job falls due at another time, which its ticket has. */
  move (ticket) {
    const { dueOrder } = this.types.get(ticket.type)
    if (dueOrder !== null) dueOrder.move(ticket, ticket.dueAt)
  }

  /** @returns {TypeDelays} the delayed jobs of a type; one that gets none must not be kept */
  of (type) {
    let delays = this.types.get(type)
    if (delays === undefined) this.types.set(type, delays = new TypeDelays(type))
    return delays
  }

  /**
   * A job without a ticket, which is the last one of its type to fall due.
   * @param {TypeDelays} delays of its type
   * @param {number} now what the clock has just said
   * @throws what the clock throws; then the job is not there. It throws nothing if whoever threw has cancelled the job, or had it fall due
   */
  addBare (delays, payload, callback, dueAt, now) {
    const { deadlines, dispatch } = this
    const order = deadlines.nextOrder()
    delays.append(payload, callback, dueAt, order, dispatch.list.newestGeneration)
    dispatch.delayed++
    try {
      deadlines.addNext(delays, now)
    } catch (err) {
      const wanted = new Set([order])
      this.takeOutOf(delays, wanted)
      this.letGo()
      if (wanted.size === 0) throw err
    }
  }

  /** Takes out the next job of a type that is due: `job` says what it is. @returns {boolean} false if there is none any more */
  shift (delays, job) {
    const isThere = delays.shift(job)
    if (isThere) this.left(delays, 1)
    return isThere
  }

  /** Takes jobs of list() out. letGo() must follow. @returns {(RowJob | PlannedTicket)[]} those of them that were still there */
  takeOut (items) {
    const orders = new Map() // type → of its RowJobs
    for (const item of items) {
      if (!(item instanceof RowJob)) continue
      if (!orders.has(item.type)) orders.set(item.type, new Set())
      orders.get(item.type).add(item.order)
    }
    for (const [type, wanted] of orders) if (this.types.has(type)) this.takeOutOf(this.types.get(type), wanted)
    return items.filter(item => {
      if (item instanceof RowJob) return !orders.get(item.type).has(item.order)
      if (!item.isDelayed) return false
      this.remove(item)
      return true
    })
  }

  letGo () {
    for (const delays of this.emptied.splice(0)) if (delays.pendingCount === 0) this.deadlines.remove(delays)
  }

  countOf (type) {
    return this.types.get(type)?.count ?? 0
  }

  /** In the order of their times. O(n log n). @param {string} [type] only those of it */
  list (type) {
    const all = type === undefined ? [...this.types.values()] : [this.types.get(type)].filter(delays => delays !== undefined)
    return all.flatMap(delays => delays.list()).sort((a, b) => a.dueAt - b.dueAt || a.order - b.order)
  }

  // what the list asks

  /** Calls visit(payload, whenSettled, generation, type) for each, in the order of their times. @param {string} [only] the type of those */
  forEach (visit, only) {
    for (const { payload, whenSettled, generation, type } of this.list(only)) visit(payload, whenSettled, generation, type)
  }

  /** Those for which test(payload, type) is true. */
  passing (test) {
    return this.list().filter(({ payload, type }) => test(payload, type))
  }

  /** Takes out the job of a ticket. */
  drop (ticket) {
    this.remove(ticket)
    this.countCancelled(ticket.type)
    const { recorder } = this.dispatch.list
    if (recorder !== null) recorder.cancelled(ticket.id, ticket.error())
  }

  /** @returns {Fifo} jobs that were taken out of the list, and delayed ones, which are taken out now; letGo() must follow */
  joined (removed, delayed) {
    const all = new Fifo()
    all.types = removed.types
    const { recorder } = this.dispatch.list
    removed.forEach((payload, whenSettled, generation) => all.pushOf(generation, payload, whenSettled))
    for (const { type, id, payload, whenSettled, generation } of this.takeOut(delayed)) { // test may have removed others
      this.countCancelled(type)
      if (recorder !== null) recorder.removedIds.push(id)
      all.types?.push(type)
      all.pushOf(generation, payload, whenSettled)
    }
    return all
  }

  /** Where something is counted of a type of which no job is in the list; undefined if it has no delayed ones either. */
  countsOf (type) {
    const delays = this.types.get(type)
    return delays === undefined ? undefined : (delays.counts ??= new TypeCounts())
  }

  /** The list forgets a type, whose delayed jobs keep its counts until another job of it is there. @param {TypeCounts} counts */
  keep (type, counts) {
    const kept = this.countsOf(type)
    if (kept !== undefined) addCounts(kept, counts)
  }

  /** Counts of a type are the list's from now on, if a job of it is there. @param {TypeDelays} delays of the type, with counts */
  handOver (delays) {
    const ofList = this.dispatch.list.find(delays.type)
    if (ofList === undefined) return // ... or a scheduler has cleared the queue
    addCounts(ofList, delays.counts)
    delays.counts = undefined
  }

  /** What stats(type) gives, with the delayed jobs of the type. */
  addTo (stats, type) {
    const delays = this.types.get(type)
    if (delays === undefined) return stats
    const { count: delayed, counts } = delays
    const sum = { ...stats, accepted: stats.accepted + delayed, waiting: stats.waiting + delayed, delayed, types: 1 }
    if (counts !== undefined) {
      addCounts(sum, counts)
      sum.accepted += counts.stats().accepted
    }
    return sum
  }

  // private from here on

  countCancelled (type) {
    const counts = type === undefined ? undefined : this.dispatch.list.countsOf(type)
    if (counts !== undefined) counts.cancelled++
  }

  /** @param {Set<number>} wanted orders; those that were there are taken out of it, too */
  takeOutOf (delays, wanted) {
    const { count } = delays
    delays.takeOut(order => wanted.delete(order))
    this.deadlines.move(delays)
    if (delays.pendingCount === 0) this.emptied.push(delays)
    this.left(delays, count - delays.count)
  }

  /** So many jobs of a type are not delayed any more. */
  left (delays, count) {
    this.dispatch.delayed -= count
    if (delays.count > 0) return
    this.types.delete(delays.type)
    if (delays.counts !== undefined) this.handOver(delays)
  }
}

function addCounts (sum, counts) {
  for (const what of COUNTED) sum[what] += counts[what]
  if (counts.spent > 0) sum.spent += counts.spent
}

module.exports = { Delays }
