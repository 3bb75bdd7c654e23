'use strict'

// HOT (bench: flow). The limits of types. A limit belongs to the type, not to its lane: it outlives the type's idleness, and is forgotten
// when its windows are empty. Types that share a lane share a limit, whose key is the number of the lane.
//
//   young   key → Limit, of what has started since the last change of generations
//   old     ... and before that: dropped as a whole when all its windows are empty, so that forgetting is O(1)
//   held    type → until when nothing of it starts, as users said

const { rethrow } = require('../../platform/clock')
const { Forgetting, MANY } = require('../../platform/forgetting')
const { COST, mostCost, ofCost } = require('../../job/cost')
const { Limit } = require('./limit')

/** Of a lane whose type has no limit. */
class NoLimit {
  constructor () {
    this.terms = this
    this.ofCost = undefined
  }

  lacks () {
    return false
  }
}

class Limits {
  /**
   * @param {{ all?: object[], byType: Map<string, object[]>, ask?: (type: string) => object[] | undefined }} rates as read
   * @param {object} clock
   * @param {(fn: () => void) => void} call calls the caller's code in the context of the queue
   * @param {() => void} countCosts called when there is a rate of cost
   */
  constructor (rates, clock, call, countCosts) {
    this.clock = clock
    this.call = call
    this.countCosts = countCosts
    this.young = new Map()
    this.old = new Map()
    this.youngUntil = this.oldUntil = -Infinity // when all their windows are empty
    this.generation = 0 // of the young
    this.none = undefined // in the place of the limit of a lane whose type has none
    this.isReached = false // a limit was used up, since the queue began
    this.held = new Map()
    this.heldCount = MANY // when there are so many in held, those that are over are forgotten
    this.forgetting = new Forgetting(clock, call, () => [this], () => this.forget())
    this.forgettingHolds = new Forgetting(clock, call, () => this.held, (hold, now) => this.lookAtHold(hold, now))
    this.setRates(rates)
  }

  /** From now on. What has started stays counted in windows of the same interval. O(limits). */
  setRates (rates) {
    this.rates = rates
    this.hasRates = hasRates(rates)
    if (hasCosts(rates)) this.countCosts()
    this.isReached ||= this.young.size + this.old.size > 0
    this.none = new NoLimit()
    for (const limits of [this.young, this.old]) {
      for (const [key, limit] of limits) {
        if (typeof key === 'number' && rates.ask !== undefined) continue // whose rate it was nobody knows any more
        const own = this.ratesOf(key)
        if (own === undefined) limits.delete(key)
        else if (!limit.follow(own)) limits.set(key, new Limit(own, limit))
      }
    }
  }

  /** Whether a type may be out of rate, or held. Where none ever was, nothing need be looked up. */
  get isUsed () {
    return this.isReached || this.held.size > 0
  }

  /** Whether the caller is asked for rates. */
  get isAsked () {
    return this.rates.ask !== undefined
  }

  /**
   * In how many ms a job may start; 0: now. O(1).
   * @param {string | number} key of its limit
   * @param {string | number} [type] as far as that may be held
   * @param {number} [cost] of the job
   */
  waitMs (key, type = key, cost = COST) {
    const limit = this.find(key)
    const lacks = limit !== undefined && limit.lacks(cost)
    const until = this.held.size > 0 ? this.held.get(type) : undefined
    if (!lacks && until === undefined) return 0
    const now = this.clock.now()
    return Math.max(lacks ? limit.waitMs(now, cost) : 0, until === undefined ? 0 : until - now)
  }

  /** In how many ms so many jobs of a type, of that cost each, may have started, as far as is known without asking the caller. */
  waitMsOf (key, type, count, cost = COST) {
    const now = this.clock.now()
    const heldMs = this.holdMs(type, now)
    const rates = this.rates.ask === undefined ? this.ratesOf(type) : undefined
    const limit = this.find(key) ?? (rates === undefined ? undefined : new Limit(rates))
    return limit === undefined ? heldMs : limit.waitMsOf(count, now, heldMs, cost)
  }

  /** In how many ms the hold of a type is over, whatever its rates say. */
  holdMs (type, now = this.clock.now()) {
    return Math.max((this.held.get(type) ?? -Infinity) - now, 0)
  }

  /** Whether starts of a type are counted for itself. */
  has (type) {
    return this.find(type) !== undefined
  }

  /** Whether a type must have a lane of its own: it has a limit of its own. */
  isNamed (type) {
    return this.held.has(type) || this.rates.byType.has(type) || this.has(type)
  }

  /** Whether a job of a lane may have to wait. Nothing is looked up where it is known that it need not. */
  mayHold ({ limit }, cost) {
    return limit === undefined || limit.terms !== this.none || limit.lacks(cost) || this.held.size > 0
  }

  /**
   * The limit by which a start is to be counted. Where none is live, it is made now, for which the caller may be asked.
   * @param {object} lane
   * @param {string | number} key
   * @param {string} type of the job
   * @param {object} [scope] the AsyncLocalStorage context of its push, if it is kept
   * @returns {Limit | NoLimit} `none` if the type has none
   */
  limitOf (lane, key, type, scope) {
    const { limit } = lane
    return limit !== undefined && limit.terms === this.none ? limit : this.findOrMake(lane, key, type, scope)
  }

