'use strict'

// The extras of a job of which more is said: when it is to be put into the list, how often it is tried, whom it shares a key with.
//
//   accept() ──▶ delayed ──due──▶ waiting ──▶ running ──▶ settled
//      │            ▲                ▲           │
//      │            └────────────────┼─ takes() ─┘ it has failed, and is to be tried again
//      └─────────────────────────────┘
//
// Each attempt has a ticket of its own, and so a signal and a time limit. A job without extras gets its first ticket when it fails.

const { COST } = require('../../job/cost')
const { counts, endOf } = require('../../job/outcome')
const { callSafely } = require('../../platform/clock')
const { defaultBackoffMs } = require('../../job/backoff')
const { Delays } = require('./delays')
const { Retry, idOf, typeOf } = require('./retry')
const { Ticket } = require('./tickets')
const { TypeDelays } = require('./type-delays')

class PlannedTicket extends Ticket {
  constructor (jobs, callback, signal, timeoutMs, scope) {
    super(jobs.tickets, callback, signal, timeoutMs, scope)
    this.listed = 0
    this.attempt = 1
    this.maxAttempts = jobs.maxAttempts
    this.entry = undefined // of its key
    this.priority = 0
  }

  get generation () {
    return this.born ?? this.listed
  }

  /** What a list says when the job is put into it. */
  set generation (value) {
    this.listed = value
  }

  run (job, runner, payload, done, context) {
    job.generation = this.generation
    if (this.entry !== undefined) this.entry.start()
    return super.run(job, runner, payload, done, context)
  }

  settle (err, result) {
    if (this.payload !== undefined) this.payload = undefined
    super.settle(err, result)
  }

  retire (verdict) {
    super.retire(verdict)
    if (this.entry !== undefined) this.entry.end(this)
  }

  leave () {
    super.leave()
    if (this.entry !== undefined) this.entry.leave()
  }

  /** The job is delayed. @param {number} generation in which it was accepted */
  expect (type, payload, generation) {
    this.type = type
    this.payload = payload
    this.born = generation
  }

  // private from here on

  /** All who share the job may leave it, if they have signals. */
  needsContext () {
    return super.needsContext() || (this.entry !== undefined && !this.entry.isKept)
  }
}

// Of a job that was never delayed; such tickets, most of all, have no room for these.
Object.assign(PlannedTicket.prototype, {
  born: undefined, // the flush generation in which it was accepted, if it was not put into the list then
  isDelayed: false,
  dueAt: undefined, // these seven, while it is delayed
  hasRun: false, // it was tried before
  isBare: false, // it has no extras but the delay
  type: undefined,
  payload: undefined,
  atHead: false,
  maxWaitMs: undefined,
  id: 0 // of an observed job
})

const NO_TICKET = {}

/** The jobs of a queue that wait for their time, come back, or have keys. */
class PlannedJobs {
  /**
   * @param {object} tickets the Tickets of the queue
   * @param {{ scheduler: any, maxAttempts: number, backoffMs?: (attempt: number, error: any) => number }} options
   * @param {{ throttle: (type: string | undefined, ms: number) => void, onRetry: (event: object) => void }} hooks what the queue does
   */
  constructor (tickets, { scheduler, maxAttempts, backoffMs = defaultBackoffMs }, hooks) {
    const { dispatch, deadlines } = tickets
    this.tickets = tickets
    this.dispatch = dispatch
    this.deadlines = deadlines
    this.hooks = hooks
    this.hasTypes = scheduler !== null // without a scheduler, jobs have none whatever was given
    this.hasExtras = tickets.timeoutMs !== Infinity || tickets.maxWaitMs !== Infinity || tickets.keepsContext // so all jobs have
    this.maxAttempts = maxAttempts
    this.backoffMs = backoffMs
    this.retriedCount = this.throttledCount = 0
    this.delays = dispatch.list.delays = new Delays(dispatch, deadlines)
    this.taken = { payload: undefined, whenSettled: undefined, generation: 0 } // the delayed job that is being put into the list
    this.madeKeys = undefined
  }

  get keys () {
    return (this.madeKeys ??= new (require('./keys').Keys)(this))
  }

