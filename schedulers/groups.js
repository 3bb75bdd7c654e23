'use strict'

// HOT (bench: schedulers). `equal` on two levels: groups share the slots, and the types of a group share what it gets. Each level is the
// scheduler `equal`: to the root a group is what a type is to its level (Bennett, Zhang 1996; with start-time fair queuing, which does
// not ask when its server serves it: Goyal, Guo, Vin 1996). Loaded by makeEqual() when `groupOf` asks for it.
//
//   root   ranks groups, by the slot time of all their types
//   group  level   ranks the types of the group, by the slot time of each; a type that is alone in its group needs none
//
// A group may start a job while a type of it may. While types of it wait that are all at their caps, it is at a cap of nothing itself.
//
// Promises: docs/why/shares.md has the bound of each level, and the proof; docs/decisions/0175 why it is made like this.

const { describe, describeThrown, warn } = require('../lib/arguments/errors')
const { readFunction } = require('../lib/arguments/fields')
const { readers } = require('./equal-options')
const { Caps, readOptions, readLimit } = require('./options')
const { Weights } = require('./weights')

const OPTION = 'FAIRLANE_ERR_OPTION'
// So many groups that are left are kept for those that come.
const MOST_FREED = 64
// The group of all lanes that types share.
const OVERFLOW = Symbol('overflow')

const groupReaders = { ...readers, groupWeights: readers.weights, groupCaps: readers.typeCaps, maxGroupCap: readLimit }

/** What the root knows of caps. */
class GroupCaps extends Caps {
  numberOf (group) {
    return group.isBlocked ? 0 : super.numberOf(group)
  }
}

/** Some types, which are what a lane is to the root. */
class Group {
  constructor () {
    this.key = undefined // among all groups
    this.type = '' // its name
    this.isShared = false // it has no name by which options could mean it
    this.size = 0 // 1: types of it wait
    this.running = 0
    this.isPaused = false
    this.isBlocked = false // types of it wait, and all these are at their caps
    this.state = undefined // of the root
    this.laneCount = 0
    this.lane = undefined // the only one, until there are two: its state is the group
    this.level = undefined // of the types, from the second on
    this.frame = undefined // as a state of a type it has none
  }
}

/** The group that a lane is in, which has been entered. */
function groupIn ({ state }) {
  return state.frame === undefined ? state : state.frame.group
}

class Groups {
  /**
   * @param {(type: string) => string} groupOf called when the first job of a type comes; where it fails, the type is a group of its own
   * @param {object} options as of Equal, and
   * @param {Record<string, number> | Map<string, number> | ((group: string) => number) | null} [options.groupWeights=1] as `weights`, of
   *   groups
   * @param {Record<string, number> | Map<string, number> | null} [options.groupCaps={}] as `typeCaps`, of groups
   * @param {number} [options.maxGroupCap=Infinity] jobs of one group that run at once
   * @param {typeof import('./equal').Equal} Level what each level is
   * @throws FAIRLANE_ERR_OPTION
   */
  constructor (groupOf, options, Level) {
    this.asked = readFunction(groupOf, 'groupOf', OPTION)
    this.hasWarned = false
    this.Level = Level
    this.caps = new Caps(1) // of types, on all levels
    this.weighting = new Weights()
    this.maxGroupCap = Infinity
    this.groupCaps = new Map()
    this.groupWeights = new Map()
    this.root = new Level(undefined, { caps: new GroupCaps(1), weighting: new Weights('groupWeights', 'groups'), group: null })
    this.needsClock = this.root.needsClock
    this.needsCost = this.root.needsCost
    this.mayStall = true // with a cap of 0
    this.groups = new Map() // by name; one without a name by its lane, or as OVERFLOW
    this.freed = []
    this.types = new Level(undefined, { caps: this.caps, weighting: this.weighting, group: null }) // has none: what options say of them
    this.configure(options)
  }

