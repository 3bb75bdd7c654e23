'use strict'

// The extras of a job that has any: a signal, limits of time, the AsyncLocalStorage context of its push, a signal for its
// runner. A ticket stands in the list where a plain job has its callback, so plain jobs know nothing of it.
//
//   made ──▶ waiting ──run()──▶ running ──retire()──▶ ──leave()──▶ settled
//               └────────────────────────────────▲

const { asyncScope, JobContext } = require('../../platform/context')
const { FairlaneError, abortedError, overdueError, typeError } = require('../../arguments/errors')
const { Deadlines } = require('./deadlines')
const { NO_EXTRAS } = require('../options')
const { COST } = require('../../job/cost')
const { promiseOf } = require('../../platform/promised')
const { Signals } = require('../../platform/signals')
const { spend } = require('../running')
const { Verdict } = require('../verdict')

/** The extras of one job. */
class Ticket {
  constructor (tickets, callback, signal, timeoutMs, scope) {
    this.tickets = tickets
    this.callback = callback
    this.signal = signal
    this.timeoutMs = timeoutMs
    this.scope = scope
    this.isRetired = false
    this.hasLeft = false
    this.isTaken = false // by a scheduler that is being told so: it neither waits nor runs
    this.job = undefined // in dispatch, once it runs
    this.position = -1 // in the heap of deadlines
    this.order = 0
    this.generation = 0 // which the list gave it
    this.lane = undefined // where it waits, as the list wants to know it
    this.block = undefined
    this.at = 0
  }

  /** Calls the runner. @param {Function} [done] if it gets one @returns what that returns */
  run (job, runner, payload, done, shared) {
    const { tickets, scope } = this
    this.job = job
    this.lane = this.block = undefined
    if (tickets.isInner) tickets.starts(this)
    else tickets.limitRun(this)
    if (this.work !== undefined) return this.work.start(this, job, payload, shared)
    const context = this.needsContext() ? new JobContext(shared.type, this.attempt, this) : shared
    if (scope === undefined) return done === undefined ? runner(payload, context) : runner(payload, done, context)
    if (!tickets.takesReturn) return scope.runInAsyncScope(runner, undefined, payload, done, context)
    return scope.runInAsyncScope(runAndListen, undefined, runner, payload, done, context)
  }

  /** From here on neither signal nor time can end the job. @param {object} [verdict] on this one */
  retire (verdict) {
    this.isRetired = true
    if (verdict !== undefined) this.verdict = verdict
    this.job = undefined
  }

  /** What is to be called when it is told, as of an End. */
  get whenSettled () {
    return this
  }

  /** No runner knows it yet, if it was retired while it waited. */
  get hasSignal () {
    return false
  }

  /** What the verdict tells it. */
  error () {
    return this.verdict.error()
  }

  /** Retires, and lets go of the clock and the signal: they are the caller's, and may do anything. */
  leave () {
    this.retire()
    this.hasLeft = true
    this.tickets.deadlines.remove(this)
    if (this.signal !== undefined) this.tickets.signals.remove(this.signal, this)
  }

  /** Calls the job back. */
  settle (err, result) {
    const { callback, scope } = this
    this.leave()
    this.callback = this.lane = this.block = undefined
    if (this.verdict !== undefined) this.verdict = undefined
    if (callback === undefined) return
    if (scope === undefined) callback(err, result)
    else scope.runInAsyncScope(callback, undefined, err, result)
  }

  /** The job was settled while it ran: its runner's signal says so. */
  abort (reason) {
    this.abortReason = reason
    if (this.controller === undefined) return
    if (this.scope === undefined) this.controller.abort(reason)
    else this.scope.runInAsyncScope(this.controller.abort, this.controller, reason)
  }

  /** What its runner says of how far the job is. */
  progress (value) {
    if (this.job !== undefined) this.tickets.dispatch.hooks.onProgress(this.job, this.attempt, value)
  }

  /** ... and of what it has cost. */
  spent (total) {
    spend(this.tickets.dispatch, this.job, total)
  }

  // private from here on

