'use strict'

// HOT (bench: fifo, bursts, overhead, eventloop). The slots: takes jobs from the list, starts them, settles each once.
//
//   list ──take──▶ start ──▶ runner ──▶ done, promise or throw ──▶ settle ──▶ callback
//             ▲                                                       │
//             └───────────────────── refill ──────────────────────────┘
//
// Promises: never more than `concurrency` new starts at once, each job settles exactly once whatever the runner does,
// the caller's code is called only when the counts are right, and the event loop gets its turn every few milliseconds.
// It knows neither the list's inside nor the public class.

const { repeatUntil } = require('aflow')
const QList = require('qlist')
const { now, defer, rethrow } = require('./clock')
const { asyncScope, isolatesEnterWith } = require('./context')
const { FairlaneError, warn } = require('./errors')

// A pass that started jobs for so long yields to the event loop; refills on top of a pass may take as long again.
const SLICE_MS = 2.5
// Two looks at the clock lie at most so many starts apart: a look costs 30 to 70 ns.
const MAX_STRIDE = 32

// What ended a job, as a third argument of `done` that callers can not have.
const FULFILLED = Symbol('fulfilled')
const THROWN = Symbol('thrown')

// The states of a started job.
const ON_STACK = 0 // its runner has not returned
const PENDING = 1
const ENDED = 2

/** A started job. Its `done` is settle(), bound to it: that costs less than a closure per job (docs/decisions/0003). */
class Running {
  constructor (dispatch, whenSettled, generation, origin) {
    this.dispatch = dispatch
    this.whenSettled = whenSettled
    this.generation = generation
    this.origin = origin
    this.state = ON_STACK
  }
}

class Dispatch {
  /**
   * @param {Function} runner
   * @param {object} list where jobs wait (lib/lists)
   * @param {{ concurrency: number, settleBy: string }} options
   * @param {() => void} onDrain called each time the last job has ended
   */
  constructor (runner, list, options, onDrain) {
    this.runner = runner
    this.list = list
    this.onDrain = onDrain
    this.concurrency = options.concurrency
    this.givesDone = options.settleBy !== 'promise'
    this.takesReturn = options.settleBy !== 'callback'

    this.running = 0
    this.accepted = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.misuse = 0

    this.scope = asyncScope()
    this.pristineScope = asyncScope() // runs none of the caller's code: others are made in it
    this.abortController = undefined

    this.isBusy = false // jobs are being started or called back on this stack: whoever does so refills the slots
    this.isWaking = false // a pass in the next turn of the event loop is due, or it is going on
    this.isYielding = false // ... and nothing starts before it
    this.isAskedAgain = false // a job may start that might not when the list was last asked
    this.isCut = false // fill() stopped to have the next job started in a scope of its own
    this.turnStart = 0 // if isWaking: a time in this turn of the event loop
    this.lookedAt = 0
    this.stride = 1
    this.untilLook = 1
    this.slice = this.slice.bind(this)
    this.callAndFill = this.callAndFill.bind(this)
    this.drive = () => repeatUntil(this.slice)

    this.whenSettled = undefined // of the job that is to be called back
    this.err = undefined // ... and what it was settled with; while a runner is on the stack, by that
    this.result = undefined

    this.drainedAt = 0 // how many jobs had been accepted when the queue was last empty
    this.generation = 0
    this.flushes = new QList() // of { unsettled, accepted, callbacks }, one per generation, the last is generation - 1
    this.flushingCount = 0
    this.isFlushing = false
    this.idleWaiters = []
  }

  /** The AbortSignal of all jobs without one of their own. */
  get signal () {
    if (this.abortController === undefined) this.abortController = new AbortController()
    return this.abortController.signal
  }

  /** A job was put into the list. */
  accept () {
    this.accepted++
    if (this.running < this.concurrency) this.wake()
  }

  /** Has a pass start what may start, in a later turn of the event loop. */
  wake () {
    if (this.isBusy) this.isAskedAgain = true
    else if (!this.isWaking) this.schedule()
  }

  /**
   * Starts what may start before it returns, at least one job per free slot; for facades whose originals start jobs
   * inside push. If the caller's code is on the stack it does nothing: that refills the slots when it returns.
   */
  startNow () {
    if (this.isBusy) return
    this.isBusy = this.isCut = true
    this.isYielding = false
    this.untilLook = this.concurrency - this.running + 1
    this.fillOn()
    this.untilLook = this.stride
    this.notify()
  }

