'use strict'

// Forgets, now and then, what a process knows of types that it has had nothing to do with lately. Looks, too, whether there are schedules
// now, which others have given.

const PERIOD_MS = 30000

class Forgetting {
  /**
   * @param {{ broker: object, intake: object, scheduling: object, worker: object | null }} parts worker: null in a process without a
   *   runner
   */
  constructor ({ broker, intake, scheduling, worker }) {
    this.broker = broker
    this.intake = intake
    this.scheduling = scheduling
    this.worker = worker
    this.timer = undefined
  }

  begin () {
    this.timer = setInterval(() => {
      this.forget(performance.now())
      if (this.worker !== null) this.scheduling.look().catch(ignore) // the next one does it
    }, PERIOD_MS)
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

function ignore () {}

module.exports = { Forgetting }
