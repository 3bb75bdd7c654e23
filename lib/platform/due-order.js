'use strict'

// Items by when they fall due, which have places of their own in the heap of deadlines already. Made when somebody asks which is the first;
// kept from then on.

const { Heap } = require('./heap')

class Place {
  constructor (item) {
    this.item = item
    this.position = -1
  }
}

class DueOrder {
  constructor () {
    this.heap = new Heap()
    this.places = new Map() // by item
  }

  get size () {
    return this.heap.size
  }

  /** @returns {object} the item that falls due first */
  get first () {
    return this.heap.items[0].item
  }

  add (item, dueAt) {
    const place = new Place(item)
    this.places.set(item, place)
    this.heap.insert(place, dueAt)
  }

  drop (item) {
    this.heap.remove(this.places.get(item).position)
    this.places.delete(item)
  }

  /** An item falls due at another time. */
  move (item, dueAt) {
    this.heap.update(this.places.get(item).position, dueAt)
  }
}

module.exports = { DueOrder }
