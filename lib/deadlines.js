'use strict'

// Everything that falls due at a time: how long jobs may wait and run, how long close() waits. One heap and one timer for
// all, on the queue's clock; the timer is set only while something is due.

const { rethrow } = require('./clock')
const { Heap } = require('./heap')

const LONGEST_TIMER_MS = 2 ** 31 - 1

class Deadlines {
  /**
   * @param {{ now: () => number, setTimeout: Function, clearTimeout: Function }} clock
   * @param {object} scope the AsyncLocalStorage context of timers: they are nobody's in particular
   * @param {(items: object[]) => void} onDue given all that fall due at a time, in order
   */
  constructor (clock, scope, onDue) {
    this.clock = clock
    this.scope = scope
    this.onDue = onDue
    this.heap = new Heap()
    this.count = 0
    this.timer = undefined
    this.timerAt = Infinity
    this.fire = this.fire.bind(this)
  }

  /**
   * Has an item fall due in so many ms; Infinity: never. Among those of the same time the first comes first.
   * @param {{ position: number, order: number }} item that is in no heap
   */
  add (item, ms) {
    if (ms === Infinity) return
    const now = this.clock.now()
    item.order = this.count++
    this.heap.insert(item, now + ms)
    this.arm(now)
  }

  /** Takes out an item if it is there. */
  remove (item) {
    if (item.position === -1) return
    this.heap.remove(item.position)
    if (this.heap.size === 0) this.disarm()
  }

  // private from here on

  arm (now) {
    const at = this.heap.keys[0]
    if (at >= this.timerAt) return
    this.disarm()
    this.timerAt = at
    const ms = Math.min(Math.max(Math.ceil(at - now), 0), LONGEST_TIMER_MS)
    try {
      const timer = this.scope.runInAsyncScope(this.clock.setTimeout, this.clock, this.fire, ms)
      if (this.timerAt === at) this.timer = timer // else it has fired at once
    } catch (err) {
      this.timerAt = Infinity
      throw err
    }
  }

  disarm () {
    if (this.timerAt === Infinity) return
    const { timer } = this
    this.timer = undefined
    this.timerAt = Infinity
    try {
      this.clock.clearTimeout(timer)
    } catch (err) {
      rethrow(err) // a job is being settled: it must be told
    }
  }

  /** A timer may be early: for something that was taken out since, by rounding, or because the time is too long for one. */
  fire () {
    this.timer = undefined
    this.timerAt = Infinity
    const now = this.clock.now()
    const due = []
    while (this.heap.size > 0 && this.heap.keys[0] <= now) {
      due.push(this.heap.items[0])
      this.heap.remove(0)
    }
    try {
      if (this.heap.size > 0) this.arm(now)
    } finally {
      if (due.length > 0) this.onDue(due)
    }
  }
}

module.exports = { Deadlines }
