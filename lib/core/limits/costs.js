'use strict'

// HOT (bench: flow). What the jobs of a queue cost, where that is counted: where a rate counts units, where the scheduler shares them, or
// where a job has come that says what it costs. Made then; a queue that counts none knows nothing of it.
//
//   list ──takes()──▶ Charge ──▶ windows, scheduler, counts
//   runner ──spent(total)──▶ Correction ──▶ the same
//
// A job is charged when it starts. What its runner says later, as long as it runs, is charged at once, or given back.

const { COST } = require('../../job/cost')
const { JobContext } = require('../../platform/context')
const { Origin } = require('../lists/special-lanes')
const { spend } = require('../running')
const { nextMark } = require('./cost-window')

// Units that a job was charged in so many parts can be told apart; what comes then counts as of the last of these when it is given back.
const MOST_PARTS = 64

/** What one job that runs is charged. */
class Charge {
  constructor (units) {
    this.units = units
    this.mark = nextMark() // in windows, of what was charged at the start
    this.key = undefined // of the limit of its type then
    this.parts = undefined // { units, mark }, the newest last, once there was a correction
    this.leftAt = Infinity // charges with higher marks are in the windows of its type's own lane alone
    this.isReserved = false // it is in no window as yet: the job has a slot, and starts later
  }

  /** The job starts that had its units reserved. */
  start () {
    this.isReserved = false
    this.renew()
  }

  /** Its windows are asked next: what the caller's code has charged meanwhile, when it was asked, stands before it. */
  renew () {
    this.mark = nextMark()
  }

  /** Its type leaves the lane that it has shared. */
  leave () {
    this.leftAt = nextMark()
  }

  /** @returns {Correction} from what it was to so many units */
  correct (units) {
    const parts = this.parts ??= [{ units: this.units, mark: this.mark }]
    const difference = units - this.units
    this.units = units
    return new Correction(difference, difference > 0 ? [this.raise(parts, difference)] : takeBack(parts, -difference))
  }

  // private from here on

  raise (parts, units) {
    const part = { units, mark: nextMark() }
    const last = parts.at(-1)
    const hasLeft = last.mark < this.leftAt && this.leftAt < part.mark
    if (parts.length < MOST_PARTS || hasLeft) parts.push({ ...part })
    else last.units += units
    return part
  }
}

/** Units that a job is charged more, or fewer. */
class Correction {
  /** @param {number} difference @param {{ units: number, mark: number }[]} parts that are charged, or given back */
  constructor (difference, parts) {
    this.difference = difference
    this.parts = parts
  }

  get isMore () {
    return this.difference > 0
  }

  /** @returns {Correction} that part of it which is about charges with lower marks */
  before (mark) {
    return new Correction(this.difference, this.parts.filter(part => part.mark < mark))
  }

  /** @param {object} limit with windows of cost */
  applyTo (limit, now) {
    for (const { units, mark } of this.parts) {
      if (this.isMore) limit.charge(now, units, mark)
      else limit.giveBack(now, units, mark)
    }
  }
}

/** Of a job that runs, in a list that ignores types. */
class PlainOrigin {
  constructor (id) {
    this.id = id // of an observed job
    this.type = undefined
    this.charge = undefined
  }
}

/** Whose the context of a job is that has no extras, and to which nobody listens. */
class PlainRun {
  constructor (dispatch, job) {
    this.dispatch = dispatch
    this.job = job
  }

  runnersSignal () {
    return this.dispatch.interruptions.signal
  }

  progress () {} // nobody listened when it started

  spent (total) {
    spend(this.dispatch, this.job, total)
  }
}

class Costs {
  /**
   * @param {object} dispatch
   * @param {object} list which has a gate
   * @param {(payload: any) => number} [costOf] what a job costs, where its ticket does not say it
   */
  constructor (dispatch, list, costOf) {
    this.dispatch = dispatch
    this.list = list
    this.costOfPayload = costOf
    this.spent = 0 // all that was charged, as corrected
    this.chosen = undefined // whose job is to start next, and waits for units of the whole queue: others wait behind it
  }

  /** Whether a job may start by the limit of the queue, the first of those that wait. */
  mayStart (whenSettled, payload) {
    return this.isOpenFor(this.costOf(whenSettled, payload))
  }

  /** What the first job of a lane costs. */
  costOfFirst ({ head, headAt, isShared }) {
    return this.costOf(head[headAt + 1], isShared ? head[headAt].payload : head[headAt])
  }

  /**
   * In how many ms the first job of a type, or of all, may start by the limit of the queue; where others wait behind one that was chosen,
   * not before that.
   * @param {number} [cost] of that job, if it is in no list
   */
  waitMs (type, cost = this.costOfNext(type)) {
    const { chosen, list, list: { gate } } = this
    if (list.lanes === undefined) return gate.waitMs(cost)
    return gate.waitMs(Math.max(cost ?? COST, list.isStartable(chosen) ? this.costOfFirst(chosen) : 0))
  }

  /** As choose() of Lanes: a lane whose first job may start by the limit of the queue, too. */
  choose () {
    const { chosen, list } = this
    const lane = list.isStartable(chosen) ? chosen : list.choose()
    if (lane === undefined) return undefined
    const mayStart = this.isOpenFor(this.costOfFirst(lane))
    this.chosen = mayStart ? undefined : lane
    return mayStart ? lane : undefined
  }

