'use strict'

// How many jobs may wait: in all, of one type, and by a dynamic threshold between these (Choudhury and Hahne, "Dynamic queue
// length thresholds for shared-memory packet switches", 1998): what one type may have waiting shrinks with the room that
// all leave, so that a flood leaves room for others. Who is refused is told when to come back; who waits for room is told
// when there is some.

const QList = require('qlist')
const { defer } = require('../platform/clock')
const { closedError, queueFullError, typeFullError } = require('../arguments/errors')
const { spread } = require('../platform/jitter')
const { Promises } = require('./notifications')
const { Verdict } = require('./verdict')

const SHARE_OF_ROOM = 4 // one type may have up to so many times the free room waiting: alone, it fills 80 % of maxWaiting
const RATE_WINDOW_MS = 1000
const LONGEST_RETRY_MS = 60000
// Of more refused types, which may be invented ones, it is not watched when they are accepted again.
const MOST_REFUSED = 1000
// At most so many types that are waited for are looked at in one go, if they are still refused.
const MOST_SEEN = 32

const QUEUE = 'FAIRLANE_ERR_QUEUE_FULL'
const TYPE = 'FAIRLANE_ERR_TYPE_FULL'

class Admission {
  /**
   * @param {{ maxWaiting: number, maxWaitingPerType: { all: number, byType: Map<string, number> }, scheduler: any, clock: object }} options
   * @param {object} list
   * @param {object} dispatch
   * @param {(event: string) => void} emit called in a microtask
   */
  constructor ({ maxWaiting, maxWaitingPerType, scheduler, clock }, list, dispatch, emit) {
    this.maxWaiting = maxWaiting
    this.maxWaitingPerType = maxWaitingPerType
    this.hasTypes = scheduler !== null
    this.isLimited = maxWaiting !== Infinity || maxWaitingPerType.all !== Infinity || maxWaitingPerType.byType.size > 0
    this.list = list
    this.dispatch = dispatch
    this.emit = emit
    this.rate = new Rate(clock)
    this.code = undefined // of the limit that accepts() ran into
    this.waiting = 0
    this.limit = 0
    this.isClosed = false
    this.cause = undefined // { cause } of the errors from then on, if a signal has closed the queue
    this.isSaturated = false
    this.refusedTypes = new Set() // since it is saturated, but for those without waiting jobs
    this.refusedType = undefined // one of them that was still refused when last looked
    this.waiters = new Map() // type → { type, resolves, rejects } of the promises of ready()
    this.ring = new QList() // of these, for all have their turn; the one seen longest ago comes first
    this.unseenCount = 0 // how many of these have not been looked at since the last check()
    this.looksLater = false
    this.delayedOf = none // how many jobs of a type wait elsewhere, of an inner queue
  }

  /**
   * Whether a job of the type would be accepted now. O(1). If not, `code`, `waiting` and `limit` say why.
   * @param {string | undefined} type undefined: of any type, and on a queue without types
   * @param {number} [ownCount] 1: the job itself waits already
   */
  accepts (type, ownCount = 0) {
    if (this.isClosed) return false
    if (!this.isLimited) return true
    const { list, dispatch, maxWaiting } = this
    const mostWaiting = maxWaiting + Math.max(0, dispatch.concurrency - dispatch.running)
    const waitingInAll = dispatch.waiting - ownCount
    const room = mostWaiting - waitingInAll
    if (room <= 0) return this.meets(QUEUE, waitingInAll, mostWaiting)
    if (type === undefined || !this.hasTypes) return true
    const { all, byType } = this.maxWaitingPerType
    const waiting = list.waitingWith(type) + this.delayedOf(type) - ownCount
    if (this.isClosed) return false // by the scheduler, which was asked for the lane
    const limit = Math.min(byType.get(type) ?? all, Math.max(1, SHARE_OF_ROOM * room))
    return waiting < limit || this.meets(TYPE, waiting, limit)
  }

  /**
   * What a push of a type is refused by; undefined if it is accepted.
   * @param {string | undefined} type
   * @param {number} [ownCount] as of accepts()
   * @returns {FairlaneError | undefined} FAIRLANE_ERR_QUEUE_FULL, FAIRLANE_ERR_TYPE_FULL, FAIRLANE_ERR_CLOSED
   */
  refuse (type, ownCount = 0) {
    if (this.isLimited) this.rate.look(this.endedCount())
    if (this.accepts(type, ownCount)) return undefined
    this.countRejected(type)
    if (this.isClosed) return closedError(this.cause)
    const error = this.fullError(type)
    this.saturate(type)
    return error
  }

  /**
   * @returns {FairlaneError} what an inner queue refuses a job with that limits more than waiting jobs: there is room when one has ended
   */
  fullElsewhere (type, waiting, limit) {
    this.rate.look(this.endedCount())
    const message = `The queue on disk is full: it holds ${waiting} of ${limit} jobs or bytes`
    return queueFullError({ type, waiting, limit, retryAfterMs: spread(this.usualMs(1)) }, message)
  }

  /** A job of the type is not taken in, for whatever reason. */
  countRejected (type) {
    this.dispatch.rejected++
    const counts = this.hasTypes ? this.list.countsOf(type) : undefined
    if (counts !== undefined) counts.rejected++
  }

  /** @returns {Promise<void>} resolves when a job of the type would be accepted; rejects when the queue closes */
  ready (type) {
    if (this.accepts(type)) return Promise.resolve()
    if (this.isClosed) return Promise.reject(closedError(this.cause))
    return new Promise((resolve, reject) => {
      const { resolves, rejects } = this.waiters.get(type) ?? this.waitFor(type)
      resolves.push(resolve)
      rejects.push(reject)
    })
  }

