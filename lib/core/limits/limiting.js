'use strict'

// Rates and holds of a queue in memory, as its methods take them. Loaded and made when the first of them comes.

const { Limiter } = require('./limiter')
const { NO_RATES, readHoldMs, readNewRates } = require('./options')

const NONE = { rate: undefined, ratePerType: NO_RATES }

class Limiting {
  /** @param {object} internals of the queue @param {object | null} scheduler */
  constructor (internals, scheduler) {
    const { read: { clock, rates = NONE } } = internals
    this.limiter = new Limiter(internals, scheduler, { clock, deadlinesOf: () => internals.tickets.deadlines }, rates)
  }

  /** How many types have waiting jobs, none of which may start now. */
  get heldTypes () {
    return this.limiter.heldTypes
  }

  /** Whether types can be held each by itself. */
  get holdsTypes () {
    return this.limiter.limits !== undefined
  }

  /** @returns {object | object[] | null} the rate of a type; several are an array, and null is none */
  rateOf (type) {
    const rates = this.limiter.limits?.ratesOf(type) ?? []
    const copies = rates.map(rate => ({ ...rate }))
    return copies.length > 1 ? copies : copies[0] ?? null
  }

  /** A job comes that says what it costs. @throws FAIRLANE_ERR_ARGUMENT if it could never start */
  accept (cost, type) {
    this.limiter.checkCost(cost, type)
    this.limiter.countCosts()
  }

  /** @throws FAIRLANE_ERR_ARGUMENT */
  holdType (type, ms) {
    this.limiter.holdType(type, readHoldMs(ms))
  }

  /** @throws FAIRLANE_ERR_ARGUMENT */
  hold (ms) {
    this.limiter.hold(readHoldMs(ms))
  }

  heldMs (type) {
    return this.limiter.heldMs(type)
  }

  /** @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_SCHEDULER */
  setRates (rates) {
    this.limiter.setRates(readNewRates(rates))
  }

  /** A runner was told to come back later. */
  throttle (type, ms) {
    this.limiter.throttle(type, ms)
  }
}

module.exports = { Limiting }
