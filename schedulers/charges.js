'use strict'

// HOT (bench: schedulers). What else than time `equal` can share: the units that jobs cost, as tokens, or these for as long as they are
// held, as the memory of a GPU. Loaded by makeEqual() when `chargeBy` asks for it.
//
// The list tells what a job costs when it starts and when it has ended, and charged() when a runner has corrected that meanwhile.

const { Equal } = require('./equal')
const { State } = require('./equal-state')
const { LEAST_MS, LEARNING_RATE, MOST_USUAL } = require('./virtual-time')

// A job that costs nothing is charged so many units: else it would be first for ever.
const LEAST_COST = 2 ** -10

class CostState extends State {
  constructor (lane, used, estimateMs, frame) {
    super(lane, used, estimateMs, frame)
    this.most = Infinity // that a job has cost, once one has started
  }
}

/**
 * Units. All of a job's are charged when it starts, so a key is exactly what the type has used, and this is start-time fair queuing
 * (Goyal, Vin, Cheng 1996) as it stands in the paper: it needs no clock, and for two types that stay backlogged below their caps the
 * units U that they were charged at the starts of jobs differ by |Ui/wi - Uj/wj| <= ci/wi + cj/wj, c being the most that a job of the
 * type costs. So newcomers begin at V, or where the fluid time has them begin, but by no more behind V than a job of theirs has cost
 * (docs/decisions/0176).
 */
class EqualByCost extends Equal {
  /** Arguments as of Equal. */
  constructor (options, part) {
    super(options, part)
    this.needsClock = false
    this.needsCost = true
  }

  started (lane, now, cost) {
    const { state } = lane
    const charge = Math.max(cost, LEAST_COST)
    state.used += charge / state.weight
    if (state.most === Infinity || charge > state.most) state.most = charge
    super.started(lane, now)
  }

  /** The runner of a job has said that it costs so much more than was charged, or less. */
  charged (lane, difference) {
    const { state } = lane
    state.used += difference / state.weight
    this.rekeyAny(state)
  }

  /** @param {number} cost what was charged in the end */
  ended (lane, startedAt, now, cost) {
    const { state } = lane
    this.runningCount--
    if (cost < LEAST_COST) state.used += LEAST_COST / state.weight
    this.slotTime += Math.min(cost, MOST_USUAL * this.jobLengths.usualMs)
    this.jobLengths.add(cost)
    this.rekeyAny(state)
  }

  // private from here on

  enter (lane) {
    lane.state = new CostState(lane, this.virtualTime, 0, this.frame)
    return lane.state
  }

  keyOf (state) {
    return state.used
  }

  keyWith ({ state }) {
    return state.used
  }

  floorOf (state) {
    const { virtualTime, fluidTime, jobLengths: { meanMs, usualMs } } = this
    const { weight, most } = state
    const behind = Math.min(fluidTime - virtualTime - meanMs / weight, Math.min(MOST_USUAL * usualMs, most) / weight)
    return virtualTime + Math.max(behind, 0)
  }

  rekeyAny (state) {
    if (state === this.startedLast) this.rekeyStarted()
    else this.rekey(state)
  }
}

class HeldState extends State {
  constructor (lane, used, estimateMs, frame) {
    super(lane, used, estimateMs, frame)
    this.costSum = 0 // of the running jobs; startSum has the start time of each as often as it has units
  }
}

/**
 * Units times ms: as `equal` does it with time, where each job counts as so many as it has units. What a runner corrects counts for the
 * whole run.
 */
class EqualByCostTime extends Equal {
  constructor (options, part) {
    super(options, part)
    this.needsCost = true
    this.expectedMs = 1 // how long a job of a new type is expected to run
    this.hasEnded = false // a job has
  }

  started (lane, now, cost) {
    const { state } = lane
    state.costSum += cost
    state.startSum += (cost - 1) * now
    super.started(lane, now)
  }

  /** @param {number} startedAt when the job did */
  charged (lane, difference, startedAt) {
    const { state } = lane
    state.costSum += difference
    state.startSum += difference * startedAt
    if (state === this.startedLast) this.rekeyStarted()
    else this.rekey(state)
  }

  ended (lane, startedAt, now, cost) {
    const { state } = lane
    const runMs = Math.max(now - startedAt, LEAST_MS)
    const held = Math.max(cost, LEAST_COST) * runMs
    this.now = now
    this.runningCount--
    state.costSum = lane.running === 0 ? 0 : state.costSum - cost
    state.startSum = lane.running === 0 ? 0 : state.startSum - cost * startedAt
    state.used += held / state.weight
    state.estimateMs += LEARNING_RATE * (runMs - state.estimateMs)
    this.expectedMs += (this.hasEnded ? LEARNING_RATE : 1) * (runMs - this.expectedMs)
    this.hasEnded = true
    this.slotTime += Math.min(held, MOST_USUAL * this.jobLengths.usualMs)
    this.jobLengths.add(held)
    if (state === this.startedLast) this.rekeyStarted()
    else this.rekey(state)
  }

  /** How long jobs are is not all that counts: any type may be served before another one. */
  precedes () {
    return true
  }

  // private from here on

  restart () {
    super.restart()
    this.expectedMs = 1
    this.hasEnded = false
  }

  enter (lane) {
    lane.state = new HeldState(lane, this.virtualTime, this.expectedMs, this.frame)
    return lane.state
  }

  copyRunning (state, { costSum, startSum }) {
    state.costSum = costSum
    state.startSum = startSum
  }

  keyOf (state) {
    const { costSum } = state
    return state.used + Math.max(costSum * state.estimateMs, costSum * this.now - state.startSum) / state.weight
  }
}

module.exports = { byName: { cost: EqualByCost, 'cost*time': EqualByCostTime } }
