'use strict'

// The rules of `equal` (schedulers/equal.js has them in words), and of what it shares else (charges.js), as simply as they can be told.

const assert = require('node:assert/strict')
const { JobLengths } = require('../../schedulers/job-lengths')
const { MOST_WEIGHT, unitOf } = require('../../schedulers/weights')

const LEAST_COST = 2 ** -10

/**
 * Without any of the short cuts of the scheduler: each key is worked out anew when it is asked for, all types are looked at, virtual time
 * never begins anew.
 */
class Model {
  /** @param {number} rounding what the scheduler may round otherwise, in parts of virtual time; 0: nothing */
  constructor (weights, typeCaps, slotCount, rounding) {
    this.weights = weights
    this.typeCaps = typeCaps
    this.slotCount = slotCount
    this.rounding = rounding
    this.unit = 0 // of weights
    this.types = new Map()
    this.startedLast = undefined
    this.jobLengths = new JobLengths(1)
    this.now = this.virtualTime = this.fluidTime = this.slotTime = this.mostUsed = this.order = 0
  }

  enter (lane) {
    const known = this.types.get(lane)
    if (known !== undefined) return known
    const type = {
      lane,
      weight: this.weights[lane.type],
      isWeighed: false,
      isLate: false,
      isListed: false, // it waited after the last change of it
      isPresent: false,
      used: this.virtualTime,
      estimateMs: this.expectedMs(),
      most: Infinity, // that a job has cost, once one has started
      jobs: [], // that run: { startedAt, cost }
      order: 0,
      size: 0,
      isPaused: false,
      parkedAt: undefined,
      wasParked: false
    }
    this.types.set(lane, type)
    this.refresh(type)
    return type
  }

  /** A weight that is too great for the unit of the others has all begin anew: who waits keeps what he is ahead of V, or behind. */
  weigh (type) {
    const weight = this.weights[type.lane.type]
    type.isWeighed = true
    if (weight / this.unit > MOST_WEIGHT) {
      this.unit = unitOf(weight)
      for (const other of this.types.values()) other.isLate = !other.isListed
      if ([...this.types.values()].some(({ isListed }) => isListed)) {
        this.slotTime = 0
        this.fluidTime = Math.max(this.fluidTime, this.virtualTime)
      }
      this.follow(type)
    }
    const ratio = type.weight / weight
    type.used = this.virtualTime + (type.used - this.virtualTime) * ratio
    if (type.parkedAt !== undefined) type.parkedAt = this.virtualTime + (type.parkedAt - this.virtualTime) * ratio
    type.weight = weight
  }

  /** Those that did not wait then begin at V. */
  follow (type) {
    if (type.isLate) Object.assign(type, { isLate: false, isPresent: false, used: this.virtualTime })
  }

  refresh (type) {
    this.follow(type)
    if (!type.isWeighed) this.weigh(type)
  }

  waits ({ size, isPaused }) {
    return size > 0 && !isPaused
  }

  limitOf ({ lane }) {
    return this.typeCaps[lane.type] ?? Infinity // a type that has all slots is at no limit of its own
  }

  mayStart (type) {
    return this.waits(type) && type.jobs.length < this.limitOf(type)
  }

  isPresent (type) {
    return type.jobs.length > 0 || this.waits(type)
  }

  keyOf ({ used, jobs, estimateMs, weight }) {
    const ranMs = jobs.reduce((sum, { startedAt }) => sum + this.now - startedAt, 0)
    return used + Math.max(jobs.length * estimateMs, ranMs) / weight
  }

  expectedMs () {
    return this.jobLengths.meanMs
  }

  get weightSum () {
    return [...this.types.values()].filter(({ isPresent, isLate }) => isPresent && !isLate).reduce((sum, { weight }) => sum + weight, 0)
  }

  get allThatMayStart () {
    return [...this.types.values()].filter(type => this.mayStart(type))
  }

  get roundedBy () {
    return this.rounding * Math.max(1, this.virtualTime)
  }

