'use strict'

// Why the next job of a type does not start now. Reasons are asked for in the order in which docs/reference/observe.md has them, and the
// first that applies counts. Nothing is kept for it, and nothing is changed by it; it is loaded when somebody asks.

const MOST_HOLDERS = 5

/**
 * What is asked of the queue whose jobs these are.
 * @typedef {object} About
 * @property {() => 'closed' | 'paused' | 'outage' | undefined} barredBy the first that applies
 * @property {() => object | undefined} limiter
 * @property {(type: string | undefined) => { dueAt: number, hasRun: boolean, cost: number } | undefined} firstDue the delayed job
 *   whose time comes first
 * @property {() => Iterable<string>} delayedTypes those with delayed jobs
 * @property {(type: string | undefined) => { waiting: number, delayed: number, running: number, listed?: number }} [countsOf] where the
 *   list does not know all of them
 * @property {(payload: any) => number | undefined} [waitMsOf] for how long a job of the list has waited, where that is not observed
 */

class Explaining {
  /**
   * @param {{ list: object, dispatch: object, clock: object }} queue in memory
   * @param {object | null} scheduler
   * @param {object} shares what may be asked of it: schedulers/shares.js
   * @param {About} about
   */
  constructor ({ list, dispatch, clock }, scheduler, shares, about) {
    this.shares = shares
    this.list = list
    this.dispatch = dispatch
    this.clock = clock
    this.scheduler = scheduler
    this.about = about
  }

  /**
   * O(log types), with all slots taken O(slots); for a type that shares its lane, O(jobs in that).
   * @param {string | undefined} type undefined: of all, without a scheduler
   * @param {{ ahead: boolean }} wishes ahead: O(types)
   */
  explain (type, { ahead }) {
    const found = this.find(type)
    const { waiting, delayed, running } = found
    const { because, untilMs } = this.reason(found)
    const told = {
      type,
      waiting,
      delayed,
      running,
      because,
      untilMs,
      holders: because === 'slots' ? this.holders() : undefined,
      oldestWaitMs: found.listed > 0 ? this.oldestWaitMs(found) : undefined
    }
    if (ahead) told.ahead = waiting === 0 ? undefined : this.ahead(found, because)
    return told
  }

  // private from here on

  /** What there is of a type. `listed` of its jobs are in the list, all in one lane. */
  find (type) {
    const { about, dispatch, list, scheduler } = this
    const lane = scheduler === null ? undefined : list.find(type)
    let { size: listed, running } = lane ?? NO_JOBS
    if (scheduler === null) {
      listed = list.size
      running = dispatch.running
    } else if (lane?.isShared) {
      listed = lane.typeCounts.get(type) ?? 0
      running = lane.typeStarts.get(type)?.size ?? 0
    }
    const delayed = scheduler === null ? dispatch.delayed : list.delays === null ? 0 : list.delays.countOf(type)
    return { type, lane, listed, waiting: listed + delayed, delayed, running, ...about.countsOf?.(type) }
  }

  /** @returns {{ because: string, untilMs?: number }} */
  reason (found) {
    const { about, dispatch } = this
    const { type, listed, waiting } = found
    if (waiting === 0) return { because: 'idle' }
    const barred = about.barredBy()
    if (barred === 'closed' || barred === 'paused') return { because: barred }
    if (this.scheduler !== null && this.list.isTypePaused(type)) return { because: 'type-paused' }
    if (barred !== undefined) return { because: barred }
    const capped = this.cappedBy(found)
    if (listed === 0) return this.delayedReason(type, capped)
    if (capped !== undefined) return { because: capped }
    const held = this.heldBy(type)
    if (held !== undefined) return { because: held, untilMs: this.heldMs(type) }
    if (dispatch.running >= dispatch.concurrency) return { because: 'slots' }
    const isComing = dispatch.isWaking || dispatch.isBusy || dispatch.isAskedAgain
    return isComing || this.isLate(found) ? { because: 'starting', untilMs: 0 } : { because: 'scheduler' }
  }

  /** Whether the queue, or the type, is not held any more, and the timer that is to tell so is late. */
  isLate ({ lane }) {
    const { gate, holds } = this.list
    return gate?.position >= 0 || holds?.byLane.has(lane) === true
  }

  /** No job of the type is in the list. @param {string | undefined} capped as of cappedBy() */
  delayedReason (type, capped) {
    const { dueAt, hasRun, cost } = this.about.firstDue(type) ?? NEVER
    const ms = dueAt === Infinity || capped !== undefined ? undefined : Math.max(dueAt - this.clock.now(), this.heldMs(type, cost), 0)
    return { because: hasRun ? 'backoff' : 'delayed', untilMs: ms }
  }

