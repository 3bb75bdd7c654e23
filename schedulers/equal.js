'use strict'

// HOT (bench: schedulers). Equal or weighted shares of slot time, whatever the types queue and however long their jobs:
// start-time fair queuing (Goyal, Vin, Cheng 1996) in which running jobs are charged as they run.
//
// A type's key is the virtual time that it has used: the time of its ended jobs divided by its weight, and for its running jobs the time
// that they have run, or are expected to run, whichever is more in sum. The type with the least key starts a job. V, the virtual time,
// follows the keys of the types that start jobs: it rises to each such key that is above it. Whoever comes, or comes back, begins a low
// quantile of job lengths after V, and so neither pays for the past nor lives on savings. While newcomers with one job each follow upon
// each other, V stands still, and those who wait would starve. So a newcomer begins no earlier than a mean job before the fluid time. That
// rises by the time of ended jobs, divided by the weights of the types that are there, as in generalized processor sharing (Parekh,
// Gallager 1993; docs/decisions/0037). Now and then V is set back to 0 and every key with it, and weights have a unit, so that no sum gets
// so large that a charge is rounded away (docs/decisions/0042).
//
// Promises: for two types that stay backlogged below their caps over any interval, the slot times W that they got differ
// by |Wi/wi - Wj/wj| <= mi(Li+Ei)/wi + mj(Lj+Ej)/wj, m being the most jobs that ran at once, L the longest own job, E the
// larger of L and the longest job of all. Caps are hard. O(log types) per pick.

const { State } = require('./equal-state')
const { readers } = require('./equal-options')
const { Caps, readOptions } = require('./options')
const { LEAST_MS, LEARNING_RATE, MOST_TIME_MS, MOST_USUAL, VirtualTime } = require('./virtual-time')
const { MOST_WEIGHT, Weights, unitOf, inUnits } = require('./weights')

// Sums of the same numbers differ by less.
const ROUNDING = 1e-9

/** The lane scheduler behind `scheduler: 'equal'`, if it has neither `groupOf` nor `chargeBy`. */
class Equal extends VirtualTime {
  /**
   * @param {object} [options]
   * @param {Record<string, number> | Map<string, number> | ((type: string) => number) | null} [options.weights=1]
   *   shares relative to each other; those not named have 1. An object or Map adds to those given before, null removes
   *   them; a function is called when a type's first job comes, or, where it is alone in its group, when another type comes there
   * @param {number} [options.maxTypeShare=1] of all slots, 0 to 1
   * @param {number} [options.maxTypeCap=Infinity] jobs of one type that run at once
   * @param {Record<string, number> | Map<string, number> | null} [options.typeCaps={}] the same for single types;
   *   adds to those given before, null removes them
   * @param {number} [options.concurrency=10] what shares are shares of; a queue sets it to its own
   * @param {{ caps: Caps, weighting: Weights, group: object | null }} [part] of groups.js: what others know of its options, too
   * @throws FAIRLANE_ERR_OPTION
   */
  constructor (options, part = { caps: new Caps(1), weighting: new Weights(), group: null }) {
    super(part.group)
    this.caps = part.caps
    this.weighting = part.weighting
    this.needsClock = true
    this.needsCost = false
    this.mayStall = true // with a cap of 0
    this.startedLast = undefined // the state of the type that started a job last, if it has to be placed yet
    this.startedOrder = 0 // the order that it gets then
    this.runningCount = 0
    this.order = 0 // the highest of any state
    if (options !== undefined) this.configure(options)
  }

  /**
   * Changes the options that are given. O(waiting types); O(types at their caps) if only `concurrency` or `maxTypeShare` changes, and O(1)
   * if the share is the same number of slots then.
   * @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options) {
    const before = this.terms()
    if (readOptions(options, readers, name => name === 'weights' ? this.weighting : this.caps)) this.changed(before)
    return this
  }

  queued (lane) {
    const state = lane.state ?? this.enter(lane)
    if (state.position === -1 && !state.isParked) this.place(state, true)
  }

  /** @returns {object | undefined} the lane whose oldest job is to start */
  next (now) {
    const { ranking } = this
    this.now = now
    if (this.startedLast !== undefined) this.rekeyStarted()
    for (let state = ranking.first; state !== undefined; state = ranking.first) {
      if (state.version !== this.version) {
        this.renew(state) // a share may be another number of slots since: only who comes first is looked at
        continue
      }
      const key = this.keyOf(state)
      if (key > state.key) {
        ranking.update(state, key)
      } else {
        if (key > this.virtualTime) {
          this.virtualTime = key
          if (key * state.weight > MOST_TIME_MS) this.rebase()
        }
        return state.lane
      }
    }
    return undefined
  }

