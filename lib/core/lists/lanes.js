'use strict'

// HOT (bench: schedulers, memory). One lane per type, for schedulers whose cost must not grow with the backlog.
//
//   lanes  Map  type → Lane (lane.js)      overflow  [Lane | undefined, …], shared by the types beyond maxTypes

const QList = require('qlist')
const { ArrivalOrder } = require('./arrival-order')
const { Fifo } = require('./fifo')
const { Lane, REMOVED } = require('./lane')
const { Scheduled } = require('./scheduled')

const MOST_OVERFLOW_LANES = 64
// A scheduler that gives no answer so often in a row is not asked any more; nor if more lanes were looked at for that than so many per job.
const MOST_FAILURES = 10
const MOST_LOOKS = 16

/** A job in an overflow lane, whose types differ, in the place of the payload. */
class TypedPayload {
  constructor (type, payload) {
    this.type = type
    this.payload = payload
  }
}

/** Where a job came from and when, if the scheduler needs a clock or the lane is shared; else the lane alone tells it. */
class Origin {
  constructor (lane, startedAt, type) {
    this.lane = lane
    this.startedAt = startedAt
    this.type = type
    this.isOverdue = false // it was settled, and its runner goes on
  }
}

/**
 * The list of a queue with a lane scheduler. 24 bytes a job, some 500 a lane. Methods are O(1) where nothing else is said,
 * apart from what the scheduler takes. The interface is that of Fifo, and what pausing, types and counts need.
 */
class Lanes extends Scheduled {
  /**
   * @param {object} scheduler
   * @param {{ maxTypes: number, maxWaitingPerType: { byType: Map<string, number> }, clock: { now: () => number } }} options
   * @param {(type: string) => object} makeContext makes the runner's third argument for jobs of a type
   */
  constructor (scheduler, { maxTypes, maxWaitingPerType, clock }, makeContext) {
    super(scheduler, makeContext)
    this.clock = clock
    this.needsClock = Boolean(scheduler.needsClock)
    this.knowsNames = typeof scheduler.isNamed === 'function'
    this.asksForget = typeof scheduler.forget === 'function'
    this.now = this.needsClock ? round(clock.now()) : 0
    this.lanes = new Map() // by type
    this.maxTypes = maxTypes
    this.limitedTypes = maxWaitingPerType.byType
    this.overflow = maxTypes === Infinity ? [] : new Array(Math.min(Math.ceil(maxTypes / 8), MOST_OVERFLOW_LANES)).fill(undefined)
    this.resting = undefined // if there are any, a QList of the empty, idle lanes that the scheduler would not forget
    this.typesCount = 0 // lanes with a job waiting or running
    this.pausedTypes = new Set() // paused, and without a lane: jobs to come open one
    this.pausedCount = 0 // of jobs that wait in paused lanes
    this.failureCount = 0 // of picks in a row to which the scheduler gave no answer
    this.lastFailureAt = 0 // how many jobs had left the list then
    this.lookCount = 0 // at lanes, for the oldest job
  }

