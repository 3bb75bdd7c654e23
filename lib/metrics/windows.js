'use strict'

// What became of the jobs of all types lately: how much had been counted of each when a slice of time began, and what those types counted
// since that have no jobs and no records any more (docs/decisions/0185-types-that-come-first.md).
//
//   slices   │ begun at t0, counts then, gone │ t1 … │ t2 … │     a window begins with one of them, and ends now
//
// A type takes 40 bytes in each of at most FEWEST + 2 slices. Of types that are gone a slice has those that used most of the slots, and
// those that failed most often.

const { Frequent } = require('./frequent')
const { runningAt } = require('../ledger/names')
const { fit } = require('./places')
const { LESS, FAILED, CANCELLED, RETRIED, THROTTLED, POSTPONED, STRIDE } = require('./tallies')
const { RUNS, USED } = require('./types')

const FEWEST = 3 // slices in the longest window that was asked for
const DEFAULT_MS = 60000
const MOST_GONE = 256 // of each kind in a slice

// What is known of a type at a time, beside its slot time.
const COUNTS = ['started', 'done', 'failed', 'cancelled', 'retried', 'throttled', 'postponed']
const STARTED = 0
const DONE = 1
const FAILED_AT = 2
const LEAST_MS = 2 ** -10 // of slot time by which a type is kept: its jobs may take none that is measured
const AT = { failed: FAILED, cancelled: CANCELLED, retried: RETRIED, throttled: THROTTLED, postponed: POSTPONED }

/** Counts of one type. */
class Amounts {
  constructor () {
    this.slotMs = 0
    this.counts = new Array(COUNTS.length).fill(0)
  }

  /** Whether anything has happened. */
  get isAny () {
    return this.slotMs > 0 || this.counts.some(count => count > 0)
  }

  add (slotMs, counts) {
    this.slotMs += slotMs
    counts.forEach((count, i) => { this.counts[i] += count })
  }
}

class Slice {
  constructor (serial, ms, totals, capacity) {
    this.serial = serial // types that came later have nothing in it
    this.ms = ms
    this.totals = totals
    this.used = new Float64Array(capacity)
    this.counts = new Uint32Array(capacity * STRIDE)
    this.bySlots = new Frequent(MOST_GONE)
    this.byFailures = new Frequent(MOST_GONE)
  }
}

class Windows {
  /** @param {object} meter @param {number} ms now @param {object} totals of all types, by now */
  constructor (meter, ms, totals) {
    this.meter = meter
    this.spanMs = DEFAULT_MS
    this.now = new Amounts() // of read()
    this.slices = [new Slice(0, ms, totals, 0)]
  }

  /** A slice begins, if it is time. O(types). @param {object} totals of now */
  advance (totals) {
    const { ms } = totals
    const last = this.slices.at(-1)
    if (ms - last.ms < this.spanMs / FEWEST) return
    const { records: { names }, tallies } = this.meter
    tallies.sweep(names)
    const since = totals.running === 0 ? Math.max(totals.movedAt, last.ms) : ms // from then on nothing was counted
    const slice = new Slice(++tallies.serial, since, totals, tallies.types.length)
    for (let number = 0; number < tallies.end; number += STRIDE) {
      if (tallies.types[number / STRIDE] === undefined) continue
      const { slotMs, counts } = this.read(number, ms)
      slice.used[number / STRIDE] = slotMs
      slice.counts.set(counts, number)
    }
    this.slices.push(slice)
    while (this.slices.length > 2 && (this.slices.length > FEWEST + 2 || this.slices[1].ms <= ms - this.spanMs)) this.slices.shift()
  }

  /** The slice with which a window begins that is so long, or, in the beginning, as long as there is. */
  sliceOf (windowMs, ms) {
    this.spanMs = Math.max(this.spanMs, windowMs)
    return this.slices.findLast(slice => ms - slice.ms >= windowMs) ?? this.slices[0]
  }