  started (lane, now) {
    const { state } = lane
    this.now = now
    this.runningCount++
    state.startSum += now
    const order = ++this.order
    if (lane.size === 0 || lane.running >= state.limit) {
      state.order = order
      this.place(state, false)
    } else {
      this.startedLast = state
      this.startedOrder = order
    }
  }

  ended (lane, startedAt, now) {
    const { state } = lane
    const runMs = Math.max(now - startedAt, LEAST_MS)
    this.now = now
    this.runningCount--
    state.startSum = lane.running === 0 ? 0 : state.startSum - startedAt
    state.used += runMs / state.weight
    state.estimateMs += LEARNING_RATE * (runMs - state.estimateMs)
    this.slotTime += Math.min(runMs, MOST_USUAL * this.jobLengths.usualMs)
    this.jobLengths.add(runMs)
    if (state === this.startedLast) this.rekeyStarted()
    else this.rekey(state)
  }

  removed (lane) {
    this.place(lane.state, false)
    this.rest()
  }

  paused (lane) {
    this.place(lane.state ?? this.enter(lane), false)
  }

  resumed (lane) {
    this.place(lane.state, true)
    this.rest()
  }

  /** Whether a lane that neither waits nor runs would start again where it is now if it were forgotten. */
  forget ({ state }) {
    this.follow(state)
    this.advanceFluidTime()
    return state.used <= this.floorOf(state)
  }

  /** Types with a weight or a cap of their own keep a lane of their own. */
  isNamed (type) {
    return this.caps.typeCaps.has(type) || this.weighting.isNamed(type)
  }

  /** @returns {number} how many jobs of a type may run at once */
  capOf (type) {
    return this.caps.limitOf({ type, isShared: false })
  }

  /** @returns {number} as it was given; 1 by default */
  weightOf (type) {
    return this.weighting.weightOf({ type, isShared: false })
  }

  /**
   * Whether a lane may be served before another one, which is below its cap: where all jobs are equally long, its key is not above the one
   * that the other one has when its running jobs have ended. Where options have changed, keys may, too.
   */
  precedes (other, lane) {
    const { estimateMs, version } = lane.state
    if (version !== this.version || other.state.version !== this.version) return true
    const { isEmpty, meanMs } = this.jobLengths
    if (isEmpty && lane.running > 0) return true // nobody knows how long jobs are
    const most = this.keyWith(lane, Math.max(estimateMs, meanMs))
    const least = this.keyWith(other, isEmpty ? 0 : Math.min(other.state.estimateMs, meanMs))
    if (least === most && lane.running + other.running === 0) return other.state.order < lane.state.order
    return least <= most + Math.abs(most) * ROUNDING
  }

  // private from here on, but for groups.js

  /** What its options say. */
  terms () {
    const { caps: { maxTypeCap, typeCaps }, weighting: { weights } } = this
    return { maxTypeCap, typeCaps, weights, shareLimit: this.shareLimit() }
  }

  /** @param {object} before terms(), which may be others now @returns {boolean} whether they are */
  changed ({ maxTypeCap, typeCaps, weights, shareLimit }) {
    const { caps, weighting } = this
    const hasSameNumbers = maxTypeCap === caps.maxTypeCap && typeCaps === caps.typeCaps && weights === weighting.weights
    if (hasSameNumbers && shareLimit === this.shareLimit()) return false
    this.version++
    if (weighting.weights !== weights) this.unit = Number.MIN_VALUE
    const parked = [...this.parked]
    if (!hasSameNumbers) for (const state of [...this.ranking]) this.renew(state)
    for (const state of parked) this.renew(state)
    return true
  }

  /** The key of a lane whose running jobs take so long. */
  keyWith ({ running, state: { startSum, used, weight } }, jobMs) {
    return used + Math.max(running * jobMs, running * this.now - startSum) / weight
  }