  push (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    lane.append(lane.isShared ? countIn(lane, type, payload) : payload, whenSettled, this.nextNumber++)
    this.accept(lane, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    lane.prepend(lane.isShared ? countIn(lane, type, payload) : payload, whenSettled, --this.firstNumber)
    this.accept(lane, whenSettled)
  }

  /** A pass begins in a turn of its own: time may have gone by. */
  beginPass () {
    if (this.needsClock) this.tick()
  }

  /** Takes out the job that the scheduler chooses. O(types) if it chooses wrongly. @returns {boolean} false for none */
  take () {
    const lane = this.choose()
    if (lane === undefined) return false
    const { head, headAt } = lane
    let payload = head[headAt]
    const whenSettled = head[headAt + 1]
    this.generation = this.generationOf(lane.headSeq)
    if (lane.isShared) {
      const { type } = payload
      this.context = this.makeContext(type)
      const start = this.origin = new Origin(lane, this.now, type)
      payload = countOut(lane, payload)
      if (lane.typeStarts.has(type)) lane.typeStarts.get(type).add(start)
      else lane.typeStarts.set(type, new Set([start]))
    } else {
      this.context = lane.context ?? (lane.context = this.makeContext(lane.type))
      this.origin = this.needsClock ? new Origin(lane, this.now, lane.type) : lane
    }
    lane.shift()
    lane.running++
    this.running++
    if (typeof whenSettled === 'object') whenSettled.isTaken = true
    this.tellStarted(lane)
    this.size-- // not before: until take() returns, the job counts as waiting
    this.payload = payload
    this.whenSettled = whenSettled
    return true
  }

  /** A job that take() gave out has ended. hasFailed is undefined if it had been counted before. */
  ended (origin, hasFailed) {
    const { lane } = origin
    lane.countEnd(hasFailed)
    if (lane.typeStarts !== undefined) forgetStart(lane, origin)
    this.running--
    if (this.needsClock) this.tick()
    this.tellEnded(lane, lane === origin ? 0 : origin.startedAt)
    if (lane.size + lane.running === 0) {
      this.countLane(lane)
      this.rest(lane)
    }
    if (this.resting !== undefined) this.forgetResting()
  }

  /** It was settled a second time. */
  misused (origin) {
    origin.lane.misuse++
  }

  /** It was settled while its runner goes on. */
  interrupted (origin, hasFailed) {
    const { lane } = origin
    lane.countInterruption(hasFailed)
    if (lane !== origin) origin.isOverdue = true
  }

  /** Its runner goes on without its slot (1), or has come to its end so (-1). */
  overran (origin, change) {
    origin.lane.overrun += change
  }

  /** As forEach, for the jobs of one type. O(jobs in its lane). */
  forEachOf (type, visit) {
    const lane = this.find(type)
    for (const job of lane === undefined ? [] : this.jobsIn([lane])) {
      if (job.type === type) visit(job.payload, job.whenSettled, this.generationOf(job.number), type)
    }
  }

  /** Takes out all jobs. O(waiting × log types). @returns {Fifo} a list of them */
  removeAll () {
    return this.removeFrom([...this.all()], () => true)
  }

  /** Takes out the jobs of one type. O(jobs in its lane). @returns {Fifo} a list of them */
  removeType (type) {
    const lane = this.find(type)
    return lane === undefined ? new Fifo() : this.removeFrom([lane], (payload, jobType) => jobType === type)
  }

  /**
   * Takes out the jobs for which test(payload, type) is true. If test throws, none. O(waiting × log types).
   * test may push and unshift and even remove and clear; it must not take. A job whose type it has leave a shared lane
   * (by pausing it) is passed over.
   * @returns {Fifo} a list of them
   */
  remove (test) {
    return this.removeFrom([...this.all()], test)
  }

  tellRemovals () {
    const lanes = this.removals.splice(0)
    for (const lane of lanes) this.tellRemoved(lane)
    for (const lane of new Set(lanes)) this.rest(lane)
    if (this.resting !== undefined) this.forgetResting()
  }

  /** Takes out the job of a ticket. O(1) amortised, and what the scheduler takes. */
  drop ({ lane, block, at }) {
    this.takeOut(lane, block, at)
    if (this.scanCount === 0) lane.compactIfSparse()
    if (!lane.isPaused) this.tellRemoved(lane)
    this.rest(lane)
    if (this.resting !== undefined) this.forgetResting()
  }

  /** The jobs of a type stay, running ones finish, and its pushes wait, until resumeType(). O(jobs in its lane). */
  pauseType (type) {
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
    try {
      this.scheduler.paused(lane)
    } catch (err) {
      this.blameThrow('paused', err)
    }
  }

  resumeType (type) {
    this.pausedTypes.delete(type)
    const lane = this.lanes.get(type)
    if (lane?.isPaused) this.resume(lane)
    if (this.resting !== undefined) this.forgetResting()
  }

  resume (lane) {
    lane.isPaused = false
    this.pausedCount -= lane.size
    try {
      this.scheduler.resumed(lane)
    } catch (err) {
      this.blameThrow('resumed', err)
    }
    this.rest(lane)
  }

  /** The scheduler is told new options. */
  configure (options) {
    this.askAgain()
    super.configure(options)
  }

  /** The scheduler has other options: it is asked again, and types that it names now get lanes of their own. O(types in overflow lanes). */
  configured () {
    this.askAgain()
    for (const shared of this.overflow) {
      if (shared === undefined) continue
      for (const type of [...shared.typeCounts.keys(), ...shared.typeStarts.keys()]) {
        if (!this.lanes.has(type) && this.isNamed(type)) this.rest(this.openOwn(type))
      }
    }
  }

  resumeAllTypes () {
    this.pausedTypes.clear()
    for (const [type, lane] of this.lanes) if (lane.isPaused) this.resumeType(type)
  }

  /** What the lane of a type counts: the one that it shares if it overflowed; undefined if there is none. */
  countsOf (type) {
    return this.find(type)
  }

  /** How many jobs wait in the lane that a job of the type would go to. */
  waitingWith (type) {
    const lane = this.find(type)
    return lane === undefined || (lane.isShared && this.opensOwn(type)) ? 0 : lane.size
  }

  // private from here on

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
    if (lane.isPaused) this.pausedCount++
    else this.tellQueued(lane)
  }

