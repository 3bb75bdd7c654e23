'use strict'

// Jobs that wait for their time. They are in no list until then, and count as waiting: the list shows and removes them behind those that
// stand in it. A job that comes back keeps the flush generation in which it was accepted.

const { Ring, lists } = require('../core/internals')

/** The delayed jobs of one type: their tickets. */
class TypeRing extends Ring {
  constructor () {
    super()
    this.count = 0
  }
}

class Delays {
  /** @param {object} dispatch of the queue, which counts them */
  constructor (dispatch) {
    this.dispatch = dispatch
    this.rings = new Map() // by type
  }

  /** @param {FlowTicket} ticket with payload, type and generation @param {number} dueAt */
  add (ticket, dueAt) {
    const { type } = ticket
    ticket.isDelayed = true
    ticket.dueAt = dueAt
    let ring = this.rings.get(type)
    if (ring === undefined) this.rings.set(type, ring = new TypeRing())
    ring.add(ticket)
    ring.count++
    this.dispatch.delayed++
  }

  remove (ticket) {
    const { type } = ticket
    const ring = this.rings.get(type)
    ticket.isDelayed = false
    ring.drop(ticket)
    if (--ring.count === 0) this.rings.delete(type)
    this.dispatch.delayed--
  }

  countOf (type) {
    return this.rings.get(type)?.count ?? 0
  }

  /** In the order of their times. O(n log n). @param {string} [type] only those of it */
  list (type) {
    const rings = type === undefined ? [...this.rings.values()] : [this.rings.get(type) ?? NONE]
    const tickets = rings.flatMap(ring => ring.list())
    return tickets.sort((a, b) => a.dueAt - b.dueAt || a.order - b.order)
  }
}

const NONE = new Ring()

/** A list that knows of delayed jobs. While there never was one it does what the list does. */
const withDelays = List => class extends List {
  constructor (...args) {
    super(...args)
    this.hooks = undefined // of the queue, for tickets
    this.delays = undefined // the Delays, from the first job with extras on
  }

  forEach (visit) {
    super.forEach((payload, whenSettled, generation, type) => visit(payload, whenSettled, generationOf(whenSettled, generation), type))
    for (const ticket of this.delays?.list() ?? []) visit(ticket.payload, ticket, ticket.generation, ticket.type)
  }

  forEachOf (type, visit) {
    super.forEachOf(type, (payload, whenSettled, generation, type) => visit(payload, whenSettled, generationOf(whenSettled, generation), type))
    for (const ticket of this.delays?.list(type) ?? []) visit(ticket.payload, ticket, ticket.generation, type)
  }

  removeAll () {
    const removed = super.removeAll()
    return this.delays === undefined ? removed : this.joined(removed, this.delays.list())
  }

  removeType (type) {
    const removed = super.removeType(type)
    return this.delays === undefined ? removed : this.joined(removed, this.delays.list(type))
  }

  remove (test) {
    if (this.delays === undefined) return super.remove(test)
    const found = this.delays.list().filter(({ payload, type }) => test(payload, type)) // first: where test throws, none is removed
    return this.joined(super.remove(test), found)
  }

  drop (ticket) {
    if (!ticket.isDelayed) {
      super.drop(ticket)
      return
    }
    this.dropDelayed(ticket)
    this.ledger?.cancelled(ticket.id, ticket.error())
  }

  /** A job that waits gets another payload, and keeps its place. */
  exchange (ticket, payload) {
    const { block, at, lane } = ticket
    if (ticket.isDelayed) ticket.payload = payload
    else if (block === undefined) this.payloads.setAt(this.indexOf(at), payload) // of a Window
    else if (lane?.isShared) block[at].payload = payload
    else block[at] = payload
  }

  waitingWith (type) {
    return super.waitingWith(type) + (this.delays?.countOf(type) ?? 0)
  }

  statsOf (type) {
    const delayed = this.delays?.countOf(type) ?? 0
    const stats = super.statsOf(type)
    return { ...stats, accepted: stats.accepted + delayed, waiting: stats.waiting + delayed, delayed }
  }

  // private from here on

  /** @returns {object} a list of the jobs that were taken out and of delayed ones, which are taken out now */
  joined (removed, delayed) {
    const all = new lists.Fifo()
    removed.forEach((payload, whenSettled, generation) => all.pushOf(generationOf(whenSettled, generation), payload, whenSettled))
    for (const ticket of delayed) {
      if (!ticket.isDelayed) continue // test has removed it
      this.dropDelayed(ticket)
      this.removedIds?.push(ticket.id) // of an observed queue
      all.pushOf(ticket.generation, ticket.payload, ticket)
    }
    return all
  }

  dropDelayed (ticket) {
    const counts = ticket.type === undefined ? undefined : this.countsOf(ticket.type)
    this.delays.remove(ticket)
    if (counts !== undefined) counts.cancelled++
  }
}

/** Of a job that was delayed, that in which it was accepted. */
function generationOf (whenSettled, generation) {
  return whenSettled?.born ?? generation
}

module.exports = { Delays, withDelays }
