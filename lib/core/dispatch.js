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

const { now, defer, takeBack, rethrow, callSafely } = require('../clock') // before aflow, which it lends what browsers lack
const { repeatUntil } = require('aflow')
const QList = require('qlist')
const { asyncScope, isolatesEnterWith } = require('../context')
const { failure, warn } = require('../errors')
const { Pending, PENDING } = require('./pending')
const { promiseOf } = require('../promised')
const { Telling, Removed, Ended, Calls, Promises, tell } = require('./telling')
const { warnOfValue } = require('../values')
const { End } = require('./verdict')

takeBack()

// A pass that started jobs for so long yields to the event loop; refills on top of a pass may take as long again.
const SLICE_MS = 1
// Two looks at the clock lie at most so many starts apart: a look costs 30 to 70 ns.
const MAX_STRIDE = 32
// So many promises are not worth a slice of time: a burst of 100 synchronous jobs took 8 % longer with it (Node 20; bench: bursts).
const FEW = 16

// What ended a job, as a third argument of `done` that callers can not have.
const FULFILLED = Symbol('fulfilled')
const THROWN = Symbol('thrown')

// The states of a started job, beside PENDING.
const ON_STACK = -1 // its runner has not returned
const ENDED = -2
const OVERDUE = -3 // settled by a timeout, an abort or close; its runner goes on, in its slot
const RELEASED = -4 // ... and without its slot

/** A started job. Its `done` is settle(), bound to it: that costs less than a closure per job (docs/decisions/0003). */
class Running {
  constructor (dispatch, whenSettled, generation, origin) {
    this.dispatch = dispatch
    this.whenSettled = whenSettled
    this.generation = generation
    this.origin = origin
    this.state = ON_STACK
    this.block = undefined // of pending
  }
}

/** In the place of a callback, or ticket, while somebody listens to failures: calls back, then tells them. */
class Witness {
  constructor (dispatch, whenSettled, type, payload) {
    this.dispatch = dispatch
    this.whenSettled = whenSettled
    this.about = { type, payload }
  }

  settle (err, result) {
    const { whenSettled } = this
    if (whenSettled !== undefined) callSafely(() => tell(whenSettled, err, result))
    if (err) this.dispatch.hooks.onFailure(err, this.about)
  }
}

class Dispatch {
  /**
   * @param {Function} runner
   * @param {object} list where jobs wait (lib/lists)
   * @param {{ concurrency: number, settleBy: string }} options
   * @param {object} hooks what the queue does: `onDrain()` each time the last job has ended, `onLevel()` if isWatched and
   *   fewer jobs may wait, `onFailure(err, { type, payload })` for jobs that were started while isObserved
   */
  constructor (runner, list, options, hooks) {
    this.runner = runner
    this.list = list
    this.hooks = hooks
    this.concurrency = options.concurrency
    this.givesDone = options.settleBy !== 'promise'
    this.takesReturn = options.settleBy !== 'callback'

    this.running = 0
    this.accepted = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.rejected = 0
    this.misuse = 0
    this.overrun = 0 // runners that go on without a slot
    this.overdueCount = 0 // runners that go on in their slot though their jobs have settled
    this.hasSeenValue = false // of a runner that may call done; more of them mean the same
    this.isObserved = false // somebody listens to failures
    this.pending = new Pending()
    this.postponed = undefined // what the job whose runner is on the stack is to be settled by, if it pends when that returns

    this.scope = asyncScope()
    this.pristineScope = asyncScope() // runs none of the caller's code: others are made in it
    this.abortController = undefined
    this.abortReason = undefined

    this.isBusy = false // jobs are being started or called back on this stack: whoever does so refills the slots
    this.isWaking = false // a pass in the next turn of the event loop is due, or it is going on
    this.isYielding = false // ... and nothing starts before it
    this.isPrompt = false // the end of a job starts others however long the turn has lasted
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
    this.flushes = new QList() // of { unsettledCount, knownCount, callbacks }, one per generation, the last is generation - 1
    this.flushingCount = 0
    this.isFlushing = false
    this.isWatched = false // the queue wants to know when fewer jobs wait
    this.idleWaiters = []
    this.telling = new Telling(this)
    this.flushed = new Calls() // of flushes that are over; onIdle() is behind them
    this.deferred = new Calls() // the last of flushes that had nothing to wait for
  }

