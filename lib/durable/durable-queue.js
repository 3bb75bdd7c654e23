'use strict'

// Job queues on disk, as their users see them. A queue in memory holds the numbers of the jobs that wait, the store their records; parts.js
// makes what goes on between these two.
//
//   push ─▶ written ─▶ safe ─▶ slot ─▶ attempt written ─▶ runner ─┬─ done ──▶ acked: gone
//              │         ▲                                         └─ failed ─┬─▶ delayed
//              └─────────┴──────────────── due ◀──────────────────────────────┤
//                                                                             └─▶ dead letter
//
// Promises: a job whose push was acknowledged is run until it is done or dead, whatever crashes; it is run only when it is safe, and
// never without its attempt being with the operating system; one that is done does not come back once that is written.

const EventEmitter = require('eventemitter3')
const { typeError } = require('../arguments/errors')
const { behindOthers } = require('../platform/promised')
const { options: { readCallback, readCloseOptions, readJobType, readPausableType, readType } } = require('../core/internals')
const { files } = require('../log/files')
const { lock } = require('../log/lock')
const { readAddOptions, readBatch, readDeadLettersOptions, readId, readJobOptions, readPushOptions, readStorableType } = require('./options')
const { prepare } = require('./parts')

const SYSTEM = { files, lock, now: Date.now }
const MADE_BY_DURABLE = Symbol('durable')

/**
 * Opens a queue of jobs on disk. Jobs that are in it begin to run in a later turn of the event loop. Options are in index.d.ts.
 * @param {(payload: any, done: (err?: any, result?: any) => void, context: object) => any} runner
 * @returns {Promise<DurableQueue>} rejects with FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_VERSION, FAIRLANE_ERR_SERIALIZER, FAIRLANE_ERR_IO
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function durable (runner, options, environment = SYSTEM) {
  const read = readJobOptions(options)
  return open(prepare(runner, read, environment, parts => new DurableQueue(MADE_BY_DURABLE, parts)), read.queue.signal)
}

async function open (makeParts, signal) {
  const parts = await makeParts()
  const { queue } = parts
  parts.events.open(queue)
  // before the first job starts
  parts.core.resume()
  if (signal !== undefined) parts.closing.closeBy(signal)
  return queue
}

/** Made by durable(). What its parts do is in the files of their names; its events are in index.d.ts. */
class DurableQueue extends EventEmitter {
  #parts
  #core

  constructor (key, parts) {
    if (key !== MADE_BY_DURABLE) throw typeError('FAIRLANE_ERR_ARGUMENT', 'a DurableQueue is made by durable()')
    super()
    this.#parts = parts
    this.#core = parts.core
  }

  /** Jobs that have not settled, and slots that are taken by runners that go on. Dead letters are not in it. */
  get length () {
    return this.#parts.idle.length
  }

  /** Jobs that hold a slot. */
  get running () {
    return this.#core.running
  }

  /** Jobs that were accepted and are not running: those that are to start later, too. */
  get waiting () {
    return this.#core.waiting + this.#parts.retries.uncounted
  }

  get paused () {
    return this.#core.paused
  }

  /** True from the first close() on, and when the log has failed. */
  get closed () {
    return this.#parts.status.isClosed
  }

  get scheduler () {
    return this.#core.scheduler
  }

  /** As that of a queue in memory. */
  get concurrency () {
    return this.#core.concurrency
  }

  set concurrency (value) {
    this.#core.concurrency = value
    this.#recall()
  }

  /** A function that is called, without arguments, each time no job is left to wait for; or null. */
  get drain () {
    return this.#parts.idle.drain
  }

  set drain (callback) {
    this.#parts.idle.drain = callback === null ? null : readCallback(callback) ?? null
  }

  /** What opening found: `jobs`, what a crash had left half written (`cut`), and what was damaged (`dropped`, with repair). */
  get recovered () {
    return this.#parts.store.recovered
  }

  /**
   * Queues a job behind all others. @returns {Promise<number>} its id, when it is safe; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CLEARED, and
   * before anything was written with FAIRLANE_ERR_QUEUE_FULL, FAIRLANE_ERR_TYPE_FULL, FAIRLANE_ERR_TOO_LARGE, FAIRLANE_ERR_CLOSED. Options are in
   * index.d.ts. @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE_REQUIRED
   */
  push (payload, options) {
    this.#requireNoScheduler('push')
    return this.#parts.intake.push(undefined, payload, false, this.#read(options, 'push'))
  }

  /** As push, before all others. */
  unshift (payload, options) {
    this.#requireNoScheduler('unshift')
    return this.#parts.intake.push(undefined, payload, true, this.#read(options, 'unshift'))
  }

