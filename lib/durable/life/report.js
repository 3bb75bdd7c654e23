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

/** Totals since the queue was opened. */
class Counts {
  constructor () {
    this.accepted = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.rejected = 0
    this.retried = 0
    this.throttled = 0
    this.joined = 0
  }
}

module.exports = { Report, Counts }
