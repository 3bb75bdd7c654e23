'use strict'

// HOT (bench: history). The list of an observed queue with a lane scheduler: it tells the ledger of each job before the scheduler hears of it.

const { lists } = require('../core/internals')
const { Ids } = require('./ids')

const { countIn } = lists.overflow

/** A running job: what the lanes know of it, and its id. */
class ObservedOrigin {
  constructor (origin, id) {
    this.origin = origin
    this.id = id
  }
}

class ObservedLanes extends lists.Lanes {
  constructor (ledger, scheduler, read, makeContext) {
    super(scheduler, read, makeContext)
    this.ledger = ledger
    this.ids = new Ids(this, ledger.nextId)
    this.chosen = 0 // the number of the job that choose() has chosen
    this.dropping = undefined // the ticket whose job is taken out
    this.removedIds = [] // jobs that were taken out, and that the ledger has not been told of
  }

  get pushedCount () {
    return this.ids.count
  }

  push (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    const id = this.nextNumber++
    lane.append(lane.isShared ? countIn(lane, type, payload) : payload, whenSettled, id)
    this.ledger.accepted(id, type)
    this.accept(lane, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    const number = --this.firstNumber
    lane.prepend(lane.isShared ? countIn(lane, type, payload) : payload, whenSettled, number)
    this.ledger.accepted(this.ids.take(number), type)
    this.accept(lane, whenSettled)
  }

  take () {
    if (!super.take()) return false
    const id = this.ids.leave(this.chosen)
    this.origin = new ObservedOrigin(this.origin, id)
    this.ledger.started(id)
    return true
  }

  ended ({ origin, id }, hasFailed, err) {
    if (hasFailed !== undefined) this.ledger.ended(id, hasFailed, err)
    super.ended(origin, hasFailed)
  }

  misused ({ origin }) {
    super.misused(origin)
  }

  interrupted ({ origin, id }, hasFailed, end) {
    if (hasFailed) this.ledger.ended(id, true, end.error())
    else this.ledger.cancelled(id, end.error())
    super.interrupted(origin, hasFailed)
  }

  overran ({ origin }, change) {
    super.overran(origin, change)
  }

  drop (ticket) {
    this.dropping = ticket
    super.drop(ticket)
  }

  tellRemovals (verdict) {
    const ids = this.removedIds.splice(0)
    if (ids.length > 0) this.ledger.cancelledAll(ids, verdict.error())
    super.tellRemovals()
  }

  // private from here on

  choose () {
    const lane = super.choose()
    if (lane !== undefined) this.chosen = lane.headSeq
    return lane
  }

  takeOut (lane, block, at) {
    const id = this.ids.leave(block[at + 2])
    const { dropping } = this
    this.dropping = undefined
    if (dropping === undefined) this.removedIds.push(id)
    else this.ledger.cancelled(id, dropping.error())
    return super.takeOut(lane, block, at)
  }
}

module.exports = { ObservedLanes }
