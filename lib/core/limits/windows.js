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
// at most FINEST + 2 entries.

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

  /** In how many ms a job may start; 0: now. */
  waitMs (now) {
    if (this.count < this.limit) return 0
    this.forget(now)
    return this.placeMs(1, now)
  }

  /** In how many ms so many jobs may have started, if none starts in the next heldMs. */
  waitMsOf (count, now, heldMs) {
    this.forget(now)
    const rounds = Math.ceil(count / this.limit) - 1
    return rounds * this.intervalMs + Math.max(this.placeMs(count - rounds * this.limit, now), heldMs)
  }

  isEmpty (now) {
    this.forget(now)
    return this.count === 0
  }

  /** @returns {Window} with the same starts */
  copy () {
    const copy = new Window(this)
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

/** One or several windows, all of which hold. */
class Limit {
  /** @param {{ limit: number, intervalMs: number }[]} rates @param {Limit} [before] whose starts count, in windows of the same interval */
  constructor (rates, before) {
    this.windows = rates.map(rate => {
      const known = before?.windows.find(({ intervalMs }) => intervalMs === rate.intervalMs)
      if (known === undefined) return new Window(rate)
      const window = known.copy()
      window.setLimit(rate.limit)
      return window
    })
    this.longestMs = Math.max(...rates.map(({ intervalMs }) => intervalMs))
    this.first = this.windows[0]
    this.others = this.windows.length > 1 ? this.windows.slice(1) : undefined
    this.generation = -1 // of limits in which it was last put, as these want to know it
    this.terms = undefined // of limits by which a lane has it, as these want to know it
  }

  /**
   * Has its windows let as many start as rates say that are of the same intervals, in the same order.
   * @returns {boolean} whether they are: else nothing has changed
   */
  follow (rates) {
    const { windows } = this
    if (rates.length !== windows.length || rates.some(({ intervalMs }, at) => intervalMs !== windows[at].intervalMs)) return false
    rates.forEach(({ limit }, at) => windows[at].setLimit(limit))
    return true
  }

  add (now) {
    this.first.add(now)
    if (this.others !== undefined) for (const window of this.others) window.add(now)
  }

  reserve () {
    for (const window of this.windows) window.reserve()
  }

  release () {
    for (const window of this.windows) window.release()
  }

  /** Whether waitMs() may be above 0. No clock need be read to know. */
  get isUsedUp () {
    const { first, others } = this
    return first.count >= first.limit || (others !== undefined && others.some(({ count, limit }) => count >= limit))
  }

  waitMs (now) {
    let longest = 0
    for (const window of this.windows) {
      const ms = window.waitMs(now)
      if (ms > longest) longest = ms
    }
    return longest
  }

  /** In how many ms so many jobs may have started, if none starts in the next heldMs. */
  waitMsOf (count, now, heldMs) {
    return Math.max(...this.windows.map(window => window.waitMsOf(count, now, heldMs)))
  }

  isEmpty (now) {
    return this.windows.every(window => window.isEmpty(now))
  }
}

module.exports = { Limit }
