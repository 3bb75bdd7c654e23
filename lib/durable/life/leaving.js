'use strict'

// Jobs that stay on disk when the queue closes: those that wait, whatever for, and those that have a slot and whose runner was not called
// yet. From then on none starts; what runs goes on.

class Leaving {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ attempts, retries, stage, waiting }) {
    this.attempts = attempts
    this.retries = retries
    this.stage = stage
    this.waiting = waiting
  }

  /** A second time there is nothing left to leave. */
  leave () {
    this.waiting.leave()
    this.stage.dispatch.withoutStarting(() => {
      this.attempts.recall(() => true)
      this.retries.clear()
      this.stage.withdraw(list => list.removeAll(), ignore)
    })
  }
}

function ignore () {}

module.exports = { Leaving }
