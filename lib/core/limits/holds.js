'use strict'

// HOT (bench: flow). Which lanes limits of types hold back. To a scheduler a type that is out of rate, or held, is paused: so it takes no
// slot, is charged nothing and saves nothing up. A lane is held exactly while its type is out of rate, or held, and jobs wait in it; where
// units of cost are counted, while its first job would take more than are left. To the scheduler it is paused then, as it is while the user
// has paused the type; each of these ends without the other.

const { COST } = require('../../job/cost')

/** What is due when a lane may start jobs again. */
class Hold {
  constructor (holds, lane) {
    this.holds = holds
    this.lane = lane
    this.position = -1 // in the heap of deadlines
    this.order = 0
  }

  whenDue () {
    this.holds.due(this)
  }
}

/** What a list of lanes asks about limits of types. It may be set at any time, as `holds` of the list; no lane is held then. */
class Holds {
  /**
   * @param {object} list the Lanes
   * @param {object} limits
   * @param {() => object} deadlinesOf gives the deadlines of the queue
   * @param {() => void} wake has it start what may start
   */
  constructor (list, limits, deadlinesOf, wake) {
    this.list = list
    this.limits = limits
    this.deadlinesOf = deadlinesOf
    this.wake = wake
    this.byLane = new Map() // lane → Hold
    this.pausedByUser = new Set(list.typesThatArePaused())
    this.touched = new Set() // lanes of which jobs were taken out, and that may have to be held now, or not any more
  }

  /** How many lanes are held. */
  get size () {
    return this.byLane.size
  }

  /** In how many ms a job of the type might start as far as its limits go. @param {number} [cost] of it, if it is in no list */
  heldMs (type, cost = this.costOf(this.list.find(type))) {
    return this.limits.waitMs(this.limitKeyOf(type), type, cost)
  }

  /** In how many ms so many jobs of the type may have started as far as limits go, those of the whole queue included. */
  heldMsOf (type, count) {
    const { gate } = this.list
    const cost = this.costOf(this.list.find(type)) // of the first of them: nobody adds up what the others cost
    return Math.max(this.limits.waitMsOf(this.limitKeyOf(type), type, count, cost), gate === null ? 0 : gate.waitMs())
  }

  /** Starts no job of the type for so many ms; 0 ends that. O(1), and for a type that shares a lane O(jobs in it). */
  holdType (type, ms) {
    const { list } = this
    this.limits.hold(type, ms)
    if (list.hasLane(type)) this.adjust(list.openOwn(type))
  }

  /** The places of a limit are others now. @param {string | number} key of the limit */
  adjustOf (key) {
    const { lanes, overflow } = this.list
    const lane = typeof key === 'number' ? overflow.lanes[key] : lanes.get(key)
    if (lane !== undefined) this.adjust(lane)
  }

  /** The limits are others now. Types that they name get lanes of their own. O(lanes + types in shared ones). */
  adjustAll () {
    const { list } = this
    list.overflow.openNamed()
    for (const lane of [...list.all()]) if (lane.owner === list) this.adjust(lane)
  }

  /** The time of a hold is over, or the limit is one with several windows, or the clock was early. */
  due ({ lane }) {
    this.adjust(lane)
    this.wake()
  }

  // what the list asks, and tells

  /** A job was put into a lane, which may be held from now on. */
  accept (lane) {
    const { limits, byLane, list } = this
    const isHeld = byLane.has(lane)
    const isOut = limits.isUsed && !isHeld && limits.mayHold(lane, this.costOf(lane)) && this.waitMs(lane) > 0
    if (lane.isPaused) list.pausedCount++
    else if (!isOut) list.tellQueued(lane)
    if (isOut) this.hold(lane)
    else if (isHeld && list.costs !== null) this.adjust(lane) // it may be the first
  }

  /**
   * A job of a lane was taken, and the scheduler has been told.
   * @param {Function | object | undefined} whenSettled of the job
   * @param {any} payload of the job
   */
  started (lane, whenSettled, payload) {
    const { limits, list, list: { context: { type } } } = this
    const key = this.keyOf(lane)
    const scope = limits.isAsked ? whenSettled?.scope : undefined // of its push, if that is kept
    const limit = limits.hasRates ? limits.limitOf(lane, key, type, scope) : limits.none
    list.charge?.renew()
    if (limit === limits.none) return
    if (list.costs !== null) this.charge(lane, whenSettled, payload, key)
    limits.count(key, limit, type, list.charge)
    if (lane.size > 0 && limit.lacks(this.costOf(lane))) this.adjust(lane)
  }

