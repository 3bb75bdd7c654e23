'use strict'

// HOT (bench: distributed). Tokens of jobs that may be had, in the queue in memory: its scheduler decides by them which type is next,
// and a token that is given a slot is served by the supply of its type.

const { COST } = require('../../job/cost')
const { Delivery } = require('../../job/delivery')

/** Stands in the queue in memory for a job that may be had. */
class Token {
  constructor (supply) {
    this.supply = supply
    this.delivery = undefined // its slot
    this.job = undefined // that its slot was given to
    this.pass = undefined // what limits of the whole queue have let it have the slot by, if there are any
  }
}

class Slots {
  /**
   * @param {{ core: object, stage: object, starts: object }} parts the queue in memory, and what its owner may do; starts: gives passes
   * @param {{ isPaused: (type: string) => boolean }} options
   */
  constructor ({ core, stage, starts }, { isPaused }) {
    this.core = core
    this.stage = stage
    this.starts = starts
    this.isPaused = isPaused
    this.hasTypes = core.scheduler !== null
    this.sharesCosts = false
    this.unsaidCost = undefined // of a job of which the broker says nothing, as far as anybody counts that
    if (this.hasTypes && stage.list.needsCost) this.shareCosts()
  }

  /** How many there are; at least one. */
  get concurrency () {
    return Math.max(this.core.concurrency, 1)
  }

  /** From now on it counts what jobs cost: the scheduler shares that, or a rate of the whole queue counts it. */
  shareCosts () {
    if (this.sharesCosts) return
    this.sharesCosts = true
    this.unsaidCost = COST
    this.stage.shareCosts({ expectedOf: expectedCost, knownOf: knownCost })
  }

  mayStart (type) {
    return !this.isPaused(type)
  }

  /** One more job of a type may be had. */
  place (supply) {
    this.stage.place(this.hasTypes ? supply.place.type : undefined, new Token(supply), false, Infinity)
  }

  /** A token was given a slot. */
  start (token, done, slot) {
    const pass = this.starts.takePass()
    token.pass = pass
    const delivery = new Delivery(token, pass === undefined ? done : pass.ending(done), slot, this.stage.starting())
    if (this.sharesCosts) delivery.done = uncharging(delivery)
    token.delivery = delivery
    token.supply.tokensCount--
    token.supply.serve(delivery)
  }

  /** Takes all tokens back that have no slot. */
  withdraw () {
    this.stage.withdraw(list => list.removeAll(), token => { token.supply.tokensCount-- })
  }
}

/** What the job will cost that a token is to be given: that is known if it was taken ahead. */
function expectedCost ({ supply: { prefetched, lastCost } }) {
  return prefetched.length > 0 ? prefetched[0].cost ?? COST : lastCost
}

/** What is known of that by then: of a job that the broker is still to be asked for, nothing. There may be none. */
function knownCost ({ supply: { prefetched } }) {
  return prefetched.length > 0 ? prefetched[0].cost ?? COST : 0
}

/** @returns {Function} done of the slot of a delivery; its type is charged nothing if the slot is given back */
function uncharging (delivery) {
  const { done } = delivery
  return (err, result) => {
    if (delivery.isGivenBack) delivery.ticket.spent(0)
    done(err, result)
  }
}

module.exports = { Slots }
