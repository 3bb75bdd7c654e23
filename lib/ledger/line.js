'use strict'

// HOT (bench: history). The list of an observed queue without a scheduler: the jobs in arrival order, with their numbers, in one lane. It is not in
// the core, so that no queue without observers pays for it: in its place that has a Fifo, which knows no numbers.

const { lists } = require('../core/internals')
const { Ids } = require('./ids')

const { Fifo, Scheduled } = lists
const { Lane, REMOVED } = lists.lane
const { jobsIn, placesOf } = lists.search
const NO_SCHEDULER = Object.freeze({})

/** Methods as those of Fifo. 24 bytes a job. */
class Line extends Scheduled {
  /** @param {object} ledger is told of each job @param {object} context the runner's third argument, the same for all jobs */
  constructor (ledger, context) {
    super(NO_SCHEDULER, undefined)
    this.ledger = ledger
    this.ids = new Ids(this, ledger.nextId)
    this.context = context
    this.typesCount = 0
    this.lane = new Lane(undefined, this, false)
    this.removedIds = [] // jobs that were taken out, and that the ledger has not been told of
  }

  push (type, payload, whenSettled) {
    const id = this.nextNumber++
    this.lane.append(payload, whenSettled, id)
    this.accept(id, type, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    const number = --this.firstNumber
    this.lane.prepend(payload, whenSettled, number)
    this.accept(this.ids.take(number), type, whenSettled)
  }

  take () {
    if (this.size === 0) return false
    const { lane } = this
    const { head, headAt, headSeq } = lane
    this.payload = head[headAt]
    this.whenSettled = head[headAt + 1]
    this.generation = this.generationOf(headSeq)
    lane.shift()
    this.size--
    const id = this.origin = this.ids.leave(headSeq)
    this.ledger.started(id)
    return true
  }

  ended (id, hasFailed, err) {
    if (hasFailed !== undefined) this.ledger.ended(id, hasFailed, err)
  }

  interrupted (id, hasFailed, end) {
    if (hasFailed) this.ledger.ended(id, true, end.error())
    else this.ledger.cancelled(id, end.error())
  }

  drop (ticket) {
    const { block, at } = ticket
    this.ledger.cancelled(this.ids.leave(block[at + 2]), ticket.error())
    this.takeOut(block, at)
    if (this.scanCount === 0) this.lane.compactIfSparse()
  }

  removeAll () {
    return this.remove(() => true)
  }

  remove (test) {
    const removed = new Fifo()
    for (const { block, at, number } of this.search(test)) {
      if (block[at + 2] !== number || block[at + 1] === REMOVED) continue // test has removed the job
      removed.pushOf(this.generationOf(number), block[at], block[at + 1])
      this.removedIds.push(this.ids.leave(number))
      this.takeOut(block, at)
    }
    if (this.scanCount === 0) this.lane.compactIfSparse()
    return removed
  }

  tellRemovals (verdict) {
    const ids = this.removedIds.splice(0)
    if (ids.length > 0) this.ledger.cancelledAll(ids, verdict.error())
  }

  isTypePaused () {
    return false
  }

  misused () {}
  overran () {}
  beginPass () {}

  // private from here on

  accept (id, type, whenSettled) {
    if (typeof whenSettled === 'object') whenSettled.generation = this.newestGeneration
    this.size++
    this.ledger.accepted(id, type)
  }

  takeOut (block, at) {
    this.lane.removeAt(block, at)
    this.size--
  }

  search (test) {
    this.scanCount++
    try {
      return placesOf([this.lane], this, test)
    } finally {
      this.scanCount--
    }
  }

  waitingJobs () {
    return jobsIn([this.lane])
  }
}

module.exports = { Line }
