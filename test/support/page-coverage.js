'use strict'

// Which parts of a script have run, in one page or another of a browser.

class PageCoverage {
  /** @param {string} text of the script, as the pages have it */
  constructor (text) {
    this.text = text
    this.hasRun = new Uint8Array(text.length) // by character
  }

  /** @param {object[]} entries what `coverage.stopJSCoverage()` of playwright gives for a page */
  add (entries) {
    for (const { source, functions } of entries) if (source === this.text) this.addRun(functions)
  }

  /** @returns {string[]} what has run nowhere, as the beginnings of lines */
  missing () {
    const missing = []
    let line = 1
    for (let at = 0; at < this.text.length; at++) {
      if (this.text[at] === '\n') line++
      const isNew = this.hasRun[at] === 0 && (at === 0 || this.hasRun[at - 1] === 1)
      if (isNew) missing.push(`${line}: ${this.text.slice(at).trimStart().split('\n')[0]}`)
    }
    return missing
  }

  // private from here on

  /** The ranges of functions, and of blocks in them, come from the outside in: the last one that has a character counts. */
  addRun (functions) {
    const counts = new Uint8Array(this.text.length)
    const ranges = functions.flatMap(({ ranges }) => ranges)
    ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
    for (const { startOffset, endOffset, count } of ranges) counts.fill(count > 0 ? 1 : 0, startOffset, endOffset)
    counts.forEach((count, at) => { this.hasRun[at] |= count })
  }
}

module.exports = { PageCoverage }
