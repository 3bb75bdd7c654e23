'use strict'

// What is asked of rates and holds while a queue runs. Jobs that have a slot and have not begun lose it to a hold.

const { limitOptions } = require('./limits')

class Limiting {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ attempts, limits, stage }) {
    this.attempts = attempts
    this.limits = limits
    this.stage = stage
  }

  get heldTypes () {
    return this.limits.isOn ? this.limits.limiter.heldTypes : 0
  }

  holdType (type, ms) {
    const read = limitOptions().readHoldMs(ms)
    this.limits.limiter.holdType(type, read)
    if (read > 0) this.recallOf(type)
  }

  hold (ms) {
    const read = limitOptions().readHoldMs(ms)
    this.limits.limiter.hold(read)
    if (read > 0) this.recallOf(undefined)
  }

  heldMs (type) {
    return this.limits.isOn ? this.limits.limiter.heldMs(type) : 0
  }

  setRates (rates) {
    this.limits.limiter.setRates(limitOptions().readNewRates(rates))
    this.recallOf(undefined) // they get slots again by the new rates
  }

  /** A runner was told to come back later: its type is held, or the queue if no types can be. */
  throttle (type, ms) {
    const { limiter } = this.limits
    limiter.throttle(type, ms)
    this.recallOf(limiter.canHold ? type : undefined)
  }

  // private from here on

  /** @param {string | undefined} type undefined: of all */
  recallOf (type) {
    // when all of them stand in the queue again, the first ones get slots
    this.stage.dispatch.withoutStarting(() => this.attempts.recall(({ slot }) => type === undefined || slot.type === type))
  }
}

module.exports = { Limiting }
