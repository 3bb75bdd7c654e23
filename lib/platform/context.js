'use strict'

// The contexts that jobs run in: the AsyncLocalStorage context (the one in which the queue was made, whoever pushed),
// and the last argument of the runner.

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
    ? plainScope
    : new hooks.AsyncResource('fairlane', { requireManualDestroy: true })
}

/** Enters nothing: in the place of a scope where none is wanted. */
const plainScope = { runInAsyncScope: (fn, thisArg, ...args) => fn.apply(thisArg, args) }

/**
 * Gives the AsyncLocalStorage context that the caller is in, to be compared with others; undefined where that cannot be told. Node keeps it
 * in each AsyncResource, and has no other way to ask for it: 7 to 15 ns, where entering a scope once more takes 15 to 20 (Node 24, 26).
 */
const contextFrame = frameGetter()

/* istanbul ignore next: each Node version takes one way */
function frameGetter () {
  if (!isolatesEnterWith) return undefined
  const { AsyncResource } = hooks
  const options = { requireManualDestroy: true }
  const symbols = Object.getOwnPropertySymbols(new AsyncResource('fairlane', options))
  const key = symbols.find(({ description }) => description === 'context_frame')
  return key === undefined ? undefined : () => new AsyncResource('fairlane', options)[key]
}

/** The runner's last argument. Frozen; jobs without extras share one per queue, or per type if there is a scheduler. */
class JobContext {
  #owner

  /**
   * @param {string | undefined} type the job's type; undefined on a queue without a scheduler
   * @param {number} attempt 1 for the first
   * @param {{ runnersSignal: () => AbortSignal, progress: (value: any) => void, spent: (total: number) => void }} owner runnersSignal:
   *   makes the signal when it is first asked for
   */
  constructor (type, attempt, owner) {
    this.type = type
    this.attempt = attempt
    this.#owner = owner
    Object.freeze(this)
  }

  get signal () {
    return this.#owner.runnersSignal()
  }

  /** Tells listeners of `progress` how far the job is. It may be taken off the context. */
  get progress () {
    const owner = this.#owner
    return value => owner.progress(value)
  }

  /** Says what the job has cost so far, from its start on. It may be taken off the context, too. */
  get spent () {
    const owner = this.#owner
    return total => { owner.spent(total) }
  }

  /** Jobs in memory have neither. */
  get id () {
    return undefined
  }

  get schedule () {
    return undefined
  }
}

module.exports = { asyncScope, plainScope, isolatesEnterWith, contextFrame, JobContext }
