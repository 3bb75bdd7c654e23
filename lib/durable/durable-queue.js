'use strict'

// Job queues on disk: a queue in memory holds the numbers of the jobs that wait, the store their records. What is on disk is decided here.
//
//   push ─▶ written ─▶ safe ─▶ slot ─▶ attempt written ─▶ runner ─┬─ done ──▶ acked: gone
//              │         ▲                                         └─ failed ─┬─▶ delayed
//              └─────────┴──────────────── due ◀──────────────────────────────┤
//                                                                             └─▶ dead letter
//
// Promises: a job whose push was acknowledged is run until it is done or dead, whatever crashes; it is run only when it is safe, and
// never without its attempt being with the operating system; one that is done does not come back once that is written.

const EventEmitter = require('eventemitter3')
const fairlane = require('../..')
const { defer, rethrow } = require('../clock')
const { FairlaneError, closedError, typeError, rangeError, describe, warn } = require('../errors')
const { facadeOf, options: { readCallback, readClearOptions, readCloseOptions, readOptions: readQueueOptions, readType } } = require('../core/internals')
const { Admission } = require('./admission')
const { Attempts } = require('./attempts')
const { DeadLetters } = require('./dead-letters')
const { files } = require('./files')
const { Flushes } = require('./flushes')
const { Intake, sizeOf } = require('./intake')
const { JobState, hasStarted } = require('./job-state')
const { lock } = require('./lock')
const { Opening } = require('./opening')
const { defaultBackoffMs, readJobOptions } = require('./options')
const { Outage } = require('./outage')
const { idOf, Records } = require('./records')
const { Retries } = require('./retries')
const { encode, errorText, pushedAt, stampOf, STAMP_BYTES } = require('./serialize')
const { openStore } = require('./store')
const { Survey } = require('./survey')

const SYSTEM = { files, lock, now: Date.now }
const MADE_BY_DURABLE = Symbol('durable')
const FORWARDED = ['saturated', 'unsaturated']

/**
 * Opens a queue of jobs on disk; the folder is made if need be. One process may have it open. Jobs that are in it begin to run in a
 * later turn of the event loop.
 *
 * @param {(payload: any, done: (err?: any, result?: any) => void, context: object) => any} runner as that of a queue in memory;
 *   the context has the `id` of the job too, and `attempt` counts from 1
 * @param {object} options those of a queue in memory, and
 * @param {string} options.path the folder, on a disk of this machine: network file systems are not supported
 * @param {'disk' | 'os'} [options.ack='disk'] when a job is safe: when the disk has it, or when the operating system has it,
 *   which survives the end of the process and not that of the machine
 * @param {{ encode: (payload: any) => Uint8Array, decode: (bytes: Buffer) => any }} [options.serialize] v8's by default
 * @param {number} [options.maxAttempts=5] how often a job is started before it is a dead letter
 * @param {number | ((attempt: number, error: any) => number)} [options.backoffMs] how long after the attempt of that number, from 1,
 *   the next one begins at the earliest; by default 1 s, twice as long each time, 60 s at most
 * @param {number} [options.capacity=Infinity] how many jobs there may be on disk, dead letters too
 * @param {number} [options.capacityBytes=Infinity] how many bytes of payloads and types
 * @param {number} [options.maxInflightOps=1000] how many pushes may be written and not acknowledged; further ones are written later
 * @param {number} [options.segmentBytes=67108864] the size of a file; disk space comes back file by file
 * @param {boolean} [options.repair=false] keep what is whole of a damaged log: `recovered.dropped` says what was not
 * @param {(progress: { bytes: number, totalBytes: number }) => void} [options.onProgress] called while the log is read
 * @returns {Promise<DurableQueue>} rejects with FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_IO
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function durable (runner, options, environment = SYSTEM) {
  return DurableQueue.open(MADE_BY_DURABLE, runner, options, environment)
}

/**
 * Made by durable(). Emits `done` ({ id, type, attempt, result }), `failed` ({ id, type, attempt, error }) when a job becomes a
 * dead letter, `retry` (as failed, with `delayMs`) when it will be tried again, `cancelled` ({ id, type, error }), and the events
 * of a queue in memory.
 */
