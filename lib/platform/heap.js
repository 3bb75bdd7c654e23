'use strict'

// HOT (bench: schedulers). A priority queue that can change and remove any item: deadlines use it, and schedulers by run-queue.js.
//
//   keys   [ k0 | k1 k2 k3 k4 | k5 … ]      Float64Array; the children of i are 4i+1 … 4i+4, none smaller than i
//   items  [ a  | b  c  d  e  | f  … ]      items[i].position === i
//
// Four children per node halve the levels of a binary heap, and the keys of siblings lie in one cache line.

const FIRST_CAPACITY = 16

/**
 * A 4-ary min-heap of items that know their own `position` in it; -1 outside. Memory follows `size` in both directions.
 * Items with equal keys come in the order of their field `order`, if they have one; it may change together with the key, or
 * grow without it (then update() must be told before anything else changes), or before the item is taken out.
 */
class Heap {
  constructor () {
    this.size = 0
    this.items = []
    this.keys = new Float64Array(FIRST_CAPACITY)
  }

  /** Puts in an item that is not in any heap. O(log size). */
  insert (item, key) {
    const at = this.size++
    if (at === this.keys.length) this.resize(2 * at)
    this.items.push(item)
    this.siftUp(at, item, key)
  }

  /** Changes the key of the item at a position, whose `order` may have grown. O(log size); O(1) if it changes nothing. */
  update (at, key) {
    const old = this.keys[at]
    const item = this.items[at]
    if (key < old) this.siftUp(at, item, key)
    else if (key > old || item.order !== undefined) this.siftDown(at, item, key)
  }

  /** Takes out the item at a position. O(log size). */
  remove (at) {
    this.items[at].position = -1
    const last = this.items.pop()
    const size = --this.size
    if (at !== size) {
      const key = this.keys[size]
      const parent = (at - 1) >> 2
      const isAbove = at > 0 && (key < this.keys[parent] || (key === this.keys[parent] && last.order < this.items[parent].order))
      if (isAbove) this.siftUp(at, last, key)
      else this.siftDown(at, last, key)
    }
    if (size < this.keys.length / 4 && this.keys.length > FIRST_CAPACITY) {
      this.resize(this.keys.length / 2)
      this.items = this.items.slice() // pop() does not always give memory back
    }
  }

  /** All items in order; among equal keys in any. O(log size) for each. */
  * inOrder () {
    const { keys, items } = this
    const reached = new Heap()
    if (this.size > 0) reached.insert({ at: 0, position: -1 }, keys[0])
    while (reached.size > 0) {
      const { at } = reached.items[0]
      reached.remove(0)
      yield items[at]
      for (let child = 4 * at + 1; child < Math.min(4 * at + 5, this.size); child++) {
        reached.insert({ at: child, position: -1 }, keys[child])
      }
    }
  }

  /**
   * The item with the least key among those that pass test(item), called on an object; undefined if none does.
   * The search goes down only through items that fail: O(those), apart from the test.
   */
  find (test, self) {
    const { keys, items, size } = this
    const failed = []
    let found
    let foundKey = Infinity
    for (let at = 0, end = Math.min(1, size); ;) {
      for (; at < end; at++) {
        if (found !== undefined && keys[at] >= foundKey) continue
        if (test.call(self, items[at])) {
          found = items[at]
          foundKey = keys[at]
        } else {
          failed.push(at)
        }
      }
      if (failed.length === 0) return found
      at = 4 * failed.pop() + 1
      end = Math.min(at + 4, size)
    }
  }

  // private from here on

  siftUp (at, item, key) {
    const { items, keys } = this
    while (at > 0) {
      const parent = (at - 1) >> 2
      const above = items[parent]
      if (key > keys[parent] || (key === keys[parent] && !(item.order < above.order))) break
      items[at] = above
      keys[at] = keys[parent]
      above.position = at
      at = parent
    }
    items[at] = item
    keys[at] = key
    item.position = at
  }

  siftDown (at, item, key) {
    const { items, keys, size } = this
    for (let first = 4 * at + 1; first < size; first = 4 * at + 1) {
      const end = first + 4 < size ? first + 4 : size
      let least = first
      let leastKey = keys[first]
      for (let child = first + 1; child < end; child++) {
        const childKey = keys[child]
        if (childKey < leastKey || (childKey === leastKey && items[child].order < items[least].order)) {
          least = child
          leastKey = childKey
        }
      }
      const below = items[least]
      if (key < leastKey || (key === leastKey && !(below.order < item.order))) break
      items[at] = below
      keys[at] = leastKey
      below.position = at
      at = least
    }
    items[at] = item
    keys[at] = key
    item.position = at
  }

  resize (capacity) {
    const keys = new Float64Array(capacity)
    keys.set(this.keys.subarray(0, Math.min(this.size, capacity)))
    this.keys = keys
  }
}

module.exports = { Heap }
