'use strict'

// The threads, by piscina. It is given as many messages as it has threads that are there, so its own queue is empty.
//
//   send() ──▶ thread ──answer──▶ onAnswer
//                 └──ends──▶ lost ──another thread is there──▶ onLost
//
// A pool is worn when a thread ended before it was there: piscina starts no others then. Its threads end when their messages have.

const { typeError, failure } = require('../errors')
const { putTogether } = require('./failures')

const ENTRY = require.resolve('./entry')

class Pool {
  /**
   * @param {Function} Piscina
   * @param {string} url of the module
   * @param {{ threads: number, name: string, worker: object }} options
   * @param {object} hooks `onAnswer(message, answer)`, `onRefused(message, err)` (it could not be sent), `onLost(message)`, each when the
   *   thread is idle, or another one is there; `onLoaded()`; `onWorn(err)`, and `onOver()` when it has no messages after that
   */
  constructor (Piscina, url, { threads, name, worker }, hooks) {
    this.size = threads
    this.hooks = hooks
    this.idleCount = threads // without a message
    this.messages = new Map() // by number: under way, or lost
    this.sentCount = 0
    this.lost = [] // those whose threads have ended, until others have taken their places
    this.workers = new Map() // → whether they have loaded the module; until they have ended
    this.isLosing = false // piscina is telling that a thread has ended
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
    return threads.length === this.size && threads.every(worker => this.workers.get(worker))
  }

  /** To an idle thread. */
  send (message) {
    const parts = [message.number = this.sentCount++]
    const transferList = []
    for (const { payload, type, attempt, moved } of message.jobs) {
      parts.push(payload, type, attempt)
      if (moved !== undefined) transferList.push(...moved)
    }
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
      this.hooks.onRefused(message, err)
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
      this.stop(message)
    }
  }

  /** Gets to know threads that have been started. */
  look () {
    for (const worker of this.piscina.threads) {
      if (this.workers.has(worker)) continue
      this.workers.set(worker, false)
      worker.once('exit', () => this.workers.delete(worker))
      worker.on('message', message => this.heard(worker, message))
    }
  }

  heard (worker, message) {
    if (message?.fairlane === 'loaded') {
      this.workers.set(worker, true)
      this.hooks.onLoaded()
    } else if (message?.fairlane === 'ending') {
      this.explained(message)
    }
  }

  /** A thread has said what ends it: Node says so too, but not of each error what class it is of. */
  explained ({ number, parts }) {
    this.lastError = failure(putTogether(parts))
    const message = this.messages.get(number)
    if (message !== undefined) message.error = this.lastError
  }
}

function newPiscina (Piscina, options) {
  try {
    return new Piscina(options)
  } catch (cause) {
    throw Object.assign(typeError('FAIRLANE_ERR_OPTION', `no threads can be started with these options: ${cause.message}`), { cause })
  }
}

module.exports = { Pool }