  /** Whether the runner is to be told more than those of other jobs: another attempt, or a signal that aborts for this job alone. */
  needsContext () {
    const { signal, timeoutMs, scope, attempt, tickets } = this
    return signal !== undefined || timeoutMs !== Infinity || scope !== undefined || attempt > 1 || tickets.isInner ||
      tickets.dispatch.costs !== null
  }

  /** Made when the runner asks for it: an AbortController takes 2 µs. */
  runnersSignal () {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.abortReason !== undefined) this.controller.abort(this.abortReason)
    }
    return this.controller.signal
  }
}

// Of most jobs, whose tickets have no room for these.
Object.assign(Ticket.prototype, {
  attempt: 1,
  priority: 0,
  cost: COST,
  verdict: undefined, // by which it was retired while it waited, unless that was for all of a batch
  controller: undefined, // of its runner's signal, once that was asked for
  abortReason: undefined,
  work: undefined // what is done in its slot, if that is not to call the queue's runner
})

/** Listens to a thenable that the runner returns: many begin their work when somebody does. */
function runAndListen (runner, payload, done, context) {
  const returned = done === undefined ? runner(payload, context) : runner(payload, done, context)
  return promiseOf(returned) ?? returned
}

/**
 * In the list in the place of tickets, for any number of jobs: each gets its ticket when it starts. Those that wait are cancelled
 * without a word, so it needs no settle().
 */
class SharedTicket {
  /**
   * @param {(payload: any, err: any, result: any) => void} whenSettled called for jobs that have started
   * @param {number} priority of all of them
   */
  constructor (tickets, whenSettled, priority) {
    this.tickets = tickets
    this.whenSettled = whenSettled
    this.priority = priority
    this.generation = 0 // tickets are told this and where they are; this one is in many places
    this.lane = this.block = undefined
    this.at = 0
  }

  run (job, runner, payload, done, context) {
    this.leave()
    const ticket = this.tickets.issue((err, result) => this.whenSettled(payload, err, result), NO_EXTRAS)
    job.whenSettled = ticket
    return ticket.run(job, runner, payload, done, context)
  }

  retire () {}

  leave () {
    this.lane = this.block = undefined
  }
}

SharedTicket.prototype.cost = COST

/** Issues the tickets of a queue, and ends their jobs when their time is up or their signal aborts. */
class Tickets {
  /**
   * @param {object} dispatch
   * @param {{ timeoutMs: number, maxWaitMs: number, onTimeout: string, asyncContext: string, settleBy: string, clock: object }} options
   * @param {(tickets: Tickets) => object} makePlanned makes the PlannedJobs of the queue
   */
  constructor (dispatch, { timeoutMs, maxWaitMs, onTimeout, asyncContext, settleBy, clock }, makePlanned) {
    this.dispatch = dispatch
    this.makePlanned = makePlanned
    this.madePlanned = undefined
    this.timeoutMs = timeoutMs
    this.maxWaitMs = maxWaitMs
    this.releases = onTimeout === 'release'
    this.keepsContext = asyncContext === 'push'
    this.isInner = false // then its owner says when the time of its jobs begins
    this.starting = undefined // the ticket whose runner was called last, for that
    this.waitsUntil = Infinity // when that would have waited for too long
    this.takesReturn = settleBy !== 'callback'
    this.deadlines = new Deadlines(clock, dispatch.scope, (items, runs) => this.end(items, runs), dispatch.telling)
    this.signals = new Signals((signal, tickets) => this.abort(signal, tickets))
  }

  /** Jobs that wait for their time, come back or have a key; made for the first job of which such a thing is said. */
  get planned () {
    return (this.madePlanned ??= this.makePlanned(this))
  }

  /** A job with extras comes in. */
  accept (type, payload, callback, atHead, extras) {
    if (extras.plan !== undefined && extras.plan.delayMs > 0) {
      this.planned.accept(type, payload, callback, atHead, extras)
      return
    }
    const { dispatch } = this
    const ticket = this.issue(callback, extras)
    dispatch.accept()
    dispatch.list[atHead ? 'unshiftTicket' : 'pushTicket'](type, payload, ticket)
    this.watch(ticket, extras)
  }

