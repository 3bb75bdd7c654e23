'use strict'

// The ids of jobs, from the numbers that a list with a scheduler gives them.

/**
 * A pushed job has its number as id. An unshifted one has a number below all others, so it gets an id from the same row, which is kept here
 * until the job has left the list.
 */
class Ids {
  /** @param {object} list whose numbers begin at `first` from now on */
  constructor (list, first) {
    this.list = list
    this.first = first
    this.unshifted = new Map() // number → id
    list.nextNumber = list.firstNumber = first
  }

  /** The id of a job that was just given this number. */
  add (number) {
    if (number >= this.first) return number
    const id = this.list.nextNumber++
    this.list.skippedCount++
    this.unshifted.set(number, id)
    return id
  }

  /** The id of a job in the list. */
  of (number) {
    return number >= this.first ? number : this.unshifted.get(number)
  }

  /** The id of a job that leaves the list. */
  leave (number) {
    if (number >= this.first) return number
    const id = this.unshifted.get(number)
    this.unshifted.delete(number)
    return id
  }
}

/**
 * The ids of jobs that may come back to their list, where they get other numbers. Numbers may be far apart, while ids are one behind the
 * other. As long as both rise together, nothing is kept.
 */
class KeptIds {
  /**
   * @param {number} waitingCount of jobs that wait, whose ids are their numbers
   * @param {Map<number, number>} [others] number → id, of those of which that is not so
   */
  constructor (waitingCount, others = new Map()) {
    this.shift = 0 // an id less its number, but for those in `others`
    this.others = others
    this.waitingCount = waitingCount
  }

  /** A job was put into the list. @returns its id */
  put (number, id) {
    if (this.waitingCount++ === 0) this.shift = id - number
    else if (number + this.shift !== id) this.others.set(number, id)
    return id
  }

  /** The id of a job in the list. */
  of (number) {
    return this.others.get(number) ?? number + this.shift
  }

  /** The id of a job that leaves the list. */
  leave (number) {
    this.waitingCount--
    const id = this.others.size === 0 ? undefined : this.others.get(number)
    if (id === undefined) return number + this.shift
    this.others.delete(number)
    return id
  }
}

module.exports = { Ids, KeptIds }
