'use strict'

// HOT (bench: schedulers). Which of the items has the least key, for schedulers: as a heap, but few items stand in an array in any
// order, and first() looks at all of them. With ten types whose keys change at each job that is faster than sifting: 8 % of what
// a synchronous job takes under 'fair', 'capped' and 'equal' (Node 20).

const { Heap, FIRST_CAPACITY } = require('./heap')

const FEW = FIRST_CAPACITY

/** As Heap, but for where the least item is: first() says it. */
class Ranking extends Heap {
  constructor () {
    super()
    this.stack = []
  }

  /** @returns {number} the position of the item with the least key; of equals the one of least `order`. For one item at least */
  first () {
    const { keys, items, size } = this
    if (size > FEW) return 0
    let first = 0
    let leastKey = keys[0]
    for (let at = 1; at < size; at++) {
      const key = keys[at]
      if (key < leastKey || (key === leastKey && items[at].order < items[first].order)) {
        first = at
        leastKey = key
      }
    }
    return first
  }

  insert (item, key) {
    const at = this.size
    if (at >= FEW) {
      if (at === FEW) this.sift()
      super.insert(item, key)
      return
    }
    this.size++
    this.items.push(item)
    this.fill(at, item, key)
  }

  update (at, key) {
    if (this.size > FEW) super.update(at, key)
    else this.keys[at] = key
  }

  /**
   * Of the items that pass the test the one with the least key. Among many it looks only at those that fail, and at those next to them:
   * O(items that fail).
   * @param {(item: object) => boolean} test
   * @returns {object | undefined}
   */
  leastWhere (test) {
    const { keys, items, size, stack } = this
    const isFew = size <= FEW
    let best
    let bestKey = Infinity
    let depth = 0
    for (let at = 0, end = isFew ? size : 1; ;) {
      for (; at < end; at++) {
        if (keys[at] >= bestKey) continue
        if (test(items[at])) {
          best = items[at]
          bestKey = keys[at]
        } else if (!isFew) {
          stack[depth++] = at
        }
      }
      if (depth === 0) return best
      at = 4 * stack[--depth] + 1
      end = Math.min(at + 4, size)
    }
  }

  /** The items by ascending keys; nothing may change meanwhile. O(log of those that were asked for) each. */
  * ascending () {
    const { keys, items, size } = this
    const found = new Heap()
    const find = at => { if (at < size) found.insert({ at, position: -1 }, keys[at]) }
    for (let at = 0; at < (size > FEW ? 1 : size); at++) find(at)
    while (found.size > 0) {
      const { at } = found.items[0]
      found.remove(0)
      yield items[at]
      if (size > FEW) for (let child = 4 * at + 1; child < 4 * at + 5; child++) find(child)
    }
  }

  // private from here on

  fill (at, item, key) {
    if (this.size > FEW) {
      super.fill(at, item, key)
      return
    }
    this.items[at] = item
    this.keys[at] = key
    item.position = at
  }

  /** Few items become many: from here on they are in the order of a heap. */
  sift () {
    for (let at = (FEW - 2) >> 2; at >= 0; at--) this.siftDown(at, this.items[at], this.keys[at])
  }
}

module.exports = { Ranking }
