'use strict'

// How much a queue on disk takes in: so many jobs and bytes at most, and so many pushes that are written and not acknowledged. Pushes
// beyond those are buffered in memory, where they have their place in line, and are written when it is their turn.
//
//   push ─▶ room? ─▶ may write? ─▶ written ─▶ acknowledged
//             │no        │no          ▲
//          refused   buffered ────────┘ in order, as others are acknowledged

const QList = require('qlist')

/** A push that is buffered. */
class BufferedPush {
  /**
   * @param {number} count of its jobs
   * @param {number} bytes of theirs
   * @param {(error?: Error) => void} proceed writes them, or refuses them with this error
   */
  constructor (count, bytes, proceed) {
    this.count = count
    this.bytes = bytes
    this.proceed = proceed
    this.isBuffered = true
  }
}

class Admission {
  /**
   * @param {object} store
   * @param {{ capacity: number, capacityBytes: number, maxInflightOps: number }} options
   * @param {{ stampBytes: number, refusal: () => Error | undefined }} queue how many bytes of each payload are the queue's own; why nothing
   *   that is buffered can be written now
   */
  constructor (store, { capacity, capacityBytes, maxInflightOps }, { stampBytes, refusal }) {
    this.store = store
    this.capacity = capacity
    this.capacityBytes = capacityBytes
    this.maxInflightOps = maxInflightOps
    this.stampBytes = stampBytes
    this.refusal = refusal
    this.inflightCount = 0 // pushes that are written and not acknowledged
    // BufferedPushes, some of which are not buffered any more, and functions that wait for those before, in order
    this.buffered = new QList()
    this.bufferedCount = 0 // jobs
    this.bufferedBytes = 0 // theirs
    this.roomWaiters = []
  }

  /** Jobs on disk, and those that will be. */
  get count () {
    return this.store.live.jobsCount + this.bufferedCount
  }

  /** The bytes of their types and payloads. */
  get bytes () {
    return this.store.payloadBytes + this.bufferedBytes - this.count * this.stampBytes
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

  /** Buffers a push that may not be written. Arguments as those of BufferedPush. @returns {BufferedPush} for drop() */
  buffer (count, bytes, proceed) {
    const push = new BufferedPush(count, bytes, proceed)
    this.buffered.push(push)
    this.bufferedCount += count
    this.bufferedBytes += bytes
    return push
  }

  /** A push is not buffered any more; a second time is none. */
  drop (push) {
    if (!push.isBuffered) return
    push.isBuffered = false
    this.bufferedCount -= push.count
    this.bufferedBytes -= push.bytes
  }

  /** Calls fn when all that is buffered now is written or refused; at once if nothing is. */
  afterBuffered (fn) {
    if (this.bufferedCount === 0) fn()
    else this.buffered.push(fn)
  }

  /** Writes all that is buffered. What fails, the promises of the pushes tell. */
  async writeBuffered () {
    while (this.bufferedCount > 0) await Promise.allSettled([this.store.log.flush()])
  }

  /** Writes all that is buffered now, whatever is under way. */
  writeNow () {
    while (!this.buffered.isEmpty()) this.proceed(this.buffered.shift(), this.refusal())
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
    if (this.buffered.isEmpty()) return
    const error = this.refusal()
    while (!this.buffered.isEmpty()) {
      const next = this.buffered.peek()
      if (next.isBuffered && error === undefined && !this.mayWrite) return
      this.buffered.shift()
      this.proceed(next, error)
    }
  }

  /** Nothing can be written any more: all that is buffered is refused. */
  fail (error) {
    while (!this.buffered.isEmpty()) this.proceed(this.buffered.shift(), error)
  }

  // private from here on

  proceed (next, error) {
    if (typeof next === 'function') {
      next()
    } else if (next.isBuffered) {
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
