'use strict'

// HOT (bench: flow). The lists of queues with flow: those of a plain or an observed queue, and what limits hold back. To a scheduler a type that is
// out of rate, or held, is paused: so it takes no slot, is charged nothing and saves nothing up.

const { oncePer } = require('../lists/once-per')
const { isLaneScheduler } = require('../options')
const { withDelays } = require('../tickets/delays')

const limited = oncePer(List => withGate(withDelays(List)))
const held = oncePer(List => withHolds(limited(List)))
// of lists without delayed jobs
const onlyLimited = oncePer(List => withGate(List))
const onlyHeld = oncePer(List => withHolds(onlyLimited(List)))

/** @returns {(List: Function) => Function} what extends the class of a list for a queue with that scheduler */
function extensionFor (scheduler) {
  return hasLanes(scheduler) ? held : limited
}

/**
 * Has a list that is in use be one that limits may hold back, though not one of delayed jobs: it gets the class that extends its own, and its jobs
 * stay where they are.
 */
function extend (list, scheduler) {
  const extension = hasLanes(scheduler) ? onlyHeld : onlyLimited
  Object.setPrototypeOf(list, extension(list.constructor).prototype)
  addGate(list)
  if (hasLanes(scheduler)) addHolds(list)
}

function hasLanes (scheduler) {
  return scheduler !== null && isLaneScheduler(scheduler)
}

/** A list that limits of the whole queue may hold back. */
const withGate = List => class extends List {
  constructor (...args) {
    super(...args)
    addGate(this)
  }

  /** From now on take() is another method: queues without a gate have that of the list below, and one call less for each job. */
  setGate (gate) {
    this.gate = gate
    Object.defineProperty(this, 'take', { value: this.takeByGate }) // not enumerable: a Fifo copies what is for a list of removed jobs
  }

  drop (ticket) {
    super.drop(ticket)
    if (this.size === 0) this.gate?.rest()
  }

  tellRemovals (verdict) {
    super.tellRemovals(verdict)
    if (this.size === 0) this.gate?.rest()
  }

  // private from here on

  takeByGate () {
    const { gate } = this
    if (!gate.isOpen() || !super.take()) return false
    gate.count()
    return true
  }
}

/** The fields of a list with a gate. */
function addGate (list) {
  list.gate = undefined // the Gate, if the queue has a limit or was held
}

/** What is due when a lane may start jobs again. */
class Hold {
  constructor (list, lane) {
    this.list = list
    this.lane = lane
    this.position = -1 // in the heap of deadlines
    this.order = 0
  }

  whenDue () {
    this.list.due(this)
  }
}

/**
 * Lanes that limits of types may hold back. A lane is in `holds` exactly while its type is out of rate, or held, and jobs wait in it.
 * To the scheduler it is paused then, as it is while the user has paused the type; each of these ends without the other.
 */