class DurableQueue extends EventEmitter {
  #runner
  #settleBy
  #options
  #maxWaitMs
  #hasTypes
  #now // ms since 1970
  #core // the queue in memory: its payloads are numbers of jobs, or HeldJobs
  #stage // what of it is not public
  #store
  #records
  #admission
  #intake
  #attempts
  #retries
  #dead
  #flushes
  #outage
  #reverted = new Set()

  #counts = { accepted: 0, done: 0, failed: 0, cancelled: 0, rejected: 0, retried: 0 }
  #drain = null
  #drainedAt = 0
  #idleWaiters = []
  #error // of the log: nothing is written any more
  #closing
  #closeLimits = []
  #abandoned = new Set() // deliveries whose runners the closing queue has told to end
  #isOver = false
  #isCancelling = false
  #isOpen = false // all jobs that were on disk stand in the queue
  #untold = [] // [event, value, makeMore] of what came about while it was opened, until that is told
  #whenTold
  #stopListening = ignore // to the option `signal`

  static open (key, runner, options, environment) {
    const read = readJobOptions(options)
    const queue = new DurableQueue(key, runner, read, environment)
    return queue.#open(read, environment)
  }

  constructor (key, runner, { jobs, queue } = {}, { now } = {}) {
    if (key !== MADE_BY_DURABLE) throw typeError('FAIRLANE_ERR_ARGUMENT', 'a DurableQueue is made by durable()')
    super()
    const { settleBy, scheduler, maxWaitMs } = readQueueOptions(queue)
    this.#runner = runner
    this.#options = jobs
    this.#settleBy = settleBy
    this.#maxWaitMs = maxWaitMs
    this.#hasTypes = scheduler !== null
    this.#now = now
    const start = typeof runner === 'function' ? (job, done, slot) => this.#attempts.start(job, done, slot) : runner
    this.#core = fairlane(start, { ...queue, settleBy: 'callback', maxWaitMs: undefined, signal: undefined })
    this.#core.drain = () => this.#emptied()
    for (const event of FORWARDED) this.#core.on(event, () => this.emit(event))
    this.#stage = facadeOf(this.#core, (job, err, result) => this.#settled(job, err, result))
    this.#flushes = new Flushes(callback => queueMicrotask(() => this.#stage.call(callback)))
  }

  /** Jobs that have not settled, and slots that are taken by runners that go on. Dead letters are not in it. */
  get length () {
    return this.waiting + this.running
  }

  /** Jobs that hold a slot. */
  get running () {
    return this.#core.running
  }

  /** Jobs that were accepted and are not running: those whose next attempt is to come later, too. */
  get waiting () {
    return this.#core.waiting + this.#retries.size
  }

  get paused () {
    return this.#core.paused
  }

  /** True from the first close() on, and when the log has failed. */
  get closed () {
    return this.#closing !== undefined
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
    return this.#drain
  }

  set drain (callback) {
    this.#drain = callback === null ? null : readCallback(callback) ?? null
  }

  /** What opening found: `jobs`, what a crash had left half written (`cut`), and what was damaged (`dropped`, with repair). */
  get recovered () {
    return this.#store.recovered
  }

  /**
   * Queues a job behind all others.
   * @param {any} payload encoded before push returns
   * @returns {Promise<number>} its id, when it is safe; rejects with FAIRLANE_ERR_QUEUE_FULL, FAIRLANE_ERR_TYPE_FULL,
   *   FAIRLANE_ERR_TOO_LARGE, FAIRLANE_ERR_CLOSED (then nothing was written), FAIRLANE_ERR_IO, FAIRLANE_ERR_CLEARED
   * @throws FAIRLANE_ERR_ARGUMENT if the payload can not be encoded, FAIRLANE_ERR_TYPE_REQUIRED on a queue with a scheduler
   */
  push (payload) {
    this.#requireNoScheduler('push')
    return this.#push(undefined, payload, false)
  }

