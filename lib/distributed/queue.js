'use strict'

// The public class: it checks every argument, then delegates. index.d.ts and docs/reference/distributed.md document each method.
//
//   push ─▶ intake ─▶ broker ─▶ crew ─▶ token in the queue in memory ─▶ slot ─▶ attempts ─▶ broker ─▶ notice ─▶ results
//
// Promises: a job whose push was acknowledged is run until it is done, dead or cancelled, as long as the broker keeps its data; each add()
// settles once, and is told a result only when the broker has the end of the job.

const { closedError, typeError } = require('../arguments/errors')
const { readText } = require('../arguments/fields')
const {
  KeptQueue, groupIn, innerQueueOf, makeInnerQueue,
  options: { readExplainOptions, readJobType, readOptions: readQueueOptions, readType, typeRequired }
} = require('../core/internals')
const { Broker } = require('./broker/broker')
const { unknown } = require('./calls/explaining')
const { end } = require('./closing')
const { brokerError } = require('./broker/failures')
const { readCap, readHoldMs, readNewRates } = require('./limits/options')
const { processName } = require('./names')
const {
  readAddOptions, readBatch, readClearOptions, readDeadLettersOptions, readId, readOptions, readPushOptions, readRunningOptions,
  readSchedule, readStorableType, readTypesOptions, readWaitOptions
} = require('./options')
const { NO_COUNTS } = require('./outcomes')
const { checkObservers, observe } = require('./worker/observed')
const { makeParts } = require('./parts')
const { loadPeers } = require('./broker/peers')
const { DRAIN, refuseUnsupported, unsupported } = require('./unsupported')

const MADE_BY_DISTRIBUTED = Symbol('distributed')

/**
 * Opens a queue of jobs at a broker.
 * @param {Function | null} runner as that of a queue in memory; null in a process that only pushes
 * @param {object} options those of a queue in memory, and those of options.js
 * @returns {Promise<DistributedQueue>} rejects with FAIRLANE_ERR_PEER, FAIRLANE_ERR_BROKER, FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION,
 *   FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
async function distributed (runner, options) {
  return DistributedQueue.open(MADE_BY_DISTRIBUTED, runner, options)
}

/**
 * Opens a queue for somebody who looks at it, or changes single jobs, and has no part in what its processes do: it writes no limits, and
 * does nothing for schedules. @returns {Promise<{ queue: DistributedQueue, parts: object }>} rejects as distributed()
 */
async function openVisited (options) {
  let parts
  const queue = await DistributedQueue.open(MADE_BY_DISTRIBUTED, null, options, made => { parts = made })
  return { queue, parts }
}

class DistributedQueue extends KeptQueue {
  #runner
  #options
  #read // those of the slots
  #core // the queue in memory: its payloads are tokens of types
  #stage // what of it is not public
  #broker
  #parts
  #pausedTypes = new Set()
  #closing
  #cause // { cause } of the errors from then on, if a signal has closed it
  #observed // what tells observers of runs, if there are any
  #stopListening = ignore // to the option `signal`

  static open (key, runner, options, whenVisited) {
    const read = readOptions(options)
    const queue = new DistributedQueue(key, runner, read)
    return queue.#open(read, whenVisited)
  }

  constructor (key, runner, { jobs, queue } = {}) {
    if (key !== MADE_BY_DISTRIBUTED) throw typeError('FAIRLANE_ERR_ARGUMENT', 'use distributed() to make a DistributedQueue')
    const read = readQueueOptions(queue)
    checkObservers(read.observers, runner)
    const start = typeof runner === 'function' ? (token, done, slot) => this.#parts.worker.start(token, done, slot) : runner
    const core = makeInnerQueue(runner === null ? ignore : start, queue)
    super(core, {
      checkSlots (method) {
        if (runner === null) throw typeError('FAIRLANE_ERR_RUNNER', `${method}: this process has no runner; call it in one that has`)
      },
      isClosed: () => this.#closing !== undefined,
      slotsChanged () {},
      typePaused: type => this.#pausedTypes.add(type),
      typeResumed: type => this.#pausedTypes.delete(type),
      noType: '',
      checkUntyped (method) {
        if (core.scheduler !== null) throw typeRequired(method)
      },
      readType: readStorableType,
      readPushOptions,
      readAddOptions (options) {
        const { type, unshift, signal, ...jobOptions } = readAddOptions(options)
        return { type, unshift, signal, jobOptions }
      },
      readId,
      push: (type, payload, atHead, jobOptions) => this.#parts.adding.push(type, payload, atHead, jobOptions),
      add: (type, payload, atHead, jobOptions, signal) => this.#parts.adding.add(type, payload, atHead, jobOptions, signal),
      mapping: type => this.#parts.intake.mapping(this.#broker.place(type), () => this.closed),
      get: id => this.#ask(({ jobs }) => jobs.get(id)),
      cancel: id => this.#ask(({ jobs }) => jobs.cancel(id)),
      retryDead: id => this.#ask(({ deadLetters }) => deadLetters.retry(id)),
      deleteDead: id => this.#ask(({ deadLetters }) => deadLetters.delete(id)),
      close: (drain, timeoutMs) => {
        if (drain === true) throw unsupported('close({ drain: true })', ...DRAIN)
        return this.#close(timeoutMs)
      }
    })
    this.#runner = runner
    this.#options = jobs
    this.#read = read
    this.#core = core
    this.#stage = innerQueueOf(core, (token, err, result) => this.#parts.worker.settled(token, err, result))
  }