  /** The AbortSignal of all jobs without one of their own. */
  get signal () {
    if (this.abortController === undefined) {
      this.abortController = new AbortController()
      if (this.abortReason !== undefined) this.abortController.abort(this.abortReason)
    }
    return this.abortController.signal
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

  /**
   * Starts what may start before it returns, at least one job per free slot; for facades whose originals start jobs
   * inside push. If the caller's code is on the stack it does nothing: that refills the slots when it returns.
   */
  startNow () {
    if (this.isBusy) return
    this.isBusy = this.isCut = true
    this.allowStarts()
    this.fillOn()
    this.untilLook = this.stride
    this.notify()
  }

  /**
   * For facades whose originals start jobs at the end of others: so does this from now on, however long the turn has lasted. Only jobs that
   * end inside their runners, whose number has no limit, still wait for the next turn.
   */
  startPromptly () {
    const { fill } = this
    this.isPrompt = true
    this.fill = () => {
      this.allowStarts()
      fill.call(this)
    }
  }

  /**
   * The callback is called once all jobs accepted up to now have settled and were told so, never synchronously.
   * O(1): jobs carry the number of the flush that they came after, and each flush counts its own.
   */
  fflush (callback) {
    const liveCount = this.list.size + this.running - this.overdueCount
    const unsettledCount = liveCount + this.telling.untoldCount
    const knownCount = liveCount + this.settledCount() // not `accepted`: a job on its way into the list is of the next flush
    const last = this.flushes.peekAt(-1)
    if (unsettledCount === 0) {
      this.callLater(callback)
    } else if (last !== undefined && last.knownCount === knownCount) {
      last.callbacks.push(callback)
    } else {
      this.flushes.push({ unsettledCount: unsettledCount - this.flushingCount, knownCount, callbacks: [callback] })
      this.flushingCount = unsettledCount
      this.isFlushing = true
      this.list.barrier(++this.generation, this.flushes.size())
    }
  }

  /** @returns {Promise<void>} resolves when nothing waits, no slot is taken, and all jobs were told */
  onIdle () {
    if (this.isIdle()) return Promise.resolve()
    return new Promise(resolve => this.idleWaiters.push(resolve))
  }

  /**
   * Settles waiting jobs without starting them, and tells them in their order before it returns. Nothing starts meanwhile.
   * @param {() => object} remove takes them out of the list, and returns a list of them; may throw
   * @param {Verdict} verdict
   * @returns {number} how many
   */
  cancel (remove, verdict) {
    return this.apart(() => {
      const removed = remove()
      const count = removed.size
      verdict.prepare(count)
      this.countCancelled(removed)
      this.telling.tellAll(new Removed(this, removed, verdict))
      return count
    })
  }

  /** As cancel(), without a word. */
  withdraw (remove) {
    this.apart(() => {
      const removed = remove()
      this.countCancelled(removed)
      removed.forEach((payload, whenSettled, generation) => {
        this.told(generation)
        whenSettled.leave()
      })
    })
  }

  /**
   * Settles jobs with extras, waiting or running, unless they have settled. Nothing starts meanwhile. O(1) for each, and what
   * the list takes. All counts are right when it returns; of many, some are told in later turns.
   * @param {Iterable<object>} tickets
   * @param {(ticket: object) => Verdict} verdictOn asked before the job is settled
   */
  interrupt (tickets, verdictOn) {
    this.apart(() => {
      const ends = []
      for (const ticket of tickets) {
        const end = this.settleTicket(ticket, verdictOn)
        if (end !== undefined) ends.push(end)
      }
      this.tellSettled(ends)
    })
  }

  /**
   * Settles all jobs, waiting and running. Nothing starts meanwhile. Runners keep their slots until they end. All counts are
   * right when it returns; of many, some are told in later turns.
   * @param {Verdict} verdict
   */
  abandon (verdict) {
    this.apart(() => {
      const removed = this.list.removeAll()
      verdict.prepare(removed.size + this.running)
      this.countCancelled(removed)
      const ends = this.pending.list().map(job => this.settlePending(job, new End(undefined, verdict)))
      const reason = verdict.error()
      this.abortReason = reason
      this.postponed ??= new End(undefined, verdict)
      if (this.abortController !== undefined) this.call(() => this.abortController.abort(reason))
      this.telling.tell(new Ended(this, ends), new Removed(this, removed, verdict))
    })
  }

  /** Calls the caller's code; what it throws becomes an uncaught exception. */
  call (fn) {
    this.freshScope().runInAsyncScope(callSafely, undefined, fn)
  }

  // private from here on

  /** Calls fn while nothing can start; then what may start is started, in a later turn. */
  apart (fn) {
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

  /** Jobs were taken out of the list. From here on nothing can settle those that have extras: they are only to be told. */
  countCancelled (removed) {
    this.cancelled += removed.size
    this.telling.untoldCount += removed.size
    removed.forEach((payload, whenSettled) => {
      if (typeof whenSettled === 'object') whenSettled.retire()
    })
    // not before all is counted: schedulers are the caller's, and may do anything
    this.list.tellRemovals()
  }

  /** A settled job is told now, or nobody wants to know. */
  told (generation) {
    this.telling.untoldCount--
    if (this.isFlushing) this.countDown(generation)
  }

  /** Settles the job of a ticket, but for telling it. @returns {End | Ticket | undefined} undefined if it has settled, or will later */
  settleTicket (ticket, verdictOn) {
    const { job } = ticket
    if (ticket.isRetired) return undefined
    const verdict = verdictOn(ticket)
    if (job === undefined ? ticket.isTaken : job.state === ON_STACK) {
      this.postponed ??= new End(ticket, verdict) // it is the next to start, or inside its runner
      return undefined
    }
    if (job !== undefined) return job.state === PENDING ? this.settlePending(job, new End(ticket, verdict)) : undefined
    this.cancelled++
    this.telling.untoldCount++
    ticket.retire(verdict)
    this.list.drop(ticket)
    return ticket
  }

  /** Settles a job whose runner goes on, but for telling it. @returns {End} end, completed for tellSettled() */
  settlePending (job, end) {
    const { hasFailed, releases } = end.verdict
    const { whenSettled } = job
    const own = whenSettled instanceof Witness ? whenSettled.whenSettled : whenSettled
    end.whenSettled = hasFailed ? whenSettled : own
    end.generation = job.generation
    this.telling.untoldCount++
    if (typeof own === 'object') {
      end.ticket = own
      own.retire()
    }
    if (hasFailed) this.failed++
    else this.cancelled++
    this.list.interrupted(job.origin, hasFailed)
    job.whenSettled = undefined
    this.pending.drop(job)
    if (releases) {
      job.state = RELEASED
      this.overrun++
      this.running--
      this.list.overran(job.origin, 1)
      this.list.ended(job.origin, undefined)
    } else {
      job.state = OVERDUE
      this.overdueCount++
    }
    return end
  }

  /** @param {Array<End | Ticket>} ends Tickets: of jobs that waited */
  tellSettled (ends) {
    if (ends.length > 0) this.telling.tell(new Ended(this, ends))
  }

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
    this.stride = 1
    this.untilLook = 2 // one job is started first, however slow the machine: each pass gets somewhere
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
   * A runner that goes on after it returned may have left its own AsyncLocalStorage context behind (`enterWith`): the next
   * job does not start on top of that. (A scope costs some 10 ns: a quarter of what a synchronous job takes.)
   */
  fill () {
    this.isCut = false
    while (this.running < this.concurrency && this.list.size > 0 && (--this.untilLook > 0 || this.mayGoOn()) && this.list.take()) {
      if (this.start()) continue
      this.isCut = true
      return
    }
  }

  fillOn () {
    while (this.isCut && this.running < this.concurrency) this.scope.runInAsyncScope(this.fill, this)
    this.isBusy = false
  }

  /** The slots that are free now are filled however long the turn has lasted. */
  allowStarts () {
    this.isYielding = false
    this.untilLook = Math.max(this.untilLook, Math.min(this.concurrency - this.running, this.list.size) + 1)
  }

  /** untilLook has come to an end: it is time for a look at the clock. While jobs wait for the next pass, it stays there. */
  mayGoOn () {
    this.untilLook = 1
    if (!this.isYielding) this.isYielding = this.isTimeUp()
    return !this.isYielding
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
    const { payload, whenSettled, context } = list
    const job = new Running(this, whenSettled, list.generation, list.origin)
    if (this.isObserved) job.whenSettled = new Witness(this, whenSettled, context.type, payload)
    list.payload = list.whenSettled = undefined
    this.running++
    try {
      let returned
      if (typeof whenSettled === 'object') returned = whenSettled.run(job, runner, payload, this.doneOf(job), context)
      else if (this.givesDone) returned = runner(payload, settle.bind(job), context)
      else returned = runner(payload, undefined, context)
      if (this.takesReturn && (returned !== undefined || !this.givesDone)) this.follow(returned, job)
    } catch (err) {
      if (job.state === ENDED) rethrow(err)
      else settle.call(job, err, undefined, THROWN)
    }
    if (job.state === ON_STACK) {
      job.state = PENDING
      this.pending.add(job)
      if (this.postponed !== undefined) this.interruptPostponed(job)
      return false
    }
    if (this.postponed !== undefined) this.postponed = undefined // the job has an end of its own
    this.release(job, this.err)
    this.callBack()
    return true
  }

  doneOf (job) {
    return this.givesDone ? settle.bind(job) : undefined
  }

  /** What came over a job while its runner was on the stack; one that has ended there keeps its own end. */
  interruptPostponed (job) {
    const end = this.postponed
    this.postponed = undefined
    this.tellSettled([this.settlePending(job, end)])
  }

  /** The runner returned something: if it is a promise or thenable, it settles the job. */
  follow (returned, job) {
    const promise = promiseOf(returned)
    if (promise !== undefined) {
      promise.then(
        value => settle.call(job, null, value, FULFILLED),
        reason => settle.call(job, reason, undefined, THROWN)
      )
    } else if (!this.givesDone) {
      settle.call(job, null, returned)
    } else if (!this.hasSeenValue && job.state === ON_STACK) {
      this.hasSeenValue = true
      warnOfValue(this.runner, returned)
    }
  }

  /** A job ended later than its runner returned. */
  endLate (job, err, result) {
    const isNested = this.isBusy
    this.isBusy = true
    job.state = ENDED
    this.pending.drop(job)
    this.release(job, err)
    if (isNested) {
      this.tellNested(err, result)
      return
    }
    this.err = err
    this.result = result
    this.callBackAndFill()
  }

  /** The caller's code is on the stack: whoever called that refills the slots. */
  tellNested (err, result) {
    const { whenSettled } = this
    this.whenSettled = undefined
    this.isAskedAgain = true
    if (whenSettled !== undefined) this.call(() => tell(whenSettled, err, result))
    if (this.isPrompt) this.allowStarts()
  }

  callBackAndFill () {
    this.scope.runInAsyncScope(this.callAndFill)
    this.fillOn()
    if (this.running === 0 || this.isFlushing || this.isAskedAgain || this.isWatched) this.notify()
  }

  /** The runner of a job that had settled before has ended. */
  endOverdue (job) {
    const isReleased = job.state === RELEASED
    job.state = ENDED
    if (isReleased) {
      this.overrun--
      this.list.overran(job.origin, -1)
      return
    }
    const isNested = this.isBusy
    this.isBusy = true
    this.overdueCount--
    this.running--
    this.list.ended(job.origin, undefined)
    if (isNested) this.isAskedAgain = true
    else this.callBackAndFill()
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
    /* istanbul ignore next: each Node version takes one way */
    if (isolatesEnterWith) this.isCut = true
    else this.fill()
  }

  callBack () {
    const { whenSettled, err, result } = this
    this.whenSettled = this.err = this.result = undefined
    if (whenSettled === undefined) return
    try {
      tell(whenSettled, err, result)
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
      this.pending.reset()
      this.hooks.onDrain()
    }
    if (this.isWatched) this.hooks.onLevel()
    if (this.isFlushing && this.flushes.peek().unsettledCount === 0) this.endFlushes()
    if (this.idleWaiters.length > 0 && this.isIdle() && this.flushed.isOver) {
      const waiters = this.idleWaiters
      this.idleWaiters = []
      if (waiters.length <= FEW) for (const resolve of waiters) resolve()
      else this.telling.tell(new Promises(waiters))
    }
  }

  /** Calls those whose flushes are over, behind others that are being called, or are to be, in a later turn. */
  endFlushes () {
    const { flushes, flushed } = this
    const isTelling = !flushed.isOver
    while (!flushes.isEmpty() && flushes.peek().unsettledCount === 0) flushed.add(flushes.shift().callbacks)
    if (flushes.isEmpty()) {
      this.isFlushing = false
      this.flushes = new QList() // one that was long keeps its room
      this.list.forgetBarriers()
    }
    if (!isTelling) this.telling.tell(flushed)
  }

  callLater (callback) {
    if (this.deferred.isOver || this.deferred.isBegun) {
      this.deferred = new Calls()
      this.telling.tellLater(this.deferred)
    }
    this.deferred.add([callback])
  }

  isIdle () {
    return this.list.size + this.running === 0 && this.accepted === this.settledCount() && this.telling.untoldCount === 0
  }

  settledCount () {
    return this.done + this.failed + this.cancelled
  }
}

/**
 * The runner's `done`, and what its throw or promise comes to. The first call counts.
 * @this {Running}
 */
function settle (err, result, how) {
  const { state, dispatch } = this
  if (state < ON_STACK) {
    if (state !== ENDED) dispatch.endOverdue(this)
    else if (how !== FULFILLED) dispatch.reportMisuse(this)
    return
  }
  if (how === THROWN) err = failure(err)
  if (state === ON_STACK) {
    this.state = ENDED
    dispatch.err = err
    dispatch.result = result
  } else {
    dispatch.endLate(this, err, result)
  }
}

module.exports = { Dispatch }
