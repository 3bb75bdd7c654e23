'use strict'

// HOT (bench: schedulers, types). A priority queue for keys that mostly come in ascending order, as arrival numbers and
// virtual times do: then a change takes a step or two, however many items there are.
//
//   run    head ⇄ … ⇄ tail       linked, ascending; takes what belongs at its end, or at most REACH items before that
//   heap   all others            (heap.js), also a tail that is far ahead of what comes

const { Heap } = require('../lib/platform/heap')

const OUTSIDE = -1
const IN_RUN = -2
// More steps are dearer than the heap.
const REACH = 8
// How many items in a row may be put before the tail.
const PATIENCE = 64
// The heap of those who have had no need of one: of many rankings that is all of their lives.
const NO_HEAP = Object.freeze(new Heap())

/** What can be put into a ranking: one at a time, which these fields belong to. */
class Ranked {
  constructor () {
    this.position = OUTSIDE
    this.key = 0
    this.before = undefined
    this.after = undefined
  }
}

/**
 * Items, which are Ranked, by ascending keys. Items with equal keys come in the order of their field `order`, if they have one; it may
 * change together with the key, or grow without it (then update() must be told before anything else changes), or before the item is taken
 * out. Changes take O(1) for items of the run that stay in it, else O(log size).
 */
class RunQueue {
  constructor () {
    this.head = undefined
    this.tail = undefined
    this.heap = NO_HEAP
    this.passedCount = 0 // of items in a row that were put before the tail
  }

  get isEmpty () {
    return this.head === undefined && this.heap.size === 0
  }

  /** The item with the least key; undefined if there is none. O(1). */
  get first () {
    const { head, heap } = this
    if (heap.size === 0) return head
    const top = heap.items[0]
    return head === undefined || comesBefore(top, head) ? top : head
  }

  /** Puts in an item that is in no ranking. */
  insert (item, key) {
    item.key = key
    this.enter(item)
  }

  /** Changes the key of an item that is in it, or has it see that its `order` has grown. */
  update (item, key) {
    item.key = key
    const { position, before, after } = item
    if (position !== IN_RUN) {
      this.updateInHeap(item)
    } else if (before !== undefined && comesBefore(item, before)) {
      this.unlink(item)
      this.place(item, before)
    } else if (after !== undefined && !comesBefore(item, after)) {
      const { tail } = this
      if (comesBefore(item, tail)) {
        this.unlink(item)
        this.enterBeforeTail(item)
        return
      }
      // as unlink() and link() would do it, in fewer stores: the way of most changes
      this.passedCount = 0
      if (before === undefined) this.head = after
      else before.after = after
      after.before = before
      item.before = tail
      item.after = undefined
      this.tail = tail.after = item
    }
  }

  /** Takes out an item that is in it. */
  remove (item) {
    if (item.position === IN_RUN) this.unlink(item)
    else this.heap.remove(item.position)
  }

  /** All items, in any order. */
  * [Symbol.iterator] () {
    for (let item = this.head; item !== undefined; item = item.after) yield item
    yield * this.heap.items
  }

  /** All items in order. Keys must differ. O(log size) for each. */
  * inOrder () {
    let item = this.head
    for (const other of this.heap.inOrder()) {
      for (; item !== undefined && item.key < other.key; item = item.after) yield item
      yield other
    }
    for (; item !== undefined; item = item.after) yield item
  }

  /**
   * The item with the least key among those that pass test(item), called on an object. Keys must be finite and differ.
   * O(items that fail), apart from the test; those of the run that fail are asked only if they come before what the heap has.
   */
  find (test, self) {
    const { heap } = this
    if (heap.size === 0) return skip(this.head, Infinity, test, self)
    const top = heap.keys[0]
    const item = skip(this.head, top, test, self)
    if (item !== undefined && item.key < top) return item
    const found = heap.find(test, self)
    if (found === undefined) return skip(item, Infinity, test, self)
    const other = skip(item, found.key, test, self)
    return other !== undefined && other.key < found.key ? other : found
  }

  // private from here on

  updateInHeap (item) {
    if (this.tail !== undefined && comesBefore(item, this.tail)) {
      this.heap.update(item.position, item.key)
    } else {
      this.heap.remove(item.position)
      this.passedCount = 0
      this.link(item, this.tail)
    }
  }

  /** Puts an item where it belongs, seen from the end. */
  enter (item) {
    const { tail } = this
    if (tail !== undefined && comesBefore(item, tail)) {
      this.enterBeforeTail(item)
    } else {
      this.passedCount = 0
      this.link(item, tail)
    }
  }

  enterBeforeTail (item) {
    if (++this.passedCount > PATIENCE) {
      this.passedCount = 0
      const { tail } = this
      this.unlink(tail)
      this.putIntoHeap(tail)
    }
    this.place(item, this.tail)
  }

  /** Puts an item into the run, not behind the given one, or into the heap if its place there is too far from that. */
  place (item, before) {
    for (let steps = 0; before !== undefined && comesBefore(item, before); before = before.before) {
      if (++steps > REACH) {
        this.putIntoHeap(item)
        return
      }
    }
    this.link(item, before)
  }

  putIntoHeap (item) {
    if (this.heap === NO_HEAP) this.heap = new Heap()
    this.heap.insert(item, item.key)
  }

  link (item, before) {
    const after = before === undefined ? this.head : before.after
    item.position = IN_RUN
    item.before = before
    item.after = after
    if (before === undefined) this.head = item
    else before.after = item
    if (after === undefined) this.tail = item
    else after.before = item
  }

  unlink (item) {
    const { before, after } = item
    item.position = OUTSIDE
    item.before = item.after = undefined
    if (before === undefined) this.head = after
    else before.after = after
    if (after === undefined) this.tail = before
    else after.before = before
  }
}

/** From an item of the run on, the first that passes or has no key below the given one. */
function skip (item, below, test, self) {
  while (item !== undefined && item.key < below && !test.call(self, item)) item = item.after
  return item
}

function comesBefore (item, other) {
  return item.key < other.key || (item.key === other.key && item.order < other.order)
}

module.exports = { RunQueue, Ranked }