  advanceFluidTime () {
    const { weightSum } = this
    if (weightSum > 0) this.fluidTime += 7 / 8 * this.slotTime / weightSum
    this.fluidTime = Math.max(this.fluidTime, this.virtualTime)
    this.slotTime = 0
  }

  floorOf ({ weight }) {
    const { virtualTime, fluidTime, jobLengths: { lowMs, meanMs, usualMs } } = this
    return Math.max(virtualTime + lowMs / weight, Math.min(fluidTime - meanMs / weight, virtualTime + 8 * usualMs / weight))
  }

  forfeit (type) {
    this.refresh(type)
    this.advanceFluidTime()
    type.used += Math.max(0, this.floorOf(type) - this.keyOf(type))
    type.order = ++this.order
    type.wasParked = false
  }

  /** What the type is now, after a change of it. */
  settle (type) {
    this.refresh(type)
    const isParked = this.waits(type) && !this.mayStart(type)
    if (isParked && type.parkedAt === undefined) {
      type.parkedAt = this.virtualTime
      type.wasParked = true
    } else if (!isParked && type.parkedAt !== undefined) {
      type.used += Math.max(0, Math.min(this.virtualTime - type.parkedAt, this.virtualTime - this.keyOf(type)))
      type.parkedAt = undefined
    }
    if (!this.mayStart(type)) this.mostUsed = Math.max(this.mostUsed, type.used)
    const isPresent = this.isPresent(type)
    if (isPresent !== type.isPresent) this.advanceFluidTime()
    type.isPresent = isPresent
    type.isListed = this.waits(type)
  }

  rest () {
    const isIdle = [...this.types.values()].every(({ jobs }) => jobs.length === 0) && this.allThatMayStart.length === 0
    if (isIdle) this.virtualTime = Math.max(this.virtualTime, this.mostUsed)
  }

  queued (lane) {
    const type = this.enter(lane)
    const isBack = type.size === 0 || type.isPaused
    type.size++
    if (isBack) this.forfeit(type)
    this.settle(type)
  }

  /** Asserts that this lane is the one to be picked: of equal keys that with the least order, of nearly equal ones any. */
  picked (lane, now) {
    this.now = now
    if (this.startedLast !== undefined) this.settle(this.startedLast) // it may be late
    this.startedLast = undefined
    const all = this.allThatMayStart
    if (all.length === 0) return assert.equal(lane, undefined)
    const keys = all.map(type => this.keyOf(type))
    const least = Math.min(...keys)
    const type = this.types.get(lane)
    const key = this.keyOf(type)
    assert(all.includes(type) && key - least <= this.roundedBy, `${lane.type} has ${key}, and the least is ${least}`)
    if (this.rounding === 0) assert(all.every((other, i) => keys[i] > least || other.order >= type.order), `${lane.type} overtakes another`)
    this.virtualTime = Math.max(this.virtualTime, key)
  }

  started (lane, now, cost) {
    const type = this.types.get(lane)
    this.now = now
    type.size--
    type.jobs.push({ startedAt: now, cost })
    this.charge(type, cost)
    type.order = ++this.order
    this.settle(type)
    if (this.mayStart(type)) this.startedLast = type
  }

  /** A job of a type has started. */
  charge () {}

  ended (lane, startedAt, now, cost) {
    const type = this.types.get(lane)
    const runMs = Math.max(now - startedAt, 0.001)
    this.now = now
    type.jobs.splice(type.jobs.findIndex(job => job.startedAt === startedAt && job.cost === cost), 1)
    this.learn(this.use(type, runMs, cost))
    this.place(type)
    this.rest()
  }

  /** @returns {number} how long the job was, in what is shared */
  use (type, runMs) {
    type.used += runMs / type.weight
    type.estimateMs += 0.2 * (runMs - type.estimateMs)
    return runMs
  }