  /** A job comes in that is to wait for its time. */
  accept (type, payload, callback, atHead, extras) {
    const { dispatch, delays } = this
    const { signal, maxWaitMs, plan: { delayMs } } = extras
    const now = this.deadlines.clock.now()
    const dueAt = now + delayMs
    const ofType = delays.of(this.hasTypes ? type : undefined)
    const isBare = this.isBare(extras)
    dispatch.accepted++
    if (isBare && !atHead && ofType.fits(dueAt)) {
      this.delay(ofType, payload, callback, dueAt, now)
      return
    }
    const ticket = this.tickets.issue(callback, extras)
    ticket.expect(ofType.type, payload, dispatch.list.newestGeneration)
    ticket.isBare = isBare
    ticket.atHead = atHead
    ticket.maxWaitMs = maxWaitMs
    if (dispatch.list.recorder !== null) dispatch.list.recorder.delayed(ticket, type)
    delays.add(ticket, dueAt)
    this.tickets.watch(ticket, { signal, maxWaitMs: delayMs, now })
  }

  /** As issue() of tickets, for a job with a plan. */
  issue (callback, signal, timeoutMs, scope, { maxAttempts, priority, cost, entry }) {
    const ticket = new PlannedTicket(this, callback, signal, timeoutMs, scope)
    if (maxAttempts !== undefined) ticket.maxAttempts = maxAttempts
    if (priority !== undefined) ticket.priority = priority
    if (cost !== undefined) ticket.cost = cost
    if (entry !== undefined) this.join(ticket, entry)
    return ticket
  }

  /**
   * What dispatch asks when a job has failed that may be tried again. Nothing of the caller's is called.
   * @param {Function | Ticket | undefined} own what the job has in the place of a callback
   * @returns {Retry | undefined} undefined if it is not tried again
   */
  takes (job, err, own) {
    const before = typeof own === 'object' ? own : undefined
    const { attempt = 1, maxAttempts = this.maxAttempts, work } = before ?? NO_TICKET
    if (work !== undefined && !work.comesBack) return undefined
    const end = endOf(err, attempt, maxAttempts)
    if (end === 'failed') return undefined
    const { callback, signal, timeoutMs, scope } = before ??
      { callback: own, signal: undefined, timeoutMs: this.tickets.timeoutMs, scope: undefined }
    const ticket = new PlannedTicket(this, callback, signal, timeoutMs, scope)
    ticket.attempt = counts(end) ? attempt + 1 : attempt
    ticket.maxAttempts = maxAttempts
    ticket.maxWaitMs = Infinity // it has started
    ticket.expect(typeOf(job.origin), job.payload, job.generation)
    ticket.id = idOf(job.origin)
    ticket.atHead = ticket.hasRun = true
    if (before?.entry !== undefined) this.join(ticket, before.entry)
    if (before?.work !== undefined) ticket.work = before.work
    const cost = job.origin?.charge?.units ?? before?.cost ?? COST // what its runner has said last, or else what it was to cost
    if (cost !== COST) ticket.cost = cost
    before?.retire()
    this.delays.add(ticket, Infinity)
    return new Retry(this, before, ticket, end)
  }

  /** A delayed job is due in so many ms from now on. @param {AbortSignal} [signal] that is to be watched from now on, too */
  postpone (ticket, ms, signal) {
    const now = this.deadlines.clock.now()
    ticket.dueAt = now + ms
    if (ticket.isDelayed) this.delays.move(ticket) // the clock may have cancelled it
    this.deadlines.remove(ticket)
    this.tickets.watch(ticket, { signal, maxWaitMs: ms, now })
  }

  /** A job is not tried again after all: it has failed. */
  fail (ticket, err) {
    const { dispatch } = this
    const { type, payload, generation } = ticket
    const counts = type === undefined ? undefined : dispatch.list.countsOf(type)
    this.delays.remove(ticket)
    dispatch.failed++
    if (counts !== undefined) counts.failed++
    if (dispatch.isFlushing) dispatch.flushes.countDown(generation)
    dispatch.list.recorder?.failed(ticket.id, err)
    callSafely(() => ticket.settle(err))
    dispatch.listeners?.fails({ type, payload, attempt: ticket.attempt }, err)
  }

