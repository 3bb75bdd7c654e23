'use strict'

// Rates and holds of a job queue: as in flow, and by that. Nothing of it is loaded before the first rate or hold, when the list of the queue in memory
// gets a gate and holds (docs/decisions/0084-holds-when-they-come.md).

class Limiting {
  /**
   * @param {{ core: object, stage: object }} parts of the queue
   * @param {{ rate?: object[], ratePerType: object } | undefined} rates as read
   * @param {(test: (delivery: object) => boolean) => void} recall takes back the slots of jobs that have not begun
   */
  constructor ({ core, stage }, rates, recall) {
    this.scheduler = core.scheduler
    this.stage = stage
    this.recall = recall
    this.made = undefined // a limiter of flow
    if (rates !== undefined) this.make(rates)
  }

  /** Whether there may be anything that holds back starts. */
  get isOn () {
    return this.made !== undefined
  }

  get limiter () {
    return this.made ?? this.make(flowOptions().readRateOptions({}))
  }

  get heldTypes () {
    return this.isOn ? this.made.heldTypes : 0
  }

  holdType (type, ms) {
    const read = flowOptions().readHoldMs(ms)
    this.limiter.holdType(type, read)
    if (read > 0) this.recallOf(type)
  }

  hold (ms) {
    const read = flowOptions().readHoldMs(ms)
    this.limiter.hold(read)
    if (read > 0) this.recallOf(undefined)
  }

  heldMs (type) {
    return this.isOn ? this.made.heldMs(type) : 0
  }

  setRates (rates) {
    this.limiter.setRates(flowOptions().readNewRates(rates))
    this.recallOf(undefined) // they get slots again by the new rates
  }

  /** A runner was told to come back later: its type is held, or the queue if no types can be. */
  throttle (type, ms) {
    const { limiter } = this
    limiter.throttle(type, ms)
    this.recallOf(limiter.canHold ? type : undefined)
  }

  // private from here on

  make (rates) {
    const { ReservingLimiter } = limits()
    const { scheduler, stage: { list, dispatch, deadlines } } = this
    this.made = new ReservingLimiter({ list, dispatch }, scheduler, { clock: deadlines.clock, deadlinesOf: () => deadlines }, rates)
    return this.made
  }

  /** @param {string | undefined} type undefined: of all */
  recallOf (type) {
    // when all of them stand in the queue again, the first ones get slots
    this.stage.dispatch.withoutStarting(() => this.recall(({ slot }) => type === undefined || slot.type === type))
  }
}

/** @throws FAIRLANE_ERR_OPTION if the scheduler of a queue in memory cannot hold types that have rates */
function checkRates ({ scheduler }, rates) {
  if (rates !== undefined) limits().checkRates(scheduler, rates.ratePerType)
}

function limits () {
  return require('../../core/internals').limits
}

function flowOptions () {
  return require('../../flow/options')
}

module.exports = { Limiting, checkRates }
