'use strict'

// HOT (bench: history). The list of an observed queue without a scheduler: a Fifo that knows the ids of its jobs. It keeps none for each of them,
// since their order tells: unshifted jobs come first, the last one before all others, and behind them pushed ones by their ids.
//
//   front   [ …, 7, 9 ]                unshifted: 9 is taken first
//   row     3, 4, 5, 6, 8, 10 …        pushed: all ids from headId on, but for holes
//   holes   { 7, 9 }                   ids of the row that stand in front, or were taken out
//
// When there are more holes than jobs, front takes all ids, and the row begins anew.
//
// It is not in the core, so that no queue without observers pays for it.

const { lists } = require('../core/internals')

const { Fifo } = lists
const MIN_HOLES = 64

class Line extends Fifo {
  /** @param {object} ledger is told of each job @param {object} context the runner's third argument, the same for all jobs */
  constructor (ledger, context) {
    super(context)
    this.ledger = ledger
    this.nextId = this.headId = ledger.nextId
    this.front = []
    this.holes = new Set()
    this.gone = new Set() // ids in front that were taken out
    this.isPlain = true // nothing is in front, and the row has no holes
    this.places = undefined // during remove(): block → ids of its jobs
    this.removedIds = [] // jobs that were taken out, and that the ledger has not been told of
  }

  push (type, payload, whenSettled) {
    super.push(type, payload, whenSettled)
    this.recorded(this.nextId++, type, undefined, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    super.unshift(type, payload, whenSettled)
    const id = this.nextId++
    this.front.push(id)
    this.holes.add(id)
    this.isPlain = false
    this.fillHoles()
    this.recorded(id, type, undefined, whenSettled)
  }

  pushTicket (type, payload, ticket) {
    super.pushTicket(type, payload, ticket)
    ticket.place = this.nextId - 1
  }

  unshiftTicket (type, payload, ticket) {
    super.unshiftTicket(type, payload, ticket)
    ticket.place = this.nextId - 1
  }

  take () {
    if (!super.take()) return false
    const id = this.origin = this.leavesFrom(this.isPlain ? this.headId++ : this.takeId())
    this.ledger.started(id)
    return true
  }

  ended (id, hasFailed, err) {
    if (typeof hasFailed === 'boolean') this.ledger.ended(id, hasFailed, err)
  }

  interrupted (id, hasFailed, end) {
    if (hasFailed) this.ledger.ended(id, true, end.error())
    else if (hasFailed === false) this.ledger.cancelled(id, end.error())
  }

  drop (ticket) {
    this.leave(ticket.place)
    super.drop(ticket)
    this.ledger.cancelled(this.leavesFrom(ticket.place), ticket.error())
  }

  removeAll () {
    this.eachId((block, at, id) => this.removedIds.push(this.leavesFrom(id)))
    this.restart([])
    return super.removeAll()
  }

  remove (test) {
    const outer = this.places // test may remove others
    const places = this.places = new Map()
    this.eachId((block, at, id) => {
      if (!places.has(block)) places.set(block, [])
      places.get(block)[at] = id
    })
    try {
      return super.remove(test)
    } finally {
      this.places = outer
    }
  }

  tellRemovals (verdict) {
    const ids = this.removedIds.splice(0)
    if (ids.length > 0) this.ledger.cancelledAll(ids, verdict.error())
  }

  // for the class above

  /** A job was put into the list, at this place. @returns what the ledger does */
  recorded (id, type, guess, whenSettled) {
    return this.ledger.accepted(id, type, guess)
  }

  /** The id of the job at this place, which leaves the list. */
  leavesFrom (id) {
    return id
  }

  // private from here on

  moveOut (block, at, generation, removed) {
    const { size } = this
    super.moveOut(block, at, generation, removed)
    if (this.size === size) return // test has removed it
    const id = this.places.get(block)[at]
    this.leave(id)
    this.removedIds.push(this.leavesFrom(id))
  }

  compactIfSparse () {
    super.compactIfSparse()
    this.fillHoles()
  }

  fillHoles () {
    const count = this.holes.size + this.gone.size
    if (count < MIN_HOLES || count <= this.size) return
    const ids = []
    this.eachId((block, at, id) => ids.push(id))
    this.restart(ids.reverse())
  }

  /** The row is empty now. */
  restart (front) {
    this.headId = this.nextId
    this.front = front
    this.holes.clear()
    this.gone.clear()
    this.isPlain = front.length === 0
  }

  /** The id of the first job, which leaves the list. */
  takeId () {
    const id = this.firstOfFront() ?? this.firstOfRow()
    if (this.size === 0) this.restart([])
    return id
  }

  /** @returns {number | undefined} undefined if there is none */
  firstOfFront () {
    const { front, gone } = this
    let id = front.pop()
    while (gone.delete(id)) id = front.pop()
    return id
  }

  firstOfRow () {
    const { holes } = this
    let id = this.headId
    while (holes.delete(id)) id++
    this.headId = id + 1
    this.isPlain = this.front.length === 0 && holes.size === 0
    return id
  }

  /** A job is taken out that is not the first. */
  leave (id) {
    const isInFront = id < this.headId || this.holes.has(id)
    if (isInFront) this.gone.add(id)
    else this.holes.add(id)
    this.isPlain = false
  }

  /** Calls visit(block, at, id) for each job, in order. */
  eachId (visit) {
    const { front, gone, holes } = this
    let left = front.length
    let id = this.headId
    this.scan((block, at) => {
      while (left > 0 && gone.has(front[left - 1])) left--
      if (left > 0) {
        visit(block, at, front[--left])
        return
      }
      while (holes.has(id)) id++
      visit(block, at, id++)
    })
  }
}

module.exports = { Line }
