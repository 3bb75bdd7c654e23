'use strict'

// HOT (bench: schedulers, memory). The waiting jobs of a queue with a lane scheduler, which picks a lane and never looks at a job: a pick
// costs the same however many jobs wait.
//
//   lanes     Map  type → Lane (lane.js)
//   overflow  lanes that the types beyond maxTypes share (overflow.js)
//   idle      lanes without a job, which are forgotten as soon as the scheduler agrees (idle-lanes.js)
//
// The scheduler is told of a change when the change is complete. It may throw, and it may call back into the list.

const { COST } = require('../../job/cost')
const { Breaker } = require('./breaker')
const { IdleLanes } = require('./idle-lanes')
const { Lane } = require('./lane')
const { Overflow, countEnd, countOut, tallyShared, unitsOf } = require('./overflow')
const { Scheduled } = require('./scheduled')
const { jobsIn, takeOutOf } = require('./search')
const { Origin, putInto, startFrom } = require('./special-lanes')

/**
 * The list of a queue with a lane scheduler: the interface of Fifo, and what pausing, types and counts need. A job takes 24 bytes, a lane
 * some 500. Methods are O(1) where nothing else is said, apart from the time of the scheduler.
 *
 * More fields that are null until they are set: `holds`, which knows the lanes that limits hold back (limits/holds.js), at any time; and
 * `levels`, the order of lanes with priorities (levels.js), before the first job comes.
 */
class Lanes extends Scheduled {
  /**
   * @param {object} scheduler
   * @param {{ maxTypes: number, maxWaitingPerType: { byType: Map<string, number> }, clock: { now: () => number } }} options
   * @param {(type: string) => object} makeContext makes the runner's last argument for jobs of a type
   */
  constructor (scheduler, { maxTypes, maxWaitingPerType, clock }, makeContext) {
    super(scheduler, makeContext)
    this.clock = clock
    this.needsClock = Boolean(scheduler.needsClock)
    this.needsCost = Boolean(scheduler.needsCost)
    this.knowsNames = typeof scheduler.isNamed === 'function'
    this.asksForget = typeof scheduler.forget === 'function'
    this.now = this.needsClock ? round(clock.now()) : 0
    this.lanes = new Map() // by type
    this.maxTypes = maxTypes
    this.limitedTypes = maxWaitingPerType.byType
    this.overflow = new Overflow(this, maxTypes)
    this.idle = new IdleLanes(this)
    this.keptLanes = undefined // if there are any, a QList of the idle lanes that the scheduler would not forget
    this.breaker = new Breaker(this)
    this.holds = null
    this.levels = null
    this.typesCount = 0 // lanes with a job that waits or runs
    this.pausedTypes = new Set() // types that are paused and have no lane; their next job opens one
    this.pausedCount = 0 // jobs that wait in paused lanes
  }

