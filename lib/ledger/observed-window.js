'use strict'

// The list of an observed queue with a window scheduler: it tells the ledger of each job before the scheduler hears of it.

const { lists } = require('../core/internals')
const { Ids } = require('./ids')

/** A running job: what the list knows of its type, and its id. */
class ObservedOrigin {
  constructor (record, id) {
    this.record = record
    this.id = id
  }
}

class ObservedWindow extends lists.Window {
  constructor (ledger, scheduler, makeContext) {
    super(scheduler, makeContext)
    this.ledger = ledger
    this.ids = new Ids(this, ledger.nextId)
    this.chosen = 0 // the number of the job that choose() has chosen
    this.dropping = undefined // the ticket whose job is taken out
    this.removedIds = [] // jobs that were taken out, and that the ledger has not been told of
  }

  take () {
    if (!super.take()) return false
    const id = this.ids.leave(this.chosen)
    this.origin = new ObservedOrigin(this.origin, id)
    this.ledger.started(id)
    return true
  }

  ended ({ record, id }, hasFailed, err) {
    if (hasFailed !== undefined) this.ledger.ended(id, hasFailed, err)
    super.ended(record, hasFailed)
  }

  misused ({ record }) {
    super.misused(record)
  }

  interrupted ({ record, id }, hasFailed, end) {
    if (hasFailed) this.ledger.ended(id, true, end.error())
    else this.ledger.cancelled(id, end.error())
    super.interrupted(record, hasFailed)
  }

  overran ({ record }, change) {
    super.overran(record, change)
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

  accept (record, whenSettled, number) {
    this.ledger.accepted(this.ids.take(number), record.type)
    super.accept(record, whenSettled, number)
  }

  choose () {
    const at = super.choose()
    if (at >= 0) this.chosen = this.numbers.peekAt(at)
    return at
  }

  takeOut (at) {
    const id = this.ids.leave(this.numbers.peekAt(at))
    const { dropping } = this
    this.dropping = undefined
    if (dropping === undefined) this.removedIds.push(id)
    else this.ledger.cancelled(id, dropping.error())
    return super.takeOut(at)
  }
}

module.exports = { ObservedWindow }
