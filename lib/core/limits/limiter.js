'use strict'

// What holds back the starts of a queue: rates and holds, of the queue and of its types. Its list asks the gate and the holds.

const { typeError } = require('../../arguments/errors')
const { checkCost, mostCost } = require('../../job/cost')
const { isLaneScheduler } = require('../options')
const { Gate } = require('./gate')
const { Holds } = require('./holds')
const { Limits, hasRates } = require('./limits')
const { Limit } = require('./limit')

const MAKE = { gate: (...args) => new Gate(...args), limits: (...args) => new Limits(...args) }

class Limiter {
  /**
   * @param {{ list: object, dispatch: object }} internals of a queue, which may be in use: the list gets a gate and holds when there is
   *   something that holds back
   * @param {object | null} scheduler
   * @param {{ clock: object, deadlinesOf: () => object, costOf?: Function }} queue its time, and what its jobs cost, as of Costs
   * @param {{ rate?: object[], ratePerType: object }} rates as read
   * @param {{ gate: Function, limits: Function }} [make] what makes a Gate, and Limits
   */
  constructor ({ list, dispatch }, scheduler, { clock, deadlinesOf, costOf }, { rate, ratePerType }, make = MAKE) {
    this.costOf = costOf
    this.list = list
    this.dispatch = dispatch
    this.makeGate = () => make.gate(clock, deadlinesOf, () => dispatch.wake())
    this.canHold = canHold(scheduler)
    this.limits = undefined // of types, if these can be held
    if (rate !== undefined) this.limit(new Limit(rate))
    if (list.needsCost) this.countCosts()
    if (!hasLanes(scheduler)) return
    this.limits = make.limits(ratePerType, clock, fn => dispatch.freshScope().runInAsyncScope(fn), () => this.countCosts())
    list.holds = new Holds(list, this.limits, deadlinesOf, () => dispatch.wake())
  }

  /** How many types have waiting jobs, none of which may start now. */
  get heldTypes () {
    return this.limits === undefined ? 0 : this.list.holds.size
  }

  /** Starts no job of a type that can be held for so many ms; 0 ends that. */
  holdType (type, ms) {
    this.list.holds.holdType(type, ms)
    this.dispatch.wake()
  }

  /** Starts no job for so many ms; 0 ends that. */
  hold (ms) {
    this.gate.hold(ms)
  }

  /** From now on it is counted what jobs cost. */
  countCosts () {
    if (this.list.costs !== null) return
    const { Costs } = require('./costs')
    this.list.gate = this.gate // lists have something of costs only where they have a gate
    this.dispatch.countCosts(new Costs(this.dispatch, this.list, this.costOf))
  }

  /** @throws FAIRLANE_ERR_ARGUMENT if a job costs more than a rate ever lets start, as far as is known without asking the caller */
  checkCost (cost, type) {
    const ofQueue = mostCost(this.list.gate?.limit?.windows ?? [])
    checkCost(cost, Math.min(ofQueue, this.limits === undefined ? Infinity : this.limits.mostCost(type)))
  }

  /** In how many ms a job might start, or one of a type that can be held; 0: now. @param {number} [cost] of it, if it is in no list */
  heldMs (type, cost) {
    const { costs, gate, holds } = this.list
    const ofQueue = gate === null ? 0 : costs === null ? gate.waitMs() : costs.waitMs(type, cost)
    return type === undefined ? ofQueue : Math.max(ofQueue, holds.heldMs(type, cost))
  }

  /**
   * Replaces the rates that are given.
   * @param {{ rate?: object[] | null, ratePerType?: object }} rates as read
   * @throws FAIRLANE_ERR_SCHEDULER
   */
  setRates ({ rate, ratePerType }) {
    if (ratePerType !== undefined && hasRates(ratePerType) && !this.canHold) {
      throw typeError('FAIRLANE_ERR_SCHEDULER', 'setRates: ratePerType needs a scheduler that can pause types, such as fair or equal')
    }
    if (rate !== undefined) this.limit(rate === null ? undefined : new Limit(rate, this.gate.limit))
    if (ratePerType !== undefined && this.limits !== undefined) {
      this.limits.setRates(ratePerType)
      this.list.holds.adjustAll()
      this.dispatch.wake()
    }
  }

  /** A runner was told to come back later. What is held for longer stays so, whatever the rates say. */
  throttle (type, ms) {
    if (type !== undefined && this.canHold) {
      if (this.limits.holdMs(type) < ms) this.list.holds.holdType(type, ms)
    } else if (this.gate.holdMs() < ms) {
      this.gate.hold(ms)
    }
  }

  // private from here on

  get gate () {
    return (this.list.gate ??= this.makeGate())
  }

  /** The limit of the whole queue is another one. */
  limit (limit) {
    if (limit?.ofCost !== undefined) this.countCosts()
    this.gate.setLimit(limit)
  }
}

function hasLanes (scheduler) {
  return scheduler !== null && isLaneScheduler(scheduler)
}

/** Whether the types of a scheduler can be paused, and so be held. */
function canHold (scheduler) {
  return hasLanes(scheduler) && Boolean(scheduler.paused && scheduler.resumed)
}

/** @throws FAIRLANE_ERR_OPTION if a scheduler cannot hold types that have rates */
function checkRates (scheduler, ratePerType) {
  if (!hasRates(ratePerType) || canHold(scheduler)) return
  throw typeError('FAIRLANE_ERR_OPTION', 'ratePerType needs a scheduler that can pause types, such as fair or equal')
}

module.exports = { Limiter, checkRates }
