'use strict'

// HOT (bench: durable). Where the record of each live job lies. Numbers only, in pages of typed arrays: 12 bytes a job,
// so that a million waiting jobs cost 12 MB while their payloads stay on disk.
//
//   seq ──▶ page (seq / 256) ──▶ [ segment, offset, length ] × 256      segment 0: no such job

const PAGE_SEQS = 256
const WORDS = 3

class Page {
  constructor () {
    this.size = 0
    this.words = new Uint32Array(PAGE_SEQS * WORDS)
  }
}

class Table {
  constructor () {
    this.size = 0
    this.bytes = 0 // the length of all records
    this.pages = new Map()
    this.lastNumber = -1
    this.lastPage = undefined

    // what find() found
    this.segment = 0
    this.offset = 0
    this.length = 0
  }

  /** Looks a job up; its place is then in `segment`, `offset` and `length`. */
  find (seq) {
    const page = this.page(Math.floor(seq / PAGE_SEQS))
    if (page === undefined) return false
    const at = (seq % PAGE_SEQS) * WORDS
    this.segment = page.words[at]
    this.offset = page.words[at + 1]
    this.length = page.words[at + 2]
    return this.segment !== 0
  }

  /** Puts a job in, or in another place. */
  set (seq, segment, offset, length) {
    const number = Math.floor(seq / PAGE_SEQS)
    let page = this.page(number)
    if (page === undefined) {
      page = new Page()
      this.pages.set(number, page)
      this.lastNumber = number
      this.lastPage = page
    }
    const at = (seq % PAGE_SEQS) * WORDS
    if (page.words[at] === 0) {
      page.size++
      this.size++
      this.bytes += length
    } else {
      this.bytes += length - page.words[at + 2]
    }
    page.words[at] = segment
    page.words[at + 1] = offset
    page.words[at + 2] = length
  }

  /** Takes out a job that is there. */
  delete (seq) {
    const number = Math.floor(seq / PAGE_SEQS)
    const page = this.page(number)
    const at = (seq % PAGE_SEQS) * WORDS
    this.size--
    this.bytes -= page.words[at + 2]
    page.words[at] = 0
    if (--page.size > 0) return
    this.pages.delete(number)
    this.lastNumber = -1
    this.lastPage = undefined
  }

  /**
   * The first live job from `seq` on and below `end`; `end` if there is none. Steps over pages without jobs.
   * @returns {number}
   */
  next (seq, end) {
    while (seq < end) {
      if (this.page(Math.floor(seq / PAGE_SEQS)) === undefined) seq = (Math.floor(seq / PAGE_SEQS) + 1) * PAGE_SEQS
      else if (this.find(seq)) return seq
      else seq++
    }
    return end
  }

  /** The first live job of all, or `end`. */
  first (end) {
    let first = Infinity
    for (const number of this.pages.keys()) first = Math.min(first, number)
    return first === Infinity ? end : this.next(first * PAGE_SEQS, end)
  }

  /** All live jobs in a segment, page by page. Jobs may go, and move, while it is read. */
  * seqsIn (segment) {
    for (const [number, page] of this.pages) {
      for (let i = 0; i < PAGE_SEQS; i++) {
        if (page.words[i * WORDS] === segment) yield number * PAGE_SEQS + i
      }
    }
  }

  page (number) {
    if (number !== this.lastNumber) {
      const page = this.pages.get(number)
      if (page === undefined) return undefined
      this.lastNumber = number
      this.lastPage = page
    }
    return this.lastPage
  }
}

module.exports = { Table }