  /** Slots of this process in which a runner runs, be its job over or not. */
  get running () {
    return (this.#parts.worker?.runningCount ?? 0) + this.#stage.dispatch.overdueCount
  }

  /** @returns {Promise<void>} resolves when every push up to now is stored or was rejected */
  flush () {
    return this.#parts.adding.flush()
  }

  /** No process starts a job of the type, or any job, until resumeGlobal(). @returns {Promise<void>} */
  pauseGlobal (type) {
    return this.#pauseAll(type, true)
  }

  resumeGlobal (type) {
    return this.#pauseAll(type, false)
  }

  /** At most n jobs of the type run at once, in all processes; Infinity: as many as there are slots. @returns {Promise<void>} */
  setGlobalCap (type, n) {
    const name = readStorableType(type)
    const cap = readCap(n, 'the cap')
    return this.#ask(({ limits }) => limits.setCap(name, cap))
  }

  /** At most n jobs run at once, in all processes; Infinity: as many as there are slots. @returns {Promise<void>} */
  setGlobalConcurrency (n) {
    const read = readCap(n, 'the concurrency')
    return this.#ask(({ limits }) => limits.setConcurrency(read))
  }

  /** Replaces the rates that are given, in all processes; null: none. @returns {Promise<void>} */
  setRates (rates) {
    const read = readNewRates(rates)
    return this.#ask(({ limits }) => limits.setRates(read))
  }

  /** No process starts a job for so long; 0 ends that. @returns {Promise<void>} */
  hold (ms) {
    const read = readHoldMs(ms)
    return this.#ask(({ limits }) => limits.hold(read))
  }

  /** The same of a type. @returns {Promise<void>} */
  holdType (type, ms) {
    const name = readStorableType(type)
    const read = readHoldMs(ms)
    return this.#ask(({ globals }) => globals.hold(name, read))
  }

  /** In how many ms a job, or one of the type, might start; 0: now. @returns {Promise<number>} */
  heldMs (type) {
    const name = type === undefined ? undefined : readStorableType(type)
    return this.#ask(async ({ globals, limits }) => {
      const ofType = name === undefined ? 0 : (await globals.countsOfType(name)).heldMs
      return Math.max(ofType, await limits.heldMs())
    })
  }

  /** Has jobs of a type found that another tool has added. @returns {Promise<void>} resolves when processes that run jobs are told */
  announce (type) {
    const name = readStorableType(type)
    return this.#ask(({ intake }) => intake.announce(this.#broker.place(name)))
  }

  /**
   * As push or pushType of each of the jobs: those of a type are taken in all or none, and none if one is refused by what this process
   * knows. The array and the payloads are read before it returns.
   * @param {object[]} jobs each with its payload, its type and options of push
   * @returns {Promise<string[]>} their ids; rejects as push, with `ids` of what was stored if a part of the broker failed
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE_REQUIRED, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TOO_LARGE
   */
  pushAll (jobs) {
    const read = readBatch(jobs)
    for (const job of read) {
      const type = readJobType(job.type, this.scheduler, 'pushAll')
      job.type = type === undefined ? '' : readStorableType(type)
    }
    return this.#parts.adding.pushAll(read)
  }

  /**
   * The result of a job that was pushed, by whichever process, as long as it is kept.
   * @param {string} id
   * @param {{ signal?: AbortSignal }} [options] the wait ends when it aborts; the job goes on
   * @returns {Promise<any>} rejects with what the job failed with, FAIRLANE_ERR_RESULT if that is not kept, FAIRLANE_ERR_ABORTED,
   *   FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_BROKER @throws FAIRLANE_ERR_ARGUMENT
   */
  wait (id, options) {
    const { signal } = readWaitOptions(options)
    return this.#parts.adding.wait(readId(id, 'wait'), signal)
  }

  /** Counts of this process. */
  stats (type) {
    const { worker, outcomes } = this.#parts
    if (type !== undefined) {
      const place = this.#broker.places.get(readType(type))
      const { running = 0, counts = NO_COUNTS } = place ?? {}
      const overdue = worker?.overdueOf(type) ?? 0
      const prefetched = worker?.prefetchedOf(type) ?? 0
      return { ...counts, running: running + overdue, overdue, prefetched, ...groupIn(this.#core, type) }
    }
    const { misuse, overrun, overdue, groups } = this.#core.stats()
    return { ...outcomes.counts, running: this.running, overdue, prefetched: worker?.prefetchedCount ?? 0, misuse, overrun, groups }
  }

  /** What the broker has. O(types) without a type. */
  counts (type) {
    if (type === undefined) return this.#ask(({ globals }) => globals.counts())
    const name = readStorableType(type)
    return this.#ask(({ globals }) => globals.countsOfType(name))
  }

  /** The types that have jobs, the largest first. O(types). */
  types (options) {
    const { limit } = readTypesOptions(options)
    return this.#ask(({ globals }) => globals.types(limit))
  }

  /**
   * Why the next job of a type does not start now, as far as this process can know. Never rejects for want of the broker.
   * @param {unknown} [type] jobs that were pushed without one have none @returns {Promise<object>}
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  explain (type, options) {
    const name = type === undefined && this.scheduler === null ? '' : readStorableType(type)
    const wishes = readExplainOptions(options)
    if (this.closed) return Promise.resolve(unknown(name, 'closed'))
    return this.#ask(async ({ explaining }) => {
      const told = await explaining.explain(name, wishes)
      return this.closed ? unknown(name, 'closed') : told
    })
  }

  /** Jobs that will not be tried again, the oldest first, behind the one with the id `after`. */
  deadLetters (options) {
    const read = readDeadLettersOptions(options)
    return this.#ask(({ deadLetters }) => deadLetters.list(read))
  }

  /**
   * The jobs that run, in whatever process, and runners that go on although their jobs have ended; those first that were taken first.
   * @returns {Promise<{ id: string | undefined, type: string, attempt: number | undefined, startedAt: number, overdue: boolean }[]>} those
   *   that are overdue have neither id nor attempt @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE
   */
  listRunning (options) {
    const read = readRunningOptions(options)
    return this.#ask(({ runs }) => runs.list(read))
  }

  /**
   * Adds a schedule, or changes that of its name; null removes it. Jobs that it has pushed stay.
   * @returns {Promise<void>} when the broker has it @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER
   */
  setSchedule (name, schedule) {
    if (schedule !== null) {
      const read = readSchedule(name, schedule, this.#options)
      return this.#ask(({ scheduling }) => scheduling.schedules.set(read))
    }
    const known = readText(name, 'setSchedule: the name', 'FAIRLANE_ERR_ARGUMENT')
    return this.#ask(({ scheduling }) => scheduling.schedules.remove(known))
  }

  /** Pushes a job of a schedule now; its times stay as they are. @returns {Promise<string>} its id @throws FAIRLANE_ERR_ARGUMENT */
  runSchedule (name) {
    const known = readText(name, 'runSchedule: the name', 'FAIRLANE_ERR_ARGUMENT')
    return this.#ask(({ scheduling }) => scheduling.schedules.run(known))
  }

  /**
   * A schedule pushes nothing at its times, until resumeSchedule() or setSchedule(). @returns {Promise<void>} rejects as runSchedule
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  pauseSchedule (name) {
    const known = readText(name, 'pauseSchedule: the name', 'FAIRLANE_ERR_ARGUMENT')
    return this.#ask(({ scheduling }) => scheduling.schedules.pause(known, true))
  }

  /** It does again; times that have passed meanwhile are over. Returns and throws as pauseSchedule(). */
  resumeSchedule (name) {
    const known = readText(name, 'resumeSchedule: the name', 'FAIRLANE_ERR_ARGUMENT')
    return this.#ask(({ scheduling }) => scheduling.schedules.pause(known, false))
  }

  /**
   * The schedules, with the next time of each and the last one whose job was pushed, in ms since 1970.
   * @returns {Promise<{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]>}
   */
  listSchedules () {
    return this.#ask(({ scheduling }) => scheduling.schedules.list())
  }

  /** Takes waiting and delayed jobs away; with `dead` the dead letters, too. @returns {Promise<number>} how many */
  clear (options) {
    const { type, dead, reason } = readClearOptions(options)
    const name = type === undefined ? undefined : readStorableType(type)
    return this.#ask(({ globals }) => globals.clear({ type: name, dead, reason }))
  }

  /**
   * How this process gets on with the broker, which it asks for that. Never rejects.
   * @returns {Promise<object>} `{ connected, lastAnswerAt, lastKeeperWalkAt, lastError, lastErrorAt, partitions }`
   */
  health () {
    return this.#parts.health.look()
  }

  /** @returns {Promise<void>} resolves when nothing waits, is delayed or runs anywhere. Asks the broker, O(types): for tests and scripts */
  onIdle () {
    return this.#ask(({ globals, worker }) => this.flush().then(() => globals.whenIdle()).then(() => worker?.whenTold()))
  }

  /** @param {(parts: object) => void} [whenVisited] given by who has no part in what the processes of the queue do */
  async #open ({ jobs, queue }, whenVisited) {
    const broker = this.#broker = new Broker({ ...jobs, token: processName() }, loadPeers(), error => this.#tell('error', () => error))
    await broker.open()
    try {
      this.#observed = observe(this, this.#read.observers, this.#read.clock)
      const given = { broker, core: this.#core, observed: this.#observed, stage: this.#stage }
      const isPaused = type => this.#core.paused || this.#pausedTypes.has(type)
      const isHeard = event => this.listenerCount(event) > 0
      const isClosed = () => this.closed
      const makeClosedError = () => closedError(this.#cause)
      const options = { ...this.#read, ...jobs, token: broker.token, runner: this.#runner, isPaused, isHeard, isClosed, makeClosedError }
      this.#parts = makeParts(given, options, (event, makeValue) => this.#tell(event, makeValue))
      if (whenVisited === undefined) {
        await this.#parts.limits.open()
        await this.#parts.scheduling.open()
      } else {
        this.#parts.limits.visit()
        whenVisited(this.#parts)
      }
      await this.#parts.worker?.open()
    } catch (err) {
      this.#parts?.worker?.stop().catch(ignore)
      this.#parts?.scheduling.stop()?.catch(ignore)
      this.#parts?.limits.stop()
      broker.disconnect()
      throw brokerError(err)
    }
    this.#parts.forgetting.begin()
    this.#parts.worker?.begin()
    this.#parts.keeper?.begin()
    if (queue.signal !== undefined) this.#closeBy(queue.signal)
    return this
  }

  #pauseAll (type, isPaused) {
    if (type === undefined) return this.#ask(({ limits }) => limits.pause(isPaused))
    const name = readStorableType(type)
    return this.#ask(({ globals }) => isPaused ? globals.pause(name) : globals.resume(name))
  }

  /** What runs may end until then; without a time for as long as it takes. */
  #close (timeoutMs, cause) {
    if (this.#closing === undefined) {
      this.#cause = cause
      this.#closing = this.#end()
    }
    if (timeoutMs === 0) this.#stage.close(false, undefined, cause)
    else if (timeoutMs !== undefined) this.#stage.close(true, timeoutMs)
    return this.#closing
  }

  async #end () {
    const abandonedCount = await end(this.#parts, {
      stage: this.#stage,
      whenIdle: () => this.#stopListening(),
      flush: () => this.flush()
    })
    this.#tell('close', () => abandonedCount)
    return abandonedCount
  }

  #closeBy (signal) {
    this.#stopListening = this.#stage.whenAborted(signal, () => { this.#close(undefined, { cause: signal.reason }) })
  }

  /** Tells listeners, if there are any; what they throw is theirs. */
  #tell (event, makeValue) {
    if (this.listenerCount(event) === 0) return
    const value = makeValue()
    this.#stage.call(() => this.emit(event, value))
  }

  async #ask (call) {
    if (this.closed) throw closedError(this.#cause)
    try {
      return await call(this.#parts)
    } catch (err) {
      throw brokerError(err)
    }
  }
}

refuseUnsupported(DistributedQueue.prototype)

function ignore () {}

module.exports = { distributed, openVisited, DistributedQueue }
