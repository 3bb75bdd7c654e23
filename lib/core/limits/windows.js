'use strict'

// HOT (bench: flow). How many jobs may start in a stretch of time: sliding windows. In any half-open stretch of `intervalMs` at most
// `limit` jobs start, whatever came before. A token bucket, and a window that begins anew every so often, let twice as many
// (docs/decisions/0065-windows-not-buckets.md).
//
//   times   [ t0 │ t1 │ … ]      when the last job of an entry started, ascending
//   counts  [ c0 │ c1 │ … ]      how many jobs the entry stands for
//
// Up to FINEST jobs have an entry each. Where the limit is higher, those that start in one slice of the interval share an entry, which
// counts until its last start is `intervalMs` old. So there are never too many, a place comes back a slice late at most, and a window has
// at most FINEST + 2 entries. Where units of cost are counted in place of jobs: cost-window.js.

const FINEST = 64

class Window {
  /** @param {{ limit: number, intervalMs: number }} rate */
  constructor ({ limit, intervalMs }) {
    this.intervalMs = intervalMs
    this.times = []
    this.counts = []
    this.count = 0 // the sum of counts, and reservedCount
    this.reservedCount = 0 // of jobs that have a slot, and are counted when they start
    this.sliceEnd = -Infinity // until then a start joins the last entry
    this.setLimit(limit)
  }

  setLimit (limit) {
    this.limit = limit
    this.sliceMs = limit > FINEST ? this.intervalMs / FINEST : 0
    this.sliceEnd = -Infinity
  }

  /** A job starts. */
  add (now) {
    this.count++
    if (now < this.sliceEnd) {
      const last = this.times.length - 1
      this.times[last] = now
      this.counts[last]++
    } else {
      if (this.count > 1) this.forget(now) // so that entries are bounded though the limit is never reached
      this.times.push(now)
      this.counts.push(1)
      this.sliceEnd = now + this.sliceMs
    }
  }

  /** A job is to start soon, and its place is taken until then. */
  reserve () {
    this.count++
    this.reservedCount++
  }

  /** A job that has taken a place does not start, or does so now and is counted next. */
  release () {
    this.count--
    this.reservedCount--
  }

  /** Whether waitMs() may be above 0. No clock need be read to know. */
  lacks () {
    return this.count >= this.limit
  }

  /** In how many ms a job may start; 0: now. */
  waitMs (now) {
    if (this.count < this.limit) return 0
    this.forget(now)
    return this.placeMs(1, now)
  }

  /** In how many ms so many jobs, or units, may have started, if none starts in the next heldMs. */
  waitMsOf (count, now, heldMs) {
    this.forget(now)
    const rounds = Math.max(0, Math.ceil(count / this.limit) - 1)
    return rounds * this.intervalMs + Math.max(this.placeMs(count - rounds * this.limit, now), heldMs)
  }

  isEmpty (now) {
    this.forget(now)
    return this.count === 0
  }

  /** @returns {Window} with the same starts */
  copy () {
    const copy = new this.constructor(this)
    copy.times = [...this.times]
    copy.counts = [...this.counts]
    copy.count = this.count - this.reservedCount
    return copy
  }

  // private from here on

  /** In how many ms there is room for so many jobs, up to the limit. What is out of date was forgotten. */
  placeMs (count, now) {
    let missing = this.count - this.limit + count
    if (missing <= 0) return 0
    let at = 0
    while ((missing -= this.counts[at]) > 0) at++
    if (at === this.times.length) return this.intervalMs // places that are reserved come back later than that
    return this.times[at] + this.intervalMs - now
  }

  forget (now) {
    const { times, counts, intervalMs } = this
    while (times.length > 0 && times[0] + intervalMs <= now) {
      times.shift() // of so few, as fast as a ring
      this.count -= counts.shift()
    }
    if (times.length === 0) this.sliceEnd = -Infinity
  }
}

// What is counted: undefined is jobs.
Window.prototype.of = undefined

module.exports = { FINEST, Window }