  learn (length) {
    this.slotTime += Math.min(length, 8 * this.jobLengths.usualMs)
    this.jobLengths.add(length)
  }

  /** A runner has said that a job costs so much more. */
  charged (lane, difference, job) {
    const type = this.types.get(lane)
    this.correct(type, difference, type.jobs.find(({ startedAt, cost }) => startedAt === job.startedAt && cost === job.cost))
    this.place(type)
    this.rest()
  }

  place (type) {
    if (this.startedLast === type) this.startedLast = undefined
    this.settle(type)
  }

  removed (lane, count) {
    const type = this.types.get(lane)
    type.size -= count
    this.settle(type)
    this.rest()
  }

  paused (lane) {
    const type = this.enter(lane)
    type.isPaused = true
    this.settle(type)
  }

  resumed (lane) {
    const type = this.types.get(lane)
    type.isPaused = false
    this.forfeit(type)
    this.settle(type)
    this.rest()
  }

  capped (typeCaps) {
    const waiting = [...this.types.values()].filter(type => this.waits(type))
    const limits = waiting.map(type => this.limitOf(type))
    Object.assign(this.typeCaps, typeCaps)
    waiting.forEach((type, i) => {
      if (type.wasParked && this.limitOf(type) > limits[i]) this.forfeit(type)
      this.settle(type)
    })
  }

  weighed (weights) {
    this.unit = 0
    Object.assign(this.weights, weights)
    for (const type of this.types.values()) type.isWeighed = false
    for (const type of this.types.values()) if (this.waits(type)) this.settle(type)
  }

  /** Whether the type would begin where it is now if it came anew; `undefined` where that is a matter of rounding. */
  mayForget (lane) {
    const type = this.types.get(lane)
    this.follow(type)
    this.advanceFluidTime()
    const missing = this.floorOf(type) - type.used
    return Math.abs(missing) < this.roundedBy ? undefined : missing >= 0
  }

  forgotten (lane) {
    if (this.startedLast === this.types.get(lane)) this.startedLast = undefined
    this.types.delete(lane)
  }
}

/** By what jobs cost, all of it at their start. */
class CostModel extends Model {
  keyOf ({ used }) {
    return used
  }

  expectedMs () {
    return 0
  }

  charge (type, cost) {
    const charge = Math.max(cost, LEAST_COST)
    type.used += charge / type.weight
    type.most = type.most === Infinity ? charge : Math.max(type.most, charge)
  }

  correct (type, difference, job) {
    type.used += difference / type.weight
    job.cost += difference
  }

  use (type, runMs, cost) {
    if (cost < LEAST_COST) type.used += LEAST_COST / type.weight
    return cost
  }

  floorOf ({ weight, most }) {
    const { virtualTime, fluidTime, jobLengths: { meanMs, usualMs } } = this
    return Math.max(virtualTime, Math.min(fluidTime - meanMs / weight, virtualTime + 8 * usualMs / weight, virtualTime + most / weight))
  }
}

/** By that, for as long as they run. */
class CostTimeModel extends Model {
  keyOf ({ used, jobs, estimateMs, weight }) {
    const expected = jobs.reduce((sum, { cost }) => sum + cost * estimateMs, 0)
    const held = jobs.reduce((sum, { startedAt, cost }) => sum + cost * (this.now - startedAt), 0)
    return used + Math.max(expected, held) / weight
  }

  expectedMs () {
    return this.runMs ?? 1
  }

  correct (type, difference, job) {
    job.cost += difference
  }

  use (type, runMs, cost) {
    const held = Math.max(cost, LEAST_COST) * runMs
    type.used += held / type.weight
    type.estimateMs += 0.2 * (runMs - type.estimateMs)
    this.runMs = this.runMs === undefined ? runMs : this.runMs + 0.2 * (runMs - this.runMs)
    return held
  }
}

/** By the option chargeBy. */
const MODELS = { time: Model, cost: CostModel, 'cost*time': CostTimeModel }

module.exports = { MODELS }
