'use strict'

// The types that come first by what happened lately, of all that have jobs, or had in the window: whichever label they are counted under.
// Of most types only that number is looked at which says that others come before them.

const { ALL, BEGUN, liveAt } = require('../ledger/names')
const { WAITING, RUNNING, DELAYED, DEAD } = require('../ledger/segment')
const { Heap } = require('../platform/heap')
const { MOST_CHARACTERS } = require('./places')
const { NO_TYPE, STRIDE } = require('./tallies')
const { rise } = require('./totals')
const { Oldest } = require('./waits')
const { Amounts, COUNTS } = require('./windows')

const FAILED = COUNTS.indexOf('failed')
const EXACT = Object.freeze({ slotMs: 0, failed: 0 })

/** What types come first by: what tells it of the number of a type, and of what is told of one. */
const KEYS = {
  share: {
    reader: ({ meter: { windows }, slice, ms }) => windows.slotMsSince(slice, ms),
    told: ({ amounts }) => amounts.slotMs
  },
  failed: {
    reader: ({ meter: { windows }, slice }) => windows.countSince(slice, 'failed'),
    told: ({ amounts }) => amounts.counts[FAILED]
  },
  waiting: {
    reader: () => (number, counts, at) => counts[at + ALL] - counts[at + BEGUN],
    told: ({ live }) => live[WAITING]
  },
  overdue: {
    reader: () => () => 0, // of those that have any, more is looked at
    told: ({ overdue }) => overdue
  },
  oldestWait: {
    reader: ({ oldest, ms }) => number => oldest.msOf(number, ms),
    told: ({ oldestMs }) => oldestMs ?? 0
  }
}

/** What is told of a type. */
class Row {
  constructor (type) {
    this.type = type
    this.isType = true
    this.amounts = new Amounts()
    this.live = [0, 0, 0, 0, 0, 0, 0, 0] // jobs by state
    this.overdue = 0
    this.oldestMs = undefined
    this.excess = EXACT
  }

  get isAny () {
    const { live, overdue, amounts } = this
    return live[WAITING] + live[RUNNING] + live[DELAYED] + live[DEAD] + overdue > 0 || amounts.isAny
  }
}

class Ranking {
  /**
   * @param {{ meter: object, top: number, by: string, slice: object, ms: number }} about slice: with which the window begins
   */
  constructor ({ meter, top, by, slice, ms }) {
    this.meter = meter
    this.top = top
    this.key = KEYS[by]
    this.slice = slice
    this.ms = ms
    this.oldest = by === 'oldestWait' ? new Oldest(meter) : undefined
    this.heap = new Heap() // of those that come first, the last of them on top
    this.typesCount = 0
    meter.tallies.sweep(meter.records.names)
    this.others = this.findOthers()
    this.read = this.key.reader(this)
  }

  /**
   * Looks at the types of a chunk of names.js. O(these + top × log top)
   * @param {number} first of their numbers
   * @param {Int32Array} counts
   */
  look (first, counts) {
    const { heap, meter: { tallies: { types } }, others, read, top } = this
    let passedCount = 0
    for (let at = 0; at < counts.length; at += STRIDE) {
      const number = first + at
      if (types[number / STRIDE] === undefined || (others.size > 0 && others.has(number))) continue
      const isSure = liveAt(counts, at) > 0
      if (!isSure || heap.size < top || read(number, counts, at) > heap.keys[0]) this.see(this.rowOf(number))
      else passedCount++
    }
    this.typesCount += passedCount
  }

  /** @returns {Row[]} the first ones of all types, each of which has been looked at */
  rows () {
    const { heap, key, others } = this
    for (const row of others.values()) this.see(row)
    const rows = heap.items.map(({ row }) => row).sort((a, b) => key.told(b) - key.told(a) || (a.type < b.type ? -1 : 1))
    if (this.oldest === undefined) this.addOldest(rows)
    return rows
  }

  // private from here on

  /** Types of which there is more than what their number says. @returns {Map<number | string, Row>} by their number, if they have one */
  findOthers () {
    const { meter: { overdue, records: { names }, windows }, ms, slice } = this
    const others = new Map()
    const rowOf = (type, isType) => {
      const number = names.numbers.get(type)
      const key = number ?? `no number: ${type ?? ''}`
      if (!others.has(key)) others.set(key, number === undefined ? Object.assign(new Row(type), { isType }) : this.rowOf(number))
      return others.get(key)
    }
    for (const [type, { count, slotMs }] of overdue.by('type', ms, slice.ms)) {
      const row = rowOf(type, true)
      row.overdue = count
      row.live[RUNNING] += count
      row.amounts.slotMs += slotMs
    }
    for (const [name, { amounts: { slotMs, counts }, excess }] of windows.goneSince(slice)) {
      const type = name === '' && !names.numbers.has('') ? undefined : name // jobs without a type leave as those of ''
      const row = rowOf(type, name !== '' && name.length < MOST_CHARACTERS)
      row.amounts.add(slotMs, counts)
      row.excess = excess
    }
    return others
  }

  rowOf (number) {
    const { meter: { records: { names }, tallies, windows }, ms, slice, oldest } = this
    const type = tallies.types[number / STRIDE]
    const row = new Row(type === NO_TYPE ? undefined : type)
    const { slotMs, counts } = windows.read(number, ms)
    row.amounts.add(slotMs, counts)
    windows.subtract(row.amounts, number, slice)
    names.addTo(row.live, number)
    if (row.live[WAITING] > 0) row.oldestMs = oldest?.msOf(number, ms)
    return row
  }

  /** For how long the next job of each has waited. */
  addOldest (rows) {
    const { meter, meter: { records: { names } }, ms } = this
    const waiting = rows.filter(({ live }) => live[WAITING] > 0)
    const oldest = new Oldest(meter, waiting.map(({ type }) => type))
    for (const row of waiting) row.oldestMs = oldest.msOf(names.numbers.get(row.type), ms)
  }

  see (row) {
    if (!row.isAny) return
    this.typesCount++
    const { heap, key, top } = this
    const weight = rise(key.told(row), 0)
    if (heap.size === top) {
      if (weight <= heap.keys[0]) return
      heap.remove(0)
    }
    heap.insert({ row, position: -1 }, weight)
  }
}

module.exports = { Ranking }