  /**
   * The callback is called once all jobs accepted up to now have settled, never synchronously.
   * O(1): jobs carry the number of the flush that they came after, and each flush counts its own.
   */
  fflush (callback) {
    const unsettledCount = this.list.size + this.running
    const last = this.flushes.peekAt(-1)
    if (unsettledCount === 0) {
      defer(() => this.call(callback))
    } else if (last !== undefined && last.accepted === this.accepted) {
      last.callbacks.push(callback)
    } else {
      this.flushes.push({
        unsettledCount: unsettledCount - this.flushingCount,
        accepted: this.accepted,
        callbacks: [callback]
      })
      this.flushingCount = unsettledCount
      this.isFlushing = true
      this.list.barrier(++this.generation, this.flushes.size())
    }
  }

  /** @returns {Promise<void>} resolves when nothing waits and no slot is taken */
  onIdle () {
    if (this.list.size + this.running === 0) return Promise.resolve()
    return new Promise(resolve => this.idleWaiters.push(resolve))
  }

  /**
   * Settles waiting jobs without starting them, in their order. Nothing starts meanwhile.
   * @param {() => object} remove takes them out of the list, and returns a list of them; may throw
   * @param {() => Error} makeError called for each
   * @returns {number} how many
   */
  cancel (remove, makeError) {
    const isNested = this.isBusy
    this.isBusy = true
    try {
      const removed = remove()
      const count = removed.size
      const scope = this.freshScope()
      this.cancelled += count
      if (this.isFlushing) removed.forEach((payload, whenSettled, generation) => this.countDown(generation))
      while (removed.take()) {
        const { whenSettled } = removed
        if (whenSettled !== undefined) scope.runInAsyncScope(callSafely, undefined, () => whenSettled(makeError()))
      }
      return count
    } finally {
      this.isBusy = isNested
      if (!isNested) this.notify()
    }
  }

  /** Calls the caller's code; what it throws becomes an uncaught exception. */
  call (fn) {
    this.freshScope().runInAsyncScope(callSafely, undefined, fn)
  }

  // private from here on

  schedule () {
    this.isWaking = true
    this.turnStart = now()
    this.scope.runInAsyncScope(defer, undefined, this.drive)
  }

  /** A scope for calls from inside the caller's code, which may have set its own context in the scopes in use (Node 20). */
  freshScope () {
    return this.pristineScope.runInAsyncScope(asyncScope)
  }

  /** One pass in a turn of its own; aflow calls it again after next(). */
  slice (next) {
    this.isYielding = false
    this.isBusy = true
    this.list.beginPass()
    this.turnStart = this.lookedAt = now()
    this.stride = this.untilLook = 1
    try {
      this.fill()
      this.fillOn()
    } catch (err) {
      this.isBusy = false
      rethrow(err) // a fault of ours, or of a scheduler: aflow would swallow it, and the queue stand still
    }
    this.isWaking = this.isYielding
    this.notify()
    if (this.isYielding) defer(next)
    else next(null, true)
  }

  /**
   * Starts jobs until the slots are taken, none may start, or the time is up. Runs in the queue's async scope.
   * A runner that goes on after it returned may have left its own AsyncLocalStorage context behind (`enterWith`): the next
   * job does not start on top of that. (A scope costs some 10 ns: a quarter of what a synchronous job takes.)
   */
  fill (isCut = false) {
    this.isCut = isCut
    while (this.running < this.concurrency && this.list.size > 0 && !this.isCut && !this.mustYield() && this.list.take()) {
      this.isCut = !this.start()
    }
  }

  fillOn () {
    while (this.isCut && this.running < this.concurrency) this.scope.runInAsyncScope(this.fill, this)
    this.isBusy = false
  }

  mustYield () {
    if (--this.untilLook === 0 && this.isTimeUp()) this.isYielding = true
    return this.isYielding
  }

  isTimeUp () {
    const time = now()
    const leftMs = this.turnStart + SLICE_MS - time
    const isSlow = (time - this.lookedAt) * 4 > leftMs
    this.lookedAt = time
    this.untilLook = this.stride = isSlow ? 1 : Math.min(2 * this.stride, MAX_STRIDE)
    if (leftMs > 0) return false
    if (this.isWaking) return true
    // the event loop may have turned since turnStart: measure from here, and have the next turn end the measure
    this.schedule()
    return false
  }

  /**
   * Starts the job that take() left in the list's fields.
   * A job that ends while its runner is on the stack is settled when that has returned: so its callback runs neither
   * inside the runner nor in a context that the runner has set.
   * @returns {boolean} whether the job has ended already
   */
  start () {
    const { list, runner } = this
    const { payload, context } = list
    const job = new Running(this, list.whenSettled, list.generation, list.origin)
    list.payload = list.whenSettled = undefined
    this.running++
    try {
      const returned = runner(payload, this.givesDone ? settle.bind(job) : undefined, context)
      if (this.takesReturn && (returned !== undefined || !this.givesDone)) this.follow(returned, job)
    } catch (err) {
      if (job.state === ENDED) rethrow(err)
      else settle.call(job, err, undefined, THROWN)
    }
    if (job.state === ON_STACK) {
      job.state = PENDING
      return false
    }
    this.release(job, this.err)
    this.callBack()
    return true
  }

