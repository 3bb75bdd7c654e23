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

const { Frame, State } = require('./equal-state')
const { JobLengths } = require('./job-lengths')
const { Caps, capReaders, readOptions } = require('./options')
const { RunQueue } = require('./run-queue')
const { LEAST_WEIGHT, MOST_WEIGHT, Weights, readWeights, unitOf, inUnits } = require('./weights')

// A job that takes no measurable time is charged so much: ms.
const LEAST_MS = 0.001
// How much of the difference to the newest job length a type's estimate takes on.
const LEARNING_RATE = 0.2
// In the fluid time a job counts as so many usual ones at most; and newcomers start no more than so many behind V.
const MOST_USUAL = 8
// The fluid time rises by so much of what it might, so that V catches up with it where those that stay are served.
const FLUID_PART = 7 / 8
// What a job is expected to take before any has ended: ms.
const FIRST_ESTIMATE_MS = 1
// Where virtual time is so many ms of slots of the type that is looked at, it begins anew: a microsecond is 2^20 times what is rounded
// then.
const MOST_TIME_MS = 2 ** 24
// What has gone by since weights are told by the same unit is added up to so much, which is rounded to 2^7.
const MOST_BASE = 2 ** 60

const readers = { ...capReaders, weights: readWeights }

/** The lane scheduler behind `scheduler: 'equal'`. */
class Equal {
  /**
   * @param {object} [options]
   * @param {Record<string, number> | Map<string, number> | ((type: string) => number) | null} [options.weights=1]
   *   shares relative to each other; those not named have 1. An object or Map adds to those given before, null removes
   *   them; a function is called when a type's first job comes
   * @param {number} [options.maxTypeShare=1] of all slots, 0 to 1
   * @param {number} [options.maxTypeCap=Infinity] jobs of one type that run at once
   * @param {Record<string, number> | Map<string, number> | null} [options.typeCaps={}] the same for single types;
   *   adds to those given before, null removes them
   * @param {number} [options.concurrency=10] what shares are shares of; a queue sets it to its own
   * @throws FAIRLANE_ERR_OPTION
   */
  constructor (options) {
    this.caps = new Caps(1)
    this.weighting = new Weights()
    this.version = 0
    this.needsClock = true
    this.mayStall = true // with a cap of 0
    this.ranking = new RunQueue() // of the types that may start a job, by lower bounds of their keys
    this.parked = new Set() // of the states of types that wait at their cap
    this.startedLast = undefined // the state of the type that started a job last, if it has to be placed yet
    this.startedOrder = 0 // the order that it gets then
    this.runningCount = 0
    this.order = 0 // the highest of any state
    this.now = 0
    this.unit = Number.MIN_VALUE // of weights; the first one has its own
    this.frame = new Frame(0, 0)
    this.virtualTime = 0
    this.fluidTime = 0
    this.slotTime = 0 // of ended jobs, not in fluidTime yet
    this.weightSum = 0 // of the types that wait or run jobs, as of their last event
    this.presentCount = 0 // of them
    this.mostUsed = 0 // by any that is not in the ranking
    this.jobLengths = new JobLengths(FIRST_ESTIMATE_MS)
    this.configure(options)
  }

  /**
   * Changes the options that are given. O(waiting types); O(types at their caps) if only `concurrency` or `maxTypeShare` changes, and O(1)
   * if the share is the same number of slots then.
   * @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options) {
    const { caps, weighting: { weights } } = this
    const { maxTypeCap, typeCaps } = caps
    const shareLimit = this.shareLimit()
    if (!readOptions(options, readers, name => name === 'weights' ? this.weighting : caps)) return this
    const hasSameNumbers = maxTypeCap === caps.maxTypeCap && typeCaps === caps.typeCaps && weights === this.weighting.weights
    if (hasSameNumbers && shareLimit === this.shareLimit()) return this
    this.version++
    if (this.weighting.weights !== weights) this.unit = Number.MIN_VALUE
    const parked = [...this.parked]
    if (!hasSameNumbers) for (const state of [...this.ranking]) this.renew(state)
    for (const state of parked) this.renew(state)
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

  // private from here on

  enter (lane) {
    lane.state = new State(lane, this.virtualTime, this.jobLengths.meanMs, this.frame)
    return lane.state
  }

  /** How many running jobs of a type are too many, as a share. All slots are none: the queue itself sees that they are taken. */
  shareLimit () {
    return this.caps.maxTypeShare >= 1 ? Infinity : this.caps.shareLimit()
  }