  /**
   * Changes the options that are given. O(waiting types); O(groups + types at their caps) if only `concurrency` or `maxTypeShare` changes,
   * and O(1) if the share is the same number of slots then.
   * @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options) {
    const { root, types, caps, weighting } = this
    const before = types.terms()
    const rootBefore = root.terms()
    readOptions(options, groupReaders, name => name === 'weights' ? weighting : name in caps ? caps : this)
    root.caps.concurrency = caps.concurrency
    root.caps.maxTypeCap = this.maxGroupCap
    root.caps.typeCaps = this.groupCaps
    root.weighting.weights = this.groupWeights
    root.changed(rootBefore)
    if (!types.changed(before)) return this
    for (const group of [...this.groups.values()]) {
      group.level?.changed(before)
      this.update(group)
    }
    return this
  }

  queued (lane) {
    const group = this.groupFor(lane)
    if (group === undefined) return
    group.level?.queued(lane)
    this.update(group)
  }

  /** @returns {object | undefined} the lane whose oldest job is to start */
  next (now) {
    const { root } = this
    for (let group = root.next(now); group !== undefined; group = root.next(now)) {
      const lane = group.level === undefined ? group.lane : group.level.next(now)
      if (lane !== undefined) return lane
      this.update(group) // its types have come to be at their caps when the options changed
    }
    return undefined
  }

  started (lane, now, cost) {
    const group = this.groupFor(lane)
    group.level?.started(lane, now, cost)
    group.running++
    this.look(group)
    this.root.started(group, now, cost)
  }

  ended (lane, startedAt, now, cost) {
    const group = groupIn(lane)
    group.level?.ended(lane, startedAt, now, cost)
    group.running--
    this.look(group)
    this.root.ended(group, startedAt, now, cost)
  }

  /** As of charges.js. */
  charged (lane, difference, startedAt) {
    if (!this.needsCost) return
    const group = groupIn(lane)
    group.level?.charged(lane, difference, startedAt)
    this.root.charged(group, difference, startedAt)
  }

  removed (lane) {
    if (lane.state === undefined) return
    const group = groupIn(lane)
    group.level?.removed(lane)
    this.update(group)
  }

  paused (lane) {
    const group = this.groupFor(lane)
    if (group === undefined) return
    group.level?.paused(lane)
    this.update(group)
  }

  resumed (lane) {
    const group = this.groupFor(lane)
    if (group === undefined) return
    group.level?.resumed(lane)
    this.update(group)
  }

  /** Whether a lane that neither waits nor runs would start again where it is now, and its group, too, if it were forgotten. */
  forget (lane) {
    if (lane.state === undefined) return true
    const group = groupIn(lane)
    if (group.level?.forget(lane) === false || (group.laneCount === 1 && !this.root.forget(group))) return false
    lane.state = undefined // whatever becomes of the lane, the group may be another one by then
    if (--group.laneCount === 0) this.free(group)
    return true
  }

  isNamed (type) {
    return this.types.isNamed(type)
  }

  capOf (type) {
    return this.types.capOf(type)
  }

  weightOf (type) {
    return this.types.weightOf(type)
  }

  /** @returns {number} how many groups have types that have jobs, are paused, or are not forgotten yet */
  get groupCount () {
    return this.groups.size
  }

  /**
   * @param {string} type
   * @param {object} [lane] of the type, if it has one: then nobody is asked
   * @returns {string | undefined} the name of its group; undefined if it has none
   */
  groupOf (type, lane) {
    if (lane?.state === undefined) return this.ask(type)
    const { isShared, type: name } = groupIn(lane)
    return isShared ? undefined : name
  }

  /** @returns {number} how many jobs of a group may run at once */
  groupCapOf (group) {
    const { caps } = this.root
    return caps.limitOf({ type: group, isShared: group === undefined, isBlocked: false })
  }

  /** @returns {number} as it was given; 1 by default */
  groupWeightOf (group) {
    return this.root.weighting.weightOf({ type: group, isShared: group === undefined })
  }

  /**
   * What is known of the group of a type, or of the one that it would be in. O(types of the group that wait).
   * @param {string} type
   * @param {object} [lane] as of groupOf()
   * @returns {{ group: string | undefined, running: number, cap: number, waitingTypes: number, cappedTypes: number }} how many jobs of the
   *   group run, and may run; waitingTypes: how many types of it wait and are not paused; cappedTypes: how many of these are at their own
   *   caps
   */
  groupStats (type, lane) {
    const group = this.groupOf(type, lane)
    const found = lane?.state === undefined ? this.groups.get(group) : groupIn(lane)
    const cap = this.groupCapOf(group)
    if (found === undefined) return { group, running: 0, cap, waitingTypes: 0, cappedTypes: 0 }
    const { running, size, isBlocked, level } = found
    if (level === undefined) return { group, running, cap, waitingTypes: size, cappedTypes: isBlocked ? 1 : 0 }
    const { ranking, parked } = level
    return { group, running, cap, waitingTypes: parked.size + [...ranking].length, cappedTypes: parked.size }
  }

