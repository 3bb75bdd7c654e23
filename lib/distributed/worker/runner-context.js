'use strict'

// What a runner can know of its job, and say of it while it runs.

const { DeliveryContext } = require('../../job/delivery')

/** The runner's last argument. */
class RunnerContext extends DeliveryContext {
  #delivery
  #job
  #progress
  #attempts

  constructor (delivery, job, progress, attempts) {
    super(delivery.id, delivery.type, delivery.attempt, delivery.slot)
    this.#delivery = delivery
    this.#job = job
    this.#progress = progress
    this.#attempts = attempts
    Object.freeze(this)
  }

  /** Of a job that a schedule has pushed: the name of that, and the time for which it is. */
  get schedule () {
    return this.#job.own.schedule
  }

  /**
   * Says how far the job is: listeners of `progress` are told, and the last value is in `get(id)`. Once the attempt has ended it does
   * nothing. It may be taken off the context.
   */
  get progress () {
    return value => {
      const { hasEnded, isSettled } = this.#delivery
      if (!hasEnded && !isSettled) this.#progress.said(this.#job, value)
    }
  }

  /** Says what the job has cost so far, from its start on. It may be taken off the context, too. */
  get spent () {
    return total => { this.#attempts.spent(this.#delivery, this.#job, total) }
  }
}

module.exports = { RunnerContext }