  /** Something may be accepted that was not: tells those who wait for it. O(1): if they wait for many types, the rest is told later. */
  check () {
    this.unseenCount = this.ring.size()
    this.lookOn(MOST_SEEN)
    if (this.isSaturated && this.acceptsAll()) {
      this.isSaturated = false
      this.announce('unsaturated')
    }
    this.dispatch.isWatched = this.isSaturated || this.waiters.size > 0
  }

  /** From here on nothing is accepted. A later call can only add a cause. @param {{ cause: any }} [cause] of the errors */
  close (cause) {
    this.cause ??= cause
    this.isClosed = true
    if (this.waiters.size > 0) this.turnAway()
    this.isSaturated = this.dispatch.isWatched = false
  }

  // private from here on

  waitFor (type) {
    const entry = { type, resolves: [], rejects: [] }
    this.waiters.set(type, entry)
    this.ring.push(entry)
    this.dispatch.isWatched = true
    return entry
  }

  /**
   * Looks at some of the types that are waited for, the one seen longest ago first, and at the others in later turns. To be asked for a
   * lane, the scheduler may do anything: meanwhile the type is in no ring.
   * @param {number} mostCount of types
   */
  lookOn (mostCount) {
    const { ring } = this
    const slice = this.dispatch.telling.slice()
    let refusedCount = 0
    while (this.unseenCount > 0 && !ring.isEmpty() && mostCount-- > 0 && refusedCount < MOST_SEEN) {
      const entry = ring.shift()
      const isAccepted = this.accepts(entry.type)
      if (this.isClosed) return
      if (!isAccepted && this.code === QUEUE) {
        ring.unshift(entry)
        return // none is, until the next check()
      }
      this.unseenCount--
      if (isAccepted) {
        this.release(entry)
      } else {
        refusedCount++
        ring.push(entry)
      }
      if (slice.isOver()) break
    }
    if (this.unseenCount > 0 && !ring.isEmpty() && !this.looksLater) this.lookLater()
  }

  lookLater () {
    this.looksLater = true
    this.dispatch.scope.runInAsyncScope(defer, undefined, () => {
      this.looksLater = false
      this.lookOn(Infinity)
    })
  }

  release ({ type, resolves }) {
    this.waiters.delete(type)
    if (resolves.length === 1) resolves[0]()
    else this.dispatch.telling.tell(new Promises(resolves))
  }

  /** The queue has closed: nobody waits for it any more. */
  turnAway () {
    const rejects = []
    for (const entry of this.waiters.values()) for (const reject of entry.rejects) rejects.push(reject)
    this.waiters.clear()
    this.ring = new QList()
    const verdict = new Verdict(closedError, this.cause)
    verdict.prepare(rejects.length)
    this.dispatch.telling.tell(new Promises(rejects, verdict))
  }

  meets (code, waiting, limit) {
    this.code = code
    this.waiting = waiting
    this.limit = limit
    return false
  }

  /** O(1) while the same type is refused, else O(types that were). */
  acceptsAll () {
    if (!this.accepts(undefined)) return false
    if (this.refusedType !== undefined && !this.accepts(this.refusedType)) return false
    this.refusedType = undefined
    for (const type of this.refusedTypes) {
      if (this.accepts(type)) continue
      this.refusedType = type
      return false
    }
    this.refusedTypes.clear()
    return true
  }

  saturate (type) {
    const isRemembered = this.code === TYPE || (this.hasTypes && this.list.waitingWith(type) > 0)
    if (isRemembered && this.refusedTypes.size < MOST_REFUSED) this.refusedTypes.add(type)
    if (this.isSaturated) return
    this.isSaturated = this.dispatch.isWatched = true
    this.announce('saturated')
  }

  /** In a microtask: push calls nobody back, and the two events come in the order in which they happened. */
  announce (event) {
    queueMicrotask(() => this.emit(event))
  }

  fullError (type) {
    const { code, waiting, limit } = this
    // jobs of a type get the share of the slots that their type has
    const aheadCount = Math.max(1, waiting - limit + 1)
    const usualMs = this.usualMs(aheadCount * (code === QUEUE ? 1 : this.list.typesCount))
    const heldMs = code === TYPE ? Math.ceil(this.list.holds?.heldMsOf(type, aheadCount) ?? 0) : 0 // by limits of rate
    const fields = { type, waiting, limit, retryAfterMs: spread(Math.max(usualMs, heldMs)) }
    return code === QUEUE ? queueFullError(fields) : typeFullError(fields)
  }

  /** In about so many ms so many jobs will have ended. */
  usualMs (aheadCount) {
    return Math.min(Math.max(Math.ceil(aheadCount / this.rate.perMs), 1), LONGEST_RETRY_MS)
  }

  endedCount () {
    const { done, failed } = this.dispatch
    return done + failed
  }
}

function none () {
  return 0
}

/** How many jobs end per ms, over the last one to two windows; the last known if nobody looked for longer. */
class Rate {
  constructor (clock) {
    this.clock = clock
    this.perMs = 1 / RATE_WINDOW_MS
    this.older = this.newer = { time: clock.now(), count: 0 }
  }

  look (count) {
    const time = this.clock.now()
    if (time - this.newer.time >= RATE_WINDOW_MS) {
      this.older = time - this.newer.time >= 10 * RATE_WINDOW_MS ? { time, count } : this.newer
      this.newer = { time, count }
    }
    const ms = time - this.older.time
    if (ms > 0) this.perMs = count > this.older.count ? (count - this.older.count) / ms : Math.min(this.perMs, 1 / ms)
  }
}

module.exports = { Admission }
