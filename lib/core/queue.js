'use strict'

// The public class: it checks every argument, then delegates to the list (where jobs wait) and the dispatch (the slots).
// Nothing is changed before all arguments of a call have been found good.

const EventEmitter = require('eventemitter3')
const { Admission } = require('./admission')
const { Closing } = require('./closing')
const { JobContext } = require('../context')
const { Dispatch } = require('./dispatch')
const { FairlaneError, typeError } = require('../errors')
const { Fifo } = require('./lists/fifo')
const { Lanes } = require('./lists/lanes')
const { Window } = require('./lists/window')
const { map } = require('./map')
const {
  isLaneScheduler, readAddOptions, readCallback, readClearOptions, readCloseOptions, readConcurrency, readMapOptions, readOptions, readSource, readType
} = require('./options')
const { callbackOf } = require('../promised')
const { whenAborted } = require('../signals')
const { StallWatch } = require('./stall')
const { Desk, Stub, NO_EXTRAS } = require('./tickets')
const { Verdict } = require('./verdict')
const { Fair, Capped, Equal } = require('../../schedulers')

const PAUSED = -1
const SCHEDULERS = { fair: Fair, capped: Capped, equal: Equal }

// The name of a method for facades (compat) only: what may start, starts before it returns.
const START_NOW = Symbol('startNow')
// ... and from then on the end of a job starts the next one before it returns.
const START_PROMPTLY = Symbol('startPromptly')
// The same for facades that keep jobs elsewhere (durable): what they need beside the public methods.
const BACKSTAGE = Symbol('backstage')

/** What checkInvariants() looks at; no part of the API. */
let inside

/** An event emitter that tells when listeners come and go. */
class Emitter extends EventEmitter {
  #whenChanged

  /** @param {() => void} whenChanged called after a listener was added or removed */
  constructor (whenChanged) {
    super()
    this.#whenChanged = whenChanged
  }

  on (event, listener, context) {
    return this.#changed(super.on(event, listener, context))
  }

  addListener (event, listener, context) {
    return this.on(event, listener, context)
  }

  once (event, listener, context) {
    return this.#changed(super.once(event, listener, context))
  }

  removeListener (event, listener, context, isOnce) {
    return this.#changed(super.removeListener(event, listener, context, isOnce))
  }

  off (event, listener, context, isOnce) {
    return this.removeListener(event, listener, context, isOnce)
  }

  removeAllListeners (event) {
    return this.#changed(super.removeAllListeners(event))
  }

  #changed (self) {
    this.#whenChanged()
    return self
  }
}

/**
 * A job queue. Made by `fairlane(runner, options)` or `new Queue(runner, options)`.
 * Emits `drain` each time the last job has ended, `saturated` when it begins to refuse jobs and `unsaturated` when it accepts
 * all again, `jobfailed` (error, { type, payload }) for each job that fails, `close` (abandonedCount) when it has closed.
 */
class Queue extends Emitter {
  #scheduler
  #list
  #dispatch
  #desk
  #admission
  #stallWatch
  #drain = null
  #lastConcurrency
  #closing = undefined
  #stopListening = undefined // to the option `signal`
  #whenConfigured = undefined // kept here, since the scheduler refers to it weakly
  #letGo = undefined // of that, which the scheduler keeps while it lets nothing start
  #keepsContext
  #isGuarded // jobs may be refused, or all need tickets: push has more to do than to put them into the list