  /** A job of a lane was taken out: the lane may have another first one, or none. */
  loses (lane) {
    if (this.list.costs !== null || (lane.size === 0 && this.byLane.has(lane))) this.touched.add(lane)
  }

  /** Whoever took jobs out is done. */
  relax () {
    if (this.touched.size === 0) return
    const lanes = [...this.touched]
    this.touched.clear()
    for (const lane of lanes) if (lane.owner === this.list) this.adjust(lane)
  }

  /** A job that runs is charged other units than it was. @param {object} origin of it @param {object} correction */
  correct (origin, correction) {
    const { limits } = this
    if (!limits.hasRates) return
    const { charge, lane, type } = origin
    const key = this.keyOf(lane)
    const limit = correction.isMore ? limits.limitOf(lane, key, type) : limits.find(key)
    limits.correct(key, limit, correction)
    this.adjust(lane)
    if (correction.isMore || charge.key === key || charge.key === undefined) return
    limits.correct(charge.key, limits.find(charge.key), correction.before(charge.leftAt)) // its type shared a lane when it started
    this.adjustOf(charge.key)
  }

  /** The user pauses a type. @returns {boolean} whether it is held: then its lane is paused already */
  pauses (type) {
    this.pausedByUser.add(type)
    return this.isHeld(type)
  }

  /** The user resumes a type. @returns {boolean} whether it is held: then its lane stays paused */
  keeps (type) {
    this.pausedByUser.delete(type)
    return this.isHeld(type)
  }

  isNamed (type) {
    return this.limits.isNamed(type)
  }

  /**
   * A type is to get a lane of its own.
   * @returns {object | undefined} the lane that it shares, if it leaves one, for left(). No job starts meanwhile
   */
  leaves (type) {
    const { overflow } = this.list
    if (overflow.lanes.length > 0) this.limits.inherit(type, overflow.indexOf(type))
    if (!overflow.has(type)) return undefined
    const shared = overflow.find(type)
    if (this.byLane.has(shared)) this.letGo(shared)
    return shared
  }

  left (lane, shared) {
    for (const one of [lane, shared]) if (one.owner === this.list) this.adjust(one)
  }

  /** Has a lane be held, or not, as its limits say now. */
  adjust (lane) {
    const hold = this.byLane.get(lane)
    const isOut = lane.size > 0 && this.waitMs(lane) > 0
    if (isOut && hold === undefined) this.hold(lane)
    else if (isOut) this.watch(hold)
    else if (hold !== undefined) this.letGo(lane)
  }

  // private from here on

  /**
   * The key of a type's limit: of its lane or, if it has none, of the one that it would get. One of its own begins with what the lane has
   * started that the type would share.
   */
  limitKeyOf (type) {
    const { lanes, overflow } = this.list
    return lanes.has(type) || this.limits.has(type) ? type : overflow.indexOf(type)
  }

  /** The key of the limit of a lane. */
  keyOf (lane) {
    return lane.isShared ? this.list.overflow.lanes.indexOf(lane) : lane.type
  }

  isHeld (type) {
    const lane = this.list.lanes.get(type)
    return lane !== undefined && this.byLane.has(lane)
  }

  /** What the first job of a lane costs, as far as that is counted. @param {object | undefined} lane */
  costOf (lane) {
    return this.list.costs === null || lane === undefined || lane.size === 0 ? COST : this.list.costs.costOfFirst(lane)
  }

  /** In how many ms the first job of a lane may start; 0: now. */
  waitMs (lane) {
    const key = this.keyOf(lane)
    return this.limits.waitMs(key, key, this.costOf(lane))
  }

  /** A job that has started has the limit of its type, by which costs may be counted only from now on. */
  charge (lane, whenSettled, payload, key) {
    const { list } = this
    if (list.charge === undefined) list.costs.takes(lane, whenSettled, payload)
    list.charge.key = key
  }

  hold (lane) {
    const hold = new Hold(this, lane)
    this.byLane.set(lane, hold)
    if (!lane.isPaused) this.list.pause(lane)
    this.watch(hold)
  }

  letGo (lane) {
    const hold = this.byLane.get(lane)
    this.byLane.delete(lane)
    this.deadlinesOf().remove(hold)
    if (lane.isShared || !this.pausedByUser.has(lane.type)) this.list.resume(lane)
  }

  /** The scheduler, which was told of the hold, may have ended it. */
  watch (hold) {
    const { lane } = hold
    if (this.byLane.get(lane) !== hold) return
    const deadlines = this.deadlinesOf()
    deadlines.remove(hold)
    deadlines.addAnyway(hold, this.waitMs(lane))
  }
}

module.exports = { Holds }