  /** Queues a job before all others; otherwise as push. */
  unshift (payload) {
    this.#requireNoScheduler('unshift')
    return this.#push(undefined, payload, true)
  }

  /** As push, for a job with a type, which is kept on disk with a scheduler and without. Throws FAIRLANE_ERR_TYPE too. */
  pushType (type, payload) {
    return this.#push(readStorableType(type), payload, false)
  }

  /** As unshift, for a job with a type. */
  unshiftType (type, payload) {
    return this.#push(readStorableType(type), payload, true)
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
    if (!this.closed) this.#attempts.recall(({ slot }) => slot.type === name)
    return this
  }

  /** As that of a queue in memory. @returns {this} */
  resumeType (type) {
    this.#core.resumeType(type)
    return this
  }

  /**
   * Waits until all jobs that were accepted before the call have settled: done, dead or cancelled, after all their attempts; or until
   * the queue has closed.
   * @param {() => void} [callback] never called synchronously
   * @returns {this | Promise<void>} a promise if there is no callback
   * @throws FAIRLANE_ERR_CALLBACK
   */
  fflush (callback) {
    if (readCallback(callback) === undefined) return new Promise(resolve => this.#waitForAll(resolve))
    this.#waitForAll(callback)
    return this
  }

  /** @returns {Promise<void>} resolves when no job waits, none is to be tried again, and no slot is taken; or at the end of close() */
  onIdle () {
    if (this.length === 0) return Promise.resolve()
    return new Promise(resolve => this.#idleWaiters.push(resolve))
  }

  /** As that of a queue in memory; it waits for room below `capacity` too. */
  ready (type) {
    return this.#admission.ready(() => this.#core.ready(type))
  }

  /**
   * The jobs that wait at the time of the call, in order, and behind them those whose next attempt is to come later. Payloads are read,
   * blocking, when they are asked for. O(waiting).
   * @param {any} [type] only those of one type; not on a queue without a scheduler
   * @returns {IterableIterator<{ id: number | undefined, type: string | undefined, payload: any }>} a job that is not written yet has no id
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  jobs (type) {
    const waiting = this.#core.jobs(type)
    return this.#entries(waiting, this.#listRetries(type))
  }

  /**
   * Cancels waiting jobs: they are gone from the disk. O(waiting).
   * @param {(job: { id: number | undefined, type: string | undefined, payload: any }) => boolean} test which ones; payloads, and types without
   *   a scheduler, are read, blocking, if it asks for them. If it throws, none
   * @returns {number} how many; the operating system has it when remove() returns
   * @throws FAIRLANE_ERR_ARGUMENT, and what test throws
   */
  remove (test) {
    if (typeof test !== 'function') throw typeError('FAIRLANE_ERR_ARGUMENT', 'remove: the test must be a function')
    // what can not be written is no job
    this.#store.log.commitNow(false)
    const retries = this.#retries.list().filter(({ seq, type }) => test(this.#records.view(seq, type)))
    const take = list => list.remove((job, type) => !this.#isGone(job) && test(this.#records.view(job, type)))
    return this.#cancel(take, retries, () => new FairlaneError('FAIRLANE_ERR_CLEARED', 'The job was removed'))
  }

  /**
   * Cancels all waiting jobs, or those of one type: they are gone from the disk. O(waiting).
   * @param {{ type?: any, reason?: any }} [options] as those of a queue in memory
   * @returns {number} how many; the operating system has it when clear() returns
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  clear (options) {
    const { type, reason } = readClearOptions(options)
    if (type !== undefined && !this.#hasTypes) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'clear: a queue without a scheduler has no types')
    }
    const retries = this.#listRetries(type)
    const take = list => type === undefined ? list.removeAll() : list.removeType(readType(type))
    const cause = reason === undefined ? undefined : { cause: reason }
    return this.#cancel(take, retries, () => new FairlaneError('FAIRLANE_ERR_CLEARED', 'The queue was cleared', cause))
  }

  /**
   * The jobs that will not be tried again, the oldest first. Payloads are read, blocking, when they are asked for.
   * @returns {{ id: number, type: string | undefined, payload: any, attempts: number, error: Error }[]} error: what the last attempt ended
   *   with, as far as it could be kept
   * @throws FAIRLANE_ERR_CLOSED once it has closed, FAIRLANE_ERR_IO
   */
  deadLetters () {
    this.#records.check()
    return this.#dead.list(seq => this.#records.entry(seq))
  }

  /**
   * Queues a dead letter again, behind all others, with all its attempts.
   * @param {number} id
   * @returns {Promise<boolean>} resolves when that is safe; false if there is no such dead letter. Rejects with FAIRLANE_ERR_IO,
   *   FAIRLANE_ERR_CLOSED
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  retryDead (id) {
    return this.#changeDead(id, 'retryDead', () => {
      if (this.#outage.isOn) throw this.#outage.error
      const type = this.#records.typeOf(id)
      const group = this.#dead.revive(id)
      this.#counts.accepted++
      this.#flushes.revived(id)
      this.#place(id, type)
      return group
    })
  }

  /**
   * Deletes a dead letter.
   * @param {number} id
   * @returns {Promise<boolean>} as retryDead
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  deleteDead (id) {
    return this.#changeDead(id, 'deleteDead', () => {
      const group = this.#dead.delete(id)
      this.#admission.freed()
      return group
    })
  }

  /**
   * Counts since the queue was opened; waiting, delayed, running, overrun, dead and types are of now. O(1).
   * @param {any} [type] of one type, as those of a queue in memory: each attempt counts as a job, and delayed ones are not in it
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  stats (type) {
    const stats = this.#core.stats(type)
    if (type !== undefined) return stats
    const { rejected, ...counts } = this.#counts
    const own = { waiting: this.waiting, delayed: this.#retries.size, dead: this.#dead.size, rejected: stats.rejected + rejected }
    return { ...stats, ...counts, ...own }
  }

  /** Bytes of all segments. */
  diskBytes () {
    return this.#store.log.bytes
  }

  /**
   * @returns {Promise<void>} resolves when all that was pushed, finished or cancelled up to now is on the disk; rejects with
   *   FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED
   */
  async flush () {
    this.#records.check()
    await new Promise(resolve => this.#admission.afterHeld(resolve))
    this.#records.check()
    await this.#store.log.flush()
    if (this.#outage.isLosing) throw this.#outage.error
  }

  /**
   * Refuses new jobs, and lets another process open the queue when it resolves. Nothing that is safe is lost by it.
   * @param {object} [options]
   * @param {boolean} [options.drain=true] whether the jobs that wait are run before; those whose next attempt is to come later stay on
   *   disk. Without: they all stay on disk, those that run are told by their signals, and stay too unless they end well
   * @param {number} [options.timeoutMs] as that of a queue in memory
   * @returns {Promise<number>} how many runners had not ended; rejects with FAIRLANE_ERR_IO if the log has failed
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

  async #open ({ path, jobs, queue }, environment) {
    const survey = new Survey()
    this.#store = await openStore(path, { ...jobs, kind: 'jobs', observer: survey }, environment, {
      safe: ignore,
      settled: group => this.#logged(group),
      failed: err => this.#failedLog(err),
      // opening writes before there is one
      unwritable: err => this.#outage?.begin(err),
      full: err => this.#outage?.spend(err),
      freed: () => this.#outage?.freed(),
      ended: () => this.#over()
    })
    this.#outage = new Outage(this.#store, this.#stage.deadlines, {
      hold: () => {
        this.#stage.hold()
        this.#attempts.recall(() => true)
      },
      letGo: () => this.#stage.letGo(),
      began: err => this.#tell('outage', err),
      ended: () => this.#tell('outageover')
    })
    this.#records = new Records(this.#store, jobs.serialize)
    this.#admission = new Admission(this.#store, jobs, { stampBytes: STAMP_BYTES, refusal: ignore })
    this.#intake = new Intake(this.#store, this.#admission, job => this.#revert(job))
    this.#dead = new DeadLetters(this.#store, this.#outage)
    this.#retries = new Retries(this.#stage.deadlines, (seq, type) => this.#place(seq, type, true))
    this.#attempts = new Attempts(this.#runner, { settleBy: this.#settleBy, serialize: jobs.serialize }, {
      stage: this.#stage,
      store: this.#store,
      records: this.#records,
      intake: this.#intake,
      outage: this.#outage,
      mayStart: job => this.#retries.mayStart(job)
    })
    await this.#recover(survey)
    if (queue.signal !== undefined) this.#closeBy(queue.signal)
    return this
  }

  /** Puts all that is on disk into the queue, past admission. Nothing is told before those who want to hear of it can have come. */
  async #recover (survey) {
    const { maxAttempts } = this.#options
    const opening = new Opening(survey, { maxAttempts, now: this.#now }, {
      store: this.#store,
      retries: this.#retries,
      dead: this.#dead,
      check: () => { if (this.#error !== undefined) throw this.#error },
      place: (seq, type, atHead, maxWaitMs) => this.#place(seq, type, atHead, maxWaitMs),
      leftToWait: seq => this.#leftToWait(seq),
      setState: (seq, state) => this.#outage.change(seq, state),
      fail: (seq, type, attempts, error) => this.#tellFailed(this.#bury(seq, type, attempts, error)),
      expire: (seq, type) => this.#expire(seq, type)
    })
    this.#core.pause()
    this.#counts.accepted += await opening.run()
    this.#isOpen = true
    this.#whenTold = new Promise(resolve => defer(() => {
      this.#tellOpening()
      resolve()
    }))
    // before the first job starts
    this.#core.resume()
  }

  #expire (seq, type) {
    this.#counts.cancelled++
    this.#finish(seq)
    this.#tell('cancelled', { id: seq, type, error: new FairlaneError('FAIRLANE_ERR_MAX_WAIT', 'The job waited longer than maxWaitMs') })
  }

  /** How long a job may still wait, if there is a limit; counted from its push. */
  #leftToWait (job) {
    if (this.#maxWaitMs === Infinity) return Infinity
    try {
      const ms = pushedAt(this.#records.bytesOf(job)) + this.#maxWaitMs - this.#now()
      return Math.min(Math.max(0, ms), this.#maxWaitMs) // the clock may have been set back
    } catch {
      return this.#maxWaitMs // that it can not be read now is no reason not to open the queue
    }
  }

  #push (type, payload, atHead) {
    const refusal = this.#refusal(type, 0)
    if (refusal !== undefined) return Promise.reject(refusal)
    const now = this.#now()
    const encoded = encode(this.#options.serialize, payload)
    // encode may have pushed
    const error = this.#refusal(type, sizeOf(type, encoded.length)) ??
      this.#countRejected(this.#store.refusal(1, STAMP_BYTES + encoded.length, type))
    if (error !== undefined) return Promise.reject(error)
    const { job, promise } = this.#intake.push(type, encoded, stampOf(now), atHead)
    this.#counts.accepted++
    this.#place(job, type, atHead, this.#maxWaitMs)
    return promise
  }

  #refusal (type, bytes) {
    if (this.#error !== undefined) return this.#countRejected(this.#error)
    const lack = this.closed ? undefined : this.#admission.lack(1, bytes)
    if (lack !== undefined) return this.#countRejected(this.#stage.fullElsewhere(this.#hasTypes ? type : undefined, lack.waiting, lack.limit))
    return this.#stage.refuse(this.#hasTypes ? type : undefined)
  }

  #countRejected (refusal) {
    if (refusal !== undefined) this.#counts.rejected++
    return refusal
  }

  /** @param {number | object} job what stands in the queue for it */
  #place (job, type, atHead = false, maxWaitMs = Infinity) {
    this.#stage.place(this.#hasTypes ? type ?? '' : undefined, job, atHead, maxWaitMs)
  }

  /** The log has gone on. */
  #logged (group) {
    // repair writes before there is one
    this.#admission?.settled(group)
    this.#attempts?.logged()
  }

  #recall () {
    if (this.#core.paused) this.#attempts.recall(() => true)
  }

  /** The queue in memory has settled a job: by the end of its runner, a limit of time, or since it closes. */
  #settled (job, err, result) {
    const delivery = this.#attempts.settled(job)
    if (delivery === undefined) {
      /* istanbul ignore else: what waits is taken out before the queue in memory closes */
      if (err?.code !== 'FAIRLANE_ERR_CLOSED') this.#cancelJobs([job], [], () => err)
      return
    }
    if (this.#error !== undefined) return
    if (!delivery.isSettledBy(err)) this.#interrupted(delivery, err)
    else if (err) this.#failed(delivery, err)
    else this.#done(delivery, result)
  }

  #interrupted (delivery, err) {
    if (err?.code === 'FAIRLANE_ERR_TIMEOUT') {
      this.#failed(delivery, err)
      return
    }
    if (delivery.isRecalled) {
      this.#attempts.uncount(delivery)
      this.#placeAgain(delivery)
      return
    }
    // the slot was given back
    if (err === undefined) return
    // the queue closes: the job stays on disk, unless its runner ends well before that is over
    this.#abandoned.add(delivery)
    delivery.onceWell(result => {
      if (this.#isOver || this.#error !== undefined) return
      this.#abandoned.delete(delivery)
      this.#done(delivery, result)
    })
  }

  #placeAgain ({ job, slot }) {
    if (this.#isGone(job)) return
    const isFirst = !hasStarted(this.#store.states.get(idOf(job)))
    this.#retries.recalled(job)
    this.#place(job, slot.type, true, isFirst ? this.#leftToWait(job) : Infinity)
  }

  #done ({ seq, type, attempt }, result) {
    this.#counts.done++
    this.#finish(seq)
    this.#tell('done', { id: seq, type, attempt, result })
  }

  #failed ({ seq, type, attempt, isFinal }, error) {
    if (isFinal || attempt >= this.#options.maxAttempts) {
      this.#tellFailed(this.#bury(seq, type, attempt, error))
      return
    }
    const delayMs = this.#backoff(attempt, error)
    this.#counts.retried++
    this.#outage.change(seq, JobState.due(attempt, this.#now() + delayMs, delayMs, errorText(error)))
    this.#retries.add(seq, type, delayMs)
    this.#retries.settled(seq)
    this.#tell('retry', { id: seq, type, attempt, error, delayMs })
  }

