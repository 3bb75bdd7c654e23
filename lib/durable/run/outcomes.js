'use strict'

// What an attempt comes to when it has ended, or when something has come over it: the job leaves, or comes back.
//
//   attempt ends ─┬─ well ──────────────────────────▶ done: gone
//                 ├─ badly, attempts left ──────────▶ retry
//                 ├─ Throttled, Postponed ──────────▶ as before, but not at once
//                 ├─ badly, none left, or no use ───▶ failed: a dead letter
//                 └─ was taken back: pause, close ──▶ as before

const { endOf } = require('../../job/outcome')

class Outcomes {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ maxAttempts: number }} options
   */
  constructor ({ comebacks, endings, status }, { maxAttempts }) {
    this.comebacks = comebacks
    this.endings = endings
    this.status = status
    this.maxAttempts = maxAttempts
    this.abandoned = new Set() // deliveries whose runners the closing queue has told to end
  }

  /** The queue in memory has settled a job that had a slot: by the end of its runner, a limit of time, or since it closes. */
  settled (delivery, err, result) {
    if (this.status.error !== undefined || delivery.isCancelled) return
    if (delivery.isSettledBy(err) || err?.code === 'FAIRLANE_ERR_TIMEOUT') this.ended(delivery, err, result)
    else this.interrupted(delivery, err)
  }

  /** The queue has closed: attempts of runners that have not ended do not count. */
  giveUp () {
    for (const delivery of this.abandoned) this.comebacks.abandoned(delivery)
  }

  // private from here on

  ended (delivery, error, result) {
    const { attempt, isFinal, options } = delivery
    switch (endOf(error, attempt, options?.maxAttempts ?? this.maxAttempts, isFinal)) {
      case 'done': return this.endings.done(delivery, result)
      case 'throttled': return this.comebacks.throttled(delivery, error)
      case 'postponed': return this.comebacks.postponed(delivery, error)
      case 'retry': return this.comebacks.retry(delivery, error)
      default: this.endings.bury(delivery, error)
    }
  }

  /** Something else than its time limit came over an attempt before its runner had ended. */
  interrupted (delivery, err) {
    if (delivery.isRecalled) {
      this.comebacks.recalled(delivery)
      return
    }
    // the slot was given back
    if (err === undefined) return
    // the queue closes: the job stays on disk, unless its runner ends well before that is over
    this.abandoned.add(delivery)
    delivery.onceWell(result => {
      if (this.status.isOver || this.status.error !== undefined) return
      this.abandoned.delete(delivery)
      this.endings.done(delivery, result)
    })
  }
}

module.exports = { Outcomes }
