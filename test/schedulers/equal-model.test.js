'use strict'

const assert = require('node:assert/strict')
const { Equal } = require('../../schedulers')
const { JobLengths } = require('../../schedulers/job-lengths')
const { MOST_WEIGHT, unitOf } = require('../../schedulers/weights')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')

// A random history asks for some 2,000 picks, and now and then for types that could be forgotten.
const STEPS = 5000

/**
 * The rules of `equal` (schedulers/equal.js has them in words) without any of its short cuts: each key is worked out anew when it is asked
 * for, all types are looked at, virtual time never begins anew.
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
      estimateMs: this.jobLengths.meanMs,
      starts: [],
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
    return this.waits(type) && type.starts.length < this.limitOf(type)
  }

  isPresent (type) {
    return type.starts.length > 0 || this.waits(type)
  }

  keyOf ({ used, starts, estimateMs, weight }) {
    const ranMs = starts.reduce((sum, startedAt) => sum + this.now - startedAt, 0)
    return used + Math.max(starts.length * estimateMs, ranMs) / weight
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
    const isIdle = [...this.types.values()].every(({ starts }) => starts.length === 0) && this.allThatMayStart.length === 0
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

  started (lane, now) {
    const type = this.types.get(lane)
    this.now = now
    type.size--
    type.starts.push(now)
    type.order = ++this.order
    this.settle(type)
    if (this.mayStart(type)) this.startedLast = type
  }

  ended (lane, startedAt, now) {
    const type = this.types.get(lane)
    const runMs = Math.max(now - startedAt, 0.001)
    this.now = now
    type.starts.splice(type.starts.indexOf(startedAt), 1)
    type.used += runMs / type.weight
    type.estimateMs += 0.2 * (runMs - type.estimateMs)
    this.slotTime += Math.min(runMs, 8 * this.jobLengths.usualMs)
    this.jobLengths.add(runMs)
    if (this.startedLast === type) this.startedLast = undefined
    this.settle(type)
    this.rest()
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

/** Plays one history on the scheduler and on its model. */
function play (random, { jobMs, slotCount, weights, hasCaps = false, hasWeights = false, pushes = 30, rounding = 0 }) {
  const names = [...'abcdefg']
  const own = Object.fromEntries(names.map(name => [name, random.pick(weights)]))
  const typeCaps = {}
  const equal = new Equal({ concurrency: slotCount, weights: own })
  const model = new Model(own, typeCaps, slotCount, rounding)
  const lanes = new Map()
  const running = []
  let now = 0
  let pickCount = 0
  let forgottenCount = 0

  const laneOf = name => {
    if (!lanes.has(name)) {
      lanes.set(name, { type: name, size: 0, running: 0, headSeq: 0, isPaused: false, isShared: false, state: undefined })
    }
    return lanes.get(name)
  }

  const actions = {
    push () {
      const lane = laneOf(random.pick(names))
      for (let count = random.chance(0.1) ? 20 : 1; count > 0; count--) {
        lane.size++
        equal.queued(lane)
        model.queued(lane)
      }
    },
    start () {
      if (running.length >= slotCount) return
      const lane = equal.next(now)
      model.picked(lane, now)
      if (lane === undefined) return
      lane.size--
      lane.running++
      equal.started(lane, now)
      model.started(lane, now)
      running.push({ lane, startedAt: now })
      pickCount++
    },
    end () {
      if (running.length === 0) return
      const [{ lane, startedAt }] = running.splice(random.below(running.length), 1)
      lane.running--
      equal.ended(lane, startedAt, now)
      model.ended(lane, startedAt, now)
    },
    pass () {
      now += random.below(jobMs)
    },
    remove () {
      const lane = laneOf(random.pick(names))
      if (lane.size === 0) return
      const count = random.chance(0.5) ? lane.size : 1
      lane.size -= count
      equal.removed(lane)
      model.removed(lane, count)
    },
    pause () {
      const lane = laneOf(random.pick(names))
      lane.isPaused = !lane.isPaused
      for (const each of [equal, model]) {
        if (lane.isPaused) each.paused(lane)
        else each.resumed(lane)
      }
    },
    cap () {
      if (!hasCaps) return
      const change = { [random.pick(names)]: random.below(4) }
      equal.configure({ typeCaps: change })
      model.capped(change)
    },
    weigh () {
      if (!hasWeights) return
      const change = { [random.pick(names)]: random.pick(weights) }
      equal.configure({ weights: change })
      model.weighed(change)
    },
    forget () {
      for (const [name, lane] of lanes) {
        if (lane.size > 0 || lane.running > 0 || lane.isPaused || lane.state === undefined) continue
        const mayForget = model.mayForget(lane)
        const does = equal.forget(lane)
        if (mayForget !== undefined) assert.equal(does, mayForget, name)
        if (!does) continue
        lanes.delete(name)
        model.forgotten(lane)
        forgottenCount++
      }
    }
  }
  const often = { push: pushes, start: 45, end: 25, pass: 40, remove: 1, pause: 2, cap: 1, weigh: 1, forget: 3 }
  const bag = Object.entries(often).flatMap(([name, count]) => Array(count).fill(actions[name]))
  for (let step = 0; step < STEPS; step++) random.pick(bag)()
  return { pickCount, forgottenCount }
}

describe('equal picks whom its rules say', () => {
  const seed = seedFromEnvironment()

  for (const [what, history] of Object.entries({
    'with jobs of some ms': { jobMs: 10, slotCount: 4, weights: [1] },
    'by weights': { jobMs: 10, slotCount: 3, weights: [1, 2, 0.25, 3], rounding: 1e-9 },
    'with one slot': { jobMs: 100, slotCount: 1, weights: [1, 4] },
    'under caps that change': { jobMs: 10, slotCount: 6, weights: [1, 2], hasCaps: true, rounding: 1e-9 },
    'by weights that change': { jobMs: 10, slotCount: 5, weights: [1, 2, 4], hasCaps: true, hasWeights: true, rounding: 1e-9 },
    'where a type comes that weighs a thousand times as much': { jobMs: 10, slotCount: 3, weights: [1, 2, 4096], rounding: 1e-9 },
    'where it is often idle': { jobMs: 20, slotCount: 5, weights: [1], pushes: 8 },
    'while virtual time begins anew': { jobMs: 60000, slotCount: 4, weights: [1, 2, 4], hasCaps: true, rounding: 1e-9 }
  })) {
    it(`${what} (SEED=${seed})`, () => {
      const random = seeded(seed)
      let picks = 0
      let forgotten = 0
      for (let round = 0; round < rounds(20); round++) {
        const { pickCount, forgottenCount } = play(random, history)
        picks += pickCount
        forgotten += forgottenCount
      }
      assert(picks > 5000 && forgotten > 20, `${picks} picks, ${forgotten} forgotten`)
    })
  }
})