  /** As push, for a job with a type, which is kept on disk with a scheduler and without. @throws FAIRLANE_ERR_TYPE too */
  pushType (type, payload, options) {
    return this.#parts.intake.push(readStorableType(type), payload, false, this.#read(options, 'pushType'))
  }

  /** As pushType, before all others. */
  unshiftType (type, payload, options) {
    return this.#parts.intake.push(readStorableType(type), payload, true, this.#read(options, 'unshiftType'))
  }

  /**
   * As push or pushType, for a promise of the result. The job is on disk, and outlives that. @returns {Promise<any>} rejects with what its last
   * attempt failed with, as push rejects, and with FAIRLANE_ERR_ABORTED, FAIRLANE_ERR_CLEARED, FAIRLANE_ERR_MAX_WAIT, FAIRLANE_ERR_CLOSED,
   * FAIRLANE_ERR_RESULT @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED
   */
  add (payload, options) {
    const { type, unshift, signal, said } = readAddOptions(options, this.#parts.hasLevels)
    return this.#parts.results.add(this.#readType(type, 'add'), payload, unshift, said, signal)
  }

  /**
   * As push or pushType of each of the jobs: all of them are taken in or none, also after a crash. The array and the payloads are read before it
   * returns. @param {object[]} jobs each with its payload, its type and options of push @returns {Promise<number[]>} their ids, when all are safe;
   * rejects as push @throws as push; then none is pushed
   */
  pushAll (jobs) {
    const read = readBatch(jobs, this.#parts.hasLevels)
    for (const job of read) job.type = this.#readType(job.type, 'pushAll')
    return this.#parts.pushAll.push(read)
  }

  /** Starts no more jobs until resume(); running ones finish. @returns {this} */
  pause () {
    this.#core.pause()
    this.#recall()
    return this
  }

  /** As that of a queue in memory. @returns {this} */
  resume (concurrency) {
    this.#core.resume(concurrency)
    return this
  }

  /** As that of a queue in memory. @returns {this} */
  pauseType (type) {
    const name = readType(type)
    this.#core.pauseType(name)
    if (!this.closed) this.#parts.attempts.recall(({ slot }) => slot.type === name)
    return this
  }

  /** As that of a queue in memory. @returns {this} */
  resumeType (type) {
    this.#core.resumeType(type)
    return this
  }

  /** As that of a queue in memory. */
  isTypePaused (type) {
    return this.#core.isTypePaused(type)
  }

  /**
   * Starts no job of a type for so many ms; 0 ends that. Jobs that have a slot and are not safe yet wait again. A hold ends with the process.
   * @returns {this} @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  holdType (type, ms) {
    this.#parts.limiting.holdType(readPausableType(type, this.scheduler, 'holdType'), ms)
    return this
  }

  /** As holdType, of all jobs. @returns {this} @throws FAIRLANE_ERR_ARGUMENT */
  hold (ms) {
    this.#parts.limiting.hold(ms)
    return this
  }

  /** In how many ms a job (of a type) might start as far as rates and holds go; 0: now. @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE */
  heldMs (type) {
    return this.#parts.limiting.heldMs(type === undefined ? undefined : readPausableType(type, this.scheduler, 'heldMs'))
  }

  /** Replaces the rates that are given; null: none. @returns {this} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_SCHEDULER */
  setRates (rates) {
    this.#parts.limiting.setRates(rates)
    return this
  }

  /**
   * Waits until all jobs that were accepted before the call have settled, after all their attempts, or until the queue has closed.
   * @returns {this | Promise<void>} a promise if there is no callback @throws FAIRLANE_ERR_CALLBACK
   */
  fflush (callback) {
    if (readCallback(callback) === undefined) return behindOthers(new Promise(resolve => this.#waitForAll(resolve)))
    this.#waitForAll(callback)
    return this
  }

  /** @returns {Promise<void>} resolves when no job waits or is to be tried again, and no slot is taken; or at the end of close() */
  onIdle () {
    return behindOthers(this.#parts.idle.wait())
  }

  /** As that of a queue in memory; it waits for room below `capacity` too. */
  ready (type) {
    return this.#parts.admission.ready(() => this.#core.ready(type))
  }

  /**
   * The jobs that wait, in order, and behind them those that are to be tried later. Payloads are read, blocking, when they are asked for.
   * O(waiting). @returns {IterableIterator<{ id: number | undefined, type: string | undefined, payload: any }>} no id: it is not written yet
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  jobs (type) {
    const waiting = this.#core.jobs(type)
    const { records, retries } = this.#parts
    return records.entries(waiting, retries.list(type))
  }

  /**
   * Cancels waiting jobs; the operating system has it when it returns. O(waiting). @returns {number} how many
   * @throws FAIRLANE_ERR_ARGUMENT, and what test throws: then none is cancelled
   */
  remove (test) {
    return this.#parts.cancelling.remove(test)
  }

  /** As remove, all waiting jobs or those of one type. @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  clear (options) {
    return this.#parts.cancelling.clear(options)
  }

  /**
   * A job, as it is now. O(log waiting + slots). @returns {Promise<{ id: number, type: string | undefined, state: 'waiting' | 'delayed' | 'running' |
   *   'dead', attempts: number, dueAt: number | undefined, error: Error | undefined, payload: any } | undefined>} undefined: it has ended, or never was;
   *   rejects with FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_IO @throws FAIRLANE_ERR_ARGUMENT
   */
  get (id) {
    return this.#parts.jobs.get(readId(id, 'get'))
  }

  /**
   * Cancels a job: one that waits is gone, the runner of one that runs is told by its signal, and it is not tried again. O(waiting), once for all
   * calls of a turn. @returns {Promise<boolean>} resolves when that is safe; false if there is no such job; rejects as get()
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  cancel (id) {
    return this.#parts.jobs.cancel(readId(id, 'cancel'))
  }

  /**
   * The schedules, with the next time of each and the last one whose job was pushed, in ms since 1970.
   * @returns {{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]}
   */
  schedules () {
    return this.#parts.schedules.list()
  }

  /**
   * The jobs that will not be tried again, the oldest first; those of a `type`, at most `limit`. Payloads are read, blocking, when they are asked for.
   * @throws FAIRLANE_ERR_CLOSED once it has closed, FAIRLANE_ERR_IO, FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  deadLetters (options) {
    return this.#parts.dead.list(readDeadLettersOptions(options))
  }

  /**
   * Queues a dead letter again, behind all others, with all its attempts. @returns {Promise<boolean>} resolves when that is safe; false if there is
   * no such dead letter; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED @throws FAIRLANE_ERR_ARGUMENT
   */
  retryDead (id) {
    return this.#parts.dead.retry(readId(id, 'retryDead'))
  }

  /** Deletes a dead letter. @returns {Promise<boolean>} as retryDead @throws FAIRLANE_ERR_ARGUMENT */
  deleteDead (id) {
    return this.#parts.dead.delete(readId(id, 'deleteDead'))
  }

  /**
   * Counts since the queue was opened. Of one type, each attempt counts as a job, and delayed ones are not in it. O(1).
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  stats (type) {
    const stats = this.#core.stats(type)
    if (type !== undefined) return stats
    const { counts: { rejected, ...counts }, retries, dead, limiting: { heldTypes } } = this.#parts
    const types = this.#parts.hasTypes ? stats.types : 0 // where priorities are, there is a lane nonetheless
    const own = { waiting: this.waiting, types, delayed: retries.size, dead: dead.size, heldTypes, rejected: stats.rejected + rejected }
    return { ...stats, ...counts, ...own }
  }

  /** Bytes of all segments. */
  diskBytes () {
    return this.#parts.store.log.bytes
  }

  /** @returns {Promise<void>} resolves when all up to now is on the disk; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED */
  async flush () {
    const { admission, outage, records, store } = this.#parts
    records.check()
    await new Promise(resolve => admission.afterHeld(resolve))
    records.check()
    await store.log.flush()
    if (store.unwritten.size > 0) throw outage.error
  }

  /**
   * Refuses new jobs, and lets another process open the queue when it resolves. @returns {Promise<number>} how many runners had not ended;
   * rejects with FAIRLANE_ERR_IO @throws FAIRLANE_ERR_ARGUMENT
   */
  close (options) {
    const { drain, timeoutMs } = readCloseOptions(options)
    return this.#parts.closing.close(drain, timeoutMs)
  }

  /** As close(). */
  [Symbol.asyncDispose] () {
    return this.close()
  }

  #read (options, method) {
    return readPushOptions(options, method, this.#parts.hasLevels)
  }

  #readType (type, method) {
    const name = readJobType(type, this.#core.scheduler, method)
    return name === undefined ? undefined : readStorableType(name)
  }

  #recall () {
    if (this.#core.paused) this.#parts.attempts.recall(() => true)
  }

  #waitForAll (callback) {
    const { admission, dead, flushes, status, store } = this.#parts
    admission.afterHeld(() => flushes.add(callback, store.nextSeq, status.isOver ? 0 : store.live.jobsCount - dead.size))
  }

  #requireNoScheduler (method) {
    if (this.#parts.hasTypes) throw typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler takes jobs by ${method}Type`)
  }
}

module.exports = { durable, DurableQueue }
