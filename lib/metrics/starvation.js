'use strict'

// Which types starve: jobs of them wait and none runs, nobody holds them back, none has started for long, and a type was served meanwhile
// that had come later, or that had been served before in that time. So nobody starves where nothing starts, nor where all wait for their
// turn.

const { SINCE, STARTED, HELD } = require('./types')

class Starvation {
  /** @param {number} starveMs */
  constructor (starveMs) {
    this.starveMs = starveMs
    this.alarms = new Map() // type → since when
    this.seen = new Map() // the same, of those that are seen now
    this.news = [] // [event, what it is told], of the last look
  }

  /**
   * Sees a type with waiting jobs that nobody holds back.
   * @param {Float64Array} cells of types.js
   * @param {number} at of the type there
   * @param {{ type: string | undefined, waiting: number, running: number, now: number, overtookAt: number }} state overtookAt: that of
   *   meter.js
   */
  see (cells, at, { type, waiting, running, now, overtookAt }) {
    const since = Math.max(cells[at + SINCE], cells[at + STARTED], cells[at + HELD])
    if (running > 0 || now - since < this.starveMs || overtookAt <= since) return
    this.seen.set(type, since)
    if (!this.alarms.has(type)) this.news.push(['starving', { type, waiting, sinceMs: now - since }])
  }

  /** @returns {{ type: string | undefined, sinceMs: number }[]} those of the last look */
  list (now) {
    return [...this.alarms].map(([type, since]) => ({ type, sinceMs: now - since }))
  }

  /** All types have been seen. @returns {[string, object][]} events, and what is told of them */
  close () {
    const { alarms, seen } = this
    this.alarms = seen
    this.seen = new Map()
    for (const type of alarms.keys()) if (!seen.has(type)) this.news.push(['fed', { type }])
    return this.news.splice(0)
  }
}

module.exports = { Starvation }
