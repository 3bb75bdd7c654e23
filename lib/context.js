'use strict'

// The contexts that jobs run in: the AsyncLocalStorage context (the one in which the queue was made, whoever pushed),
// and the third argument of the runner.

/**
 * An object whose runInAsyncScope(fn, thisArg, ...args) calls fn in the AsyncLocalStorage context of the caller of
 * asyncScope(). 7 to 8 ns per call in Node 20; where there is no AsyncLocalStorage (browsers), a plain call.
 *
 * Node before 24 stores what `enterWith` sets, and for its duration what `run` sets, on the scope itself: so runners and
 * callbacks get a scope each.
 */
function asyncScope () {
  const hooks = typeof process === 'object' && typeof process.getBuiltinModule === 'function'
    ? process.getBuiltinModule('node:async_hooks')
    : undefined
  return hooks === undefined
    ? { runInAsyncScope: (fn, thisArg, ...args) => fn.apply(thisArg, args) }
    : new hooks.AsyncResource('fairlane', { requireManualDestroy: true })
}

/** The runner's third argument. Jobs without extras share one per queue, frozen. */
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

module.exports = { asyncScope, JobContext }
