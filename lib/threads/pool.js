'use strict'

// The threads, by piscina. It is given as many messages as it has threads that are there, so its own queue is empty.
//
//   send() ──▶ thread ──answer──▶ onAnswer
//                 └──ends──▶ lost ──another thread is there──▶ onLost
//
// A pool is worn when a thread ended before it was there, or did not load the module in time: piscina starts no others then, or only such.
// Its threads end when their messages have.

const { systemClock } = require('../platform/clock')
const { FairlaneError, typeError, failure } = require('../arguments/errors')
const { putTogether } = require('./failures')

const ENTRY = require.resolve('./entry')

/** A thread, until it has ended. */
class Thread {
  constructor () {
    this.hasLoaded = false // the module
    this.timer = undefined // until it has
    this.words = undefined // what ends it: an error, and the number of the message whose jobs run, if any do
    this.lost = [] // messages that it had when it ended
  }
}

class Pool {
  /**
   * @param {Function} Piscina
   * @param {string} url of the module
   * @param {{ threads: number, name: string, loadTimeoutMs: number, worker: object }} options
   * @param {object} hooks `onAnswer(message, answer)`, `onRefused(message, err)` (it could not be sent), `onFailed(message, err)` (it was,
   *   and has no answer), `onLost(message)`, each when the thread is idle, or another one is there; `onLoaded()`; `onWorn(err)`, and
   *   `onOver()` when it has no messages after that
   * @param {{ setTimeout: Function, clearTimeout: Function }} [clock]
   */
  constructor (Piscina, url, { threads, name, loadTimeoutMs, worker }, hooks, clock = systemClock) {
    this.size = threads
    this.loadTimeoutMs = loadTimeoutMs
    this.hooks = hooks
    this.clock = clock
    this.idleCount = threads // without a message
    this.messages = new Map() // by number: under way, or lost
    this.sentCount = 0
    this.lost = [] // those whose threads have ended, until others have taken their places
    this.workers = new Map() // → Thread; until they have ended
    this.isLosing = false // piscina is telling that a thread has ended
    this.losing = [] // the messages that it had
    this.isWorn = false
    this.ending = undefined
    this.lastError = undefined // that ended a thread
    this.piscina = newPiscina(Piscina, {
      ...worker,
      filename: ENTRY,
      name: 'run',
      argv: [...worker.argv ?? [], name, url],
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      recordTiming: false
    })
    this.piscina.on('workerCreate', () => queueMicrotask(() => this.giveBack())) // the thread is there a moment later
    this.piscina.on('workerDestroy', () => this.threadEnded())
    this.piscina.on('error', err => { this.lastError = err })
    this.look()
  }

  get threadCount () {
    return this.piscina.threads.length
  }

  /** All threads are there, and have loaded the module. */
  get isReady () {
    const { threads } = this.piscina
    return threads.length === this.size && threads.every(worker => this.workers.get(worker)?.hasLoaded)
  }

  /** To an idle thread. */
  send (message) {
    const parts = [message.number = this.sentCount++]
    const transferList = []
    for (const { payload, type, attempt, moved } of message.jobs) {
      parts.push(payload, type, attempt)
      if (moved !== undefined) transferList.push(...moved)
    }
    if (message.jobs.length > 1) parts.push(message.end()) // takes 0.5 µs
    this.idleCount--
    this.messages.set(message.number, message)
    this.piscina.run(parts, { transferList, signal: message })
      .then(answer => this.answered(message, answer), err => this.failed(message, err))
  }

  /** Ends the thread of a message, unless its answer is there. */
  stop (message) {
    const { listener } = message
    if (listener === undefined) return
    message.isLost = true
    message.listener = undefined
    listener()
    this.isLosing = false
  }

  /** Ends all threads. @returns {Promise<void>} of their ends, also of those that were ended before */
  end () {
    return (this.ending ??= this.endAll())
  }

  // private from here on

  /** One that was ended before may exit after piscina has destroyed all: it starts another one then, as long as it lives. */
  async endAll () {
    do {
      this.look()
      const exits = Array.from(this.workers.keys(), worker => new Promise(resolve => worker.once('exit', resolve)))
      await Promise.all([this.piscina.destroy(), ...exits])
    } while (this.threadCount > 0)
    while (this.lost.length > 0) this.giveBack()
  }

