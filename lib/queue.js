'use strict'

// The public class: it checks every argument, then delegates to the list (where jobs wait) and the dispatch (the slots).
// Nothing is changed before all arguments of a call have been found good.

const EventEmitter = require('eventemitter3')
const { JobContext } = require('./context')
const { Dispatch } = require('./dispatch')
const { FairlaneError, rejectUnknown, typeError } = require('./errors')
const { Fifo } = require('./lists/fifo')
const { Lanes } = require('./lists/lanes')
const { Window } = require('./lists/window')
const { isLaneScheduler, readConcurrency, readOptions } = require('./options')
const { Fair, Capped, Equal } = require('../schedulers/index')

const PAUSED = -1
const NOTHING = { size: 0, running: 0, done: 0, failed: 0, cancelled: 0, misuse: 0 }
const SCHEDULERS = { fair: Fair, capped: Capped, equal: Equal }

// The name of a method for facades (compat) only: what may start, starts before it returns.
const START_NOW = Symbol('startNow')

/**
 * A job queue. Made by `fairlane(runner, options)` or `new Queue(runner, options)`.
 * Emits `drain` each time the last job has ended.
 */
class Queue extends EventEmitter {
  #scheduler
  #list
  #dispatch
  #drain = null
  #lastConcurrency

  /**
   * @param {(payload: any, done: (err?: any, result?: any) => void, context: object) => any} runner called for each job
   * @param {object | number | string} [options] or the concurrency alone
   * @param {number} [options.concurrency=10] how many jobs run at once: a positive integer or Infinity
   * @param {'either' | 'callback' | 'promise'} [options.settleBy='either'] how the runner tells that its job ended
   * @param {'fair' | 'capped' | 'equal' | object | null} [options.scheduler=null] chooses the type whose job starts next
   * @param {object} [options.schedulerOptions={}] the scheduler's own options
   * @param {number} [options.maxTypes=Infinity] how many types get a lane of their own; later ones share some
   * @param {{ now: () => number, setTimeout: Function, clearTimeout: Function }} [options.clock] in ms
   * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
   */
  constructor (runner, options) {
    super()
    if (typeof runner !== 'function') throw typeError('FAIRLANE_ERR_RUNNER', 'the runner must be a function')
    const read = readOptions(options)
    this.#lastConcurrency = read.concurrency
    this.#scheduler = makeScheduler(read)
    this.#list = makeList(this.#scheduler, read, type => new JobContext(type, 1, () => this.#dispatch.signal))
    this.#dispatch = new Dispatch(runner, this.#list, read, () => this.#drained())
    if (this.#scheduler !== null) {
      if (read.schedulerOptions === undefined) this.#list.configure({ concurrency: read.concurrency })
      afterConfigure(this.#scheduler, () => {
        this.#list.configured()
        this.#dispatch.wake()
      })
    }
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
   * Queues a job behind all others. O(1).
   * @param {any} payload given to the runner as it is
   * @param {(err: any, result: any) => void} [callback] called when the job has settled, never before push returns
   * @returns {this}
   * @throws FAIRLANE_ERR_CALLBACK; FAIRLANE_ERR_TYPE_REQUIRED on a queue with a scheduler
   */
  push (payload, callback) {
    if (this.#scheduler !== null) throw typeRequired('push')
    const whenSettled = readCallback(callback)
    this.#dispatch.accept()
    this.#list.push(undefined, payload, whenSettled)
    return this
  }

  /** Queues a job before all others; otherwise as push. */
  unshift (payload, callback) {
    if (this.#scheduler !== null) throw typeRequired('unshift')
    const whenSettled = readCallback(callback)
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
    this.#dispatch.accept()
    this.#list.push(name, payload, whenSettled)
    return this
  }

  /** As unshift, for a job with a type. */
  unshiftType (type, payload, callback) {
    const name = readType(type)
    const whenSettled = readCallback(callback)
    this.#dispatch.accept()
    this.#list.unshift(name, payload, whenSettled)
    return this
  }

  /** Starts no more jobs until resume(); running ones finish. Sets `concurrency` to -1. @returns {this} */
  pause () {
    this.#dispatch.concurrency = PAUSED
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
      () => new FairlaneError('FAIRLANE_ERR_CLEARED', 'The job was removed'))
  }

  /**
   * Cancels all waiting jobs, or those of one type; their callbacks get FAIRLANE_ERR_CLEARED before clear returns.
   * O(waiting).
   * @param {{ type?: any, reason?: any }} [options] type: only those; not on a queue without a scheduler. reason: becomes
   *   the `cause` of the errors
   * @returns {number} how many
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  clear (options = {}) {
    if (typeof options !== 'object' || options === null) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'clear: the options must be an object')
    }
    rejectUnknown(options, ['type', 'reason'], 'FAIRLANE_ERR_ARGUMENT')
    const { type, reason } = options
    const name = type === undefined ? undefined : this.#readType(type, 'clear')
    const cause = reason === undefined ? undefined : { cause: reason }
    return this.#dispatch.cancel(() => name === undefined ? this.#list.removeAll() : this.#list.removeType(name),
      () => new FairlaneError('FAIRLANE_ERR_CLEARED', 'The queue was cleared', cause))
  }

  /**
   * Starts no more jobs of a type until resumeType(); running ones finish, pushes are accepted. Only with lanes: what a
   * window scheduler chooses is not the queue's to hold back. O(1), O(jobs in its lane) if it has none of its own.
   * @param {any} type
   * @returns {this}
   * @throws FAIRLANE_ERR_TYPE; FAIRLANE_ERR_SCHEDULER if the queue's scheduler has no methods paused and resumed
   */
  pauseType (type) {
    this.#list.pauseType(this.#readPausable(type, 'pauseType'))
    return this
  }

  /** Starts jobs of a type again, in a later turn. Throws as pauseType. @returns {this} */
  resumeType (type) {
    this.#list.resumeType(this.#readPausable(type, 'resumeType'))
    this.#dispatch.wake()
    return this
  }

  /**
   * Counts since the queue was made; waiting, running and types are of now. O(1).
   * @param {any} [type] counts of one type since it last was idle: when all its jobs have ended it may be forgotten. Not on a
   *   queue without a scheduler
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  stats (type) {
    if (type !== undefined) return typeStats(this.#list.countsOf(this.#readType(type, 'stats')))
    const { accepted, running, done, failed, cancelled, misuse } = this.#dispatch
    const waiting = this.#list.size
    return { accepted, waiting, running, done, failed, cancelled, rejected: 0, misuse, overrun: 0, types: this.#list.typesCount }
  }

  [START_NOW] () {
    this.#dispatch.startNow()
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
    if (this.#drain !== null) this.#dispatch.call(this.#drain)
    if (this.listenerCount('drain') > 0) this.#dispatch.call(() => this.emit('drain'))
  }
}

/** @returns the callback, or undefined if there is none */
function readCallback (callback) {
  if (callback !== undefined && typeof callback !== 'function') {
    throw typeError('FAIRLANE_ERR_CALLBACK', 'a callback must be a function')
  }
  return callback
}

function readType (type) {
  if (typeof type === 'string') return type
  if (typeof type === 'symbol') throw typeError('FAIRLANE_ERR_TYPE', 'a Symbol can not be a type')
  try {
    return String(type)
  } catch (cause) {
    throw Object.assign(typeError('FAIRLANE_ERR_TYPE', 'the type can not be made into a string'), { cause })
  }
}

function isPausing (concurrency) {
  if (typeof concurrency === 'string' && concurrency.trim() !== '') return Number(concurrency) <= 0
  return typeof concurrency === 'number' && concurrency <= 0
}

function typeRequired (method) {
  return typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler takes jobs by ${method}Type`)
}

/** What stats(type) gives; a type without jobs and history has zeros. */
function typeStats ({ size, running, done, failed, cancelled, misuse } = NOTHING) {
  const accepted = size + running + done + failed + cancelled
  return {
    accepted, waiting: size, running, done, failed, cancelled, rejected: 0, misuse, overrun: 0, types: size + running > 0 ? 1 : 0
  }
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

// scheduler → what its newest queue does after configure()
const listeners = new WeakMap()

/**
 * Calls listener each time after the scheduler's own configure(), whoever calls that. On an object that can not be changed it is not
 * called: then resume() makes the queue ask again.
 */
function afterConfigure (scheduler, listener) {
  const { configure } = scheduler
  const isKnown = listeners.has(scheduler)
  listeners.set(scheduler, listener)
  if (isKnown || typeof configure !== 'function') return
  const value = function (options) {
    const returned = configure.call(this, options)
    listeners.get(scheduler)()
    return returned
  }
  Reflect.defineProperty(scheduler, 'configure', { value, writable: true, configurable: true })
}

module.exports = { Queue, START_NOW }