  #tellFailed (event) {
    this.#tell('failed', event)
    this.#tell('jobfailed', event.error, () => this.#records.entry(event.id))
  }

  #backoff (attempt, error) {
    try {
      const ms = this.#options.backoffMs(attempt, error)
      if (Number.isFinite(ms) && ms >= 0) return ms
      throw rangeError('FAIRLANE_ERR_OPTION', `backoffMs must give a time in ms, and it gave ${describe(ms)}`)
    } catch (err) {
      rethrow(err)
      return defaultBackoffMs(attempt)
    }
  }

  /** Makes a dead letter of a job. @returns {object} what `failed` is to be told */
  #bury (seq, type, attempt, error) {
    this.#counts.failed++
    this.#dead.add(seq, attempt, error)
    this.#left(seq)
    return { id: seq, type, attempt, error }
  }

  /** Takes a job off the disk. */
  #finish (seq) {
    this.#outage.finish(seq)
    this.#left(seq)
    this.#admission.freed()
  }

  #left (seq) {
    this.#retries.settled(seq)
    this.#flushes.settled(seq)
  }

  #listRetries (type) {
    const all = this.#retries.list()
    if (type === undefined) return all
    const name = readType(type)
    return all.filter(job => (job.type ?? '') === name)
  }

  * #entries (waiting, retries) {
    for (const { payload, type } of waiting) yield this.#records.entry(payload, type)
    for (const { seq, type } of retries) yield this.#records.entry(seq, type)
  }

  /** Takes jobs out of the queue for good. @returns {number} how many */
  #cancel (take, retries, makeError) {
    const jobs = []
    const isNested = this.#isCancelling
    this.#isCancelling = true
    try {
      this.#stage.withdraw(take, job => jobs.push(job))
      return this.#cancelJobs(jobs, this.#retries.remove(retries), makeError)
    } finally {
      this.#isCancelling = isNested
      this.#emptied()
    }
  }

  /** Jobs were taken out of the queue for good. */
  #cancelJobs (jobs, retries, makeError) {
    const taken = jobs.concat(retries.map(({ seq }) => seq))
    const held = taken.filter(job => idOf(job) === undefined)
    // first, for writing others may have them written
    for (const job of held) this.#intake.cancel(job, makeError())
    this.#store.log.commitNow(false)
    // what could not be written just now is no job: its push tells
    const all = taken.filter(job => !this.#isGone(job))
    this.#counts.cancelled += all.length
    const isHeard = this.listenerCount('cancelled') > 0 || !this.#isOpen
    const events = isHeard ? all.map(job => ({ id: idOf(job), type: this.#records.typeIfReadable(job), error: makeError() })) : []
    if (this.#error === undefined) {
      for (const job of all) if (idOf(job) !== undefined) this.#finish(idOf(job))
      this.#store.log.commitNow(false)
    }
    if (held.length > 0) this.#admission.freed()
    for (const event of events) this.#tell('cancelled', event)
    return all.length
  }

  /** Whether a job in the queue could not be written: it is about to be taken out. */
  #isGone (job) {
    return idOf(job) !== undefined && !this.#store.table.find(idOf(job))
  }

  #changeDead (id, method, change) {
    if (!Number.isInteger(id)) throw typeError('FAIRLANE_ERR_ARGUMENT', `${method}: the id must be a number, not ${describe(id)}`)
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.closed) return Promise.reject(closedError())
    if (!this.#dead.seqs.has(id)) return Promise.resolve(false)
    try {
      return this.#outage.safe(change()).then(() => this.#whenTold).then(() => true)
    } catch (err) {
      return Promise.reject(err) // its record can not be read
    }
  }

  #waitForAll (callback) {
    this.#admission.afterHeld(() => {
      const { table, nextSeq } = this.#store
      this.#flushes.add(callback, nextSeq, this.#isOver ? 0 : table.size - this.#dead.size)
    })
  }

  /** No job is left, perhaps. */
  #emptied () {
    if (this.#retries === undefined || this.#isCancelling || this.length > 0) return
    if (this.#drainedAt !== this.#counts.accepted) {
      this.#drainedAt = this.#counts.accepted
      if (this.#drain !== null) this.#stage.call(this.#drain)
      this.#tell('drain')
    }
    if (this.length === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  /** Jobs that could not be written stand in the queue: they go, all that failed together at once. */
  #revert (job) {
    if (this.#error !== undefined) return
    if (this.#reverted.size === 0) queueMicrotask(() => this.#removeReverted())
    this.#reverted.add(job)
  }

  #removeReverted () {
    const reverted = this.#reverted
    this.#reverted = new Set()
    this.#stage.withdraw(list => list.remove(job => reverted.has(job)), ignore)
    this.#counts.accepted -= reverted.size
    for (const job of reverted) this.#left(idOf(job))
    this.#admission.freed()
    this.#emptied()
  }

  #failedLog (err) {
    this.#error = err
    if (this.#intake === undefined) return
    this.#records.end(err)
    this.#admission.fail(err)
    this.#outage.stop(err)
    this.#attempts.end()
    // not in the middle of what the log is about
    queueMicrotask(() => {
      warn('FAIRLANE_ERR_IO', `A durable queue closes, since its log failed. ${err.message}`)
      this.#close(false)
    })
  }

  #close (drain, timeoutMs, cause) {
    if (this.#closing === undefined) {
      this.#retries.stop()
      this.#admission.freed()
      this.#closing = this.#end(this.#stage.close(true))
      this.#closing.catch(ignore)
    }
    if (!drain) this.#abandon(timeoutMs, cause)
    else if (timeoutMs !== undefined) this.#limit(timeoutMs)
    return this.#closing
  }

  #limit (timeoutMs) {
    const limit = { position: -1, order: 0, whenDue: () => this.#abandon() }
    this.#closeLimits.push(limit)
    this.#stage.deadlines.addAnyway(limit, timeoutMs)
  }

  /** Leaves on disk what waits, and gives up what runs. */
  #abandon (timeoutMs, cause) {
    this.#outage.giveUp()
    this.#retries.remove(this.#retries.list())
    this.#stage.withdraw(list => list.removeAll(), ignore)
    this.#stage.close(false, timeoutMs, cause)
  }

  async #end (idle) {
    const abandonedCount = await idle
    this.#stopListening()
    // not before: one that kills the process until then has had its attempt
    if (this.#error === undefined) for (const delivery of this.#abandoned) this.#attempts.uncount(delivery)
    await this.#admission.writeHeld()
    await this.#outage.close()
    for (const limit of this.#closeLimits) this.#stage.deadlines.remove(limit)
    await this.#store.close().catch(err => { this.#error ??= err })
    if (this.#outage.isLosing) this.#error ??= this.#outage.error
    this.#over()
    this.#flushes.end()
    this.#admission.freed()
    this.#emptied()
    this.#tell('close', abandonedCount, this.#error)
    if (this.#error !== undefined) throw this.#error
    return abandonedCount
  }

  /** Nothing can be written any more. */
  #over () {
    this.#isOver = true
    this.#records.end(this.#error ?? closedError())
    this.#retries.remove(this.#retries.list())
  }

  #closeBy (signal) {
    this.#stopListening = this.#stage.whenAborted(signal, () => { this.#close(false, undefined, { cause: signal.reason }) })
  }

  /** Tells listeners, in the context of nobody's push; what they throw is theirs. */
  #tell (event, value, makeMore) {
    if (!this.#isOpen) {
      this.#untold.push([event, value, makeMore])
      return
    }
    if (this.#untold.length > 0) this.#tellOpening()
    if (this.listenerCount(event) === 0) return
    const more = typeof makeMore === 'function' ? makeMore() : makeMore
    this.#stage.call(() => this.emit(event, value, more))
  }

  #tellOpening () {
    for (const [event, value, makeMore] of this.#untold.splice(0)) this.#tell(event, value, makeMore)
  }

  #requireNoScheduler (method) {
    if (this.#hasTypes) throw typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler takes jobs by ${method}Type`)
  }
}

/** @throws FAIRLANE_ERR_TYPE also if it is no text that can be written and read back as it is */
function readStorableType (type) {
  const name = readType(type)
  if (name.isWellFormed()) return name
  throw typeError('FAIRLANE_ERR_TYPE', `the type of a job on disk must be well-formed Unicode, and ${describe(name)} is not`)
}

function ignore () {}

module.exports = { durable, DurableQueue }