  /** As choose() of Window. */
  choosePlace () {
    const { chosen, list } = this
    const known = chosen === undefined ? -1 : list.indexOf(chosen)
    const at = known >= 0 ? known : list.choose()
    if (at < 0) return at
    const mayStart = this.mayStart(list.settlers.peekAt(at), list.payloads.peekAt(at))
    this.chosen = mayStart ? undefined : list.numbers.peekAt(at)
    return mayStart ? at : -1
  }

  /** The scheduler is to choose anew: what it has chosen may be over a cap by now. */
  chooseAnew () {
    this.chosen = undefined
  }

  /** The first job of a lane was taken. */
  takes (lane, whenSettled, payload) {
    const { list } = this
    if (list.origin === lane) list.origin = new Origin(lane, list.now, lane.type)
    this.begin(list.origin, lane, whenSettled, payload)
  }

  /** As takes(), in a list without lanes. @param {number | undefined} id of an observed job */
  takesPlain (id, whenSettled, payload) {
    this.begin(this.list.origin = new PlainOrigin(id), undefined, whenSettled, payload)
  }

  /** A job was taken. @param {object} origin gets its charge @param {object} [counts] of its type */
  begin (origin, counts, whenSettled, payload) {
    const { list } = this
    const charge = origin.charge = list.charge = new Charge(this.costOf(whenSettled, payload))
    list.cost = charge.units
    this.count(origin, counts, charge.units)
  }

  /** A job starts. @returns {JobContext} what its runner is told of it, unless it has extras */
  starts (job, context) {
    const { dispatch, dispatch: { listeners } } = this
    return listeners === null ? new JobContext(context.type, 1, new PlainRun(dispatch, job)) : listeners.starts(job, context)
  }

  /** The runner of a job says what that has cost so far. */
  correct ({ origin }, units) {
    const charge = origin?.charge
    if (charge === undefined || charge.units === units) return // it had started before costs were counted, or it is known
    const { dispatch, list } = this
    const correction = charge.correct(units)
    this.count(origin, origin.lane ?? origin.record, correction.difference)
    if (!charge.isReserved) this.correctLimits(origin, correction)
    if (list.needsCost) list.tellCharged(origin.lane, correction.difference, origin.startedAt)
    dispatch.wake()
  }

  // private from here on

  isOpenFor (cost) {
    return this.list.gate.isOpenFor(cost)
  }

  correctLimits (origin, correction) {
    const { gate, holds } = this.list
    gate.correct(correction)
    holds?.correct(origin, correction) // no list but Lanes has any
  }

  /** By what stands in a list for a job in the place of its callback, unless somebody else knows it. */
  costOf (whenSettled, payload) {
    if (this.costOfPayload !== undefined) return this.costOfPayload(payload)
    return typeof whenSettled === 'object' ? whenSettled.cost : COST
  }

  /** What the first job of a type, or of all, costs; undefined: there is none, or which one that is nobody but the scheduler knows. */
  costOfNext (type) {
    const { list } = this
    if (list.scheduler === undefined) return list.size === 0 ? undefined : this.costOf(list.first().whenSettled, list.first().payload)
    if (list.lanes === undefined) return undefined
    const lane = type === undefined ? list.lanes.get(type) : list.find(type) // there is a lane of no type where there is no scheduler
    return lane === undefined || lane.size === 0 ? undefined : this.costOfFirst(lane)
  }

  count (origin, counts, units) {
    this.spent += units
    this.list.recorder?.charged(origin.id, units)
    if (counts !== undefined) counts.spent += units
  }
}

/** Those of a queue whose owner has limits of its own, which it corrects by itself. */
class SharedCosts extends Costs {
  /** @param {{ expectedOf: Function, knownOf: Function }} costs of what stands for jobs, as of InnerQueue.shareCosts() */
  constructor (dispatch, list, { expectedOf, knownOf }) {
    super(dispatch, list, expectedOf)
    this.knownOf = knownOf
  }

  /** The first job of a type is the next one, unless others wait behind another one already. */
  chooseAgain (type) {
    const { chosen, list } = this
    if (list.lanes !== undefined) this.chosen = list.isStartable(chosen) ? chosen : list.find(type)
    else if (list.scheduler !== undefined) this.chosen = chosen !== undefined && list.indexOf(chosen) >= 0 ? chosen : list.numberOf(type)
  }

  mayStart (whenSettled, payload) {
    return this.isOpenFor(this.knownOf(payload))
  }

  costOfFirst ({ head, headAt, isShared }) {
    return this.knownOf(isShared ? head[headAt].payload : head[headAt])
  }

  // private from here on

  isOpenFor (cost) {
    const { gate } = this.list
    return gate === null || gate.isOpenFor(cost)
  }

  correctLimits () {}
}

/** Takes units off, the newest first. @returns {{ units: number, mark: number }[]} */
function takeBack (parts, units) {
  const taken = []
  while (units > 0) {
    const part = parts.at(-1)
    const given = Math.min(units, part.units)
    taken.push({ units: given, mark: part.mark })
    part.units -= given
    units -= given
    if (part.units === 0 && parts.length > 1) parts.pop()
  }
  return taken
}

module.exports = { Costs, SharedCosts }
