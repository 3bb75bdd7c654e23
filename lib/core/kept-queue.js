'use strict'

// What the public classes of queues have in common whose jobs are kept elsewhere, on disk or at a broker. They read arguments, and hand
// on to two others: a queue in memory, which has the slots of this process, and an owner, which keeps the jobs. Where these queues differ,
// the owner says how.

const EventEmitter = require('eventemitter3')
const { typeError } = require('../arguments/errors')
const { readCloseOptions, readJobType, readMapOptions, readSource, readType } = require('./options')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'

/**
 * @typedef {object} Owner
 * @property {(method: string) => void} checkSlots throws if this process runs no jobs
 * @property {() => boolean} isClosed
 * @property {() => void} slotsChanged called when the queue may have been paused, or has another concurrency
 * @property {(type: string) => void} typePaused
 * @property {(type: string) => void} typeResumed
 * @property {undefined | ''} noType what the type is of jobs that are pushed without one
 * @property {(method: string) => void} checkUntyped throws if jobs need a type
 * @property {(type: unknown) => string} readType
 * @property {(options: unknown, method: string) => object} readPushOptions what it says of a job
 * @property {(options: unknown) => { type: unknown, unshift: boolean, signal?: AbortSignal, jobOptions: object }} readAddOptions
 * @property {(id: unknown, method: string) => any} readId
 * @property {(type: any, payload: any, atHead: boolean, jobOptions: object) => Promise<any>} push
 * @property {(type: any, payload: any, atHead: boolean, jobOptions: object, signal?: AbortSignal) => Promise<any>} add
 * @property {(type: any) => { accepts: () => boolean, ready: () => Promise<void>, slice: () => object }} mapping what map() asks
 * @property {(id: any) => Promise<any>} get
 * @property {(id: any) => Promise<boolean>} cancel
 * @property {(id: any) => Promise<boolean>} retryDead
 * @property {(id: any) => Promise<boolean>} deleteDead
 * @property {(drain: boolean | undefined, timeoutMs: number | undefined) => Promise<number>} close drain: undefined if nothing is said
 */

class KeptQueue extends EventEmitter {
  #core
  #owner
  #lastConcurrency // that is above 0

  /**
   * @param {object} core the queue in memory
   * @param {Owner} owner
   */
  constructor (core, owner) {
    super()
    this.#core = core
    this.#owner = owner
    this.#lastConcurrency = core.concurrency
  }

  get paused () {
    return this.#slots('paused').paused
  }

  /** True from the first close() on, and when what keeps the jobs has failed for good. */
  get closed () {
    return this.#owner.isClosed()
  }

  get scheduler () {
    return this.#core.scheduler
  }

  /** As that of a queue in memory, of this process. */
  get concurrency () {
    return this.#slots('concurrency').concurrency
  }

  set concurrency (value) {
    this.#slots('concurrency').concurrency = value
    this.#noteConcurrency()
    this.#owner.slotsChanged()
  }

  /**
   * Queues a job behind all others. @returns {Promise<any>} its id, when it is kept; rejects with what it is refused with.
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE_REQUIRED
   */
  push (payload, options) {
    return this.#pushUntyped('push', payload, false, options)
  }

  /** As push, before all others. */
  unshift (payload, options) {
    return this.#pushUntyped('unshift', payload, true, options)
  }

