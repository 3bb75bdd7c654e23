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

const { typeError } = require('../arguments/errors')
const { readText } = require('../arguments/fields')
const { behindOthers } = require('../platform/promised')
const { KeptQueue, options: { readCallback, readJobType, readPausableType, readType } } = require('../core/internals')
const { files } = require('../log/files')
const { lock } = require('../log/lock')
const {
  readAddOptions, readBatch, readClearOptions, readDeadLettersOptions, readId, readJobOptions, readPushOptions, readRunningOptions,
  readStorableType, readTypesOptions, readWaitOptions
} = require('./options')
const { prepare } = require('./parts')
const { refuseUnsupported } = require('./unsupported')

const SYSTEM = { files, lock, now: Date.now }
const MADE_BY_DURABLE = Symbol('durable')

/**
 * Opens a queue of jobs on disk. Jobs that are in it begin to run in a later turn of the event loop. Options are in index.d.ts.
 * @param {(payload: any, done: (err?: any, result?: any) => void, context: object) => any} runner
 * @returns {Promise<DurableQueue>} rejects with FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_VERSION, FAIRLANE_ERR_SERIALIZER,
 *   FAIRLANE_ERR_IO
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
  if (!parts.isVisited) parts.core.resume()
  if (signal !== undefined) parts.closing.closeBy(signal)
  return queue
}

/**
 * Opens a queue for somebody who has no runner, and looks at it or changes single jobs: none starts, nothing is decided about jobs by what
 * time it is or how often they were tried, and schedules push nothing.
 * @param {object} options as of durable(); serialize is taken for that of the jobs, and not noted
 * @returns {Promise<DurableQueue>} rejects as durable()
 */
function openVisited (options, environment = SYSTEM) {
  const read = readJobOptions(options)
  const visited = { ...read, jobs: { ...read.jobs, isVisited: true } }
  return open(prepare(ignore, visited, environment, parts => new DurableQueue(MADE_BY_DURABLE, parts)))
}

/** Made by durable(). What its parts do is in the files of their names; its events are in index.d.ts. */
class DurableQueue extends KeptQueue {
  #parts
  #core

