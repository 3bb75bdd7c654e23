'use strict'

// Forgets, now and then, what a process knows of types that it has had nothing to do with lately.

const PERIOD_MS = 30000

class Forgetting {
  /** @param {{ broker: object, intake: object, worker: object | null }} parts worker: null in a process that runs no jobs */
  constructor ({ broker, intake, worker }) {
    this.broker = broker
    this.intake = intake
    this.worker = worker
    this.timer = undefined
  }

  begin () {
    this.timer = setInterval(() => this.forget(performance.now()), PERIOD_MS)
  }

  stop () {
    clearInterval(this.timer)
  }

  /** O(types). */
  forget (now) {
    this.worker?.forget()
    this.intake.forget(now)
    this.broker.forgetPlaces(now)
  }
}

module.exports = { Forgetting }