  /** The runner returned something: if it is a promise or thenable, it settles the job. */
  follow (returned, job) {
    const then = isObject(returned) ? returned.then : undefined
    if (typeof then === 'function') {
      const promise = returned instanceof Promise
        ? returned
        : new Promise((resolve, reject) => then.call(returned, resolve, reject))
      promise.then(
        value => settle.call(job, null, value, FULFILLED),
        reason => settle.call(job, reason, undefined, THROWN)
      )
    } else if (!this.givesDone) {
      settle.call(job, null, returned)
    }
  }

  /** A job ended later than its runner returned. */
  endLate (job, err, result) {
    const isNested = this.isBusy
    this.isBusy = true
    this.release(job, err)
    if (isNested) {
      const { whenSettled } = this
      this.whenSettled = undefined
      this.isAskedAgain = true
      if (whenSettled !== undefined) this.call(() => whenSettled(err, result))
      return
    }
    this.err = err
    this.result = result
    this.scope.runInAsyncScope(this.callAndFill)
    this.fillOn()
    if (this.running === 0 || this.isFlushing || this.isAskedAgain) this.notify()
  }

  /** Frees the slot of a job; its callback is to be called. Retains nothing of it: callers may keep `done`. */
  release (job, err) {
    this.running--
    if (err) this.failed++
    else this.done++
    if (this.isFlushing) this.countDown(job.generation)
    this.list.ended(job.origin, Boolean(err))
    this.whenSettled = job.whenSettled
    job.whenSettled = undefined
  }

  callAndFill () {
    this.callBack()
    this.fill(isolatesEnterWith)
  }

  callBack () {
    const { whenSettled, err, result } = this
    this.whenSettled = this.err = this.result = undefined
    if (whenSettled === undefined) return
    try {
      whenSettled(err, result)
    } catch (thrown) {
      rethrow(thrown)
    }
  }

  reportMisuse (job) {
    this.list.misused(job.origin)
    if (this.misuse++ > 0) return
    warn('FAIRLANE_WARN_SETTLED_TWICE', 'A runner settled its job more than once (it called done() twice, or rejected after it). ' +
      'The first settlement counts. Further cases are only counted, in stats().misuse.')
  }

  countDown (generation) {
    // jobs of generations before the first flush in the list have all settled, so the index is never negative
    const flush = this.flushes.peekAt(generation - this.generation + this.flushes.size())
    if (flush === undefined) return
    flush.unsettledCount--
    this.flushingCount--
  }

  /** Nothing of the caller's is on the stack any more: tells those who wait for all jobs, or for those before a flush. */
  notify () {
    if (this.isAskedAgain) {
      this.isAskedAgain = false
      if (this.list.size > 0 && this.running < this.concurrency) this.wake()
    }
    if (this.isIdle() && this.drainedAt !== this.accepted) {
      this.drainedAt = this.accepted
      this.onDrain()
    }
    while (this.isFlushing && this.flushes.peek().unsettledCount === 0) {
      const { callbacks } = this.flushes.shift()
      this.isFlushing = !this.flushes.isEmpty()
      for (const callback of callbacks) this.call(callback)
    }
    if (this.idleWaiters.length > 0 && this.isIdle()) {
      const waiters = this.idleWaiters
      this.idleWaiters = []
      for (const resolve of waiters) resolve()
    }
  }

  isIdle () {
    return this.list.size + this.running === 0
  }
}

/**
 * The runner's `done`, and what its throw or promise comes to. The first call counts.
 * @this {Running}
 */
function settle (err, result, how) {
  const { state, dispatch } = this
  if (state === ENDED) {
    if (how !== FULFILLED) dispatch.reportMisuse(this)
    return
  }
  this.state = ENDED
  if (how === THROWN) err = failure(err)
  if (state === ON_STACK) {
    dispatch.err = err
    dispatch.result = result
  } else {
    dispatch.endLate(this, err, result)
  }
}

function callSafely (fn) {
  try {
    fn()
  } catch (err) {
    rethrow(err)
  }
}

/** A job that was failed with a falsy reason would look like a success to its callback. */
function failure (reason) {
  if (reason) return reason
  return new FairlaneError('FAIRLANE_ERR_RUNNER', 'The runner threw or rejected without a reason', { cause: reason })
}

function isObject (value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

module.exports = { Dispatch }
