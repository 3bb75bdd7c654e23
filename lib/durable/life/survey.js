'use strict'

// What recovery sees of jobs beside their places: types, which were put to the front, and which have options. Kept until they stand in the
// queue, in 4 bytes a job.

const { DAMAGED, hasOptions, isFront, typeOf } = require('../../log/format')

const PAGE_SEQS = 256
const MAX_TYPES = 2 ** 30

class Survey {
  constructor () {
    this.pages = new Map()
    this.types = [undefined]
    this.numbers = new Map([[undefined, 0]]) // type → its place in types
    this.damaged = new Set() // jobs whose records cannot be read
  }

  /** A record was read; the last one of a job counts. */
  push (seq, kind, record) {
    if (kind === DAMAGED) this.damaged.add(seq)
    const number = Math.floor(seq / PAGE_SEQS)
    let page = this.pages.get(number)
    if (page === undefined) this.pages.set(number, page = new Uint32Array(PAGE_SEQS))
    page[seq % PAGE_SEQS] = this.numberOf(typeOf(record)) + (isFront(kind) ? MAX_TYPES : 0) + (hasOptions(kind) ? 2 * MAX_TYPES : 0)
  }

  /** @returns {{ type: string | undefined, atHead: boolean, hasOptions: boolean, isDamaged: boolean }} of a live job */
  find (seq) {
    const mark = this.pages.get(Math.floor(seq / PAGE_SEQS))[seq % PAGE_SEQS]
    return {
      type: this.types[mark % MAX_TYPES],
      atHead: (mark & MAX_TYPES) !== 0,
      hasOptions: mark >= 2 * MAX_TYPES,
      isDamaged: this.damaged.has(seq)
    }
  }

  // private from here on

  numberOf (type) {
    let number = this.numbers.get(type)
    if (number === undefined) {
      number = this.types.push(type) - 1
      this.numbers.set(type, number)
    }
    return number
  }
}

module.exports = { Survey }