  enter (lane) {
    lane.state = new State(lane, this.virtualTime, this.jobLengths.meanMs, this.frame)
    return lane.state
  }

  /**
   * Takes on a type that was the only one until now: only its running jobs are charged, whatever it has used before.
   * @param {object} known state that has been told of its running jobs, and of no others
   */
  adopt (lane, known, now) {
    const state = this.enter(lane)
    this.now = now
    this.runningCount = lane.running
    this.copyRunning(state, known)
    this.place(state, false)
  }

  copyRunning (state, { startSum }) {
    state.startSum = startSum
  }

  /** How many running jobs of a type are too many, as a share. All slots are none: the queue itself sees that they are taken. */
  shareLimit () {
    return this.caps.maxTypeShare >= 1 ? Infinity : this.caps.shareLimit()
  }

  /** So many running jobs of a type are too many for another. */
  limitOf (lane) {
    return Math.min(this.shareLimit(), this.caps.numberOf(lane))
  }

  refresh (state) {
    const { weighting } = this
    state.version = this.version
    state.limit = this.limitOf(state.lane)
    this.follow(state)
    if (state.weights === weighting.weights) return
    state.weights = weighting.weights
    const weight = weighting.weightOf(state.lane)
    if (weight / this.unit > MOST_WEIGHT) this.rescale(unitOf(weight))
    this.follow(state)
    this.setWeight(state, inUnits(weight, this.unit))
  }

  /** The options have changed since the type's limit was read. */
  renew (state) {
    const { limit } = state
    this.refresh(state)
    this.place(state, state.wasParked && state.limit > limit)
  }

  /** When nothing runs, and nothing waits that may start, all are even, and can be forgotten. */
  rest () {
    if (this.runningCount === 0 && this.ranking.isEmpty && this.mostUsed > this.virtualTime) this.virtualTime = this.mostUsed
  }

  /** Puts a type where it belongs: into the ranking, among the parked, or nowhere; and counts it if it waits or runs jobs. */
  place (state, isBack) {
    const { lane } = state
    if (state.version !== this.version) this.refresh(state)
    if (isBack) this.forfeit(state)
    const isWaiting = lane.size > 0 && !lane.isPaused
    const mayStart = isWaiting && lane.running < state.limit
    if (isWaiting !== mayStart || state.isParked) this.park(state, isWaiting && !mayStart)
    if (mayStart) {
      const key = this.keyOf(state)
      if (state.position === -1) this.ranking.insert(state, key)
      else this.ranking.update(state, key)
    } else {
      if (state.position !== -1) this.ranking.remove(state)
      if (state.used > this.mostUsed) this.mostUsed = state.used
    }
    const isPresent = isWaiting || lane.running > 0
    if (isPresent !== (state.presentWeight !== 0)) this.setPresent(state, isPresent ? state.weight : 0)
  }

  /** A type that may start another job keeps its key, which was the least, until that matters: its job may end before. */
  rekeyStarted () {
    const state = this.startedLast
    this.startedLast = undefined
    state.order = Math.max(state.order, this.startedOrder)
    this.rekey(state)
  }

  /** A job of it has started or ended: in the ranking, it stays there. */
  rekey (state) {
    if (state.position !== -1) {
      this.ranking.update(state, this.keyOf(state))
    } else {
      this.place(state, false)
      this.rest()
    }
  }

  /** Nobody saves up: what a type has used less than those that were picked meanwhile is lost. */
  forfeit (state) {
    this.advanceFluidTime()
    this.approach(state)
    const missing = this.floorOf(state) - this.keyOf(state)
    if (missing > 0) state.used += missing
    state.order = ++this.order
    state.wasParked = false
  }

  park (state, isParked) {
    if (state.isParked === isParked) return
    if (isParked) {
      state.isParked = state.wasParked = true
      state.parkedAt = this.virtualTime
      this.parked.add(state)
    } else {
      this.parked.delete(state)
      this.forfeitCapped(state)
      state.isParked = false
    }
  }

  /** ... nor at its cap: it is behind V by no more than it was when it came there. */
  forfeitCapped (state) {
    this.approach(state)
    const { virtualTime } = this
    const missing = Math.min(virtualTime - state.parkedAt, virtualTime - this.keyOf(state))
    if (missing > 0) state.used += missing
  }
}

module.exports = { Equal }