  /** @returns {'cap' | 'group-cap' | undefined} */
  cappedBy ({ type, lane }) {
    const { dispatch: { concurrency }, scheduler, shares } = this
    if (scheduler === null) return undefined
    const { isShared = false, running } = lane ?? NO_JOBS
    const cap = shares.capOfLane(scheduler, isShared ? lane : { type, isShared: false })
    if (cap < concurrency && running >= cap) return 'cap'
    return safely(() => {
      const group = shares.groupOf(scheduler, type, lane)
      return group !== undefined && group.cap < concurrency && group.running >= group.cap ? 'group-cap' : undefined
    })
  }

  /** @returns {'hold' | 'queue-hold' | 'rate' | 'queue-rate' | undefined} */
  heldBy (type) {
    const limiter = this.about.limiter()
    if (limiter === undefined) return undefined
    const { list: { gate, holds } } = this
    const { limits } = limiter // of types, if these can be held
    if (limits !== undefined && limits.holdMs(type) > 0) return 'hold'
    if (gate !== null && gate.holdMs() > 0) return 'queue-hold'
    if (limits !== undefined && holds.heldMs(type) > 0) return 'rate'
    return this.heldMs(type) > 0 ? 'queue-rate' : undefined
  }

  /** In how many ms nothing holds back a type any more. @param {number} [cost] of its next job, if that is delayed */
  heldMs (type, cost) {
    const limiter = this.about.limiter()
    return limiter === undefined ? 0 : limiter.heldMs(limiter.limits === undefined ? undefined : type, cost)
  }

  /** The types that hold most slots. O(slots). */
  holders () {
    const { dispatch, list, scheduler } = this
    if (scheduler === null) return []
    const counts = new Map()
    const count = ({ type }) => counts.set(type, (counts.get(type) ?? 0) + 1)
    const jobs = [...dispatch.madeInterruptions?.overdue.keys() ?? [], ...dispatch.pending.list()]
    for (const { origin } of jobs) count(origin)
    if (jobs.length < dispatch.running) count(list.origin) // its runner is on the stack
    const most = []
    for (const [type, running] of counts) {
      let at = most.length
      while (at > 0 && most[at - 1].running < running) at--
      most.splice(at, 0, { type, running })
      if (most.length > MOST_HOLDERS) most.pop()
    }
    return most
  }

  /** For how long the job has waited that is to start next. */
  oldestWaitMs (found) {
    const { about, list, list: { recorder } } = this
    if (found.type !== undefined && this.scheduler === null) return undefined // types have no place of their own there
    if (about.waitMsOf !== undefined) return about.waitMsOf(this.firstOf(found).payload)
    if (recorder === null) return undefined
    return list.scheduler === undefined ? recorder.waitMsOfFirst() : recorder.waitMsAt(this.firstOf(found).number)
  }

  /** The first job of a type, which is in the list. */
  firstOf ({ type, lane }) {
    const { list } = this
    if (list.scheduler === undefined) return list.first()
    if (list.lanes === undefined) return list.firstOf(lane)
    const own = lane ?? list.lanes.get(undefined) // without a scheduler, with priorities
    return own.isShared ? firstInShared(own, type) : { payload: own.head[own.headAt], number: own.headSeq }
  }

  /**
   * How many other types may be served before the next job of this one, as things stand: at most so many, where jobs are equally long, and
   * types weigh the same. O(types).
   */
  ahead ({ type, lane, listed }, because) {
    const { list, scheduler, shares } = this
    if (scheduler === null) return type === undefined ? 0 : undefined
    const held = list.holds?.byLane ?? NOTHING
    const isKnown = listed > 0 && !lane.isShared && (because === 'slots' || because === 'starting')
    const types = new Set(this.about.delayedTypes())
    const mayGrow = types.size + held.size > 0
    for (const other of list.lanes === undefined ? list.types.values() : list.all()) {
      if (other === lane || other.size === 0) continue
      const isHeld = held.has(other)
      if (other.isPaused && (!isHeld || list.isTypePaused(other.type))) continue
      if (isKnown && !isHeld && !safely(() => shares.mayPrecede(scheduler, other, lane, mayGrow), true)) continue
      addTypes(types, other)
    }
    if (lane?.isShared) addTypes(types, lane)
    types.delete(type)
    return types.size
  }
}

const NOTHING = new Map()
const NO_JOBS = { size: 0, running: 0 }
const NEVER = { dueAt: Infinity, hasRun: true }

/** The types whose jobs wait in a lane. */
function addTypes (types, { type, isShared, typeCounts }) {
  if (isShared) for (const type of typeCounts.keys()) types.add(type)
  else types.add(type)
}

/** O(jobs in the lane). */
function firstInShared (lane, type) {
  let first
  lane.scan((block, at) => {
    if (first === undefined && block[at].type === type) first = { payload: block[at].payload, number: block[at + 2] }
  })
  return first
}

/** A scheduler that fails is no reason to say nothing. */
function safely (ask, otherwise) {
  try {
    return ask()
  } catch {
    return otherwise
  }
}

module.exports = { Explaining }
