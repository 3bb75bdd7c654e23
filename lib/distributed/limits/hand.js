'use strict'

// The permits that a process has in hand: when each may be used, by performance.now(), and those that were not used in time, which the
// broker is to be told of.

// Of the time for which a permit is good its job begins in the first part: what a runner does first comes somewhat later.
const FOR_STARTS = 0.5

class Hand {
  constructor () {
    this.permits = [] // { from, until, mark, count }, in order
    this.unused = new Map() // mark → how many
  }

  /** Whether one may be used now. */
  has (now) {
    this.dropLate(now)
    return this.permits.length > 0 && this.permits[0].from <= now
  }

  get size () {
    return this.permits.reduce((sum, { count }) => sum + count, 0)
  }

  /** When the first one may be used; Infinity: there is none. */
  get nextAt () {
    return this.permits[0]?.from ?? Infinity
  }

  /** When the first one is over. */
  get overAt () {
    return this.permits[0]?.until ?? Infinity
  }

  /** After has(). @returns {{ until: number, mark: string }} */
  take () {
    const [first] = this.permits
    if (--first.count === 0) this.permits.shift()
    return { until: first.until, mark: first.mark }
  }

  /**
   * @param {any[]} grants how many, in how many ms, and their mark, as the broker says it
   * @param {number} sentAt when it was asked
   * @param {number} goodMs for how long they are good
   */
  add (grants, sentAt, now, goodMs) {
    for (let at = 0; at < grants.length; at += 3) {
      const [count, inMs, mark] = grants.slice(at, at + 3)
      this.permits.push({ from: now + inMs, until: sentAt + inMs + FOR_STARTS * goodMs, mark, count })
    }
  }

  /** One was not used, or was not by so many. */
  putBack ({ until, mark }, now) {
    if (until > now) this.permits.unshift({ from: -Infinity, until, mark, count: 1 })
    else this.drop(mark, 1)
  }

  drop (mark, count) {
    this.unused.set(mark, (this.unused.get(mark) ?? 0) + count)
  }

  dropLate (now) {
    while (this.permits.length > 0 && this.permits[0].until <= now) {
      const { mark, count } = this.permits.shift()
      this.drop(mark, count)
    }
  }

  dropAll () {
    this.dropLate(Infinity)
  }

  /** @returns {[string, number][]} what the broker is told of now */
  takeUnused () {
    const unused = [...this.unused]
    this.unused.clear()
    return unused
  }
}

module.exports = { Hand }