  refresh (state) {
    const { caps, weighting } = this
    state.version = this.version
    state.limit = Math.min(this.shareLimit(), caps.numberOf(state.lane))
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

  /** What a type is ahead of V, or behind, stays the same in time of its slots. */
  setWeight (state, weight) {
    if (weight === state.weight) return
    const { virtualTime } = this
    const ratio = state.weight / weight
    state.used = virtualTime + (state.used - virtualTime) * ratio
    if (state.isParked) state.parkedAt = virtualTime + (state.parkedAt - virtualTime) * ratio
    state.weight = weight
    if (state.presentWeight !== 0) this.setPresent(state, weight)
  }

  /** Shares the slot time of ended jobs among the types that are there. */
  advanceFluidTime () {
    if (this.weightSum > 0) this.fluidTime += FLUID_PART * this.slotTime / this.weightSum
    if (this.fluidTime < this.virtualTime) this.fluidTime = this.virtualTime
    this.slotTime = 0
  }

  /** The virtual time that a type has used, running jobs charged as they run. */
  keyOf (state) {
    const { running } = state.lane
    if (running === 0) return state.used
    return state.used + Math.max(running * state.estimateMs, running * this.now - state.startSum) / state.weight
  }

  /** The least key of who comes, or comes back. */
  floorOf (state) {
    const { virtualTime, jobLengths: { lowMs, meanMs, usualMs } } = this
    const behindFluid = Math.min(this.fluidTime - meanMs / state.weight, virtualTime + MOST_USUAL * usualMs / state.weight)
    return Math.max(virtualTime + lowMs / state.weight, behindFluid)
  }

  /** When nothing runs, and nothing waits that may start, all are even, and can be forgotten. */
  rest () {
    if (this.runningCount === 0 && this.ranking.isEmpty && this.mostUsed > this.virtualTime) this.virtualTime = this.mostUsed
  }

  /** Has virtual time begin anew at V. O(waiting types × log types). */
  rebase () {
    const { unit, frame, virtualTime } = this
    const base = frame.base + virtualTime
    if (base > MOST_BASE) this.rescale(unit)
    else this.begin(new Frame(unit, base, frame.first), base - frame.base, () => {})
  }

  /** The same with another unit. The types that follow later are even with V then. */
  rescale (unit) {
    const ratio = this.unit / unit
    this.unit = unit
    this.weightSum = this.presentCount = 0
    this.begin(new Frame(unit, 0), this.virtualTime, state => {
      state.presentWeight = 0
      this.setWeight(state, Math.max(state.weight * ratio, LEAST_WEIGHT))
      this.setPresent(state, state.weight)
    })
  }

  /** All virtual times become less by as much; then those of types that wait change once more. */
  begin (frame, passed, change) {
    const waiting = [...this.ranking]
    for (const state of waiting) this.ranking.remove(state)
    this.frame = frame
    this.version++
    this.virtualTime -= passed
    this.fluidTime -= passed
    this.mostUsed -= passed
    for (const state of [...waiting, ...this.parked]) {
      state.frame = frame
      this.shift(state, passed)
      change(state)
      state.key = this.keyOf(state)
    }
    for (const state of waiting.sort((a, b) => a.key - b.key)) this.ranking.insert(state, state.key)
  }

  /** Virtual time may have begun anew while a type was away. */
  follow (state) {
    const { frame } = state
    if (frame === this.frame) return
    state.frame = this.frame
    if (frame.first === this.frame.first) {
      this.shift(state, this.frame.base - frame.base)
    } else {
      state.used = this.virtualTime
      state.presentWeight = 0
      if (frame.unit > 0 && frame.unit < this.unit) state.weight = Math.max(state.weight * (frame.unit / this.unit), LEAST_WEIGHT)
    }
  }

  /** Who is far behind V, which it will have to give up, is moved by less: its own charges count there, too. */
  shift (state, passed) {
    const own = Math.min(passed, this.keyOf(state) + MOST_TIME_MS / state.weight)
    state.used -= own
    if (state.isParked) state.parkedAt -= own // a number of its own takes 16 bytes
  }

  /** Before a type is set to V: that must not be too much for its charges. */
  approach (state) {
    if (Math.max(this.virtualTime, this.fluidTime) * state.weight <= MOST_TIME_MS) return
    this.rebase()
    this.follow(state)
    // then it is of types that weigh next to nothing beside this one
    if (this.fluidTime * state.weight > MOST_TIME_MS) this.fluidTime = this.virtualTime
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

  setPresent (state, weight) {
    this.advanceFluidTime()
    if (state.presentWeight === 0) this.presentCount++
    if (weight === 0) this.presentCount--
    this.weightSum = this.presentCount === 0 ? 0 : this.weightSum + weight - state.presentWeight // what was rounded goes at last
    state.presentWeight = weight
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
