'use strict'

// Forgets, now and then, what a process knows of types that it has had nothing to do with lately.

const PERIOD_MS = 30000

class Forgetting {
  /** @param {{ broker: object, intake: object, crew: object | undefined }} parts crew: of a process that runs jobs */
  constructor ({ broker, intake, crew }) {
    this.broker = broker
    this.intake = intake
    this.crew = crew
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
    this.crew?.forget()
    this.intake.forget(now)
    this.broker.forgetPlaces(now)
  }
}

module.exports = { Forgetting }