const withHolds = Lanes => class extends Lanes {
  constructor (...args) {
    super(...args)
    addHolds(this)
  }

  /** @param {object} limits @param {() => object} deadlinesOf gives the deadlines of the queue @param {() => void} wake has it start what may start */
  connect (limits, deadlinesOf, wake) {
    this.limits = limits
    this.deadlinesOf = deadlinesOf
    this.wake = wake
  }

  drop (ticket) {
    super.drop(ticket)
    this.relax()
  }

  tellRemovals (verdict) {
    super.tellRemovals(verdict)
    this.relax()
  }

  pauseType (type) {
    this.pausedByUser.add(type)
    if (!this.isHeld(type)) super.pauseType(type)
  }

  resumeType (type) {
    this.pausedByUser.delete(type)
    if (!this.isHeld(type)) super.resumeType(type)
  }

  isTypePaused (type) {
    return this.pausedByUser.has(type)
  }

  resumeAllTypes () {
    for (const type of [...this.pausedByUser]) this.resumeType(type)
  }

  /** In how many ms a job of the type might start as far as its limits go. */
  heldMs (type) {
    return this.limits.waitMs(this.limitKeyOf(type), type)
  }

  /** In how many ms so many jobs of the type may have started as far as limits go. */
  heldMsOf (type, count) {
    return Math.max(this.limits.waitMsOf(this.limitKeyOf(type), type, count), this.gate === undefined ? 0 : this.gate.waitMs())
  }

  /** Starts no job of the type for so many ms; 0 ends that. O(1), and for a type that shares a lane O(jobs in it). */
  holdType (type, ms) {
    this.limits.hold(type, ms)
    if (this.hasLane(type)) this.adjust(this.openOwn(type))
  }

  /** The places of a limit are others now. @param {string | number} key of the limit */
  adjustOf (key) {
    const lane = typeof key === 'number' ? this.overflow.lanes[key] : this.lanes.get(key)
    if (lane !== undefined) this.adjust(lane)
  }

  /** The limits are others now. Types that they name get lanes of their own. O(lanes + types in shared ones). */
  adjustAll () {
    this.overflow.openNamed()
    for (const lane of [...this.all()]) if (lane.owner === this) this.adjust(lane)
  }

  /** The time of a hold is over, or the limit is one with several windows, or the clock was early. */
  due ({ lane }) {
    this.adjust(lane)
    this.wake()
  }

  // private from here on

  accept (lane, whenSettled) {
    const { limits, holds } = this
    if (!limits.isUsed || !limits.mayHold(lane) || holds.has(lane) || limits.waitMs(this.keyOf(lane)) === 0) {
      super.accept(lane, whenSettled)
      return
    }
    const hold = new Hold(this, lane)
    const isNews = !lane.isPaused
    this.holds.set(lane, hold)
    if (isNews) {
      lane.isPaused = true
      this.pausedCount += lane.size - 1 // the job itself is counted next
    }
    super.accept(lane, whenSettled)
    if (isNews) this.ask('paused', lane)
    this.watch(hold)
  }

  choose () {
    const lane = this.starting = super.choose()
    if (lane !== undefined && this.limits.isAsked) this.scope = lane.head[lane.headAt + 1]?.scope // of its ticket
    return lane
  }

  tellStarted (lane) {
    const isStart = lane === this.starting // else a job that runs already counts in another lane from now on
    this.starting = undefined
    super.tellStarted(lane)
    if (!isStart || !this.limits.hasRates) return
    const { limits, context: { type } } = this
    const key = this.keyOf(lane)
    const limit = limits.limitOf(lane, key, type, this.scope)
    this.scope = undefined
    if (limit === limits.none) return
    limits.count(key, limit, type)
    if (lane.size > 0 && limit.isUsedUp) this.adjust(lane)
  }

  takeOut (lane, block, at) {
    const payload = super.takeOut(lane, block, at)
    if (lane.size === 0 && this.holds.has(lane)) this.emptied.push(lane)
    return payload
  }

  isNamed (type) {
    return this.limits.isNamed(type) || super.isNamed(type)
  }

  /** A type may leave a lane that is shared and held. No job starts meanwhile. */
  openOwn (type) {
    if (this.lanes.has(type)) return this.lanes.get(type)
    if (this.overflow.lanes.length > 0) this.limits.inherit(type, this.overflow.indexOf(type))
    if (!this.overflow.has(type)) return super.openOwn(type)
    const shared = this.overflow.find(type)
    if (this.holds.has(shared)) this.letGo(shared)
    const lane = super.openOwn(type)
    for (const one of [lane, shared]) if (one.owner === this) this.adjust(one)
    return lane
  }

  /**
   * The key of a type's limit: of its lane or, if it has none, of the one that it would get. One of its own begins with what the lane has started that the
   * type would share.
   */
  limitKeyOf (type) {
    return this.lanes.has(type) || this.limits.has(type) ? type : this.overflow.indexOf(type)
  }

  /** The key of the limit of a lane. */
  keyOf (lane) {
    return lane.isShared ? this.overflow.lanes.indexOf(lane) : lane.type
  }

  isHeld (type) {
    const lane = this.lanes.get(type)
    return lane !== undefined && this.holds.has(lane)
  }

  /** Has a lane be held, or not, as its limits say now. */
  adjust (lane) {
    const hold = this.holds.get(lane)
    const isOut = lane.size > 0 && this.limits.waitMs(this.keyOf(lane)) > 0
    if (isOut && hold === undefined) this.hold(lane)
    else if (isOut) this.watch(hold)
    else if (hold !== undefined) this.letGo(lane)
  }

  hold (lane) {
    const hold = new Hold(this, lane)
    this.holds.set(lane, hold)
    if (!lane.isPaused) this.pause(lane)
    this.watch(hold)
  }

  letGo (lane) {
    const hold = this.holds.get(lane)
    this.holds.delete(lane)
    this.deadlinesOf().remove(hold)
    if (lane.isShared || !this.pausedByUser.has(lane.type)) this.resume(lane)
  }

  /** The scheduler, which was told of the hold, may have ended it. */
  watch (hold) {
    const { lane } = hold
    if (this.holds.get(lane) !== hold) return
    const deadlines = this.deadlinesOf()
    deadlines.remove(hold)
    deadlines.addAnyway(hold, this.limits.waitMs(this.keyOf(lane)))
  }

  relax () {
    for (const lane of this.emptied.splice(0)) if (this.holds.has(lane)) this.adjust(lane)
  }
}

/** The fields of lanes that limits may hold back; none is held. */
function addHolds (list) {
  list.limits = undefined // connect() sets these three
  list.deadlinesOf = undefined
  list.wake = undefined
  list.holds = new Map() // lane → Hold
  list.pausedByUser = new Set(list.pausedTypes) // types
  for (const [type, lane] of list.lanes) if (lane.isPaused) list.pausedByUser.add(type)
  list.starting = undefined // the lane that choose() has chosen, until the scheduler is told of the start
  list.scope = undefined // of the push of the job that choose() has chosen, if that is kept and somebody is asked for rates
  list.emptied = [] // lanes in holds whose last job was taken out
}

module.exports = { extensionFor, extend }
