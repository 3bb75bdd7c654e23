'use strict'

// The contexts that jobs run in: the AsyncLocalStorage context (the one in which the queue was made, whoever pushed),
// and the third argument of the runner.

const hooks = typeof process === 'object' && typeof process.getBuiltinModule === 'function'
  ? process.getBuiltinModule('node:async_hooks')
  : undefined

// Node 24 sets up its context frames when AsyncLocalStorage is first looked at. Code that ran before has learned another
// shape and stays slow for good: looked at when the first timer fires, a job with nextTick costs 1.7 times as much (24.21).
if (hooks !== undefined) Reflect.get(hooks, 'AsyncLocalStorage')

const isolatesEnterWith = hooks !== undefined && parseInt(process.versions.node) >= 24

/**
 * An object whose runInAsyncScope(fn, thisArg, ...args) calls fn in the AsyncLocalStorage context of the caller of
 * asyncScope(). About 10 ns per call; where there is no AsyncLocalStorage (browsers), a plain call.
 *
 * Node before 24 stores what `enterWith` sets, and for its duration what `run` sets, on the scope itself: there,
 * entering it once more does not undo that.
 */
function asyncScope () {
  return hooks === undefined
    ? { runInAsyncScope: (fn, thisArg, ...args) => fn.apply(thisArg, args) }
    : new hooks.AsyncResource('fairlane', { requireManualDestroy: true })
}

/** The runner's third argument. Frozen; jobs without extras share one per queue, or per type if there is a scheduler. */
class JobContext {
  #signal

  /**
   * @param {string | undefined} type the job's type; undefined on a queue without a scheduler
   * @param {number} attempt 1 for the first
   * @param {() => AbortSignal} signal makes the signal when it is first asked for
   */
  constructor (type, attempt, signal) {
    this.type = type
    this.attempt = attempt
    this.#signal = signal
    Object.freeze(this)
  }

  get signal () {
    return this.#signal()
  }
}

module.exports = { asyncScope, isolatesEnterWith, JobContext }
