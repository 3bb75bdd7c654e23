'use strict'

// The public class: it checks every argument, then delegates. What is documented of each method is in index.d.ts and docs/distributed.md.
//
//   push ─▶ intake ─▶ broker ─▶ crew ─▶ token in the queue in memory ─▶ slot ─▶ attempts ─▶ broker ─▶ notice ─▶ results
//
// Promises: a job whose push was acknowledged is run until it is done, dead or cancelled, as long as the broker keeps its data; each add()
// settles once, and is told a result only when the broker has the end of the job.

const EventEmitter = require('eventemitter3')
const { abortedError, closedError, typeError } = require('../arguments/errors')
const { innerQueueOf, makeInnerQueue, options: { readClearOptions, readCloseOptions, readJobType, readOptions: readQueueOptions, readType, typeRequired } } = require('../core/internals')
const { Broker } = require('./broker/broker')
const { end } = require('./closing')
const { brokerError } = require('./broker/failures')
const { nameOf, processName } = require('./names')
const { readListOptions, readAddOptions, readCap, readHoldMs, readId, readOptions, readPushOptions, readRate } = require('./options')
const { NO_COUNTS } = require('./outcomes')
const { checkObservers, observe } = require('./worker/observed')
const { makeParts } = require('./parts')
const { loadPeers } = require('./broker/peers')
const { refuseUnsupported } = require('./unsupported')

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

class DistributedQueue extends EventEmitter {
  #runner
  #options
  #read // those of the slots
  #core // the queue in memory: its payloads are tokens of types
  #stage // what of it is not public
  #broker
  #parts
  #pausedTypes = new Set()
  #closing
  #observed // what tells observers of runs, if there are any
  #stopListening = ignore // to the option `signal`

  static open (key, runner, options) {
    const read = readOptions(options)
    const queue = new DistributedQueue(key, runner, read)
    return queue.#open(read)
  }

