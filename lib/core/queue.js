'use strict'

// The public class: it checks every argument, then delegates to the list (where jobs wait) and the dispatch (the slots).
// Nothing is changed before all arguments of a call have been found good. What is documented of each method is in index.d.ts and
// docs/reference/api.md. Parts that a queue does not use are made, and loaded, when it first needs them.

const { clearedError, removedError, typeError } = require('../arguments/errors')
const { readFunction } = require('../arguments/fields')
const { behindOthers } = require('../platform/promised')
const { Concurrency } = require('./concurrency')
const { Dispatch } = require('./dispatch')
const { Emitter } = require('./emitter')
const {
  NO_EXTRAS, OBSERVE, inOrder, isPausing, readAddOptions, readCallback, readClearOptions, readCloseOptions, readConcurrency,
  readJobCallback, readJobType, readKnownType, readMapOptions, readOptions, readPausableType, readSource, readType, typeRequired
} = require('./options')
const { announce, capOf, makeContexts, makeExplaining, makeList, makeScheduler, makeTickets } = require('./rooms')
const { refuseUnsupported } = require('./unsupported')

/** What rooms that extend a queue, and checkInvariants(), get to see of it; no part of the API. */
let internalsOf

/**
 * A job queue. Made by `fairlane(runner, options)` or `new Queue(runner, options)`.
 * Emits `done`, `failed`, `retry`, `cancelled` and `progress` of jobs, each with one object; `drain` each time the last job has ended,
 * `saturated` when it begins to refuse jobs and `unsaturated` when it accepts all again, `close` (abandonedCount) when it has closed.
 */
class Queue extends Emitter {
  #read // the options
  #scheduler
  #list
  #dispatch = undefined
  #madeTickets = undefined
  #madeAdmission = undefined
  #madeLimiting = undefined
  #madeIntake = undefined
  #madeCounting = undefined
  #drain = null
  #concurrency
  #madeListeners = undefined // once somebody has listened
  #closing = undefined
  #stopListening = undefined // to the option `signal`
  #reconfiguring = undefined // kept here, since the scheduler refers to it weakly
  #isGuarded // jobs may be refused, or all have extras: push has more to do than to put them into the list

  static {
    internalsOf = queue => queue.#internals()
    refuseUnsupported(Queue.prototype)
  }

