'use strict'

// Where it is told what becomes of jobs: the counts of stats(), the events of listeners, and the ledger of observers, if there are
// any. A part that has something to tell tells it there, and knows nothing of its readers.

class Report {
  /** @param {{ counts: object, events: object, ledger: object | undefined }} parts of the queue */
  constructor ({ counts, events, ledger }) {
    this.counts = counts
    this.events = events
    this.ledger = ledger
  }
}

/** Totals since the queue was opened, and those of each type. */
class Counts {
  /** @param {{ types: object }} parts of the queue */
  constructor ({ types }) {
    this.types = types
    this.accepted = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.rejected = 0
    this.retried = 0
    this.throttled = 0
    this.joined = 0
    this.spent = 0
  }

  /** A job was taken in, was found on disk, or was a dead letter. */
  accept (type) {
    this.accepted++
    this.types.count(type, 'accepted', 1, 1)
  }

  /** A job could not be written: it is none. */
  unaccept (type) {
    this.accepted--
    this.types.count(type, 'accepted', -1, -1)
  }

  /** A job has settled. @param {'done' | 'failed' | 'cancelled'} what */
  settle (what, type) {
    this[what]++
    this.types.count(type, what, 1, -1)
  }

  /** A job that runs is charged so many units of cost more, or fewer. */
  charge (type, units) {
    this.spent += units
    this.types.count(type, 'spent', units, 0)
  }

  /** Something else became of a job, or of one that is none. @param {'retried' | 'throttled' | 'joined'} what */
  note (what, type) {
    this[what]++
    this.types.count(type, what, 1, 0)
  }
}

module.exports = { Report, Counts }
