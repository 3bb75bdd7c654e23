'use strict'

// HOT (bench: schedulers). The virtual time of `equal` (equal.js): what types have used, by which they are ranked, and V and the fluid
// time, which those who come are set to.

const { Frame } = require('./equal-state')
const { JobLengths } = require('./job-lengths')
const { RunQueue } = require('./run-queue')
const { LEAST_WEIGHT } = require('./weights')

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

/** What `equal` reckons with: it ranks types by keyOf(), and says when they come, go and change. */
class VirtualTime {
  /** @param {object | null} group that has only these types; null: none */
  constructor (group) {
    this.version = 0 // of the options and of the frame
    this.ranking = new RunQueue() // of the types that may start a job, by lower bounds of their keys
    this.parked = new Set() // of the states of types that wait at their cap
    this.now = 0
    this.unit = Number.MIN_VALUE // of weights; the first one has its own
    this.frame = new Frame(0, 0, group)
    this.virtualTime = 0
    this.fluidTime = 0
    this.slotTime = 0 // of ended jobs, not in fluidTime yet
    this.weightSum = 0 // of the types that wait or run jobs, as of their last event
    this.presentCount = 0 // of them
    this.mostUsed = 0 // by any that is not in the ranking
    this.jobLengths = new JobLengths(FIRST_ESTIMATE_MS)
  }

  /** No type is left: all begins as it began, for those that come. */
  restart () {
    this.unit = Number.MIN_VALUE
    this.frame = new Frame(0, 0, this.frame.group)
    this.virtualTime = this.fluidTime = this.slotTime = this.mostUsed = 0
    this.jobLengths.restart(FIRST_ESTIMATE_MS)
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

  /** Has virtual time begin anew at V. O(waiting types × log types). */
  rebase () {
    const { unit, frame, virtualTime } = this
    const base = frame.base + virtualTime
    if (base > MOST_BASE) this.rescale(unit)
    else this.begin(new Frame(unit, base, frame.group, frame.first), base - frame.base, () => {})
  }

  /** The same with another unit. The types that follow later are even with V then. */
  rescale (unit) {
    const ratio = this.unit / unit
    this.unit = unit
    this.weightSum = this.presentCount = 0
    this.begin(new Frame(unit, 0, this.frame.group), this.virtualTime, state => {
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

  setPresent (state, weight) {
    this.advanceFluidTime()
    if (state.presentWeight === 0) this.presentCount++
    if (weight === 0) this.presentCount--
    this.weightSum = this.presentCount === 0 ? 0 : this.weightSum + weight - state.presentWeight // what was rounded goes at last
    state.presentWeight = weight
  }
}

module.exports = { LEAST_MS, LEARNING_RATE, MOST_TIME_MS, MOST_USUAL, VirtualTime }
