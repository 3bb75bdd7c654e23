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

const { defer, takeBack, rethrow, callSafely } = require('../platform/clock') // before aflow, which it lends what browsers lack
const { repeatUntil } = require('aflow')
const { asyncScope, plainScope, isolatesEnterWith, contextFrame } = require('../platform/context')
const { Pace } = require('./pace')
const { Ring } = require('./ring')
const { Running, releaseToRetry, settle, settleByThrow, follow, tell, callBack, PENDING, ON_STACK, ENDED } = require('./running')

takeBack()

/** The runner's `done`. It has to be made in this file: made in running.js it lost half of what it gains (docs/decisions/0003). */
function doneOf (job) {
  return (err, result) => { settle(job, err, result) }
}

class Dispatch {
  /**
   * @param {Function} runner
   * @param {object} list where jobs wait (lists/)
   * @param {{ concurrency: number, settleBy: string, asyncContext: string, maxAttempts: number }} options
   * @param {object} hooks what the queue does: `onDrain()` each time the last job has ended, `onLevel()` if isWatched and fewer jobs
   *   may wait, `onProgress(job, attempt, value)` when a runner says how far its job is, `retryOf(job, err, own)` for one that has failed
   *   and may be tried again: who is to be told so, or undefined
   */
  constructor (runner, list, options, hooks) {
    this.runner = runner
    this.list = list
    this.hooks = hooks
    this.concurrency = options.concurrency
    this.givesDone = options.settleBy !== 'promise'
    this.takesReturn = options.settleBy !== 'callback'

    this.running = 0
    this.delayed = 0 // jobs that are in no list until their time has come
    this.accepted = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.rejected = 0
    this.misuse = 0
    this.overrun = 0 // runners that go on without a slot
    this.overdueCount = 0 // runners that go on in their slot though their jobs have settled
    this.hasSeenValue = false // of a runner that may call done; more of them mean the same
    this.listeners = null // to what becomes of jobs, as of Listeners
    this.costs = null // what these are, where that is counted (limits/costs.js)
    this.maxAttempts = options.maxAttempts
    this.isInner = false // its owner tries jobs again; set before the first one comes
    this.isPlain = this.givesDone // jobs without extras start by the short way
    this.pending = new Ring() // started jobs whose runners have returned and that have not settled: close() must find them
    this.postponed = undefined // what the job whose runner is on the stack is to be settled by, if it pends when that returns

    this.isScoped = options.asyncContext !== 'none'
    this.scope = this.isScoped ? asyncScope() : plainScope
    // one that has run none of the caller's code, which may have left a context in it before Node 24: others are made in it
    /* istanbul ignore next: each Node version takes one way */
    this.pristineScope = isolatesEnterWith || !this.isScoped ? this.scope : asyncScope()
    /* istanbul ignore next: contexts are told apart from Node 24 on */
    this.frame = this.isScoped && contextFrame !== undefined ? contextFrame() : undefined
    this.isWary = this.isScoped && isolatesEnterWith // of contexts that runners and callbacks leave behind

    this.isBusy = false // jobs are being started or called back on this stack: whoever does so refills the slots
    this.isWaking = false // a pass in the next turn of the event loop is due, or it is going on
    this.isYielding = false // ... and nothing starts before it
    this.isPrompt = false // the end of a job starts others however long the turn has lasted
    this.isAskedAgain = false // a job may start that might not when the list was last asked
    this.isCut = false // fill() stopped to have the next job started in a scope of its own
    this.pace = new Pace()
    this.slice = this.slice.bind(this)
    this.callLateAndFill = this.callLateAndFill.bind(this)
    this.drive = () => repeatUntil(this.slice)

    this.whenSettled = undefined // of the job that is to be called back in the queue's scope
    this.err = undefined // ... and what it was settled with; while a runner is on the stack, by that
    this.result = undefined

    this.madeTelling = undefined
    this.madeInterruptions = undefined
    this.madeFlushes = undefined
    this.madeIdleWaiters = undefined
    this.untoldCount = 0 // settled jobs that were not called back
    this.drainedAt = 0 // how many jobs had been accepted when the queue was last empty
    this.isFlushing = false // somebody waits for a flush
    this.isWatched = false // the queue wants to know when fewer jobs wait
    this.isIdleAwaited = false // somebody waits for the queue to be idle
  }

  /** Tells many in slices. */
  get telling () {
    return (this.madeTelling ??= new (require('./notifications').Telling)(this))
  }

  /** What ends jobs other than their runners. */
  get interruptions () {
    return (this.madeInterruptions ??= new (require('./interruptions').Interruptions)(this))
  }

  /** Who waits for all jobs up to now. */
  get flushes () {
    return (this.madeFlushes ??= new (require('./flushes').Flushes)(this))
  }

  get idleWaiters () {
    return (this.madeIdleWaiters ??= new (require('./idle').IdleWaiters)(this))
  }