  /** The time of some jobs has come. @param {object[]} items due @param {number[]} runs of each @returns {object[]} those of other kinds */
  enterDue (items, runs) {
    const others = items.filter(item => !(item.isDelayed || item instanceof TypeDelays)) // before a scheduler hears of any
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (item instanceof TypeDelays) for (let count = runs[i]; count > 0; count--) this.enterNext(item)
      else if (item.isDelayed) this.enter(item) // a scheduler may have cancelled it
    }
    return others
  }

  /** Something is counted of a type: 'retried', 'throttled' or 'joined'. */
  note (type, what) {
    const counts = this.hasTypes ? this.dispatch.list.countsOf(type) : undefined
    if (counts !== undefined) counts[what]++
  }

  /** Somebody was told to come back later, with an error of Throttled: jobs of the type are held. */
  throttle (type, err) {
    this.throttledCount++
    this.note(type, 'throttled')
    this.hooks.throttle(type, err.retryAfterMs)
  }

  // private from here on

  /** The ticket is that of the job which has taken a key. */
  join (ticket, entry) {
    ticket.entry = entry
    entry.accept(ticket)
  }

  /** The time of a job has come. */
  enter (ticket) {
    const { dispatch, dispatch: { list } } = this
    const { type, payload, atHead, maxWaitMs } = ticket
    const ofType = this.delays.remove(ticket)
    if (ticket.isBare && ticket.born === list.newestGeneration) {
      list[atHead ? 'unshift' : 'push'](type, payload, ticket.callback)
    } else {
      ticket.payload = undefined
      list[atHead ? 'unshiftTicket' : 'pushTicket'](type, payload, ticket)
      this.tickets.watch(ticket, { signal: undefined, maxWaitMs })
    }
    if (ofType.counts !== undefined) this.delays.handOver(ofType)
    dispatch.wake()
  }

  /**
   * As enter(), for the next job of a type without a ticket. It needs one after all if a flush waits for it that waits for no newer
   * ones.
   */
  enterNext (ofType) {
    const { dispatch, dispatch: { list }, taken } = this
    if (!this.delays.shift(ofType, taken)) return // it was cancelled
    const { type } = ofType
    const { payload, whenSettled, generation } = taken
    taken.payload = taken.whenSettled = undefined
    if (generation === list.newestGeneration) list.push(type, payload, whenSettled)
    else list.pushTicket(type, payload, this.ticketFor(type, payload, whenSettled, generation))
    if (ofType.counts !== undefined) this.delays.handOver(ofType)
    dispatch.wake()
  }

  /**
   * Whether a job has no extras but a delay: when that is over it goes on as one without any, by the short way. One without a limit has
   * extras where the queue has a limit.
   */
  isBare ({ signal, timeoutMs = Infinity, maxWaitMs = Infinity, work, plan }) {
    const { maxAttempts = this.maxAttempts, priority = 0, cost = COST, entry } = plan
    return !this.hasExtras && signal === undefined && timeoutMs === Infinity && maxWaitMs === Infinity && work === undefined &&
      maxAttempts === this.maxAttempts && priority === 0 && cost === COST && entry === undefined && this.dispatch.list.recorder === null
  }

  /** A job is delayed that needs no ticket, unless the clock throws. */
  delay (ofType, payload, callback, dueAt, now) {
    const { delays, dispatch: { list: { newestGeneration: generation } } } = this
    try {
      delays.addBare(ofType, payload, callback, dueAt, now)
    } catch (reason) {
      const ticket = this.ticketFor(ofType.type, payload, callback, generation)
      delays.add(ticket, dueAt)
      this.tickets.refuse(ticket, reason)
    }
  }

  /** A ticket for a job that had none. */
  ticketFor (type, payload, callback, generation) {
    const ticket = new PlannedTicket(this, callback, undefined, Infinity, undefined)
    ticket.expect(type, payload, generation)
    return ticket
  }
}

module.exports = { PlannedJobs }
