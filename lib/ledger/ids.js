'use strict'

// The ids of jobs, from the numbers that a list gives them. A pushed job has its number as id. An unshifted one has a number below all others,
// so it gets an id from the same row, which is kept here until the job has left the list.

class Ids {
  /** @param {object} list whose numbers begin at `first` from now on */
  constructor (list, first) {
    this.list = list
    this.first = first
    this.unshifted = new Map() // number → id
    list.nextNumber = list.firstNumber = first
  }

  /** Jobs that were put into the list. */
  get count () {
    return this.list.nextNumber - this.first
  }

  /** The id of a job that was just given this number. */
  take (number) {
    if (number >= this.first) return number
    const id = this.list.nextNumber++
    this.unshifted.set(number, id)
    return id
  }

  /** The id of a job that leaves the list. */
  leave (number) {
    if (number >= this.first) return number
    const id = this.unshifted.get(number)
    this.unshifted.delete(number)
    return id
  }
}

module.exports = { Ids }
