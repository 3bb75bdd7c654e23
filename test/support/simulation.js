'use strict'

/*
 * A queue on a virtual clock: jobs take as long as their payload says, and nothing else takes any time.
 */

const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { withoutTime } = require('./time')
const { turn } = require('./turns')

module.exports = { simulation }

/**
 * @param {object} options of the queue
 * @param {(runner: Function, options: object) => object} [make] makes it
 * @returns {object} `queue`, `clock`; `push(type, ms, count)`; `at(ms, fn)` calls fn at a time; `every(ms, fn)` again and again;
 *   `runUntil(ms)` and `untilIdle()` → promise; `log`, of `{ at, kind: 'push' | 'start' | 'end', type, ms, waitMs }` in the order of
 *   events; `onEnd`, a function or undefined, called with the type of each job that has ended
 */
function simulation (options, make = fairlane) {
  const clock = fakeClock()
  const log = []
  const sim = {
    clock,
    log,
    onEnd: undefined,
    queue: make(run, { ...options, clock }),

    push (type, ms, count = 1) {
      for (let i = 0; i < count; i++) {
        log.push({ at: clock.now(), kind: 'push', type, ms })
        sim.queue.pushType(type, { ms, pushedAt: clock.now() })
      }
    },

    at (ms, fn) {
      clock.setTimeout(fn, ms - clock.now())
    },

    every (ms, fn) {
      fn()
      clock.setTimeout(() => sim.every(ms, fn), ms)
    },

    runUntil: endMs => withoutTime(async () => {
      const end = clock.setTimeout(() => {}, endMs - clock.now())
      do await goOn()
      while (end.position >= 0)
    }),

    untilIdle: () => withoutTime(async () => {
      while (sim.queue.length > 0) await goOn()
    })
  }

  async function goOn () {
    // what was pushed starts in a later turn, at the same virtual time
    while (sim.queue.waiting > 0 && sim.queue.running < sim.queue.concurrency && await hasStarted());
    clock.next()
  }

  async function hasStarted () {
    const before = log.length
    await turn()
    await turn()
    return log.length > before
  }

  function run ({ ms, pushedAt }, done, { type }) {
    log.push({ at: clock.now(), kind: 'start', type, ms, waitMs: clock.now() - pushedAt })
    clock.setTimeout(() => {
      log.push({ at: clock.now(), kind: 'end', type, ms })
      done()
      if (sim.onEnd !== undefined) sim.onEnd(type)
    }, ms)
  }

  return sim
}
