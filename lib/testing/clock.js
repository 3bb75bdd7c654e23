'use strict'

// A clock for the option `clock` that a test moves. It calls timers in the order of their times, those of the same time in
// the order in which they were set.

const { Heap } = require('../platform/heap')

/**
 * @param {number} [startMs=0] what now() is at first
 * @returns {{ now: () => number, setTimeout: (fn: Function, ms?: number, ...args: any[]) => object,
 *   clearTimeout: (timer: object) => void, advance: (ms: number) => void, next: () => boolean, timerCount: number }}
 *   `advance` moves time on and calls the timers that fall due; `next` moves it to the next timer and calls that one, and
 *   is false if there is none; `timerCount` is read-only
 */
function fakeClock (startMs = 0) {
  const timers = new Heap()
  let now = startMs
  let order = 0

  function next () {
    if (timers.size === 0) return false
    const timer = timers.items[0]
    now = Math.max(now, timers.keys[0])
    timers.remove(0)
    timer.fn(...timer.args)
    return true
  }

  return {
    now: () => now,
    setTimeout (fn, ms = 0, ...args) {
      const timer = { fn, args, order: order++, position: -1 }
      timers.insert(timer, now + (ms > 0 ? ms : 0))
      return timer
    },
    clearTimeout (timer) {
      if (timer !== undefined && timer !== null && timer.position >= 0) timers.remove(timer.position)
    },
    next,
    advance (ms) {
      if (!(ms >= 0 && ms < Infinity)) throw new RangeError('advance(ms): give a finite time of 0 or more')
      const end = now + ms
      while (timers.size > 0 && timers.keys[0] <= end) next()
      now = Math.max(now, end) // a timer may have advanced it further
    },
    get timerCount () {
      return timers.size
    }
  }
}

module.exports = { fakeClock }
