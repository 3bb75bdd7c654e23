'use strict'

// What a runner of a job queue on disk can know of its job, and say of it while it runs.

const { DeliveryContext } = require('../../job/delivery')

/** The runner's last argument. */
class RunnerContext extends DeliveryContext {
  #delivery
  #events
  #attempts

  constructor (delivery, events, attempts) {
    const { id, type, attempt, slot } = delivery
    super(id, type, attempt, slot)
    this.#delivery = delivery
    this.#events = events
    this.#attempts = attempts
    Object.freeze(this)
  }

  /** Of a job that a schedule has pushed: the name of that, and the time for which it is. */
  get schedule () {
    return this.#delivery.options.schedule
  }

  /**
   * Tells listeners of `progress` how far the job is; nothing is written. Once the attempt has ended it does nothing. It may be taken off
   * the context.
   */
  get progress () {
    const delivery = this.#delivery
    const events = this.#events
    return value => {
      const { id, type, payload, attempt, hasEnded, isSettled } = delivery
      if (!hasEnded && !isSettled) events.tell('progress', { id, type, payload, attempt, value })
    }
  }

  /** Says what the job has cost so far, from its start on; nothing is written. It may be taken off the context, too. */
  get spent () {
    const delivery = this.#delivery
    const attempts = this.#attempts
    return total => { attempts.spent(delivery, total) }
  }
}

module.exports = { RunnerContext }
