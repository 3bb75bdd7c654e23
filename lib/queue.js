'use strict'

// The public class: it checks every argument, then delegates to the list (where jobs wait) and the dispatch (the slots).
// Nothing is changed before all arguments of a call have been found good.

const EventEmitter = require('eventemitter3')
const { Dispatch } = require('./dispatch')
const { FairlaneError, typeError } = require('./errors')
const { Fifo } = require('./lists/fifo')
const { readConcurrency, readOptions, rejectUnknown } = require('./options')

const PAUSED = -1

/**
 * A job queue. Made by `fairlane(runner, options)` or `new Queue(runner, options)`.
 * Emits `drain` each time the last job has ended.
 */
class Queue extends EventEmitter {
  #list
  #dispatch
  #drain = null
  #lastConcurrency

  /**
   * @param {(payload: any, done: (err?: any, result?: any) => void, context: object) => any} runner called for each job
   * @param {object | number | string} [options] or the concurrency alone
   * @param {number} [options.concurrency=10] how many jobs run at once: a positive integer or Infinity
   * @param {'either' | 'callback' | 'promise'} [options.settleBy='either'] how the runner tells that its job ended
   * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY
   */
  constructor (runner, options) {
    super()
    if (typeof runner !== 'function') throw typeError('FAIRLANE_ERR_RUNNER', 'the runner must be a function')
    const { concurrency, settleBy } = readOptions(options)
    this.#lastConcurrency = concurrency
    this.#list = new Fifo()
    this.#dispatch = new Dispatch(runner, this.#list, { concurrency, settleBy }, () => this.#drained())
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
   * @throws FAIRLANE_ERR_CALLBACK
   */
  push (payload, callback) {
    this.#list.push(undefined, payload, readCallback(callback))
    this.#dispatch.accept()
    return this
  }

  /** Queues a job before all others; otherwise as push. */
  unshift (payload, callback) {
    this.#list.unshift(undefined, payload, readCallback(callback))
    this.#dispatch.accept()
    return this
  }

  /**
   * As push, for a job with a type. A queue without a scheduler has no use for the type and ignores it.
   * @param {any} type made into a string
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_CALLBACK
   */
  pushType (type, payload, callback) {
    readType(type)
    return this.push(payload, callback)
  }

  /** As unshift, for a job with a type. */
  unshiftType (type, payload, callback) {
    readType(type)
    return this.unshift(payload, callback)
  }

  /** Starts no more jobs until resume(); running ones finish. Sets `concurrency` to -1. @returns {this} */
  pause () {
    this.#dispatch.concurrency = PAUSED
    return this
  }

  /**
   * Starts jobs again, in a later turn.
   * @param {number | string} [concurrency] the last positive one if none is given
   * @returns {this}
   * @throws FAIRLANE_ERR_CONCURRENCY
   */
  resume (concurrency = this.#lastConcurrency) {
    this.#dispatch.concurrency = this.#lastConcurrency = readConcurrency(concurrency)
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
   * The jobs that wait at the time of the call, in order. O(waiting).
   * @param {any} [type] only those of one type; not on a queue without a scheduler
   * @returns {IterableIterator<{ type: string | undefined, payload: any }>}
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  jobs (type) {
    if (type !== undefined) throw noTypes('jobs')
    const jobs = []
    this.#list.forEach(payload => jobs.push({ type: undefined, payload }))
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
    return this.#dispatch.cancel(() => this.#list.remove(payload => test({ type: undefined, payload })),
      () => new FairlaneError('FAIRLANE_ERR_CLEARED', 'The job was removed'))
  }

  /**
   * Cancels all waiting jobs; their callbacks get FAIRLANE_ERR_CLEARED before clear returns. O(waiting).
   * @param {{ reason?: any }} [options] reason becomes the `cause` of the errors
   * @returns {number} how many
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  clear (options = {}) {
    if (typeof options !== 'object' || options === null) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'clear: the options must be an object')
    }
    rejectUnknown(options, ['type', 'reason'], 'FAIRLANE_ERR_ARGUMENT')
    if (options.type !== undefined) throw noTypes('clear')
    const cause = options.reason === undefined ? undefined : { cause: options.reason }
    return this.#dispatch.cancel(() => this.#list.removeAll(),
      () => new FairlaneError('FAIRLANE_ERR_CLEARED', 'The queue was cleared', cause))
  }

  /**
   * Counts since the queue was made; waiting and running are of now. O(1).
   * @param {any} [type] not on a queue without a scheduler
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  stats (type) {
    if (type !== undefined) throw noTypes('stats')
    const { accepted, running, done, failed, cancelled, misuse } = this.#dispatch
    const waiting = this.#list.size
    return { accepted, waiting, running, done, failed, cancelled, rejected: 0, misuse, overrun: 0, types: 0 }
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

function noTypes (method) {
  return typeError('FAIRLANE_ERR_ARGUMENT', `${method}: a queue without a scheduler has no types`)
}

module.exports = { Queue }