  static {
    inside = queue => ({ list: queue.#list, dispatch: queue.#dispatch, desk: queue.#desk, admission: queue.#admission })
  }

  /**
   * @param {(payload: any, done: (err?: any, result?: any) => void, context: object) => any} runner called for each job
   * @param {object | number | string} [options] or the concurrency alone
   * @param {number} [options.concurrency=10] how many jobs run at once: a positive integer or Infinity
   * @param {'either' | 'callback' | 'promise'} [options.settleBy='either'] how the runner tells that its job ended
   * @param {'fair' | 'capped' | 'equal' | object | null} [options.scheduler=null] chooses the type whose job starts next
   * @param {object} [options.schedulerOptions={}] the scheduler's own options
   * @param {number} [options.maxTypes=Infinity] how many types get a lane of their own; later ones share some
   * @param {number} [options.maxWaiting=Infinity] how many jobs may wait beyond those that fill free slots
   * @param {number | object | Map<string, number>} [options.maxWaitingPerType=Infinity] the same for each type
   * @param {number} [options.maxWaitMs=Infinity] a job that has waited longer is cancelled
   * @param {number} [options.timeoutMs=Infinity] a job that has run longer fails
   * @param {'hold' | 'release'} [options.onTimeout='hold'] whether its runner keeps its slot until it ends
   * @param {AbortSignal} [options.signal] closes the queue at once when it aborts
   * @param {boolean} [options.keepContext=false] whether runner and callback run in the AsyncLocalStorage context of the push
   * @param {{ now: () => number, setTimeout: Function, clearTimeout: Function }} [options.clock] in ms
   * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
   */
  constructor (runner, options) {
    super(() => { this.#dispatch.isObserved = this.listenerCount('jobfailed') > 0 })
    if (typeof runner !== 'function') throw typeError('FAIRLANE_ERR_RUNNER', 'the runner must be a function')
    const read = readOptions(options)
    this.#lastConcurrency = read.concurrency
    this.#scheduler = makeScheduler(read)
    const signal = () => this.#dispatch.signal
    this.#list = makeList(this.#scheduler, read, type => new JobContext(type, 1, signal))
    this.#dispatch = new Dispatch(runner, this.#list, read, {
      onDrain: () => this.#drained(),
      onLevel: () => this.#admission.check(),
      onFailure: (err, job) => this.emit('jobfailed', err, job)
    })
    this.#desk = new Desk(this.#dispatch, read)
    this.#admission = new Admission(read, this.#list, this.#dispatch, event => this.#announce(event))
    this.#stallWatch = new StallWatch(this.#dispatch, read.clock)
    this.#keepsContext = read.keepContext
    this.#isGuarded = this.#admission.isLimited || this.#desk.servesAll
    if (this.#scheduler !== null) {
      if (read.schedulerOptions === undefined) this.#list.configure({ concurrency: read.concurrency })
      this.#whenConfigured = () => {
        this.#list.configured()
        this.#dispatch.wake()
      }
      const kept = afterConfigure(this.#scheduler, this.#whenConfigured)
      this.#list.whenStalled = () => kept.add(this.#whenConfigured)
      this.#letGo = () => kept.delete(this.#whenConfigured)
    }
    if (read.signal !== undefined) this.#closeBy(read.signal)
  }

  /** Waiting and running jobs. */
  get length () {
    return this.#list.size + this.#dispatch.running
  }

  /** Jobs that hold a slot. */
  get running () {
    return this.#dispatch.running
  }

  /** Jobs that were accepted and have not been started. */
  get waiting () {
    return this.#list.size
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
    return this.#dispatch.concurrency === PAUSED
  }

  /**
   * How many jobs may run at once; -1 while paused. A new value takes effect at once, up or down: running jobs finish,
   * new ones start in a later turn. 0 or below pauses.
   * @throws FAIRLANE_ERR_CONCURRENCY
   */
  get concurrency () {
    return this.#dispatch.concurrency
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

  /**
   * Queues a job behind all others. O(1). If the queue refuses the job its callback is told so, in a microtask:
   * FAIRLANE_ERR_QUEUE_FULL, FAIRLANE_ERR_TYPE_FULL, FAIRLANE_ERR_CLOSED.
   * @param {any} payload given to the runner as it is
   * @param {(err: any, result: any) => void} [callback] called when the job has settled, never before push returns
   * @returns {this}
   * @throws FAIRLANE_ERR_CALLBACK; FAIRLANE_ERR_TYPE_REQUIRED on a queue with a scheduler
   */
  push (payload, callback) {
    if (this.#scheduler !== null) throw typeRequired('push')
    const whenSettled = readCallback(callback)
    if (this.#isGuarded) return this.#put(undefined, payload, whenSettled, false, NO_EXTRAS)
    this.#dispatch.accept()
    this.#list.push(undefined, payload, whenSettled)
    return this
  }

  /** Queues a job before all others; otherwise as push. */
  unshift (payload, callback) {
    if (this.#scheduler !== null) throw typeRequired('unshift')
    const whenSettled = readCallback(callback)
    if (this.#isGuarded) return this.#put(undefined, payload, whenSettled, true, NO_EXTRAS)
    this.#dispatch.accept()
    this.#list.unshift(undefined, payload, whenSettled)
    return this
  }

  /**
   * As push, for a job with a type. A queue without a scheduler has no use for the type and ignores it.
   * O(1), and what the scheduler takes: O(log types) with those of fairlane.
   * @param {any} type made into a string
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_CALLBACK
   */
  pushType (type, payload, callback) {
    const name = readType(type)
    const whenSettled = readCallback(callback)
    if (this.#isGuarded) return this.#put(name, payload, whenSettled, false, NO_EXTRAS)
    this.#dispatch.accept()
    this.#list.push(name, payload, whenSettled)
    return this
  }

  /** As unshift, for a job with a type. */
  unshiftType (type, payload, callback) {
    const name = readType(type)
    const whenSettled = readCallback(callback)
    if (this.#isGuarded) return this.#put(name, payload, whenSettled, true, NO_EXTRAS)
    this.#dispatch.accept()
    this.#list.unshift(name, payload, whenSettled)
    return this
  }

  /**
   * Queues a job, for a promise of its result.
   * @param {any} payload
   * @param {object} [options]
   * @param {any} [options.type] with a scheduler it is needed; without one it is ignored
   * @param {boolean} [options.unshift=false] before all others
   * @param {AbortSignal} [options.signal] cancels the job, waiting or running: FAIRLANE_ERR_ABORTED
   * @param {number} [options.timeoutMs] instead of the queue's
   * @param {number} [options.maxWaitMs] instead of the queue's
   * @returns {Promise<any>} rejects with what the job fails or is cancelled or refused with
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED
   */
  add (payload, options) {
    const extras = options === undefined ? NO_EXTRAS : readAddOptions(options)
    const name = this.#readTypeOption(extras.type, 'add')
    let settle
    const promise = new Promise(resolve => { settle = resolve })
    this.#put(name, payload, callbackOf(settle), extras.unshift, extras)
    this.#stallWatch.added()
    return promise
  }

  /**
   * Runs a job for each value of a source. It takes values only as the results are asked for, and waits for admission. A break or
   * the first failure aborts what it has queued, and closes the source.
   * @param {Iterable<any> | AsyncIterable<any>} source
   * @param {object} [options]
   * @param {any} [options.type] of all the jobs
   * @param {boolean} [options.ordered=true] whether results come in the order of the source; else as jobs end
   * @param {number} [options.maxPending] how many values are taken ahead; default 2 × concurrency
   * @param {boolean} [options.settled=false] whether it gives `{ status, value, reason }`, and goes on after failures
   * @returns {AsyncGenerator<any>}
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED
   */
  map (source, options) {
    const { type, ordered, maxPending = 2 * this.#lastConcurrency, settled } = readMapOptions(options)
    const name = this.#readTypeOption(type, 'map')
    const jobs = {
      add: (payload, signal) => this.add(payload, { type: name, signal }),
      accepts: () => this.#admission.accepts(name),
      ready: () => this.#admission.ready(name),
      slice: () => this.#dispatch.telling.slice()
    }
    return map(jobs, readSource(source), { ordered, maxPending, settled })
  }

  /**
   * @param {any} [type]
   * @returns {Promise<void>} resolves when a push (of that type) would be accepted, at once if so: a level, and no reservation.
   *   Rejects with FAIRLANE_ERR_CLOSED when the queue closes
   * @throws FAIRLANE_ERR_TYPE
   */
  ready (type) {
    return this.#admission.ready(type === undefined || this.#scheduler === null ? undefined : readType(type))
  }

  /**
   * Refuses new jobs from now on, and lifts pauses. Waits until all accepted jobs have ended, or settles them with
   * FAIRLANE_ERR_CLOSED. A later call can only make it end sooner.
   * @param {object} [options]
   * @param {boolean} [options.drain=true] whether accepted jobs may finish
   * @param {number} [options.timeoutMs] with drain: after so many ms the rest is cancelled as without drain. Without: how long
   *   to wait for the runners that were told to stop; by default one turn of the event loop
   * @returns {Promise<number>} how many runners had not ended
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  close (options) {
    const { drain, timeoutMs } = readCloseOptions(options)
    return this.#close(drain, timeoutMs)
  }

  /** As close(). */
  [Symbol.asyncDispose] () {
    return this.close()
  }

  /** Starts no more jobs until resume(); running ones finish. Sets `concurrency` to -1. No effect once closed. @returns {this} */
  pause () {
    if (!this.closed) this.#dispatch.concurrency = PAUSED
    return this
  }

  /**
   * Starts jobs again, in a later turn, and has the scheduler asked again.
   * @param {number | string} [concurrency] the last positive one if none is given
   * @returns {this}
   * @throws FAIRLANE_ERR_CONCURRENCY
   */
  resume (concurrency = this.#lastConcurrency) {
    const read = readConcurrency(concurrency)
    this.#dispatch.concurrency = this.#lastConcurrency = read
    if (this.#scheduler !== null) this.#list.configure({ concurrency: read })
    this.#dispatch.wake()
    if (this.#dispatch.isWatched) this.#admission.check()
    return this
  }

  /**
   * Waits until all jobs that were accepted before the call have settled; for no later one, wherever it is put.
   * @param {() => void} [callback] never called synchronously
   * @returns {this | Promise<void>} a promise if there is no callback
   * @throws FAIRLANE_ERR_CALLBACK
   */
  fflush (callback) {
    if (readCallback(callback) === undefined) return new Promise(resolve => this.#dispatch.fflush(resolve))
    this.#dispatch.fflush(callback)
    return this
  }

  /** @returns {Promise<void>} resolves when nothing waits and no slot is taken; at once if that is so already */
  onIdle () {
    return this.#dispatch.onIdle()
  }

  /**
   * The jobs that wait at the time of the call, in arrival order. O(waiting), with lanes × log types.
   * @param {any} [type] only those of one type; not on a queue without a scheduler
   * @returns {IterableIterator<{ type: string | undefined, payload: any }>}
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  jobs (type) {
    const jobs = []
    const visit = (payload, whenSettled, generation, type) => jobs.push({ type, payload })
    if (type === undefined) this.#list.forEach(visit)
    else this.#list.forEachOf(this.#readType(type, 'jobs'), visit)
    return jobs.values()
  }

  /**
   * Cancels waiting jobs; their callbacks get FAIRLANE_ERR_CLEARED before remove returns. O(waiting).
   * @param {(job: { type: string | undefined, payload: any }) => boolean} test which ones; if it throws, none
   * @returns {number} how many
   * @throws FAIRLANE_ERR_ARGUMENT, and what test throws
   */
  remove (test) {
    if (typeof test !== 'function') throw typeError('FAIRLANE_ERR_ARGUMENT', 'remove: the test must be a function')
    return this.#dispatch.cancel(() => this.#list.remove((payload, type) => test({ type, payload })),
      new Verdict('FAIRLANE_ERR_CLEARED', 'The job was removed'))
  }

  /**
   * Cancels all waiting jobs, or those of one type; their callbacks get FAIRLANE_ERR_CLEARED before clear returns.
   * O(waiting).
   * @param {{ type?: any, reason?: any }} [options] type: only those, undefined: all; not on a queue without a scheduler. reason: becomes
   *   the `cause` of the errors
   * @returns {number} how many
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  clear (options) {
    const { type, reason } = readClearOptions(options)
    const name = type === undefined ? undefined : this.#readType(type, 'clear')
    const cause = reason === undefined ? undefined : { cause: reason }
    return this.#dispatch.cancel(() => name === undefined ? this.#list.removeAll() : this.#list.removeType(name),
      new Verdict('FAIRLANE_ERR_CLEARED', 'The queue was cleared', cause))
  }

  /**
   * Starts no more jobs of a type until resumeType(); running ones finish, pushes are accepted. Only with lanes: what a
   * window scheduler chooses is not the queue's to hold back. O(1), O(jobs in its lane) if it has none of its own.
   * No effect once closed.
   * @param {any} type
   * @returns {this}
   * @throws FAIRLANE_ERR_TYPE; FAIRLANE_ERR_SCHEDULER if the queue's scheduler has no methods paused and resumed
   */
  pauseType (type) {
    const name = this.#readPausable(type, 'pauseType')
    if (this.closed) return this
    this.#list.pauseType(name)
    // jobs that left a lane which others share made room there
    if (this.#dispatch.isWatched) this.#admission.check()
    return this
  }

  /** Starts jobs of a type again, in a later turn. Throws as pauseType. @returns {this} */
  resumeType (type) {
    this.#list.resumeType(this.#readPausable(type, 'resumeType'))
    this.#dispatch.wake()
    return this
  }

  /**
   * Counts since the queue was made; waiting, running, overrun and types are of now. O(1).
   * @param {any} [type] counts of one type since it last was idle: when all its jobs have ended it may be forgotten. Not on a
   *   queue without a scheduler
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  stats (type) {
    if (type !== undefined) return this.#list.statsOf(this.#readType(type, 'stats'))
    const { accepted, running, done, failed, cancelled, rejected, misuse, overrun } = this.#dispatch
    const waiting = this.#list.size
    return { accepted, waiting, running, done, failed, cancelled, rejected, misuse, overrun, types: this.#list.typesCount }
  }

  /** Puts a job into the list, unless it is refused. */
  #put (type, payload, whenSettled, atHead, extras) {
    const { signal, timeoutMs, maxWaitMs } = extras
    if (signal !== undefined && signal.aborted) {
      this.#admission.countRejected(type)
      this.#tellRefused(whenSettled, new FairlaneError('FAIRLANE_ERR_ABORTED', 'The job was aborted', { cause: signal.reason }))
      return this
    }
    const refusal = this.#admission.refuse(type)
    if (refusal !== undefined) {
      this.#tellRefused(whenSettled, refusal)
      return this
    }
    if (signal !== undefined || timeoutMs !== undefined || maxWaitMs !== undefined || this.#desk.servesAll) {
      const ticket = this.#desk.issue(whenSettled, extras)
      this.#dispatch.accept()
      this.#list[atHead ? 'unshiftTicket' : 'pushTicket'](type, payload, ticket)
      this.#desk.watch(ticket, extras)
    } else {
      this.#dispatch.accept()
      this.#list[atHead ? 'unshift' : 'push'](type, payload, whenSettled)
    }
    return this
  }

  /** In a microtask of the context that the callback of an accepted job would have. */
  #tellRefused (whenSettled, error) {
    if (whenSettled === undefined) return
    queueMicrotask(this.#keepsContext ? () => whenSettled(error) : () => this.#dispatch.call(() => whenSettled(error)))
  }

  #close (drain, timeoutMs, cause) {
    this.#admission.close(cause)
    if (this.#closing === undefined) {
      this.#closing = new Closing(this.#dispatch, this.#desk.deadlines, abandonedCount => this.#closed(abandonedCount))
      this.#isGuarded = true
      if (this.paused) this.resume()
      if (this.#scheduler !== null) this.#list.resumeAllTypes()
      this.#dispatch.wake()
      this.#closing.begin()
    }
    if (!drain) this.#closing.abandon(timeoutMs, cause)
    else if (timeoutMs !== undefined) this.#closing.drain(timeoutMs)
    return this.#closing.promise
  }

  #closed (abandonedCount) {
    if (this.#stopListening !== undefined) this.#stopListening()
    this.#stallWatch.end()
    this.#dispatch.call(() => this.emit('close', abandonedCount))
  }

  #closeBy (signal) {
    this.#stopListening = whenAborted(signal, () => { this.#close(false, undefined, { cause: signal.reason }) })
  }

  #announce (event) {
    if (this.listenerCount(event) > 0) this.#dispatch.call(() => this.emit(event))
  }

  #readTypeOption (type, method) {
    if (type !== undefined) return readType(type)
    if (this.#scheduler === null) return undefined
    throw typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler takes jobs only with a type`)
  }

  [START_NOW] () {
    this.#dispatch.startNow()
  }

  [START_PROMPTLY] () {
    this.#dispatch.startPromptly()
  }

  /**
   * A facade puts numbers, or whatever, into the list, and is told how they end by one function.
   * @param {(payload: any, err: any, result: any) => void} whenSettled called for jobs that end while they run, or waited too long
   */
  [BACKSTAGE] (whenSettled) {
    const stub = new Stub(this.#desk, whenSettled)
    this.#desk.isBackstage = true
    return {
      deadlines: this.#desk.deadlines,
      // for jobs of a facade, time is limited from limit(ticket) on; its ticket is what starting() gives in the runner's call
      starting: () => this.#desk.starting,
      limit: ticket => this.#desk.limit(ticket),
      refuse: type => this.#admission.refuse(type),
      fullElsewhere: (type, waiting, limit) => this.#admission.fullElsewhere(type, waiting, limit),
      place: (type, payload, atHead, maxWaitMs) => this.#place(type, payload, atHead, maxWaitMs, stub),
      withdraw: (take, visit) => this.#withdraw(take, visit),
      close: (drain, timeoutMs, cause) => this.#close(drain, timeoutMs, cause),
      call: fn => this.#dispatch.call(fn),
      whenAborted
    }
  }

  /** Puts a job into the list that is not to be refused. Unless it has to, it takes no more room than the list's own. */
  #place (type, payload, atHead, maxWaitMs, stub) {
    this.#dispatch.accept()
    if (maxWaitMs === Infinity && !this.#keepsContext) {
      this.#list[atHead ? 'unshift' : 'push'](type, payload, stub)
    } else {
      const ticket = this.#desk.issue((err, result) => stub.whenSettled(payload, err, result), NO_EXTRAS)
      this.#list[atHead ? 'unshiftTicket' : 'pushTicket'](type, payload, ticket)
      this.#desk.watch(ticket, { signal: undefined, maxWaitMs })
    }
  }

  /**
   * Cancels waiting jobs without a word.
   * @param {(list: object) => object} take takes them out, and returns a list of them
   * @param {(payload: any) => void} visit called for each, in order
   */
  #withdraw (take, visit) {
    this.#dispatch.withdraw(() => {
      const removed = take(this.#list)
      removed.forEach(payload => visit(payload))
      return removed
    })
  }

  #readType (type, method) {
    if (this.#scheduler === null) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', `${method}: a queue without a scheduler has no types`)
    }
    return readType(type)
  }

  #readPausable (type, method) {
    const scheduler = this.#scheduler
    if (scheduler === null || !isLaneScheduler(scheduler) || !scheduler.paused || !scheduler.resumed) {
      throw typeError('FAIRLANE_ERR_SCHEDULER', `${method}: needs a scheduler of lanes with the methods paused and resumed`)
    }
    return readType(type)
  }

  #drained () {
    this.#letGo?.()
    this.#stallWatch.end()
    if (this.#drain !== null) this.#dispatch.call(this.#drain)
    if (this.listenerCount('drain') > 0) this.#dispatch.call(() => this.emit('drain'))
  }
}

function isPausing (concurrency) {
  if (typeof concurrency === 'string' && concurrency.trim() !== '') return Number(concurrency) <= 0
  return typeof concurrency === 'number' && concurrency <= 0
}

function typeRequired (method) {
  return typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler takes jobs by ${method}Type`)
}

/** The scheduler that the options name, or the one that they hold, with the schedulerOptions, if there are any. */
function makeScheduler ({ scheduler, schedulerOptions, concurrency }) {
  const options = { ...schedulerOptions, concurrency }
  if (typeof scheduler === 'string') return new SCHEDULERS[scheduler](options)
  if (schedulerOptions !== undefined && scheduler !== null) {
    if (typeof scheduler.configure !== 'function') {
      throw typeError('FAIRLANE_ERR_OPTION', 'the scheduler has no configure() that would take schedulerOptions')
    }
    scheduler.configure(options)
  }
  return scheduler
}

function makeList (scheduler, options, makeContext) {
  if (scheduler === null) return new Fifo(makeContext(undefined))
  return isLaneScheduler(scheduler) ? new Lanes(scheduler, options, makeContext) : new Window(scheduler, makeContext)
}

// scheduler → { references, pruneAt, kept }: what its queues do after configure(). The references are weak; kept are those of queues in
// which jobs wait and none runs, since the scheduler lets none start.
const listeners = new WeakMap()
const FIRST_PRUNE_AT = 16

/**
 * Calls listener each time after the scheduler's own configure(), whoever calls that. On an object that can not be changed it is not
 * called: then resume() makes the queue ask again.
 * @returns {Set<Function>} of listeners that the scheduler keeps
 */
function afterConfigure (scheduler, listener) {
  const { configure } = scheduler
  const known = listeners.get(scheduler)
  if (known !== undefined) {
    remember(known, listener)
    return known.kept
  }
  const own = { references: [], pruneAt: FIRST_PRUNE_AT, kept: new Set() }
  listeners.set(scheduler, own)
  remember(own, listener)
  if (typeof configure !== 'function') return own.kept
  const value = function (options) {
    const returned = configure.call(this, options)
    const called = own.references.map(reference => reference.deref())
    own.kept.clear() // those that are let down again come back
    for (const whenConfigured of called) whenConfigured?.()
    return returned
  }
  Reflect.defineProperty(scheduler, 'configure', { value, writable: true, configurable: true })
  return own.kept
}

/** O(1) amortised: those that are gone are left out each time the number has doubled. */
function remember (known, listener) {
  if (known.references.length >= known.pruneAt) {
    known.references = known.references.filter(reference => reference.deref() !== undefined)
    known.pruneAt = Math.max(2 * known.references.length, FIRST_PRUNE_AT)
  }
  known.references.push(new WeakRef(listener))
}

module.exports = { Queue, START_NOW, START_PROMPTLY, BACKSTAGE, inside }
