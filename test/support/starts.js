'use strict'

// Jobs of a queue with an injected clock: when they start.

const { fakeClock } = require('../../lib/testing')
const { quiet } = require('./turns')

module.exports = { startsOf, passingOf, mostWithin }

/**
 * @param {(runner: Function, options: object) => object} make makes the queue
 * @param {object} options of it; `clock` is added
 * @param {(payload: any, done: Function, context: object) => any} [run] what the runner does; by default its job is done at once
 * @returns {{ queue: object, clock: object, starts: { payload: any, type: string, at: number }[],
 *   pass: (ms: number) => Promise<void>, times: (type?: string) => number[] }} `pass` moves the clock on, stopping at each timer
 */
function startsOf (make, options, run = (payload, done) => done()) {
  const clock = fakeClock()
  const starts = []
  const runner = (payload, done, context) => {
    starts.push({ payload, type: context.type, attempt: context.attempt, at: clock.now() })
    return run(payload, done, context)
  }
  const queue = make(runner, { ...options, clock })
  const pass = passingOf(clock)
  const times = type => starts.filter(start => type === undefined || start.type === type).map(({ at }) => at)
  return { queue, clock, starts, pass, times }
}

/** @returns {(ms: number) => Promise<void>} moves a clock on, stopping at each timer */
function passingOf (clock) {
  return async ms => {
    const end = clock.now() + ms
    clock.setTimeout(() => {}, ms) // so that there is a timer at the end
    await quiet()
    while (clock.now() < end) {
      clock.next()
      await quiet()
    }
    clock.advance(0) // what was set meanwhile for this time
    await quiet()
  }
}

/** The most of ascending times in any half-open stretch of so many ms. */
function mostWithin (times, ms) {
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last] - times[first] >= ms) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
