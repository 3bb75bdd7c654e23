'use strict'

// HOT (bench: fifo). What comes and goes, and must be found in between, in the order in which it came: started jobs that pend.
//
//   ring ⇄ item ⇄ item ⇄ item ⇄ ring      linked through the items themselves: nothing is made, and nothing looked up

class Ring {
  constructor () {
    this.before = this.after = this
  }

  /** @param {{ before: object, after: object }} item that is in no ring */
  add (item) {
    const last = this.before
    item.before = last
    item.after = this
    last.after = this.before = item
  }

  drop (item) {
    const { before, after } = item
    before.after = after
    after.before = before
    item.before = item.after = undefined
  }

  /** Those that are there now, in the order in which they came. */
  list () {
    const items = []
    for (let item = this.after; item !== this; item = item.after) items.push(item)
    return items
  }
}

module.exports = { Ring }
