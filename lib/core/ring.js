'use strict'

// HOT (bench: fifo). What comes and goes, and must be found in between, in the order in which it came: started jobs that pend.
//
//   ring ⇄ block ⇄ block ⇄ ring      each with places for LENGTH items; a block goes when the last of its items has gone
//
// Blocks are as young as their items: a store into an old object would have to be noted for the collector, for each item.

const LENGTH = 64

class Block {
  constructor (before, after) {
    this.items = new Array(LENGTH)
    this.end = 0
    this.size = 0
    this.before = before
    this.after = after
  }
}

class Ring {
  constructor () {
    this.before = this.after = this
    this.newest = undefined
  }

  /** @param {{ block: object, at: number }} item that is in no ring */
  add (item) {
    let block = this.newest
    if (block === undefined || block.end === LENGTH) block = this.open()
    const at = block.end++
    block.size++
    block.items[at] = item
    item.block = block
    item.at = at
  }

  drop (item) {
    const { block } = item
    block.items[item.at] = undefined
    item.block = undefined
    if (--block.size === 0 && block.end === LENGTH) this.leave(block)
  }

  /** Those that are there now, in the order in which they came. */
  list () {
    const items = []
    for (let block = this.after; block !== this; block = block.after) {
      for (let i = 0; i < block.end; i++) if (block.items[i] !== undefined) items.push(block.items[i])
    }
    return items
  }

  // private from here on

  open () {
    const last = this.before
    const block = new Block(last, this)
    last.after = this.before = this.newest = block
    return block
  }

  leave (block) {
    const { before, after } = block
    before.after = after
    after.before = before
    block.before = block.after = undefined
    if (block === this.newest) this.newest = undefined
  }
}

module.exports = { Ring }