  /** The part of a type that waits, relative to others of whatever group. */
  shareOf (type) {
    const group = this.ask(type)
    return this.groupWeightOf(group) * this.partOf(type, this.groups.get(group))
  }

  /** As of Equal. How groups come to be served depends on what other types of them do: those of another group may. */
  precedes (other, lane) {
    const group = groupIn(lane)
    return groupIn(other) !== group || group.level.precedes(other, lane)
  }

  // private from here on

  /** @returns {Group | undefined} as of enter() */
  groupFor (lane) {
    return lane.state === undefined ? this.enter(lane) : groupIn(lane)
  }

  /**
   * What is asked is the caller's, and may do anything: it comes first.
   * @returns {Group | undefined} undefined if it has taken all jobs of the lane away, which nobody has forget() be asked about then
   */
  enter (lane) {
    const name = lane.isShared ? undefined : this.ask(lane.type)
    if (lane.state !== undefined) return groupIn(lane) // it has pushed a job of the type
    if (lane.size + lane.running === 0 && !lane.isPaused) return undefined
    const key = lane.isShared ? OVERFLOW : name ?? lane
    const group = this.groups.get(key) ?? this.open(key, name)
    if (++group.laneCount === 1 && group.level === undefined) {
      group.lane = lane
      lane.state = group
      return group
    }
    if (group.level !== undefined) group.level.enter(lane)
    else this.openLevel(group, lane)
    return lane.state === undefined ? undefined : group
  }

  /** A second type comes to a group. The weight of the first is asked for now, and who gives it may do anything, too. */
  openLevel (group, lane) {
    const { caps, weighting, root, Level } = this
    const first = group.lane
    group.lane = undefined
    group.level = new Level(undefined, { caps, weighting, group })
    group.level.enter(lane)
    group.level.adopt(first, group.state, root.now)
  }

  /** @returns {string | undefined} undefined if it fails */
  ask (type) {
    let group
    try {
      group = this.asked(type)
      if (typeof group === 'string') return group
    } catch (err) {
      this.blame(`threw ${describeThrown(err)}`)
      return undefined
    }
    this.blame(`returned ${describe(group)}`)
    return undefined
  }

  blame (what) {
    if (!this.hasWarned) warn('FAIRLANE_WARN_GROUP', `groupOf must return a string, but it ${what}. Such a type is a group of its own.`)
    this.hasWarned = true
  }

  open (key, name) {
    const { root } = this
    const group = this.freed.pop() ?? new Group()
    group.key = key
    group.type = name ?? ''
    group.isShared = name === undefined
    root.enter(group)
    this.groups.set(key, group)
    return group
  }

  free (group) {
    this.groups.delete(group.key)
    if (this.freed.length === MOST_FREED) return
    group.key = group.state = group.lane = undefined
    group.level?.restart()
    this.freed.push(group)
  }

  /** Has the root know what types of a group may do, after a change of one, where no job has started or ended. */
  update (group) {
    const { size, isBlocked } = group
    this.look(group)
    if (size === group.size && isBlocked === group.isBlocked) return
    this.root.place(group.state, size < group.size)
    this.root.rest()
  }

  /** Whether types of the group wait, and all of them at their caps. */
  look (group) {
    const { lane, level, isBlocked } = group
    const isWaiting = level === undefined ? lane.size > 0 && !lane.isPaused : !level.ranking.isEmpty || level.parked.size > 0
    group.size = isWaiting ? 1 : 0
    group.isBlocked = isWaiting && (level === undefined ? lane.running >= this.types.limitOf(lane) : level.ranking.isEmpty)
    if (group.isBlocked !== isBlocked) this.root.refresh(group.state)
  }

  /** The part of its group that a type has, or would have. */
  partOf (type, { lane, level, size, running } = {}) {
    const weight = this.weightOf(type)
    if (level !== undefined) return level.weightSum === 0 ? 1 : weight / level.unit / level.weightSum
    return lane === undefined || size + running === 0 ? 1 : weight / this.weighting.weightOf(lane)
  }
}

module.exports = { Groups }
