'use strict'

// HOT (bench: flow). How many units of cost jobs may take in a stretch of time: a sliding window whose entries stand for units. What a job
// was charged may be given back, and it may be charged more later.
//
//   times   [ t0 │ t1 │ … ]      as in windows.js
//   counts  [ c0 │ c1 │ … ]      units that the entry stands for; none has 0 where there are no slices
//   marks   [ m0 │ m1 │ … ]      of the last charge in the entry: those with marks above m0, up to m1, are in the second
//
// Marks ascend, over all windows. So a charge is found by its mark alone, and is in no window that was made after it. Units are given back
// from the entry of their charge and, where that has not so many left, from newer ones: no stretch of time then seems to have fewer units
// than were charged in it.

const { FINEST, Window } = require('./windows')

const MOST_ENTRIES = 2 * FINEST // where there are no slices: what jobs are charged later joins the last one then

let lastMark = 0

class CostWindow extends Window {
  constructor (rate) {
    super(rate)
    this.marks = []
    this.from = Infinity // charges up to this mark are not in it, or do not count any more
  }

  add (now, units, mark) {
    if (units === 0) return
    if (this.count > 0) this.forget(now)
    if (this.from === Infinity) this.from = mark - 1
    this.count += units
    const last = this.times.length - 1
    if (now < this.sliceEnd || last >= MOST_ENTRIES) {
      this.times[last] = now
      this.counts[last] += units
      this.marks[last] = mark
    } else {
      this.times.push(now)
      this.counts.push(units)
      this.marks.push(mark)
      this.sliceEnd = now + this.sliceMs
    }
  }

  giveBack (now, units, mark) {
    this.forget(now)
    if (mark <= this.from) return
    const { counts, marks } = this
    let at = marks.length
    while (at > 0 && marks[at - 1] >= mark) at--
    for (; units > 0 && at < counts.length; at++) {
      const given = Math.min(units, counts[at])
      units -= given
      counts[at] -= given
      this.count -= given
    }
    if (this.sliceMs === 0) this.closeRanks()
  }

  reserve (units) {
    this.count += units
    this.reservedCount += units
  }

  release (units) {
    this.count -= units
    this.reservedCount -= units
  }

  /** What costs nothing never waits. */
  lacks (cost) {
    return cost > 0 && this.count + cost > this.limit
  }

  /** A job that costs more than the limit starts when the window is empty. */
  waitMs (now, cost) {
    if (!this.lacks(cost)) return 0
    this.forget(now)
    return this.placeMs(Math.min(cost, this.limit), now)
  }

  copy () {
    const copy = super.copy()
    copy.marks = [...this.marks]
    copy.from = this.from
    return copy
  }

  // private from here on

  forget (now) {
    const { length } = this.times
    super.forget(now)
    const goneCount = length - this.times.length
    if (goneCount > 0) this.from = this.marks.splice(0, goneCount).at(-1)
    if (goneCount === length) this.count = this.reservedCount // sums beyond 2^53 are not exact
  }

  /** An entry that stands for nothing goes. */
  closeRanks () {
    const { times, counts, marks } = this
    let to = 0
    for (let at = 0; at < counts.length; at++) {
      if (counts[at] === 0) continue
      times[to] = times[at]
      counts[to] = counts[at]
      marks[to++] = marks[at]
    }
    times.length = counts.length = marks.length = to
  }
}

CostWindow.prototype.of = 'cost'

/** @returns {number} a mark above all others, for what is charged at once */
function nextMark () {
  return ++lastMark
}

module.exports = { CostWindow, nextMark }