  /** A job has started, which is counted by the limit that limitOf() gave. */
  count (key, limit, type, charge) {
    const now = this.clock.now()
    limit.add(now, charge?.units, charge?.mark)
    this.keep(key, limit, now)
    if (limit.ofCost !== undefined || limit.lacks()) this.isReached = true
  }

  /** One that has started is charged other units than it was. @param {Limit | NoLimit | undefined} limit whose key that is */
  correct (key, limit, correction) {
    if (limit?.ofCost === undefined) return
    const now = this.clock.now()
    correction.applyTo(limit, now)
    if (!correction.isMore) return
    this.keep(key, limit, now)
    this.isReached = true
  }

  /** What a job of a type may cost at most, as far as is known without asking the caller. */
  mostCost (type) {
    const rates = this.rates.ask === undefined ? this.ratesOf(type) : this.find(type)?.windows
    return mostCost(rates ?? [])
  }

  /** A type is to have a limit of its own: what was counted of those that it may have shared one with counts in it, too. */
  inherit (type, sharedKey) {
    const shared = this.find(sharedKey)
    if (shared === undefined || this.find(type) !== undefined) return
    const now = this.clock.now()
    const rates = shared.isEmpty(now) ? undefined : this.ratesOf(type)
    if (rates === undefined) return
    this.keep(type, new Limit(rates, shared), now)
    this.isReached = true
  }

  /** Nothing of a type starts for so many ms; 0 ends that. O(1) amortised. */
  hold (type, ms) {
    this.held.delete(type)
    if (ms === 0) return
    const now = this.clock.now()
    if (this.held.size >= this.heldCount) this.forgetHolds()
    this.held.set(type, now + ms)
    if (this.held.size >= MANY) this.forgettingHolds.note(now + ms)
  }

  /**
   * The rates of a type, for which the caller may be asked.
   * @param {object} [scope] as of limitOf()
   * @returns {Array<{ limit: number, intervalMs: number, of?: 'cost' }> | undefined}
   */
  ratesOf (type, scope) {
    const { all, byType, ask } = this.rates
    if (ask === undefined) return byType.get(type) ?? all
    let rates
    const answer = () => {
      try {
        rates = ask(type)
      } catch (err) {
        rethrow(err)
      }
    }
    if (scope === undefined) this.call(answer)
    else scope.runInAsyncScope(answer)
    return rates
  }

  /** The limit of a key, unless it was forgotten since its windows are empty. */
  find (key) {
    return this.young.get(key) ?? this.old.get(key)
  }

  // private from here on

  findOrMake (lane, key, type, scope) {
    let limit = this.find(key)
    if (limit === undefined || (this.isAsked && limit.isEmpty(this.clock.now()))) {
      const wasAsked = this.isAsked
      limit = this.make(key, type, scope)
      if (wasAsked && !this.isAsked) return this.limitOf(lane, key, type) // whoever was asked has set other rates
    }
    if (!this.isAsked) {
      limit.terms = this.none
      lane.limit = limit
    }
    return limit
  }

  make (key, type, scope) {
    const rates = this.ratesOf(type, scope)
    if (rates !== undefined) {
      if (this.isAsked && ofCost(rates)) this.countCosts()
      return new Limit(rates)
    }
    this.young.delete(key)
    this.old.delete(key)
    return this.none
  }

  keep (key, limit, now) {
    if (limit.generation !== this.generation) this.put(key, limit, now)
    this.youngUntil = Math.max(this.youngUntil, now + limit.longestMs)
  }

  put (key, limit, now) {
    if (now >= this.oldUntil) this.age()
    limit.generation = this.generation
    this.old.delete(key)
    this.young.set(key, limit)
    if (this.young.size >= MANY) this.forgetting.note(this.youngUntil)
  }

  /** All windows of the old generation are empty. */
  age () {
    this.old = this.young
    this.oldUntil = this.youngUntil
    this.young = new Map()
    this.generation++
  }

  /** By generations, so at once. */
  forget () {
    const now = this.clock.now()
    if (now >= this.oldUntil) this.age()
    if (now >= this.oldUntil) this.age()
    return this.young.size + this.old.size >= MANY ? this.youngUntil : Infinity
  }

  forgetHolds () {
    this.forgettingHolds.begin()
    this.heldCount = Math.max(MANY, 2 * this.held.size)
  }

  /** As Forgetting wants it. */
  lookAtHold ([type, until], now) {
    if (now < until) return until
    this.held.delete(type)
    return Infinity
  }
}

/** @param {object} rates of types, as read */
function hasRates ({ all, byType, ask }) {
  return all !== undefined || byType.size > 0 || ask !== undefined
}

/** Whether there is one of cost, as far as is known without asking the caller. */
function hasCosts ({ all = [], byType }) {
  return ofCost(all) || [...byType.values()].some(ofCost)
}

module.exports = { Limits, hasRates }
