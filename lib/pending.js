'use strict'

// HOT (bench: fifo). Which started jobs pend: their runners have returned, and they have not settled. close() must find them.
//
// A ring of places, at least half of which are free. A job that has ended stays in its place until another gets that: so an
// end costs nothing here (taking jobs out when they end made those of nextTick runners 9 % slower, Node 20).

const PENDING = 0
const FIRST_LENGTH = 32
const NONE = { state: -1 }

class Pending {
  constructor () {
    this.places = new Array(FIRST_LENGTH).fill(NONE)
    this.at = 0
  }

  /** None pends: gives memory back. */
  reset () {
    if (this.places.length > FIRST_LENGTH) this.resize(0)
  }

  /**
   * @param {{ state: number }} job whose state is PENDING as long as it pends
   * @param {number} mostCount of jobs that pend now, this one included
   */
  add (job, mostCount) {
    if (2 * mostCount > this.places.length) this.resize(mostCount)
    const { places } = this
    const last = places.length - 1
    let { at } = this
    while (places[at].state === PENDING) at = (at + 1) & last
    places[at] = job
    this.at = (at + 1) & last
    if (this.at === 0 && places.length > FIRST_LENGTH && 16 * mostCount < places.length) this.resize(mostCount)
  }

  /** Those that pend now, in no order. O(places). */
  list () {
    return this.places.filter(({ state }) => state === PENDING)
  }

  resize (mostCount) {
    const jobs = this.list()
    let length = FIRST_LENGTH
    while (length < 4 * mostCount) length *= 2
    this.places = [...jobs, ...new Array(length - jobs.length).fill(NONE)]
    this.at = jobs.length
  }
}

module.exports = { Pending, PENDING }
