'use strict'

// HOT (bench: flow). Priorities that age: a job of priority p stands where it would had it been pushed p × priorityMs earlier. So nothing
// starves, and no job is ever sorted again (docs/decisions/0067-static-aging.md).
//
//   lane   front      [ n │ n │ … ]    unshifted jobs, and those that come back
//          level 2    [ n │ n │ … ]    in the order of their numbers; of the first jobs of all levels
//          level 0    [ n │ n │ … ]    the one starts next whose number, less what its level is ahead, is the least
//
// Arrival numbers rise with time here, by TICKS a millisecond, so they tell when a job was pushed, and a job takes no more room than it
// does without priorities. Levels are within a type: what a tenant calls urgent takes nothing from others. In a lane that types share they
// do not count.

const { Lane } = require('./lane')

// More pushes in a millisecond get numbers ahead of the time. The numbers are exact for 4 years.
const TICKS = 2 ** 16
// Jobs that are older count as so old. The order of two jobs depends on priorities only if they are closer to each other than 15 steps of
// 2^31 ms.
const OLDEST_MS = 2 * 365 * 24 * 3600 * 1000

/** The waiting jobs of one type, by levels. To lists and schedulers its first job is the one that is to start next. */
class LeveledLane extends Lane {
  /** @param {number} ahead what a level is ahead of the one below, in numbers */
  constructor (type, owner, ahead, isObserved) {
    super(type, owner, false, isObserved)
    this.ahead = ahead
    this.levels = [] // those that were ever used, the highest first
    this.current = undefined // the one whose first job is the first
  }

  append (payload, whenSettled, number) {
    const level = this.levelOf(whenSettled, number)
    level.append(payload, whenSettled, number)
    this.size++
    if (level.size === 1) this.choose()
  }

  prepend (payload, whenSettled, number) {
    this.levelOf(whenSettled, number).prepend(payload, whenSettled, number)
    this.size++
    this.choose()
  }

  shift () {
    this.current.shift()
    this.size--
    this.choose()
  }

  removeAt (block, at) {
    this.levelOf(block[at + 1], block[at + 2]).removeAt(block, at)
    this.size--
    this.choose()
  }

  scan (visit) {
    for (const level of [...this.levels]) level.scan(visit)
  }

  compactIfSparse () {
    for (const level of this.levels) level.compactIfSparse()
    this.choose()
  }

  // private from here on

  /** Numbers below 0 are those of unshifted jobs. */
  levelOf (whenSettled, number) {
    const priority = number < 0 ? Infinity : typeof whenSettled === 'object' ? whenSettled.priority : 0
    for (const level of this.levels) if (level.priority === priority) return level
    const level = new Level(priority, priority * this.ahead)
    const at = this.levels.findIndex(other => other.priority < priority)
    this.levels.splice(at === -1 ? this.levels.length : at, 0, level)
    return level
  }

  /** Has head and headAt be at the job that is to start next. O(levels). */
  choose () {
    let first
    let least = Infinity
    for (const level of this.levels) {
      if (level.size === 0) continue
      const key = level.headSeq - level.ahead
      if (key >= least) continue // of equals, the one of the higher level
      first = level
      least = key
    }
    this.current = first
    if (first === undefined) return
    this.head = first.head
    this.headAt = first.headAt
    this.headSeq = first.headSeq
  }
}

LeveledLane.prototype.isPlain = false

/** The jobs of one priority, in the order of their numbers. */
class Level extends Lane {
  constructor (priority, ahead) {
    super(undefined, undefined, false)
    this.priority = priority
    this.ahead = ahead
  }
}

/** The order of a list whose lanes have priorities. It is set before the first job comes, as `levels` of the list. */
class Levels {
  /**
   * @param {object} list the Lanes
   * @param {number} priorityMs what a level is ahead of the one below
   * @param {boolean} hasOneLane the queue has no scheduler: what the list is told of types counts for nothing
   */
  constructor (list, priorityMs, hasOneLane) {
    this.list = list
    this.ahead = priorityMs * TICKS
    this.hasOneLane = hasOneLane
    this.epoch = list.clock.now()
    this.ageMs = 0 // how long ago a job was pushed that is put in now
  }

  /** Jobs are to come that were pushed so many ms ago. The list is new. */
  reachBack (ms) {
    this.epoch -= Math.min(ms, OLDEST_MS)
  }

  /** A job is about to be pushed: its number tells the time. */
  advance () {
    const { list } = this
    const number = Math.max(list.nextNumber, Math.floor((list.clock.now() - this.ageMs - this.epoch) * TICKS))
    list.skippedCount += number - list.nextNumber
    list.nextNumber = number
  }

  makeLane (type) {
    return new LeveledLane(type, this.list, this.ahead, this.list.recorder !== null)
  }
}

/** The scheduler of a list with one lane. */
class OneLane {
  constructor () {
    this.mayStall = true
    this.lane = undefined
  }

  queued (lane) {
    this.lane = lane
  }

  next () {
    return this.lane // nobody asks while no job waits
  }

  started () {}
  ended () {}

  /** The next job needs the lane again. */
  forget () {
    return false
  }
}

module.exports = { Levels, OneLane }
