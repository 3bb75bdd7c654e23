'use strict'

// HOT (bench: history). What the lists of observed queues with a scheduler have in common: they tell the ledger of each job before the scheduler
// hears of it. Where a job stands in its list, only choose() and takeOut() of that list know.

const { Ids } = require('./ids')

module.exports = { observed }

/**
 * @param {Function} List of the core, with a scheduler
 * @returns {Function} a class of it that is made with a ledger before all else, and tells it
 */
function observed (List) {
  return class extends List {
    constructor (ledger, ...rest) {
      super(...rest)
      this.ledger = ledger
      this.ids = this.makeIds(ledger)
      this.chosen = 0 // the number of the job that choose() has chosen
      this.dropping = undefined // the ticket whose job is taken out
      this.removedIds = [] // jobs that were taken out, and that the ledger has not been told of
    }

    take () {
      if (!super.take()) return false
      const id = this.ids.leave(this.chosen)
      this.origin = this.withId(this.origin, id)
      this.ledger.started(id)
      return true
    }

    ended (origin, hasFailed, err) {
      if (typeof hasFailed === 'boolean') this.ledger.ended(origin.id, hasFailed, err)
      super.ended(this.withoutId(origin), hasFailed)
    }

    interrupted (origin, hasFailed, end) {
      if (hasFailed) this.ledger.ended(origin.id, true, end.error())
      else if (hasFailed === false) this.ledger.cancelled(origin.id, end.error())
      super.interrupted(this.withoutId(origin), hasFailed)
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

    // for the classes above

    makeIds (ledger) {
      return new Ids(this, ledger.nextId)
    }

    /** A job was put into the list. @returns what the ledger does */
    recorded (number, type, guess, whenSettled) {
      return this.ledger.accepted(this.ids.take(number), type, guess)
    }

    /** What the list below has of a running job, where its id is known, too. */
    withoutId (origin) {
      return origin
    }

    /** The job of this number is taken out: by drop(), or among others, of which tellRemovals() tells. */
    leaves (number) {
      const id = this.ids.leave(number)
      const { dropping } = this
      this.dropping = undefined
      if (dropping === undefined) this.removedIds.push(id)
      else this.ledger.cancelled(id, dropping.error())
    }
  }
}