  /** As push, for a job with a type, which is kept with a scheduler and without. @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TOO_LARGE too */
  pushType (type, payload, options) {
    const owner = this.#owner
    return owner.push(owner.readType(type), payload, false, this.#readPushOptions(options, 'pushType'))
  }

  /** As pushType, before all others. */
  unshiftType (type, payload, options) {
    const owner = this.#owner
    return owner.push(owner.readType(type), payload, true, this.#readPushOptions(options, 'unshiftType'))
  }

  /**
   * As push or pushType, for a promise of the result. @returns {Promise<any>} rejects with what the job ended with, or was refused with
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TOO_LARGE, FAIRLANE_ERR_TYPE_REQUIRED
   */
  add (payload, options) {
    const owner = this.#owner
    const { type, unshift, signal, jobOptions } = owner.readAddOptions(options)
    const name = readJobType(type, this.#core.scheduler, 'add')
    return owner.add(name === undefined ? owner.noType : owner.readType(name), payload, unshift, jobOptions, signal)
  }

  /**
   * Runs a job for each value of a source, as its results are asked for. Throws as add(). @returns {AsyncIterableIterator<any>}
   */
  map (source, options) {
    const { type, cost, ordered, maxPending = 2 * this.#lastConcurrency, settled } = readMapOptions(options)
    const jobType = readJobType(type, this.#core.scheduler, 'map')
    const mapping = this.#owner.mapping(jobType === undefined ? this.#owner.noType : this.#owner.readType(jobType))
    const { map, optionsOf } = require('./map')
    const jobs = { add: (payload, signal) => this.add(payload, optionsOf(jobType, signal, cost, payload)), ...mapping }
    return map(jobs, readSource(source), { ordered, maxPending, settled })
  }

  /** Starts no more jobs in this process until resume(); running ones finish. @returns {this} */
  pause () {
    this.#slots('pause').pause()
    this.#owner.slotsChanged()
    return this
  }

  /** As that of a queue in memory. @returns {this} */
  resume (concurrency) {
    this.#slots('resume').resume(concurrency)
    this.#noteConcurrency()
    return this
  }

  /** Starts no more jobs of a type in this process until resumeType(). @returns {this} @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE */
  pauseType (type) {
    const name = readType(type)
    this.#slots('pauseType').pauseType(name)
    if (!this.closed) this.#owner.typePaused(name)
    return this
  }

  /** @returns {this} @throws as pauseType */
  resumeType (type) {
    const name = readType(type)
    this.#slots('resumeType').resumeType(name)
    this.#owner.typeResumed(name)
    return this
  }

  /** Whether no job of a type starts in this process until resumeType(). @throws as pauseType */
  isTypePaused (type) {
    return this.#slots('isTypePaused').isTypePaused(type)
  }

  /** @returns {Promise<object | undefined>} a job, as it is now; undefined: it has ended, or never was @throws FAIRLANE_ERR_ARGUMENT */
  get (id) {
    return this.#owner.get(this.#owner.readId(id, 'get'))
  }

  /**
   * Cancels a job: one that waits is gone, the runner of one that runs is told by its signal, and it is not tried again.
   * @returns {Promise<boolean>} false if there is no such job @throws FAIRLANE_ERR_ARGUMENT
   */
  cancel (id) {
    return this.#owner.cancel(this.#owner.readId(id, 'cancel'))
  }

  /**
   * Queues a dead letter again, behind all others, with all its attempts. @returns {Promise<boolean>} false if there is no such dead letter
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  retryDead (id) {
    return this.#owner.retryDead(this.#owner.readId(id, 'retryDead'))
  }

  /** Deletes a dead letter. @returns {Promise<boolean>} as retryDead @throws FAIRLANE_ERR_ARGUMENT */
  deleteDead (id) {
    return this.#owner.deleteDead(this.#owner.readId(id, 'deleteDead'))
  }

  /**
   * Refuses new jobs, and waits for those that run; what waits stays where it is kept.
   * @returns {Promise<number>} how many runners had not ended
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  close (options) {
    const { drain, timeoutMs } = readCloseOptions(options)
    return this.#owner.close(drain, timeoutMs)
  }

  /** As close(). */
  [Symbol.asyncDispose] () {
    return this.close()
  }

  /** The queue in memory, for a call that is about slots. */
  #slots (method) {
    this.#owner.checkSlots(method)
    return this.#core
  }

  #noteConcurrency () {
    if (this.#core.concurrency > 0) this.#lastConcurrency = this.#core.concurrency
  }

  #readPushOptions (options, method) {
    if (typeof options !== 'function') return this.#owner.readPushOptions(options, method)
    throw typeError(ARGUMENT, `${method}: there are no callbacks here; ${method}() returns a promise of the id, add() one of the result`)
  }

  #pushUntyped (method, payload, atHead, options) {
    const owner = this.#owner
    owner.checkUntyped(method)
    return owner.push(owner.noType, payload, atHead, this.#readPushOptions(options, method))
  }
}

module.exports = { KeptQueue }
