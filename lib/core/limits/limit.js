'use strict'

// HOT (bench: flow). A limit of rate: one or several windows.

const { COST, ofCost } = require('../../job/cost')
const { Window } = require('./windows')

/** Windows that all hold. */
class Limit {
  /**
   * @param {{ limit: number, intervalMs: number, of?: 'cost' }[]} rates
   * @param {Limit} [before] whose starts count, in windows of the same interval that count the same
   */
  constructor (rates, before) {
    this.windows = rates.map(rate => {
      const known = before?.windows.find(window => isSame(rate, window))
      if (known === undefined) return makeWindow(rate)
      const window = known.copy()
      window.setLimit(rate.limit)
      return window
    })
    this.ofCost = ofCost(rates) ? this.windows.filter(window => window.of === 'cost') : undefined
    this.longestMs = Math.max(...rates.map(({ intervalMs }) => intervalMs))
    this.first = this.windows[0]
    this.others = this.windows.length > 1 ? this.windows.slice(1) : undefined
    this.generation = -1 // of limits in which it was last put, as these want to know it
    this.terms = undefined // of limits by which a lane has it, as these want to know it
  }

  /**
   * Has its windows let as many start as rates say that count the same in the same intervals, in the same order.
   * @returns {boolean} whether they are: else nothing has changed
   */
  follow (rates) {
    const { windows } = this
    if (rates.length !== windows.length || rates.some((rate, at) => !isSame(rate, windows[at]))) return false
    rates.forEach(({ limit }, at) => windows[at].setLimit(limit))
    return true
  }

  /** A job starts. @param {number} [cost] @param {number} [mark] by which its cost may be given back, as of a CostWindow */
  add (now, cost = COST, mark = 0) {
    this.first.add(now, cost, mark)
    if (this.others !== undefined) for (const window of this.others) window.add(now, cost, mark)
  }

  reserve (cost) {
    for (const window of this.windows) window.reserve(cost)
  }

  release (cost) {
    for (const window of this.windows) window.release(cost)
  }

  /** Whether waitMs() may be above 0. No clock need be read to know. */
  lacks (cost = COST) {
    const { first, others } = this
    return first.lacks(cost) || (others !== undefined && others.some(window => window.lacks(cost)))
  }

  /** In how many ms a job of that cost may start; 0: now. */
  waitMs (now, cost = COST) {
    let longest = 0
    for (const window of this.windows) {
      const ms = window.waitMs(now, cost)
      if (ms > longest) longest = ms
    }
    return longest
  }

  /** In how many ms so many jobs, each of that cost, may have started, if none starts in the next heldMs. */
  waitMsOf (count, now, heldMs, cost) {
    return Math.max(...this.windows.map(window => window.waitMsOf(window.of === 'cost' ? count * cost : count, now, heldMs)))
  }

  /** A job that has started costs so many units more, from now on. */
  charge (now, units, mark) {
    for (const window of this.ofCost) window.add(now, units, mark)
  }

  /** ... or fewer: units that were added with that mark, as far as they count still. */
  giveBack (now, units, mark) {
    for (const window of this.ofCost) window.giveBack(now, units, mark)
  }

  isEmpty (now) {
    return this.windows.every(window => window.isEmpty(now))
  }
}

/** Whether a window counts what a rate is about. */
function isSame (rate, { intervalMs, of }) {
  return rate.intervalMs === intervalMs && rate.of === of
}

function makeWindow (rate) {
  if (rate.of !== 'cost') return new Window(rate)
  const { CostWindow } = require('./cost-window')
  return new CostWindow(rate)
}

module.exports = { Limit }