  constructor (key, parts) {
    if (key !== MADE_BY_DURABLE) throw typeError('FAIRLANE_ERR_ARGUMENT', 'use durable() to make a DurableQueue')
    super(parts.core, {
      checkSlots (method) {
        if (parts.isVisited && method === 'resume') throw typeError('FAIRLANE_ERR_RUNNER', 'resume: this queue was opened to run nothing')
      },
      isClosed: () => parts.status.isClosed,
      slotsChanged () {
        if (parts.isVisited) parts.core.pause()
        if (parts.core.paused) parts.attempts.recall(() => true)
      },
      typePaused: type => parts.attempts.recall(({ slot }) => slot.type === type),
      typeResumed () {},
      noType: undefined,
      checkUntyped,
      readType: readStorableType,
      readPushOptions: (options, method) => readPushOptions(options, method, parts.hasLevels),
      readAddOptions: options => readAddOptions(options, parts.hasLevels),
      readId,
      push: (type, payload, atHead, jobOptions) => {
        parts.limits.accept(type, jobOptions)
        return parts.intake.push(type, payload, atHead, jobOptions)
      },
      add: (type, payload, atHead, jobOptions, signal) => {
        parts.limits.accept(type, jobOptions)
        return parts.adding.add(type, payload, atHead, jobOptions, signal)
      },
      mapping: type => parts.listing.mapping(type),
      get: id => parts.jobs.get(id),
      cancel: id => parts.jobs.cancel(id),
      retryDead: id => parts.deadLetters.retry(id),
      deleteDead: id => parts.deadLetters.delete(id),
      close: (drain = false, timeoutMs) => parts.closing.close(drain, timeoutMs)
    })
    this.#parts = parts
    this.#core = parts.core

    function checkUntyped (method) {
      if (parts.hasTypes) throw typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler needs a type; use ${method}Type`)
    }
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
   * As push or pushType of each of the jobs: all of them are taken in or none, also after a crash. The array and the payloads are read
   * before it returns. @param {object[]} jobs each with its payload, its type and options of push @returns {Promise<number[]>} their ids,
   * when all are safe; rejects as push @throws as push; then none is pushed
   */
  pushAll (jobs) {
    const read = readBatch(jobs, this.#parts.hasLevels)
    for (const job of read) {
      job.type = readTypeOf(job, this.scheduler)
      this.#parts.limits.accept(job.type, job.jobOptions)
    }
    return this.#parts.pushAll.push(read)
  }

  /**
   * Starts no job of a type for so many ms; 0 ends that. Jobs that have a slot and are not safe yet wait again. A hold ends with the
   * process.
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

  /**
   * In how many ms a job (of a type) might start as far as rates and holds go; 0: now.
   * @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE
   */
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
   * The jobs that wait, in order, and behind them those that are to be tried later. Payloads are read, blocking, when they are asked for;
   * without a scheduler so are types. O(waiting).
   * @returns {IterableIterator<{ id: number | undefined, type: string | undefined, payload: any }>} no id: it is not written yet
   * @throws FAIRLANE_ERR_TYPE
   */
  jobs (type) {
    return this.#parts.listing.jobs(type === undefined ? undefined : readType(type))
  }

  /**
   * Cancels waiting jobs; the operating system has it when it returns. O(waiting). @returns {number} how many
   * @throws FAIRLANE_ERR_ARGUMENT, and what test throws: then none is cancelled
   */
  remove (test) {
    return this.#parts.cancelling.remove(test)
  }

  /** As remove, all waiting jobs or those of one type; with `dead` dead letters, too. @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  clear (options) {
    return this.#parts.cancelling.clear(readClearOptions(options))
  }

  /**
   * Adds a schedule, or changes that of its name; null removes it. Jobs that it has pushed stay.
   * @param {string} name
   * @param {object | null} schedule as one of the option `schedules`
   * @returns {Promise<void>} when that is safe; rejects with FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_IO
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER
   */
  setSchedule (name, schedule) {
    const { readSchedule, schedules } = this.#parts
    if (schedule === null) return schedules.remove(readText(name, 'setSchedule: the name', 'FAIRLANE_ERR_ARGUMENT'))
    return schedules.set(readSchedule(name, schedule))
  }

  /**
   * Pushes a job of a schedule now; its times stay as they are.
   * @returns {Promise<number>} its id, when it is safe; rejects as push, and with FAIRLANE_ERR_ARGUMENT if there is no such schedule
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  runSchedule (name) {
    return this.#parts.schedules.run(readText(name, 'runSchedule: the name', 'FAIRLANE_ERR_ARGUMENT'))
  }

  /**
   * A schedule pushes nothing at its times, until resumeSchedule() or setSchedule(), also when the queue is opened again, unless the option
   * `schedules` says another one then. @returns {Promise<void>} when that is safe; rejects as runSchedule @throws FAIRLANE_ERR_ARGUMENT
   */
  pauseSchedule (name) {
    return this.#parts.schedules.pause(readText(name, 'pauseSchedule: the name', 'FAIRLANE_ERR_ARGUMENT'), true)
  }

  /** It does again; times that have passed meanwhile are over. Returns and throws as pauseSchedule(). */
  resumeSchedule (name) {
    return this.#parts.schedules.pause(readText(name, 'resumeSchedule: the name', 'FAIRLANE_ERR_ARGUMENT'), false)
  }

  /**
   * The schedules, with the next time of each and the last one whose job was pushed, in ms since 1970.
   * @returns {Promise<{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]>}
   */
  listSchedules () {
    return this.#parts.schedules.list()
  }

  /**
   * The jobs that will not be tried again, the oldest first; those of a `type`, at most `limit`, behind the one with the id `after`.
   * Payloads are read, blocking, when they are asked for.
   * @returns {Promise<object[]>} rejects with FAIRLANE_ERR_CLOSED once it has closed, FAIRLANE_ERR_IO
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  deadLetters (options) {
    return this.#parts.deadLetters.list(readDeadLettersOptions(options))
  }

  /**
   * The jobs whose runners go on, those first that have run longest; those of a `type`, at most `limit`. O(slots)
   * @returns {Promise<{ id: number, type: string | undefined, attempt: number, startedAt: undefined, overdue: boolean }[]>} a history knows
   *   since when; rejects with FAIRLANE_ERR_CLOSED once it has closed
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  listRunning (options) {
    return this.#parts.jobs.running(readRunningOptions(options))
  }

  /**
   * The result of a job that was pushed: the promise is that of add(), for whoever knows the id.
   * @param {number} id
   * @param {{ signal?: AbortSignal }} [options] signal: waits no longer; nothing becomes of the job by that
   * @returns {Promise<any>} rejects with what the job ended with; FAIRLANE_ERR_RESULT if it has ended, and its result is not kept
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  wait (id, options) {
    const { signal } = readWaitOptions(options)
    return this.#parts.adding.wait(readId(id, 'wait'), signal)
  }

  /**
   * What the queue has: jobs, or those of a type and what limits them.
   * @returns {Promise<object>} O(1), or O(slots) of a type @throws FAIRLANE_ERR_TYPE
   */
  counts (type) {
    return this.#parts.listing.counts(type === undefined ? undefined : readType(type))
  }

  /** The types that have jobs or dead letters, those with most of them first. O(types × log types). @returns {Promise<object[]>} */
  types (options) {
    return this.#parts.listing.types(readTypesOptions(options))
  }

  /** What became of jobs since the queue was opened; of a type, since it had no jobs. O(1). @throws FAIRLANE_ERR_TYPE */
  stats (type) {
    if (type !== undefined) return this.#parts.listing.statsOf(readType(type))
    const { rejected, misuse, overrun, overdue, running, types, groups } = this.#core.stats()
    const { counts, retries, dead, limiting: { heldTypes }, hasTypes } = this.#parts
    const { accepted, done, failed, cancelled, retried, throttled, joined, spent } = counts
    return {
      accepted,
      rejected: rejected + counts.rejected,
      done,
      failed,
      cancelled,
      retried,
      throttled,
      joined,
      misuse,
      overrun,
      running,
      overdue,
      waiting: this.waiting,
      types: hasTypes ? types : 0,
      groups,
      delayed: retries.size,
      dead: dead.size,
      heldTypes,
      spent
    }
  }

  /** Why the next job of a type does not start now. O(log types + slots). @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  explain (type, options) {
    return this.#parts.explaining.explain(type, options)
  }

  /** Bytes of all segments. */
  diskBytes () {
    return this.#parts.store.log.bytes
  }

  /** @returns {Promise<void>} resolves when all up to now is on the disk, as after close(); rejects with FAIRLANE_ERR_IO */
  async flush () {
    const { admission, outage, status, store } = this.#parts
    if (!status.isOver) await new Promise(resolve => admission.afterBuffered(resolve))
    if (status.error !== undefined) throw status.error
    if (!status.isOver) await store.log.flush()
    if (store.unwritten.size > 0) throw outage.error
  }

  #waitForAll (callback) {
    const { admission, dead, flushes, status, store } = this.#parts
    admission.afterBuffered(() => flushes.add(callback, store.nextSeq, status.isOver ? 0 : store.live.jobsCount - dead.size))
  }
}

refuseUnsupported(DurableQueue.prototype)

/* istanbul ignore next: nothing starts */
function ignore () {}

function readTypeOf ({ type }, scheduler) {
  const name = readJobType(type, scheduler, 'pushAll')
  return name === undefined ? undefined : readStorableType(name)
}

module.exports = { durable, openVisited, DurableQueue }
