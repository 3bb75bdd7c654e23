'use strict'

// How much a queue on disk takes in: so many jobs and bytes at most, and so many pushes that are written and not acknowledged. Pushes beyond
// those are held in memory, where they have their place in line, and are written when it is their turn.
//
//   push ─▶ room? ─▶ may write? ─▶ written ─▶ acknowledged
//             │no        │no          ▲
//          refused      held ─────────┘ in order, as others are acknowledged

const QList = require('qlist')

/** A push that is held. */
class HeldPush {
  /**
   * @param {number} count of its jobs
   * @param {number} bytes of theirs
   * @param {(error?: Error) => void} proceed writes them, or refuses them with this error
   */
  constructor (count, bytes, proceed) {
    this.count = count
    this.bytes = bytes
    this.proceed = proceed
    this.isHeld = true
  }
}

class Admission {
  /**
   * @param {object} store
   * @param {{ capacity: number, capacityBytes: number, maxInflightOps: number }} options
   * @param {{ stampBytes: number, refusal: () => Error | undefined }} queue how many bytes of each payload are the queue's own; why nothing
   *   that is held can be written now
   */
  constructor (store, { capacity, capacityBytes, maxInflightOps }, { stampBytes, refusal }) {
    this.store = store
    this.capacity = capacity
    this.capacityBytes = capacityBytes
    this.maxInflightOps = maxInflightOps
    this.stampBytes = stampBytes
    this.refusal = refusal
    this.inflightCount = 0 // pushes that are written and not acknowledged
    this.held = new QList() // HeldPushes, some of which are not held any more, and functions that wait for those before, in order
    this.heldCount = 0 // jobs
    this.heldBytes = 0 // theirs
    this.roomWaiters = []
  }

  /** Jobs on disk, and those that will be. */
  get count () {
    return this.store.live.jobsCount + this.heldCount
  }

  /** The bytes of their types and payloads. */
  get bytes () {
    return this.store.payloadBytes + this.heldBytes - this.count * this.stampBytes
  }

  /** @returns {{ what: string, waiting: number, limit: number } | undefined} what so many jobs with so many bytes find too full */
  lack (count, bytes) {
    if (this.count + count > this.capacity) return { what: 'payloads', waiting: this.count, limit: this.capacity }
    if (this.bytes + bytes > this.capacityBytes) return { what: 'bytes', waiting: this.bytes, limit: this.capacityBytes }
  }

  /** There may be room again. */
  freed () {
    for (const resolve of this.roomWaiters.splice(0)) resolve()
  }

  /**
   * Waits until there is room for one more job, here and in the queue in memory.
   * @param {() => Promise<void>} ready of that; called at once
   * @returns {Promise<void>}
   */
  ready (ready) {
    return this.whenReady(ready(), ready)
  }

  /** Whether a push may be written now. */
  get mayWrite () {
    return this.inflightCount < this.maxInflightOps
  }

  /** Holds a push that may not be written. Arguments as those of HeldPush. @returns {HeldPush} for drop() */
  hold (count, bytes, proceed) {
    const push = new HeldPush(count, bytes, proceed)
    this.held.push(push)
    this.heldCount += count
    this.heldBytes += bytes
    return push
  }

  /** A push is not held any more; a second time is none. */
  drop (push) {
    if (!push.isHeld) return
    push.isHeld = false
    this.heldCount -= push.count
    this.heldBytes -= push.bytes
  }

  /** Calls fn when all that is held now is written or refused; at once if nothing is. */
  afterHeld (fn) {
    if (this.heldCount === 0) fn()
    else this.held.push(fn)
  }

  /** Writes all that is held. What fails, the promises of the pushes tell. */
  async writeHeld () {
    while (this.heldCount > 0) await Promise.allSettled([this.store.log.flush()])
  }

  /** Writes all that is held now, whatever is under way. */
  writeNow () {
    while (!this.held.isEmpty()) this.proceed(this.held.shift(), this.refusal())
  }

  /** Writes jobs together. @param {object} batch @returns {object} the group that they are in */
  write (batch) {
    const group = batch.write()
    this.inflightCount++
    return group
  }

  /** A group of the log is settled. */
  settled (group) {
    this.inflightCount -= group.pushesCount
    if (this.held.isEmpty()) return
    const error = this.refusal()
    while (!this.held.isEmpty()) {
      const next = this.held.peek()
      if (next.isHeld && error === undefined && !this.mayWrite) return
      this.held.shift()
      this.proceed(next, error)
    }
  }

  /** Nothing can be written any more: all that is held is refused. */
  fail (error) {
    while (!this.held.isEmpty()) this.proceed(this.held.shift(), error)
  }

  // private from here on

  proceed (next, error) {
    if (typeof next === 'function') {
      next()
    } else if (next.isHeld) {
      this.drop(next)
      next.proceed(error)
    }
  }

  async whenReady (isReady, ready) {
    await isReady
    while (this.lack(1, 1) !== undefined) {
      await new Promise(resolve => this.roomWaiters.push(resolve))
      await ready()
    }
  }
}

module.exports = { Admission }