  /**
   * A ticket for a job that is to be accepted now.
   * @param {Function | undefined} callback
   * @param {{ signal?: AbortSignal, timeoutMs?: number, plan?: object, work?: object }} extras undefined: the queue's
   */
  issue (callback, { signal, timeoutMs = this.timeoutMs, plan, work }) {
    const scope = this.scopeOf(work)
    const ticket = plan === undefined
      ? new Ticket(this, callback, signal, timeoutMs, scope)
      : this.planned.issue(callback, signal, timeoutMs, scope, plan)
    if (work !== undefined) ticket.work = work
    return ticket
  }

  /** The caller's context, for a job that is to run in it. @param {object} [work] as of Ticket */
  scopeOf (work) {
    return this.keepsContext || (work !== undefined && work.keepsContext && this.dispatch.isScoped) ? asyncScope() : undefined
  }

  /**
   * The job waits: from now on its time and its signal can end it. The clock and the signal are the caller's, and may do anything:
   * what they throw ends the job, in a microtask.
   */
  watch (ticket, { signal, maxWaitMs = this.maxWaitMs, now }) {
    try {
      // told of the job, a scheduler may have cancelled it, or ended another one so that this one runs
      if (!ticket.isRetired && ticket.job === undefined) this.deadlines.add(ticket, maxWaitMs, now)
      if (signal === undefined || ticket.isRetired) return
      this.signals.add(signal, ticket)
      if (signal.aborted) queueMicrotask(() => this.abort(signal, new Set([ticket]))) // inside the clock
    } catch (reason) {
      this.refuse(ticket, reason)
    }
  }

  /** What the clock or the signal threw ends a job, in a microtask. */
  refuse (ticket, reason) {
    const err = reason || typeError('FAIRLANE_ERR_OPTION', 'the clock or the signal threw without a reason')
    const verdict = { hasFailed: false, releases: false, error: () => err }
    queueMicrotask(() => this.dispatch.interruptions.interrupt([ticket], () => verdict))
  }

  /** From now on the time of a job that runs is limited. */
  limit (ticket) {
    this.deadlines.add(ticket, ticket.timeoutMs)
  }

  /** The job does not wait any more: from now on the time is limited for which it runs. */
  limitRun (ticket) {
    this.deadlines.remove(ticket)
    this.limit(ticket)
  }

  /** As limitRun(), of an inner queue, whose owner says when that time begins. */
  starts (ticket) {
    this.starting = ticket
    this.waitsUntil = this.deadlines.dueAt(ticket)
    this.deadlines.remove(ticket)
  }

  // private from here on

  abort (signal, tickets, others) {
    const verdict = new Verdict(abortedError, signal.reason)
    verdict.prepare(tickets.size)
    this.dispatch.interruptions.interrupt(tickets, () => verdict, others)
  }

  end (due, runs) {
    const items = this.madePlanned === undefined ? due : this.madePlanned.enterDue(due, runs)
    if (items.length === 0) return
    // one that is taken out of the list already does not wait any more
    const tickets = items.filter(item => item instanceof Ticket && (item.job !== undefined || !item.isTaken))
    const verdicts = new Map() // by timeoutMs; undefined: on those that wait
    this.dispatch.interruptions.interrupt(tickets, ({ job, timeoutMs }) => {
      const key = job === undefined ? undefined : timeoutMs
      if (!verdicts.has(key)) verdicts.set(key, this.verdictOn(key, tickets.length))
      return verdicts.get(key)
    })
    for (const item of items) if (!(item instanceof Ticket)) item.whenDue()
  }

  verdictOn (timeoutMs, mostCount) {
    const verdict = timeoutMs === undefined
      ? new Verdict(overdueError)
      : new Verdict(timeoutError, timeoutMs, { hasFailed: true, releases: this.releases })
    verdict.prepare(mostCount)
    return verdict
  }
}

function timeoutError (timeoutMs) {
  return new FairlaneError('FAIRLANE_ERR_TIMEOUT', `The job ran longer than ${timeoutMs} ms`)
}

module.exports = { Ticket, Tickets, SharedTicket }