  /** What has been counted of a type by now, since it came. @returns {Amounts} the same one each time */
  read (number, ms) {
    const { originMs, records: { names }, tallies, types: { cells } } = this.meter
    const { now } = this
    const running = names.runningOf(number)
    const runs = cells[number + RUNS]
    now.slotMs = tallies.given[number / STRIDE] + cells[number + USED] + running * (ms - originMs)
    now.counts[STARTED] = runs + running
    now.counts[DONE] = runs - tallies.counts[number + LESS]
    for (let i = DONE + 1; i < COUNTS.length; i++) now.counts[i] = tallies.counts[number + AT[COUNTS[i]]]
    return now
  }

  /**
   * As read(), of slot time alone, since a slice began; good until something is counted.
   * @returns {(number: number, counts: Int32Array, at: number) => number} counts, at: those of names.js, which has them at hand
   */
  slotMsSince (slice, ms) {
    const { originMs, tallies: { given, serials }, types: { cells } } = this.meter
    const { serial, used } = slice
    const nowMs = ms - originMs
    return (number, counts, at) => {
      const place = number / STRIDE
      const slotMs = given[place] + cells[number + USED] + runningAt(counts, at) * nowMs
      return place < used.length && serials[place] < serial ? slotMs - used[place] : slotMs // isIn() took a tenth more with 1e5 types
    }
  }

  /** ... of a count that rises by its own. @param {string} what of COUNTS */
  countSince (slice, what) {
    const { tallies: { counts } } = this.meter
    const [before, now] = [COUNTS.indexOf(what), AT[what]]
    return number => {
      const count = counts[number + now]
      return this.isIn(number / STRIDE, slice) ? count - slice.counts[number + before] : count
    }
  }

  /** Whether a slice has counts of a type, as its number is now. */
  isIn (at, slice) {
    return at < slice.used.length && this.meter.tallies.serials[at] < slice.serial
  }

  /** Takes away from amounts what had been counted of a type when a slice began. */
  subtract (amounts, number, slice) {
    const at = number / STRIDE
    if (!this.isIn(at, slice)) return
    amounts.slotMs -= slice.used[at]
    for (let i = 0; i < COUNTS.length; i++) amounts.counts[i] -= slice.counts[number + i]
  }

  /** A type has no jobs and no records any more: what it did goes to the slices in which it did it. */
  leave (number, type, ms) {
    const name = fit(type ?? '')
    const end = new Amounts()
    const { slotMs, counts } = this.read(number, ms)
    end.add(slotMs, counts)
    for (let i = this.slices.length - 1; i >= 0; i--) {
      const slice = this.slices[i]
      const part = new Amounts()
      part.add(end.slotMs, end.counts)
      this.subtract(part, number, slice)
      end.add(-part.slotMs, part.counts.map(count => -count))
      put(slice, name, part.slotMs, part.counts)
    }
  }

  /** The same of slot time alone, of a runner that goes on though its job has settled. */
  use (type, slotMs) {
    put(this.slices.at(-1), fit(type ?? ''), slotMs, new Array(COUNTS.length).fill(0))
  }

  /** @returns {Map<string, object>} what is known of types that are gone, since a slice began */
  goneSince (slice) {
    const all = new Map()
    for (const { bySlots, byFailures } of this.slices.slice(this.slices.indexOf(slice))) {
      for (const { name, excess, sums: [slotMs, ...counts] } of bySlots.entries.values()) {
        const gone = goneOf(all, name)
        gone.amounts.add(slotMs + excess, counts)
        gone.excess.slotMs += excess
      }
      for (const { name, weight, excess } of byFailures.entries.values()) {
        const gone = goneOf(all, name)
        gone.failed += weight
        gone.excess.failed += excess
      }
    }
    for (const { amounts: { counts }, failed } of all.values()) counts[FAILED_AT] = Math.max(counts[FAILED_AT], failed)
    return all
  }
}

function put ({ bySlots, byFailures }, name, slotMs, counts) {
  if (slotMs > 0 || counts.some(count => count > 0)) bySlots.add(name, Math.max(slotMs, LEAST_MS), [slotMs, ...counts])
  if (counts[FAILED_AT] > 0) byFailures.add(name, counts[FAILED_AT], [])
}

function goneOf (all, name) {
  if (!all.has(name)) all.set(name, { amounts: new Amounts(), failed: 0, excess: { slotMs: 0, failed: 0 } })
  return all.get(name)
}

module.exports = { Windows, Amounts, COUNTS }