  /** From here on somebody listens to what becomes of jobs, or nobody does. @param {Listeners | null} listeners */
  listen (listeners) {
    this.listeners = listeners
    this.isPlain = this.givesDone && listeners === null && this.costs === null
  }

  /** From here on it is counted what jobs cost. @param {Costs} costs */
  countCosts (costs) {
    this.costs = this.list.costs = costs
    this.isPlain = false
  }

  /** A job is put into the list. The list may have to ask the scheduler where: until it knows, the job is nowhere. */
  accept () {
    this.accepted++
    if (this.running < this.concurrency) this.wake()
  }

  /** Has a pass start what may start, in a later turn of the event loop. */
  wake () {
    if (this.isBusy) this.isAskedAgain = true
    else if (!this.isWaking) this.schedule()
  }

  /** Calls the caller's code; what it throws becomes an uncaught exception. */
  call (fn) {
    this.freshScope().runInAsyncScope(callSafely, undefined, fn)
  }

  /** Calls fn while nothing can start; then what may start is started, in a later turn. */
  withoutStarting (fn) {
    const isNested = this.isBusy
    this.isBusy = true
    try {
      return fn()
    } finally {
      this.isBusy = isNested
      this.isAskedAgain = true
      if (!isNested) this.notify()
    }
  }

  /** A settled job is told now, or nobody wants to know. */
  told (generation) {
    this.untoldCount--
    if (this.isFlushing) this.flushes.countDown(generation)
  }

  /** Jobs that were accepted and do not run, those included whose time has not come. */
  get waiting () {
    return this.list.size + this.delayed
  }

  settledCount () {
    return this.done + this.failed + this.cancelled
  }

  // private from here on

  schedule () {
    this.isWaking = true
    this.pace.beginTurn()
    this.scope.runInAsyncScope(defer, undefined, this.drive)
  }

  /** A scope for calls from inside the caller's code, which may have set its own context in the scopes in use (Node 20). */
  freshScope () {
    return !this.isScoped ? plainScope : this.pristineScope.runInAsyncScope(asyncScope)
  }

  /** One pass in a turn of its own; aflow calls it again after next(). */
  slice (next) {
    this.isYielding = false
    this.isBusy = true
    this.list.beginPass()
    this.pace.beginPass()
    if (this.isPrompt) this.allowStarts()
    try {
      this.fill()
      this.fillOn()
    } catch (err) {
      this.isBusy = false
      rethrow(err) // a fault of ours, or of a scheduler: aflow would swallow it, and the queue stand still
    }
    this.isWaking = this.isYielding
    this.notify()
    if (this.isYielding) this.scope.runInAsyncScope(defer, undefined, next) // not in the context that a runner has left behind
    else next(null, true)
  }

  /**
   * Starts jobs until the slots are taken, none may start, or the time is up. Runs in the queue's async scope.
   * A job that ends while its runner is on the stack is settled when that has returned: so its callback runs neither
   * inside the runner nor in a context that the runner has set.
   * A runner that goes on after it returned may have left its own AsyncLocalStorage context behind (`enterWith`): the next
   * job does not start on top of that.
   */
  fill () {
    const { list, runner, pace } = this
    let isUnsure = false
    this.isCut = false
    while (this.running < this.concurrency && list.size > 0 && (--pace.untilLook > 0 || this.mayGoOn())) {
      /* istanbul ignore next: contexts are told apart from Node 24 on */
      if (isUnsure && this.hasStrayed()) {
        this.isCut = true
        return
      }
      if (!list.take()) return
      const { payload, whenSettled } = list
      if (!this.isPlain || typeof whenSettled === 'object') {
        isUnsure = !this.start() && this.isWary
        continue
      }
      const job = new Running(this, whenSettled, list.generation, list.origin, payload)
      list.payload = list.whenSettled = undefined
      this.running++
      try {
        const returned = runner(payload, doneOf(job), list.context)
        if (returned !== undefined && this.takesReturn) follow(job, returned)
      } catch (err) {
        settleByThrow(job, err)
      }
      if (job.state === ON_STACK) {
        this.pend(job)
        isUnsure = this.isWary
      } else {
        this.endNow(job)
        isUnsure = false
      }
    }
  }

  /** Whether the context is not the queue's any more. */
  /* istanbul ignore next: as above */
  hasStrayed () {
    return contextFrame === undefined || contextFrame() !== this.frame
  }

  fillOn () {
    while (this.isCut && this.running < this.concurrency) {
      if (this.isPrompt) this.allowStarts()
      this.scope.runInAsyncScope(this.fill, this)
    }
    this.isBusy = false
  }

  /** The slots that are free now are filled however long the turn has lasted. */
  allowStarts () {
    this.isYielding = false
    this.pace.allow(Math.min(this.concurrency - this.running, this.list.size))
  }

  /** The starts that needed no look at the clock are over. While jobs wait for the next pass, each start asks. */
  mayGoOn () {
    const { pace } = this
    pace.untilLook = 1
    if (!this.isYielding && pace.isTimeUp()) {
      if (this.isWaking) this.isYielding = true
      else this.schedule() // the event loop may have turned meanwhile: measure from here, and have the next turn end the measure
    }
    return !this.isYielding
  }