  /** An uncaught null, which ends a thread, is an answer to piscina. */
  answered (message, answer) {
    if (message.isLost) return this.failed(message, answer)
    this.leave(message)
    this.hooks.onAnswer(message, answer)
  }

  failed (message, err) {
    if (message.isLost || this.ending !== undefined) {
      this.lastError = message.error ??= failure(err)
      this.lost.push(message)
      if (this.isWorn || this.ending !== undefined) this.giveBack()
    } else {
      this.leave(message)
      if (message.isSent) this.hooks.onFailed(message, err)
      else this.hooks.onRefused(message, err)
    }
  }

  /** A thread has taken the place of one that has ended, or none will. */
  giveBack () {
    const message = this.lost.shift()
    if (message === undefined) return
    this.leave(message)
    this.hooks.onLost(message)
  }

  leave (message) {
    this.messages.delete(message.number)
    this.idleCount++
    if (this.isWorn && this.messages.size === 0) this.hooks.onOver()
  }

  /** piscina tells so before it tells the message, except where it was told to end the thread. */
  threadEnded () {
    this.isLosing = true
    queueMicrotask(() => {
      this.isLosing = false
      this.look() // at the thread that takes the place, before it can say anything
    })
    setImmediate(() => this.check())
  }

  check () {
    if (this.ending === undefined && this.threadCount < this.size) this.wear()
  }

  wear () {
    if (!this.isWorn) {
      this.isWorn = true
      this.hooks.onWorn(this.lastError)
    }
    while (this.lost.length > 0) this.giveBack()
    if (this.messages.size === 0) this.hooks.onOver()
    else if (this.threadCount === 0) this.giveUp()
  }

  /** There are no threads for the messages that piscina has: it would keep them for ever. */
  giveUp () {
    for (const message of this.messages.values()) {
      message.error ??= this.lastError
      message.hasBegun = false
      this.stop(message)
    }
  }

  /** Gets to know threads that have been started. */
  look () {
    for (const worker of this.piscina.threads) if (!this.workers.has(worker)) this.meet(worker)
  }

  meet (worker) {
    const thread = new Thread()
    this.workers.set(worker, thread)
    worker.on('message', message => this.heard(thread, message))
    worker.once('error', () => this.ended(thread))
    worker.once('exit', () => {
      this.ended(thread)
      this.clock.clearTimeout(thread.timer)
      this.workers.delete(worker)
    })
    if (this.loadTimeoutMs !== Infinity) thread.timer = this.clock.setTimeout(() => this.tooLate(worker, thread), this.loadTimeoutMs)
  }

  /** What a thread says; whatever it is, since the code of the jobs may say things, too. */
  heard (thread, message) {
    if (message?.fairlane === 'loaded') {
      thread.hasLoaded = true
      this.clock.clearTimeout(thread.timer)
      this.hooks.onLoaded()
    } else if (message?.fairlane === 'ending') {
      thread.words = readWords(message)
      this.explain(thread) // what it has said may come behind the news of its end
    }
  }

  /** A module that never finishes loading would keep its jobs for ever. */
  tooLate (worker, thread) {
    const error = new FairlaneError('FAIRLANE_ERR_TIMEOUT', `The module has not loaded within loadTimeoutMs, ${this.loadTimeoutMs} ms`)
    this.lastError = error
    thread.words = { number: undefined, error }
    this.wear()
    worker.terminate()
  }

  /** A thread has ended, as piscina was told just before. */
  ended (thread) {
    for (const message of this.losing.splice(0)) {
      message.hasBegun = thread.hasLoaded
      thread.lost.push(message)
    }
    this.explain(thread)
  }

  /**
   * Node says what has ended a thread, too, but not of each error what class it is of. What a thread has said of another message than the
   * one that it had is not about its end.
   */
  explain ({ words, lost }) {
    if (words === undefined) return
    this.lastError = words.error
    for (const message of lost) if (words.number === undefined || words.number === message.number) message.error = words.error
  }
}

/** @returns {{ number: number | undefined, error: any } | undefined} undefined if they are not those of entry.js */
function readWords ({ number, parts }) {
  try {
    return { number, error: failure(putTogether(parts)) }
  } catch {
    return undefined
  }
}

function newPiscina (Piscina, options) {
  try {
    return new Piscina(options)
  } catch (cause) {
    throw typeError('FAIRLANE_ERR_OPTION', `no threads can be started with these options: ${cause.message}`, { cause })
  }
}

module.exports = { Pool }