  push (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    if (lane.isPlain) lane.append(payload, whenSettled, this.nextNumber++)
    else putInto(this, lane, type, payload, whenSettled, false)
    this.accept(lane, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    if (lane.isPlain) lane.prepend(payload, whenSettled, --this.firstNumber)
    else putInto(this, lane, type, payload, whenSettled, true)
    this.accept(lane, whenSettled)
  }

  /** A pass begins in a turn of its own, so time has gone by. */
  beginPass () {
    if (this.needsClock) this.tick()
  }

  /** Takes out the job that the scheduler chooses. O(types) where the scheduler fails. @returns {boolean} false if no job may start */
  take () {
    const { costs, gate } = this
    if (gate !== null && !gate.isOpen()) return false
    const lane = costs === null ? this.choose() : costs.choose()
    if (lane === undefined) return false
    const { head, headAt, headSeq } = lane
    let payload = head[headAt]
    const whenSettled = head[headAt + 1]
    this.generation = this.generationOf(headSeq)
    if (lane.isPlain) {
      this.context = lane.context ?? (lane.context = this.makeContext(lane.type))
      this.origin = this.needsClock ? new Origin(lane, this.now, lane.type) : lane
    } else {
      payload = startFrom(this, lane, payload, headSeq)
    }
    lane.shift()
    lane.running++
    this.running++
    if (typeof whenSettled === 'object') whenSettled.isTaken = true
    if (costs !== null) costs.takes(lane, whenSettled, payload)
    this.tellStarted(lane, this.cost)
    if (this.holds !== null) this.holds.started(lane, whenSettled, payload)
    this.size-- // not before: until take() returns, the job counts as waiting
    this.payload = payload
    this.whenSettled = whenSettled
    if (gate !== null) gate.count(this.charge)
    return true
  }

  /** A job that take() gave out has ended; outcome as of TypeCounts. */
  ended (origin, outcome, err) {
    const { lane } = origin
    let startedAt = 0
    if (lane !== origin) {
      startedAt = origin.startedAt
      if (this.recorder !== null) this.recorder.ended(origin.id, outcome, err)
    }
    lane.countEnd(outcome)
    if (lane.isShared) countEnd(lane, origin)
    this.running--
    if (this.needsClock) this.tick()
    this.tellEnded(lane, startedAt, this.costs === null ? COST : unitsOf(origin))
    if (lane.size + lane.running === 0) {
      this.countLane(lane)
      this.idle.update(lane)
    } else if (this.keptLanes !== undefined) { // as update() does; a call of that for each job took 4 % more
      this.idle.releaseKept()
    }
  }

  /** A running job was settled, and its runner goes on. */
  interrupted (origin, outcome, end) {
    const { lane } = origin
    if (this.recorder !== null) this.recorder.interrupted(origin.id, outcome, end)
    lane.countInterruption(outcome)
    if (lane !== origin) origin.isOverdue = true
  }

  /** No job of the type starts until resumeType(); running ones finish, and more may be pushed. O(jobs in its lane). */
  pauseType (type) {
    if (this.holds !== null && this.holds.pauses(type)) return
    if (!this.hasLane(type)) {
      this.pausedTypes.add(type)
      return
    }
    const lane = this.openOwn(type)
    if (!lane.isPaused) this.pause(lane)
  }

  pause (lane) {
    lane.isPaused = true
    this.pausedCount += lane.size
    this.ask('paused', lane)
  }

  resumeType (type) {
    if (this.holds !== null && this.holds.keeps(type)) return
    this.pausedTypes.delete(type)
    const lane = this.lanes.get(type)
    if (lane?.isPaused) this.resume(lane)
    if (this.keptLanes !== undefined) this.idle.releaseKept()
  }

  resume (lane) {
    lane.isPaused = false
    this.pausedCount -= lane.size
    this.ask('resumed', lane)
    this.idle.release(lane)
  }

  /** Tells the scheduler new options. One that has failed is asked again from now on. */
  configure (options) {
    this.breaker.reset()
    super.configure(options)
  }

  /**
   * The scheduler has new options, whoever told it. The types that it names now get lanes of their own. O(types in shared lanes), and O(1)
   * if it goes on naming the same ones.
   */
  configured (namesTheSame) {
    this.breaker.reset()
    super.configured()
    if (!namesTheSame) this.overflow.openNamed()
  }

  isTypePaused (type) {
    if (this.holds !== null) return this.holds.pausedByUser.has(type)
    return this.pausedTypes.has(type) || this.lanes.get(type)?.isPaused === true
  }

  resumeAllTypes () {
    for (const type of this.holds === null ? this.typesThatArePaused() : [...this.holds.pausedByUser]) this.resumeType(type)
  }

  get hasSharedLanes () {
    return this.overflow.lanes.length > 0
  }

  /** Calls visit(type, waiting, running) for all types with jobs in the list, for some twice. @param {string} [only] this one, at least */
  tally (visit, only) {
    const lanes = only === undefined ? this.all() : [this.lanes.get(only), this.overflow.find(only)]
    for (const lane of lanes) {
      if (lane === undefined) continue
      if (lane.isShared) tallyShared(lane, visit)
      else visit(lane.type, lane.size, lane.running)
    }
  }

  /** How many jobs wait in the lane that the next job of the type would go to, and those of the type that are delayed. */
  waitingWith (type) {
    const lane = this.find(type)
    const waiting = lane === undefined || (lane.isShared && this.opensOwn(type)) ? 0 : lane.size
    return this.delays === null ? waiting : waiting + this.delays.countOf(type)
  }

  drop (ticket) {
    super.drop(ticket)
    if (this.holds !== null) this.holds.relax()
  }

  tellRemovals (verdict) {
    super.tellRemovals(verdict)
    if (this.holds !== null) this.holds.relax()
  }

  /** The job of a ticket gets another payload, and keeps its place. */
  exchange (ticket, payload) {
    if (ticket.isDelayed) ticket.payload = payload
    else if (ticket.lane.isShared) ticket.block[ticket.at].payload = payload
    else ticket.block[ticket.at] = payload
  }

  /** The job of a ticket that waits. @returns {{ type: string, payload: any }} */
  jobOf (ticket) {
    const { lane, block, at } = ticket
    if (ticket.isDelayed) return ticket
    return lane.isShared ? block[at] : { type: lane.type, payload: block[at] }
  }

  // private from here on

  typesThatArePaused () {
    const types = [...this.pausedTypes]
    for (const [type, lane] of this.lanes) if (lane.isPaused) types.push(type)
    return types
  }

  tellScheduler () {
    const lanes = this.removals.splice(0)
    for (const lane of lanes) this.tellRemoved(lane)
    for (const lane of new Set(lanes)) this.idle.release(lane)
    if (this.keptLanes !== undefined) this.idle.releaseKept()
  }

  dropWaiting (ticket) {
    const { lane, block, at } = ticket
    const number = block[at + 2]
    this.takeOut(lane, block, at)
    if (this.recorder !== null) this.recorder.dropped(number, ticket)
    if (this.scanCount === 0) lane.compactIfSparse()
    if (!lane.isPaused) this.tellRemoved(lane)
    this.idle.update(lane)
  }

  tick () {
    this.now = round(this.clock.now())
  }

  /** A job was put into the lane. */
  accept (lane, whenSettled) {
    if (typeof whenSettled === 'object') {
      whenSettled.lane = lane
      whenSettled.generation = this.newestGeneration
    }
    this.size++
    if (!lane.isInUse) this.countLane(lane)
    if (this.holds !== null) this.holds.accept(lane)
    else if (lane.isPaused) this.pausedCount++
    else this.tellQueued(lane)
  }

  /** Counts the lane in typesCount if it has a job and is not counted yet; or no longer, if it has none. */
  countLane (lane) {
    const isInUse = lane.size + lane.running > 0
    if (isInUse === lane.isInUse) return
    lane.isInUse = isInUse
    this.typesCount += isInUse ? 1 : -1
  }

  tellStarted (lane, cost) {
    try {
      this.scheduler.started(lane, this.now, cost)
    } catch (err) {
      this.blameThrow('started', err)
    }
  }

  tellEnded (lane, startedAt, cost) {
    try {
      this.scheduler.ended(lane, startedAt, this.now, cost)
    } catch (err) {
      this.blameThrow('ended', err)
    }
  }

  tellQueued (lane) {
    try {
      this.scheduler.queued(lane)
    } catch (err) {
      this.blameThrow('queued', err)
    }
  }

  /** The lane whose first job is to start now, if any. */
  choose () {
    let lane
    try {
      lane = this.scheduler.next(this.now)
      if (this.isStartable(lane)) return lane
    } catch (err) {
      this.blameThrow('next', err)
      return this.breaker.pickInstead()
    }
    if (lane !== undefined) {
      this.blame('next() returned something other than a lane of this queue that has a waiting job and is not paused')
      return this.breaker.pickInstead()
    }
    return this.stall(this.size - this.pausedCount) ? this.breaker.pickInstead() : undefined
  }

  isStartable (lane) {
    return lane?.owner === this && lane.lane === lane && lane.size > 0 && !lane.isPaused
  }

  * all () {
    yield * this.lanes.values()
    for (const lane of this.overflow.lanes) if (lane !== undefined) yield lane
  }

  /** The lane that a type has now: its own, or the one that it would share. */
  find (type) {
    return this.lanes.get(type) ?? this.overflow.find(type)
  }

  /** The lane for a job of a type that had none of its own. While isNamed() was asked, it may have pushed a job that got one. */
  open (type) {
    if (this.levels !== null && this.levels.hasOneLane) return this.lanes.get(undefined) ?? this.openOwn(undefined)
    return this.opensOwn(type) || this.lanes.has(type) ? this.openOwn(type) : this.overflow.open(type)
  }

  /** Whether a job of the type may wait or run, in a lane of its own or in a shared one. */
  hasLane (type) {
    return this.lanes.has(type) || this.overflow.has(type)
  }

  /** Whether a type without a lane of its own is to get one. */
  opensOwn (type) {
    if (this.maxTypes === Infinity || this.isNamed(type) || this.pausedTypes.has(type)) return true
    return !this.overflow.hasWaiting(type) && this.lanes.size < this.maxTypes
  }

  openOwn (type) {
    if (this.lanes.has(type)) return this.lanes.get(type)
    const shared = this.holds === null ? undefined : this.holds.leaves(type)
    if (this.lanes.has(type)) return this.lanes.get(type) // whoever was asked for its rate meanwhile has had it opened
    const lane = this.levels === null ? new Lane(type, this, false, this.recorder !== null) : this.levels.makeLane(type)
    this.lanes.set(type, lane)
    lane.isOpening = true
    if (this.pausedTypes.delete(type)) this.pause(lane)
    this.overflow.moveTo(lane)
    lane.isOpening = false
    if (shared !== undefined) this.holds.left(lane, shared)
    return lane
  }

  isNamed (type) {
    if (this.limitedTypes.has(type) || (this.holds !== null && this.holds.isNamed(type))) return true
    return this.knowsNames && this.ask('isNamed', type, false)
  }

  waitingJobs (type) {
    return jobsIn(this.lanesOf(type))
  }

  /** The lanes in which jobs of a type wait; undefined: all. */
  lanesOf (type) {
    if (type === undefined) return [...this.all()]
    const lane = this.find(type)
    return lane === undefined ? [] : [lane]
  }

  takeOutWaiting (test, type) {
    return takeOutOf(this, this.lanesOf(type), test)
  }

  /** Takes out a job, of which the scheduler is told later. @returns its payload */
  takeOut (lane, block, at) {
    const payload = lane.isShared ? countOut(lane, block[at]) : block[at]
    lane.removeAt(block, at)
    lane.cancelled++
    this.size--
    if (lane.isPaused) this.pausedCount--
    this.countLane(lane)
    if (this.holds !== null) this.holds.loses(lane)
    return payload
  }

  forget (lane) {
    lane.owner = undefined
    if (lane.isShared) {
      this.overflow.forget(lane)
    } else {
      this.lanes.delete(lane.type)
      if (this.delays !== null) this.delays.keep(lane.type, lane)
    }
  }
}

/** A multiple of 2^-10: sums and differences of these are exact up to 2^43, so that a scheduler's sum of start times does not drift. */
function round (ms) {
  return Math.floor(ms * 1024) / 1024
}

module.exports = { Lanes }
