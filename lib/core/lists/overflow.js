'use strict'

// The lanes that the types beyond maxTypes share (docs/decisions/0021-overflow-lanes.md), by a hash of their names.
//
//   lanes  [ Lane | undefined, … ]       in a shared lane, a TypedPayload stands in the place of each payload
//
// A type that waits in a shared lane stays there until its last job has started, which keeps its order. Then it may get a lane of its own.
// A type that the scheduler names, or that is paused, gets one at once: its waiting jobs move there, and its running jobs are counted
// there.

const { COST } = require('../../job/cost')
const { Lane } = require('./lane')

const MOST_LANES = 64
// One shared lane for so many types with lanes of their own.
const TYPES_PER_LANE = 8

/** Payload and type of a job in a shared lane. */
class TypedPayload {
  constructor (type, payload) {
    this.type = type
    this.payload = payload
  }
}

class Overflow {
  /**
   * @param {object} list the Lanes that these belong to
   * @param {number} maxTypes
   */
  constructor (list, maxTypes) {
    this.list = list
    this.lanes = maxTypes === Infinity ? [] : new Array(Math.min(Math.ceil(maxTypes / TYPES_PER_LANE), MOST_LANES)).fill(undefined)
  }

  /** The lane that the type would share, if it is there. */
  find (type) {
    return this.lanes[this.indexOf(type)]
  }

  /** The lane that the type shares from now on. */
  open (type) {
    const at = this.indexOf(type)
    const { list, lanes } = this
    return (lanes[at] ??= new Lane(`overflow lane ${at + 1} of ${lanes.length}`, list, true, list.recorder !== null))
  }

  forget (lane) {
    this.lanes[this.lanes.indexOf(lane)] = undefined
  }

  /** Where in `lanes` that lane is. */
  indexOf (type) {
    return this.lanes.length === 0 ? 0 : hash(type) % this.lanes.length
  }

  /** Whether a job of the type waits in a shared lane. */
  hasWaiting (type) {
    const shared = this.find(type)
    return shared !== undefined && shared.typeCounts.has(type)
  }

  /** Whether a job of the type waits in a shared lane, or runs and came from one. */
  has (type) {
    const shared = this.find(type)
    return shared !== undefined && (shared.typeCounts.has(type) || shared.typeStarts.has(type))
  }

  /** Types that have come to be named get lanes of their own. O(types in shared lanes). */
  openNamed () {
    const { list } = this
    for (const type of this.types()) {
      if (!list.lanes.has(type) && list.isNamed(type)) list.idle.release(list.openOwn(type))
    }
  }

  /** The type of a lane has that of its own from now on: its jobs leave the lane that they shared. */
  moveTo (lane) {
    const { list } = this
    const { type } = lane
    const shared = this.find(type)
    if (shared === undefined) return
    if (shared.typeCounts.has(type)) this.moveWaiting(shared, lane)
    const starts = shared.typeStarts.get(type)
    if (starts !== undefined) this.moveRunning(shared, lane, starts)
    list.countLane(lane)
    list.countLane(shared)
    list.idle.release(shared)
  }

  // private from here on

  /** The types of all jobs that wait in shared lanes, or run and came from one; some twice. They may move while this is walked through. */
  * types () {
    for (const shared of this.lanes) {
      if (shared !== undefined) yield * [...shared.typeCounts.keys(), ...shared.typeStarts.keys()]
    }
  }

  /** O(jobs in the shared lane). */
  moveWaiting (shared, lane) {
    const { list } = this
    const found = []
    shared.scan((block, at) => { if (block[at].type === lane.type) found.push({ block, at }) })
    for (const { block, at } of found) {
      const whenSettled = block[at + 1]
      lane.append(countOut(shared, block[at]), whenSettled, block[at + 2])
      if (typeof whenSettled === 'object') whenSettled.lane = lane
      shared.removeAt(block, at)
    }
    if (list.scanCount === 0) shared.compactIfSparse()
    for (let i = 0; i < found.length; i++) list.tellRemoved(shared)
    for (let i = 0; i < found.length; i++) list.tellQueued(lane)
  }

  /**
   * Has the running jobs of a type count in its own lane, so that a cap holds for all of them. The scheduler is told, for each job, that
   * one was queued in that lane and has started there now, and that the one of the shared lane has ended.
   */
  moveRunning (shared, lane, starts) {
    const { list } = this
    for (const start of [...starts]) {
      list.tellQueued(lane)
      if (!starts.has(start)) { // the job has ended while the scheduler was told
        list.tellRemoved(lane)
        continue
      }
      const { startedAt } = start
      countEnd(shared, start)
      start.lane = lane
      start.startedAt = list.now
      shared.running--
      lane.running++
      if (start.isOverdue) {
        shared.overdueCount--
        lane.overdueCount++
      }
      const cost = unitsOf(start)
      if (start.charge !== undefined) moveCharge(shared, lane, start.charge)
      list.tellStarted(lane, cost)
      list.tellEnded(shared, startedAt, cost)
    }
  }
}

/** Counts a job that is to wait in a shared lane. @returns {TypedPayload} what waits there */
function countIn (lane, type, payload) {
  lane.typeCounts.set(type, (lane.typeCounts.get(type) ?? 0) + 1)
  return new TypedPayload(type, payload)
}

/** A job leaves a shared lane. @returns its payload */
function countOut (lane, { type, payload }) {
  const count = lane.typeCounts.get(type)
  if (count === 1) lane.typeCounts.delete(type)
  else lane.typeCounts.set(type, count - 1)
  return payload
}

/** A job from a shared lane has started. */
function countStart (lane, start) {
  const starts = lane.typeStarts.get(start.type)
  if (starts === undefined) lane.typeStarts.set(start.type, new Set([start]))
  else starts.add(start)
}

/** A job from a shared lane has ended, or counts elsewhere. */
function countEnd (lane, start) {
  const starts = lane.typeStarts.get(start.type)
  starts.delete(start)
  if (starts.size === 0) lane.typeStarts.delete(start.type)
}

/** What a running job is charged counts in the lane of its type from now on. */
function moveCharge (shared, lane, charge) {
  shared.spent -= charge.units
  lane.spent += charge.units
  charge.leave()
}

/** What a job is charged that runs. @param {object} origin of it, which may be its lane */
function unitsOf ({ charge }) {
  return charge === undefined ? COST : charge.units
}

/** As tally() of the list, for a shared lane. */
function tallyShared ({ typeCounts, typeStarts }, visit) {
  for (const [type, count] of typeCounts) visit(type, count, 0)
  for (const [type, starts] of typeStarts) visit(type, 0, starts.size)
}

/** FNV-1a over UTF-16 units, upper bits folded in. */
function hash (type) {
  let hash = 0x811c9dc5
  for (let i = 0; i < type.length; i++) hash = Math.imul(hash ^ type.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

module.exports = { Overflow, countIn, countOut, countStart, countEnd, tallyShared, unitsOf }