  /** Has typesCount be right for a lane; whatever the scheduler did meanwhile, it is counted once. */
  countLane (lane) {
    const isInUse = lane.size + lane.running > 0
    if (isInUse === lane.isInUse) return
    lane.isInUse = isInUse
    this.typesCount += isInUse ? 1 : -1
  }

  tellStarted (lane) {
    try {
      this.scheduler.started(lane, this.now)
    } catch (err) {
      this.blameThrow('started', err)
    }
  }

  tellEnded (lane, startedAt) {
    try {
      this.scheduler.ended(lane, startedAt, this.now)
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

  /** The lane whose job is to start now, if any. */
  choose () {
    let lane
    try {
      lane = this.scheduler.next(this.now)
      if (this.isStartable(lane)) return lane
    } catch (err) {
      this.blameThrow('next', err)
      return this.chooseOldest()
    }
    if (lane !== undefined) {
      this.blame('next() returned what is no lane of this queue with a waiting job, or a paused one')
      return this.chooseOldest()
    }
    return this.stall(this.size - this.pausedCount) ? this.chooseOldest() : undefined
  }

  /** The scheduler gave no answer. O(lanes), but not often. */
  chooseOldest () {
    const leftCount = this.nextNumber - this.firstNumber - this.size
    this.failureCount = leftCount - this.lastFailureAt <= 1 ? this.failureCount + 1 : 1
    this.lastFailureAt = leftCount
    this.lookCount += this.lanes.size
    if (this.failureCount >= MOST_FAILURES || this.lookCount > MOST_LOOKS * (this.nextNumber - this.firstNumber)) {
      this.scheduler = new ArrivalOrder(this.scheduler, this.all())
    }
    return this.oldest()
  }

  askAgain () {
    if (this.scheduler instanceof ArrivalOrder) this.scheduler = this.scheduler.scheduler
    this.failureCount = this.lookCount = 0
  }

  isStartable (lane) {
    return lane?.owner === this && lane.lane === lane && lane.size > 0 && !lane.isPaused
  }

  /** The lane of the oldest job that is not paused. */
  oldest () {
    let oldest
    for (const lane of this.all()) {
      if (lane.size > 0 && !lane.isPaused && !(lane.headSeq > oldest?.headSeq)) oldest = lane
    }
    return oldest
  }

  * all () {
    yield * this.lanes.values()
    for (const lane of this.overflow) if (lane !== undefined) yield lane
  }

  /** The lane that a type has now: its own, or the one that it would share. */
  find (type) {
    return this.lanes.get(type) ?? this.overflow[this.overflowOf(type)]
  }

  overflowOf (type) {
    return this.overflow.length === 0 ? 0 : hash(type) % this.overflow.length
  }

  /** The lane for a job of a type that has none of its own; isNamed() may have pushed another, which got one. */
  open (type) {
    if (this.opensOwn(type) || this.lanes.has(type)) return this.openOwn(type)
    const at = this.overflowOf(type)
    return this.overflow[at] ?? (this.overflow[at] = this.openShared(at))
  }

  /** Whether a job of the type may wait or run, in a lane of its own or in one that it shares. */
  hasLane (type) {
    if (this.lanes.has(type)) return true
    const shared = this.overflow[this.overflowOf(type)]
    return shared !== undefined && (shared.typeCounts.has(type) || shared.typeStarts.has(type))
  }

  opensOwn (type) {
    if (this.maxTypes === Infinity || this.isNamed(type) || this.pausedTypes.has(type)) return true
    const shared = this.overflow[this.overflowOf(type)]
    const isOrdered = shared === undefined || !shared.typeCounts.has(type)
    return isOrdered && this.lanes.size < this.maxTypes
  }

  openOwn (type) {
    const known = this.lanes.get(type)
    if (known !== undefined) return known
    const lane = new Lane(type, this, false)
    this.lanes.set(type, lane)
    lane.isOpening = true
    if (this.pausedTypes.delete(type)) this.pause(lane)
    const shared = this.overflow[this.overflowOf(type)]
    if (shared !== undefined) this.takeOver(shared, lane)
    lane.isOpening = false
    return lane
  }

  /** A type has a lane of its own from now on: its jobs leave the one that it shared. */
  takeOver (shared, lane) {
    const { type } = lane
    if (shared.typeCounts.has(type)) this.move(shared, lane)
    const starts = shared.typeStarts.get(type)
    if (starts !== undefined) this.adopt(shared, lane, starts)
    this.countLane(lane)
    this.countLane(shared)
    this.rest(shared)
  }

  openShared (at) {
    return new Lane(`overflow lane ${at + 1} of ${this.overflow.length}`, this, true)
  }

  isNamed (type) {
    if (this.limitedTypes.has(type)) return true
    if (!this.knowsNames) return false
    try {
      return this.scheduler.isNamed(type)
    } catch (err) {
      this.blameThrow('isNamed', err)
      return false
    }
  }

  /**
   * Counts the running jobs of a type, which came from a lane that it shared, as those of its own: to the scheduler each one is queued
   * here, starts here, now, and ends there. So a cap holds for all of them.
   */
  adopt (shared, lane, starts) {
    for (const start of [...starts]) {
      this.tellQueued(lane)
      if (!starts.has(start)) { // the scheduler had it end
        this.tellRemoved(lane)
        continue
      }
      const { startedAt } = start
      forgetStart(shared, start)
      start.lane = lane
      start.startedAt = this.now
      shared.running--
      lane.running++
      if (start.isOverdue) {
        shared.overdueCount--
        lane.overdueCount++
      }
      this.tellStarted(lane)
      this.tellEnded(shared, startedAt)
    }
  }

  /** Moves the waiting jobs of a type from the lane that it shared to its own. */
  move (shared, lane) {
    const found = []
    shared.scan((block, at) => { if (block[at].type === lane.type) found.push({ block, at }) })
    for (const { block, at } of found) {
      const whenSettled = block[at + 1]
      lane.append(countOut(shared, block[at]), whenSettled, block[at + 2])
      if (typeof whenSettled === 'object') whenSettled.lane = lane
      shared.removeAt(block, at)
    }
    if (this.scanCount === 0) shared.compactIfSparse()
    for (let i = 0; i < found.length; i++) this.tellRemoved(shared)
    for (let i = 0; i < found.length; i++) this.tellQueued(lane)
  }

  waitingJobs () {
    return this.jobsIn(this.all())
  }

  /** Those of some lanes in arrival order. */
  jobsIn (lanes) {
    const jobs = []
    for (const lane of lanes) {
      lane.scan((block, at) => {
        jobs.push({
          payload: lane.isShared ? block[at].payload : block[at],
          whenSettled: block[at + 1],
          number: block[at + 2],
          type: lane.isShared ? block[at].type : lane.type
        })
      })
    }
    return jobs.sort(byNumber)
  }

  removeFrom (lanes, test) {
    const found = this.search(lanes, test)
    const removed = new Fifo()
    const losers = new Set()
    for (const { lane, block, at, number } of found) {
      // test may have removed it
      if (block[at + 2] !== number || block[at + 1] === REMOVED) continue
      const whenSettled = block[at + 1]
      removed.pushOf(this.generationOf(number), this.takeOut(lane, block, at), whenSettled)
      losers.add(lane)
      if (!lane.isPaused) this.removals.push(lane)
    }
    if (this.scanCount === 0) for (const lane of losers) lane.compactIfSparse()
    return removed
  }

  /** Takes out a job, but for telling the scheduler. @returns its payload */
  takeOut (lane, block, at) {
    const payload = lane.isShared ? countOut(lane, block[at]) : block[at]
    lane.removeAt(block, at)
    lane.cancelled++
    this.size--
    if (lane.isPaused) this.pausedCount--
    this.countLane(lane)
    return payload
  }

  /** Where the jobs are that pass the test, in arrival order. */
  search (lanes, test) {
    const found = []
    const { firstNumber, nextNumber } = this
    this.scanCount++
    try {
      for (const lane of lanes) {
        lane.scan((block, at) => {
          const number = block[at + 2]
          if (number < firstNumber || number >= nextNumber) return // test has pushed it
          const isFound = lane.isShared ? test(block[at].payload, block[at].type) : test(block[at], lane.type)
          if (isFound) found.push({ lane, block, at, number })
        })
      }
    } finally {
      this.scanCount--
    }
    return found.sort(byNumber)
  }

  /** Forgets the lane if it is empty and idle, or keeps it until the scheduler lets it go. */
  rest (lane) {
    if (!this.isIdle(lane)) return
    const mayForget = this.mayForget(lane)
    if (!this.isIdle(lane)) return // the scheduler has pushed
    if (mayForget) {
      this.forget(lane)
    } else {
      lane.isResting = true
      this.resting ??= new QList()
      this.resting.push(lane)
    }
  }

  /** Asks again for some of the lanes that rest; for all when nothing waits or runs. Each ended job adds one at most. */
  forgetResting () {
    const { resting } = this
    const count = this.size + this.running === 0 ? resting.size() : 2
    for (let i = 0; i < count && !resting.isEmpty(); i++) {
      const lane = resting.shift()
      lane.isResting = false
      this.rest(lane)
    }
    if (this.resting?.isEmpty()) this.resting = undefined
  }

  isIdle (lane) {
    return lane.size + lane.running === 0 && !lane.isPaused && !lane.isResting && !lane.isOpening && lane.owner === this
  }

  mayForget (lane) {
    if (!this.asksForget) return true
    try {
      return this.scheduler.forget(lane)
    } catch (err) {
      this.blameThrow('forget', err)
      return true
    }
  }

  forget (lane) {
    lane.owner = undefined
    if (lane.isShared) this.overflow[this.overflow.indexOf(lane)] = undefined
    else this.lanes.delete(lane.type)
  }
}

function countIn (lane, type, payload) {
  lane.typeCounts.set(type, (lane.typeCounts.get(type) ?? 0) + 1)
  return new TypedPayload(type, payload)
}

function forgetStart (lane, start) {
  const starts = lane.typeStarts.get(start.type)
  starts.delete(start)
  if (starts.size === 0) lane.typeStarts.delete(start.type)
}

function countOut (lane, { type, payload }) {
  const count = lane.typeCounts.get(type)
  if (count === 1) lane.typeCounts.delete(type)
  else lane.typeCounts.set(type, count - 1)
  return payload
}

function byNumber (a, b) {
  return a.number - b.number
}

/** Sums and differences of multiples of 2^-10 are exact up to 2^43, so that a scheduler's sum of start times does not drift. */
function round (ms) {
  return Math.floor(ms * 1024) / 1024
}

/** FNV-1a over UTF-16 units, upper bits folded in. */
function hash (type) {
  let hash = 0x811c9dc5
  for (let i = 0; i < type.length; i++) hash = Math.imul(hash ^ type.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

module.exports = { Lanes }