  constructor (key, runner, { jobs, queue } = {}) {
    if (key !== MADE_BY_DISTRIBUTED) throw typeError('FAIRLANE_ERR_ARGUMENT', 'a DistributedQueue is made by distributed()')
    super()
    const start = typeof runner === 'function' ? (token, done, slot) => this.#parts.worker.start(token, done, slot) : runner
    this.#runner = runner
    this.#options = jobs
    this.#read = readQueueOptions(queue)
    checkObservers(this.#read.observers, runner)
    this.#core = makeInnerQueue(runner === null ? ignore : start, queue)
    this.#stage = innerQueueOf(this.#core, (token, err, result) => this.#parts.worker.settled(token, err, result))
  }

  /** Jobs that run in this process. */
  get running () {
    return this.#parts.worker?.runningCount ?? 0
  }

  get paused () {
    return this.#worker('paused').paused
  }

  /** True from the first close() on. */
  get closed () {
    return this.#closing !== undefined
  }

  get scheduler () {
    return this.#core.scheduler
  }

  /** As that of a queue in memory, of this process. */
  get concurrency () {
    return this.#worker('concurrency').concurrency
  }

  set concurrency (value) {
    this.#worker('concurrency').concurrency = value
  }

  /** Queues a job behind all others of the type ''. @returns {Promise<string>} its id, when the broker has it and others are told */
  push (payload, options) {
    this.#requireNoScheduler('push')
    return this.#push('', payload, false, readPushOptions(options, 'push'))
  }

  /** Queues a job before all others of the type ''. */
  unshift (payload, options) {
    this.#requireNoScheduler('unshift')
    return this.#push('', payload, true, readPushOptions(options, 'unshift'))
  }

  pushType (type, payload, options) {
    return this.#push(readType(type), payload, false, readPushOptions(options, 'pushType'))
  }

  unshiftType (type, payload, options) {
    return this.#push(readType(type), payload, true, readPushOptions(options, 'unshiftType'))
  }

  /** Queues a job, for a promise of its result. */
  add (payload, options) {
    const { type, unshift, signal, ...job } = readAddOptions(options)
    return this.#add(readJobType(type, this.#core.scheduler, 'add') ?? '', payload, unshift, job, signal)
  }

  /** @returns {Promise<void>} resolves when every push up to now is stored or was rejected */
  flush () {
    const { intake, results } = this.#parts
    return results.whenOpen().then(() => intake.flush())
  }

  /** Starts no more jobs in this process until resume(). @returns {this} */
  pause () {
    this.#worker('pause').pause()
    return this
  }

  /** @returns {this} */
  resume (concurrency) {
    this.#worker('resume').resume(concurrency)
    return this
  }

  /** Starts no more jobs of a type in this process until resumeType(). @returns {this} */
  pauseType (type) {
    const name = readType(type)
    this.#worker('pauseType').pauseType(name)
    if (!this.closed) this.#pausedTypes.add(name)
    return this
  }

  /** @returns {this} */
  resumeType (type) {
    const name = readType(type)
    this.#worker('resumeType').resumeType(name)
    this.#pausedTypes.delete(name)
    return this
  }

  /** Whether no job of the type starts in this process until resumeType(). */
  isTypePaused (type) {
    return this.#worker('isTypePaused').isTypePaused(type)
  }

  /** No process starts a job of the type, until resumeGlobal(). @returns {Promise<void>} */
  pauseGlobal (type) {
    const name = readStorableType(type)
    return this.#ask(({ globals }) => globals.pause(name))
  }

  resumeGlobal (type) {
    const name = readStorableType(type)
    return this.#ask(({ globals }) => globals.resume(name))
  }

  /** At most n jobs of the type run at once, in all processes; Infinity: as many as there are slots. @returns {Promise<void>} */
  setGlobalCap (type, n) {
    const name = readStorableType(type)
    const cap = readCap(n, 'the cap')
    return this.#ask(({ globals }) => globals.setCap(name, cap))
  }

  /** At most so many starts of the type in a time, in all processes; null: any number. @returns {Promise<void>} */
  setGlobalRate (type, rate) {
    const name = readStorableType(type)
    const read = rate === null ? null : readRate(rate, 'the rate')
    return this.#ask(({ globals }) => globals.setRate(name, read))
  }

  /** No process starts a job of the type for so long; 0 ends that. @returns {Promise<void>} */
  holdType (type, ms) {
    const name = readStorableType(type)
    const read = readHoldMs(ms)
    return this.#ask(({ globals }) => globals.hold(name, read))
  }

  /** Another tool has added jobs of a type, of which nobody may know. @returns {Promise<void>} resolves when others are told */
  announce (type) {
    const name = readStorableType(type)
    return this.#ask(({ intake }) => intake.announce(this.#broker.place(name)))
  }

  /** Counts of this process. */
  stats (type) {
    const { worker, outcomes } = this.#parts
    if (type !== undefined) {
      const place = this.#broker.places.get(readType(type))
      const { running = 0, counts = NO_COUNTS } = place ?? {}
      return { ...counts, running, prefetched: worker?.prefetchedOf(type) ?? 0 }
    }
    const { misuse, overrun } = this.#core.stats()
    return { ...outcomes.counts, running: this.running, prefetched: worker?.prefetchedCount ?? 0, misuse, overrun }
  }

  /** What the broker has. O(types) without a type. */
  globalStats (type) {
    const name = type === undefined ? undefined : readStorableType(type)
    return this.#ask(({ globals }) => globals.stats(name))
  }

  /** The types that have jobs, the largest first. O(types). */
  globalTypes (options) {
    const { limit } = readListOptions(options, ['limit'], 200, 'globalTypes')
    return this.#ask(({ globals }) => globals.types(limit))
  }

  /** @returns {Promise<object | undefined>} a job, as it is at the broker */
  get (id) {
    const read = readId(id, 'get')
    return this.#ask(({ jobs }) => jobs.get(read))
  }

  /** @returns {Promise<boolean>} false if there is no such job that waits or runs */
  cancel (id) {
    const read = readId(id, 'cancel')
    return this.#ask(({ jobs }) => jobs.cancel(read))
  }

  deadLetters (options) {
    const { limit, type } = readListOptions(options, ['type', 'limit'], 1000, 'deadLetters')
    const name = type === undefined ? undefined : readStorableType(type)
    return this.#ask(({ jobs }) => jobs.deadLetters({ limit, type: name }))
  }

  retryDead (id) {
    const read = readId(id, 'retryDead')
    return this.#ask(({ jobs }) => jobs.retryDead(read))
  }

  deleteDead (id) {
    const read = readId(id, 'deleteDead')
    return this.#ask(({ jobs }) => jobs.deleteDead(read))
  }

  /** Takes waiting and delayed jobs away. @returns {Promise<number>} how many */
  clear (options) {
    const { type } = readClearOptions(options)
    const name = type === undefined ? undefined : readStorableType(type)
    return this.#ask(({ globals }) => globals.clear(name))
  }

  /** @returns {Promise<void>} resolves when nothing waits, is delayed or runs anywhere. Asks the broker, O(types): for tests and scripts */
  onIdle () {
    return this.#ask(({ globals, worker }) => this.flush().then(() => globals.whenIdle()).then(() => worker?.whenTold()))
  }

  /**
   * Refuses pushes, takes no more jobs, gives back what it holds, and waits for those that run.
   * @returns {Promise<number>} how many runners were abandoned
   */
  close (options) {
    const { drain, timeoutMs } = readCloseOptions(options)
    return this.#close(drain, timeoutMs)
  }

  [Symbol.asyncDispose] () {
    return this.close()
  }

  async #open ({ jobs, queue }) {
    const broker = this.#broker = new Broker(jobs, loadPeers(), error => this.#tell('error', error))
    await broker.open()
    try {
      this.#observed = observe(this, this.#read.observers, this.#read.clock)
      const given = { broker, core: this.#core, observed: this.#observed, stage: this.#stage }
      const isPaused = type => this.#core.paused || this.#pausedTypes.has(type)
      const options = { ...this.#read, ...jobs, token: processName(), runner: this.#runner, isPaused }
      this.#parts = makeParts(given, options, (event, value) => this.#tell(event, value))
      await this.#parts.worker?.open()
    } catch (err) {
      this.#parts?.worker?.stop().catch(ignore)
      broker.disconnect()
      throw brokerError(err)
    }
    this.#parts.forgetting.begin()
    this.#parts.worker?.begin()
    if (queue.signal !== undefined) this.#closeBy(queue.signal)
    return this
  }

  #push (type, payload, unshift, { jobName, delayMs }) {
    nameOf(type) // throws
    if (this.closed) return this.#refuse(undefined, closedError())
    const place = this.#broker.place(type)
    const name = jobName ?? this.#parts.names.next()
    const data = this.#options.serialize.encode(payload, undefined)
    const refusal = this.#refusal(place)
    if (refusal !== undefined) return this.#refuse(place, refusal)
    this.#parts.outcomes.count(place, 'accepted')
    if (jobName !== undefined) this.#parts.results.keep(place, name)
    return this.#parts.intake.push(place, { jobName: name, data, delayMs, unshift }).then(() => place.idOf(name))
  }

  #add (type, payload, unshift, { jobName, delayMs }, signal) {
    nameOf(type) // throws
    if (this.closed) return this.#refuse(undefined, closedError())
    const { results, intake } = this.#parts
    const place = this.#broker.place(type)
    const name = jobName ?? this.#parts.names.next()
    const data = this.#options.serialize.encode(payload, results.inbox)
    const refusal = signal?.aborted ? abortedError(signal.reason) : this.#refusal(place)
    if (refusal !== undefined) return this.#refuse(place, refusal)
    this.#parts.outcomes.count(place, 'accepted')
    return new Promise((resolve, reject) => {
      let letGo = ignore
      const waiter = results.add(place, name, (err, result) => {
        letGo()
        if (err) reject(err)
        else resolve(result)
      })
      const fail = err => results.settle(waiter, err)
      const stored = results.open().then(() => intake.push(place, { jobName: name, data, delayMs, unshift }))
      stored.then(() => results.stored(waiter), fail)
      if (signal === undefined) return
      letGo = this.#stage.whenAborted(signal, () => {
        fail(abortedError(signal.reason))
        stored.then(() => results.isWanted(waiter) ? false : this.#parts.jobs.desert(place, name, results.inbox)).catch(ignore)
      })
    })
  }

  /** After encoding, which may have closed the queue. */
  #refusal (place) {
    return this.closed ? closedError() : this.#parts.intake.refusal(place)
  }

  #refuse (place, error) {
    this.#parts.outcomes.count(place, 'rejected')
    this.#observed?.refused(place?.type, error)
    return Promise.reject(error)
  }

  #close (drain, timeoutMs, cause) {
    this.#closing ??= this.#end()
    if (!drain) this.#stage.close(false, timeoutMs, cause)
    else if (timeoutMs !== undefined) this.#stage.close(true, timeoutMs)
    return this.#closing
  }

  async #end () {
    const abandonedCount = await end(this.#parts, {
      stage: this.#stage,
      whenIdle: () => this.#stopListening(),
      flush: () => this.flush()
    })
    this.#tell('close', abandonedCount)
    return abandonedCount
  }

  #closeBy (signal) {
    this.#stopListening = this.#stage.whenAborted(signal, () => { this.#close(false, undefined, { cause: signal.reason }) })
  }

  /** Tells listeners; what they throw is theirs. */
  #tell (event, value) {
    if (this.listenerCount(event) > 0) this.#stage.call(() => this.emit(event, value))
  }

  async #ask (call) {
    if (this.closed) throw closedError()
    try {
      return await call(this.#parts)
    } catch (err) {
      throw brokerError(err)
    }
  }

  #worker (method) {
    if (this.#runner !== null) return this.#core
    throw typeError('FAIRLANE_ERR_RUNNER', `${method}: this process runs no jobs`)
  }

  #requireNoScheduler (method) {
    if (this.#core.scheduler !== null) throw typeRequired(method)
  }
}

refuseUnsupported(DistributedQueue.prototype)

/** @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TOO_LARGE */
function readStorableType (type) {
  const name = readType(type)
  nameOf(name)
  return name
}

function ignore () {}

module.exports = { distributed, DistributedQueue }