  /**
   * Starts the job that take() left in the list's fields: the way of jobs with extras, of all while somebody listens to what becomes of
   * them, and of runners that get no `done`.
   * @returns {boolean} whether the job has ended already
   */
  start () {
    const { list, runner } = this
    const { payload, whenSettled } = list
    const job = new Running(this, whenSettled, list.generation, list.origin, payload)
    const told = this.costs ?? this.listeners // of the job, and say what its runner is told of it
    const context = told === null ? list.context : told.starts(job, list.context)
    list.payload = list.whenSettled = undefined
    this.running++
    try {
      const done = this.givesDone ? doneOf(job) : undefined
      const returned = typeof whenSettled === 'object'
        ? whenSettled.run(job, runner, payload, done, context)
        : done === undefined ? runner(payload, context) : runner(payload, done, context)
      if (this.takesReturn && (returned !== undefined || !this.givesDone)) follow(job, returned)
    } catch (err) {
      settleByThrow(job, err)
    }
    if (job.state === ON_STACK) {
      this.pend(job)
      return false
    }
    this.endNow(job)
    return true
  }

  /** The runner has returned, and its job goes on. */
  pend (job) {
    job.state = PENDING
    this.pending.add(job)
    if (this.postponed === undefined) return
    const end = this.postponed
    this.postponed = undefined
    this.interruptions.interruptPostponed(job, end)
  }

  /** The runner has returned, and its job has ended. */
  endNow (job) {
    const { err, result } = this
    this.err = this.result = undefined
    const isFinal = this.postponed !== undefined
    if (isFinal) this.postponed = undefined // the job has an end of its own
    const whenSettled = this.release(job, err, isFinal)
    if (whenSettled !== undefined) callBack(whenSettled, err, result)
  }

  /** A job ended later than its runner returned. */
  endLate (job, err, result) {
    const isNested = this.isBusy
    this.isBusy = true
    job.state = ENDED
    this.pending.drop(job)
    const whenSettled = this.release(job, err, false)
    if (isNested) {
      // the caller's code is on the stack: whoever called that refills the slots
      this.isAskedAgain = true
      if (whenSettled !== undefined) this.call(() => tell(whenSettled, err, result))
      if (this.isPrompt) this.allowStarts()
      return
    }
    if (this.isScoped) {
      this.whenSettled = whenSettled
      this.err = err
      this.result = result
      this.scope.runInAsyncScope(this.callLateAndFill)
    } else {
      this.callAndFill(whenSettled, err, result)
    }
    this.refilled()
  }

  callLateAndFill () {
    const { whenSettled, err, result } = this
    this.whenSettled = this.err = this.result = undefined
    this.callAndFill(whenSettled, err, result)
  }

  /** Calls back; then starts jobs, unless that has left a context of its own behind. */
  callAndFill (whenSettled, err, result) {
    if (whenSettled !== undefined) {
      callBack(whenSettled, err, result)
      /* istanbul ignore next: as in fill() */
      if (this.isWary && this.hasStrayed()) {
        this.isCut = true
        return
      }
    }
    if (this.isPrompt) this.allowStarts()
    this.fill()
  }

  /** Slots were refilled, but for what is to start in a scope of its own. */
  refilled () {
    if (this.isCut) this.fillOn()
    else this.isBusy = false
    if (this.running === 0 || this.isFlushing || this.isAskedAgain || this.isWatched) this.notify()
  }

  /** Frees the slot of a job that has ended. Retains nothing of it: callers may keep `done`. @returns who is to be told */
  release (job, err, isFinal) {
    if (err && !isFinal) {
      const retry = releaseToRetry(job, err)
      if (retry !== undefined) return retry
    }
    const { whenSettled } = job
    job.whenSettled = job.payload = undefined
    this.running--
    if (err) this.failed++
    else this.done++
    if (this.isFlushing) this.flushes.countDown(job.generation)
    if (job.origin !== undefined) this.list.ended(job.origin, err ? 'failed' : 'done', err)
    return whenSettled
  }

  /** Nothing of the caller's is on the stack any more: tells those who wait for all jobs, or for those before a flush. */
  notify () {
    if (this.isAskedAgain) {
      this.isAskedAgain = false
      if (this.list.size > 0 && this.running < this.concurrency) this.wake()
    }
    if (this.isIdle() && this.drainedAt !== this.accepted) {
      this.drainedAt = this.accepted
      this.hooks.onDrain()
    }
    if (this.isWatched) this.hooks.onLevel()
    if (this.isFlushing) this.flushes.check()
    if (this.isIdleAwaited) this.idleWaiters.check()
  }

  isIdle () {
    return this.waiting + this.running === 0 && this.accepted === this.settledCount() && this.untoldCount === 0
  }
}

module.exports = { Dispatch }
