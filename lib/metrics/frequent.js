'use strict'

// The heaviest of very many names, in bounded memory: space-saving counters (Metwally, Agrawal, El Abbadi 2005), by weight. A name that
// finds no room takes the place of the lightest one, whose weight counts as its own.
//
//   name in the row     its weight is the true one, and `excess` at most
//   name not in it      it has the least weight of the row at most, and so 1/capacity of all at most

const { Heap } = require('../platform/heap')

class Entry {
  constructor (name, excess, size) {
    this.name = name
    this.position = -1
    this.weight = excess
    this.excess = excess // its weight is too high by that at most
    this.sums = new Array(size).fill(0) // since it is in the row
  }
}

class Frequent {
  /** @param {number} capacity names */
  constructor (capacity) {
    this.capacity = capacity
    this.entries = new Map() // by name
    this.heap = new Heap()
  }

  /** O(log capacity). @param {number} weight above 0 @param {number[]} amounts that are added up for a name beside its weight */
  add (name, weight, amounts) {
    const entry = this.entries.get(name) ?? this.enter(name, amounts.length)
    entry.weight += weight
    amounts.forEach((amount, i) => { entry.sums[i] += amount })
    this.heap.update(entry.position, entry.weight)
  }

  // private from here on

  enter (name, size) {
    let excess = 0
    if (this.entries.size === this.capacity) {
      const [lightest] = this.heap.items
      excess = lightest.weight
      this.heap.remove(0)
      this.entries.delete(lightest.name)
    }
    const entry = new Entry(name, excess, size)
    this.entries.set(name, entry)
    this.heap.insert(entry, excess)
    return entry
  }
}

module.exports = { Frequent }
