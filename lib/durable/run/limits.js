'use strict'

// The rates and holds of a job queue, which are those of the queue in memory. Nothing of them is loaded before the first rate or hold, when
// the list gets a gate and holds (docs/decisions/0084-holds-when-they-come.md).

const { capOf } = require('../../core/internals')

class Limits {
  /**
   * @param {{ core: object, stage: object, waiting: object }} parts of the queue
   * @param {{ rates: { rate?: object[], ratePerType: object } | undefined }} options rates: as read
   */
  constructor ({ core, stage, waiting }, { rates }) {
    this.core = core
    this.waiting = waiting
    this.scheduler = core.scheduler
    this.stage = stage
    this.made = undefined // a limiter
    if (rates !== undefined || stage.list.needsCost) this.make(rates ?? limitOptions().readRateOptions({}))
  }

  /** Whether there may be anything that holds back starts. */
  get isOn () {
    return this.made !== undefined
  }

  get limiter () {
    return this.made ?? this.make(limitOptions().readRateOptions({}))
  }

  /** A job is pushed. @param {object | undefined} jobOptions @throws FAIRLANE_ERR_ARGUMENT if it costs too much to start ever */
  accept (type, { cost } = {}) {
    if (cost !== undefined) this.limiter.checkCost(cost, type)
  }

  /** From now on it is counted what jobs cost. */
  countCosts () {
    this.limiter.countCosts()
  }

  /** What limits a type. `rate`: one, several, or null. */
  of (type) {
    const { core, made, scheduler } = this
    const rates = (made?.limits?.ratesOf(type) ?? []).map(rate => ({ ...rate }))
    return {
      cap: capOf(scheduler, type),
      rate: rates.length > 1 ? rates : rates[0] ?? null,
      paused: core.isTypePaused(type),
      heldMs: made === undefined ? 0 : made.heldMs(made.canHold ? type : undefined)
    }
  }

  // private from here on

  make (rates) {
    const { ReservingLimiter } = limits()
    const { scheduler, stage: { list, dispatch, deadlines }, waiting } = this
    const queue = { clock: deadlines.clock, deadlinesOf: () => deadlines, costOf: job => waiting.costOf(job) }
    this.made = new ReservingLimiter({ list, dispatch }, scheduler, queue, rates)
    return this.made
  }
}

/** @throws FAIRLANE_ERR_OPTION if the scheduler of a queue in memory cannot hold types that have rates */
function checkRates ({ scheduler }, rates) {
  if (rates !== undefined) limits().checkRates(scheduler, rates.ratePerType)
}

function limits () {
  return require('../../core/internals').limits
}

function limitOptions () {
  return require('../../core/internals').limitOptions
}

module.exports = { Limits, checkRates, limitOptions }