  /**
   * @param {Function | null} runner called for each job; null: there is none, for good
   * @param {object | number | string} [options] or the concurrency alone
   * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
   */
  constructor (runner, options) {
    super(() => { if (this.#dispatch !== undefined) this.#listeners.changed() })
    if (runner !== null && typeof runner !== 'function') throw typeError('FAIRLANE_ERR_RUNNER', 'the runner must be a function or null')
    const read = this.#read = readOptions(options)
    this.#scheduler = makeScheduler(read)
    if (!read.isInner) announce(this, read)
    for (const observer of inOrder(read.observers)) read.ledger = observer[OBSERVE](this, read.ledger, read)
    this.#list = makeList(this.#scheduler, read, makeContexts(() => this.#dispatch.interruptions.signal))
    this.#dispatch = new Dispatch(runner, this.#list, read, {
      onDrain: () => this.#drained(),
      onLevel: () => this.#admission.check(),
      onProgress: (job, attempt, value) => this.#madeListeners?.progresses(job, attempt, value),
      retryOf: (job, err, own) => this.#tickets.planned.takes(job, err, own)
    })
    this.#concurrency = new Concurrency(this.#dispatch)
    this.#isGuarded = read.isLimited || read.needsTickets || runner === null
    if (read.isLimited) this.#admission.check() // its measure of time begins
    if (read.rates !== undefined || (this.#list.needsCost && !read.isInner)) this.#madeLimiting = this.#limiting
    if (this.#scheduler !== null) this.#reconfiguring = require('./reconfiguring').heed(this.#scheduler, this.#list, this.#dispatch, read)
    const { signal } = read
    if (signal !== undefined) this.#stopListening = require('./closing').closeBy(signal, cause => this.#close(false, undefined, cause))
    if (this.eventNames().length > 0) this.#listeners.changed() // who was told of the queue may listen already
  }

  /** Waiting and running jobs. */
  get length () {
    return this.#dispatch.waiting + this.#dispatch.running
  }

  /** Jobs that hold a slot. */
  get running () {
    return this.#dispatch.running
  }

  /** Jobs that were accepted and have not been started. */
  get waiting () {
    return this.#dispatch.waiting
  }

  /** What chooses the type whose job starts next: the object given, or the one that was made by name; else null. */
  get scheduler () {
    return this.#scheduler
  }

  /** True from the first close() on. */
  get closed () {
    return this.#closing !== undefined
  }

  get paused () {
    return this.#concurrency.isPaused
  }

  /** How many jobs may run at once; -1 while paused. @throws FAIRLANE_ERR_CONCURRENCY */
  get concurrency () {
    return this.#concurrency.value
  }

  set concurrency (value) {
    if (isPausing(value)) this.pause()
    else this.resume(readConcurrency(value))
  }

  /** A function that is called, without arguments, each time the last job has ended; or null. */
  get drain () {
    return this.#drain
  }

  set drain (callback) {
    this.#drain = callback === null ? null : readCallback(callback) ?? null
  }

  /** Queues a job behind all others. O(1). @returns {this} @throws FAIRLANE_ERR_CALLBACK, FAIRLANE_ERR_TYPE_REQUIRED */
  push (payload, callback) {
    if (this.#scheduler !== null) throw typeRequired('push', this.#dispatch)
    const whenSettled = readJobCallback(callback)
    if (this.#isGuarded) return this.#put(undefined, payload, whenSettled, false)
    this.#dispatch.accept()
    this.#list.push(undefined, payload, whenSettled)
    return this
  }

  /** Queues a job before all others; otherwise as push. */
  unshift (payload, callback) {
    if (this.#scheduler !== null) throw typeRequired('unshift', this.#dispatch)
    const whenSettled = readJobCallback(callback)
    if (this.#isGuarded) return this.#put(undefined, payload, whenSettled, true)
    this.#dispatch.accept()
    this.#list.unshift(undefined, payload, whenSettled)
    return this
  }

  /** As push, for a job with a type. O(1), and what the scheduler takes. @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_CALLBACK */
  pushType (type, payload, callback) {
    const name = readType(type)
    const whenSettled = readJobCallback(callback)
    if (this.#isGuarded) return this.#put(name, payload, whenSettled, false)
    this.#dispatch.accept()
    this.#list.push(name, payload, whenSettled)
    return this
  }

  /** As unshift, for a job with a type. */
  unshiftType (type, payload, callback) {
    const name = readType(type)
    const whenSettled = readJobCallback(callback)
    if (this.#isGuarded) return this.#put(name, payload, whenSettled, true)
    this.#dispatch.accept()
    this.#list.unshift(name, payload, whenSettled)
    return this
  }

  /** Queues a job, for a promise of its result; with a key that is taken, of its job. @throws as pushType, FAIRLANE_ERR_ARGUMENT */
  add (payload, options) {
    const extras = options === undefined ? NO_EXTRAS : readAddOptions(options)
    const name = readJobType(extras.type, this.#scheduler, 'add', this.#dispatch)
    return (this.#madeIntake ?? this.#intake).add(name, payload, extras)
  }

  /** Runs a function as a job. @returns {Promise<any>} of what came of it @throws FAIRLANE_ERR_ARGUMENT, and what add() throws */
  run (fn, options) {
    return this.#intake.slots.run(fn, options)
  }

  /** Waits for a slot, which its release() gives back. @returns {Promise<object>} of it @throws what add() throws */
  acquire (options) {
    return this.#intake.slots.acquire(options)
  }

  /** Runs a job for each value of a source, as its results are asked for. Throws as add(). @returns {AsyncIterableIterator<any>} */
  map (source, options) {
    const { type, cost, ordered, maxPending = 2 * this.#concurrency.last, settled } = readMapOptions(options)
    const name = readJobType(type, this.#scheduler, 'map', this.#dispatch)
    const { jobsOf, map } = require('./map')
    return map(jobsOf(this, this.#internals(), name, cost), readSource(source), { ordered, maxPending, settled })
  }

  /** Resolves when a push (of that type) would be accepted. @returns {Promise<void>} @throws FAIRLANE_ERR_TYPE */
  ready (type) {
    return this.#admission.ready(type === undefined || this.#scheduler === null ? undefined : readType(type))
  }

  /** Refuses new jobs, and ends when the accepted ones have. @returns {Promise<number>} runners that go on @throws FAIRLANE_ERR_ARGUMENT */
  close (options) {
    const { drain = true, timeoutMs } = readCloseOptions(options)
    return this.#close(drain, timeoutMs)
  }

  /** As close(). */
  [Symbol.asyncDispose] () {
    return this.close()
  }

  /** Starts no more jobs until resume(). No effect once closed. @returns {this} */
  pause () {
    if (!this.closed) this.#concurrency.pause()
    return this
  }

  /** Starts jobs again, in a later turn, and has the scheduler asked again. @returns {this} @throws FAIRLANE_ERR_CONCURRENCY */
  resume (concurrency = this.#concurrency.last) {
    const read = readConcurrency(concurrency)
    this.#concurrency.set(read)
    if (this.#scheduler !== null) this.#list.configure({ concurrency: read })
    this.#askAgain()
    return this
  }

  /** Waits until all jobs that were accepted before the call have settled. @returns {this | Promise<void>} @throws FAIRLANE_ERR_CALLBACK */
  fflush (callback) {
    if (readCallback(callback) === undefined) return behindOthers(new Promise(resolve => this.#dispatch.flushes.add(resolve)))
    this.#dispatch.flushes.add(callback)
    return this
  }

  /** @returns {Promise<void>} resolves when nothing waits and no slot is taken, in this turn of the event loop if that is so already */
  onIdle () {
    return behindOthers(this.#dispatch.idleWaiters.add())
  }

  /** The jobs that wait now, in arrival order. O(waiting), with lanes × log types. @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT */
  jobs (type) {
    return this.#counting.jobs(type).values()
  }

  /** Cancels the waiting jobs that pass the test. O(waiting). @returns {number} how many @throws FAIRLANE_ERR_ARGUMENT, what test throws */
  remove (test) {
    readFunction(test, 'remove: the test', 'FAIRLANE_ERR_ARGUMENT')
    return this.#cancel(() => this.#list.remove((payload, type) => test({ type, payload })), removedError)
  }

  /** Cancels waiting jobs, all or of a type. O(waiting). @returns {number} how many @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  clear (options) {
    const { type, reason } = readClearOptions(options)
    const cause = reason === undefined ? undefined : { cause: reason }
    if (type === undefined) return this.#cancel(() => this.#list.removeAll(), clearedError, cause)
    const name = readKnownType(type, this.#scheduler, 'clear')
    return this.#cancel(() => this.#list.removeType(name), clearedError, cause)
  }

  /** Starts no job of a type until resumeType(). Not once closed. @returns {this} @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_SCHEDULER */
  pauseType (type) {
    const name = readPausableType(type, this.#scheduler, 'pauseType')
    if (this.closed) return this
    this.#list.pauseType(name)
    if (this.#dispatch.costs !== null) this.#dispatch.wake() // others may wait behind a job of the type, which waits for units
    if (this.#dispatch.isWatched) this.#admission.check() // jobs that left a lane which others share made room there
    return this
  }

  /** Starts jobs of a type again, in a later turn. Throws as pauseType. @returns {this} */
  resumeType (type) {
    this.#list.resumeType(readPausableType(type, this.#scheduler, 'resumeType'))
    this.#dispatch.wake()
    return this
  }

  /** Whether no job of a type starts until resumeType(). @throws FAIRLANE_ERR_TYPE */
  isTypePaused (type) {
    return this.#list.isTypePaused(readType(type))
  }

  /** Starts no job of a type for so many ms; 0 ends that. @returns {this} @throws as heldMs, FAIRLANE_ERR_ARGUMENT */
  holdType (type, ms) {
    this.#limiting.holdType(readPausableType(type, this.#scheduler, 'holdType'), ms)
    return this
  }

  /** Starts no job for so many ms; 0 ends that. @returns {this} @throws FAIRLANE_ERR_ARGUMENT */
  hold (ms) {
    this.#limiting.hold(ms)
    return this
  }

  /** In how many ms a job (of a type) might start by rates and holds; 0: now. @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE */
  heldMs (type) {
    const name = type === undefined ? undefined : readPausableType(type, this.#scheduler, 'heldMs')
    return this.#madeLimiting === undefined ? 0 : this.#madeLimiting.heldMs(name)
  }

  /** Replaces the rates that are given; null: none. @returns {this} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_SCHEDULER */
  setRates (rates) {
    this.#limiting.setRates(rates)
    return this
  }

  /** What there is now, in all or of a type. @returns {Promise<object>} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  counts (type) {
    return Promise.resolve(this.#counting.counts(type))
  }

  /** The types that have jobs, those with most of them first. @returns {Promise<object[]>} @throws FAIRLANE_ERR_ARGUMENT */
  types (options) {
    return Promise.resolve(this.#counting.types(options))
  }

  /** What became of jobs, in all or of a type. O(1). @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  stats (type) {
    return this.#counting.stats(type)
  }

  /** Why the next job of a type does not start now. O(log types). @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  explain (type, options) {
    return this.#counting.explain(type, options)
  }

  /** Nothing is to be written or sent: it resolves at once. @returns {Promise<void>} */
  flush () {
    return Promise.resolve()
  }

  /** Deadlines of jobs and of close(), signals, and what jobs with extras have in the place of callbacks. */
  get #tickets () {
    return (this.#madeTickets ??= makeTickets(this.#dispatch, this.#read, {
      throttle: (type, ms) => this.#limiting.throttle(type, ms),
      onRetry: about => this.#madeListeners?.announce('retry', about)
    }))
  }

  get #counting () {
    return (this.#madeCounting ??= new (require('./counts').Counting)(this.#internals(), this.#scheduler, { capOf, makeExplaining }))
  }

  get #listeners () {
    return (this.#madeListeners ??= new (require('./listeners').Listeners)(this, this.#dispatch))
  }

  get #limiting () {
    return (this.#madeLimiting ??= new (require('./limits/limiting').Limiting)(this.#internals(), this.#scheduler))
  }

  get #intake () {
    return (this.#madeIntake ??= new (require('./intake').Intake)(this.#internals()))
  }

  get #admission () {
    return (this.#madeAdmission ??=
      new (require('./admission').Admission)(this.#read, this.#list, this.#dispatch, event => this.#madeListeners?.announce(event)))
  }

  #internals () {
    const queue = this
    return {
      read: this.#read,
      list: this.#list,
      dispatch: this.#dispatch,
      clock: this.#read.clock,
      get tickets () { return queue.#tickets },
      get admission () { return queue.#admission },
      get madeTickets () { return queue.#madeTickets },
      get madeAdmission () { return queue.#madeAdmission },
      get madeLimiting () { return queue.#madeLimiting },
      close: (drain, timeoutMs, cause) => this.#close(drain, timeoutMs, cause),
      throttle: (type, ms) => this.#limiting.throttle(type, ms),
      acceptCost: (cost, type) => this.#limiting.accept(cost, type),
      hold: () => this.#concurrency.hold(),
      letGo: () => {
        this.#concurrency.letGo()
        this.#askAgain()
      }
    }
  }

  #put (type, payload, whenSettled, atHead) {
    this.#intake.put(type, payload, whenSettled, atHead, NO_EXTRAS)
    return this
  }

  #cancel (remove, makeError, about) {
    return this.#dispatch.interruptions.cancel(remove, new (require('./verdict').Verdict)(makeError, about))
  }

  #close (drain, timeoutMs, cause) {
    this.#admission.close(cause)
    if (this.#closing === undefined) {
      const { Closing } = require('./closing')
      this.#closing = new Closing(this.#dispatch, this.#tickets.deadlines, abandonedCount => this.#closed(abandonedCount))
      this.#intake.isLimited = this.#isGuarded = true
      if (this.paused) this.resume()
      this.#closing.begin(this.#scheduler !== null)
    }
    return this.#closing.end(drain, timeoutMs, cause)
  }

  #closed (abandonedCount) {
    if (this.#stopListening !== undefined) this.#stopListening()
    this.#madeIntake?.stallWatch?.end()
    this.#madeListeners?.announce('close', abandonedCount)
  }

  /** More may start, and so more be accepted. */
  #askAgain () {
    this.#dispatch.wake()
    if (this.#dispatch.isWatched) this.#admission.check()
  }

  #drained () {
    this.#reconfiguring?.drained()
    this.#madeIntake?.stallWatch?.end()
    if (this.#drain !== null) this.#dispatch.call(this.#drain)
    this.#madeListeners?.announce('drain')
  }
}

module.exports = { Queue, internalsOf }
