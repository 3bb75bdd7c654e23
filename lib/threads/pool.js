'use strict'

// HOT (bench: threads). The threads. piscina starts them, and others in the place of those that have ended. Messages go by a port of ours
// to each thread, one at a time. An answer is taken, and the next message sent, in the same turn of the event loop.
//
//   send() ──▶ thread ──answer──▶ onAnswer
//                 └──ends──▶ lost ──another thread is there──▶ onLost
//
// A pool is worn when a thread ended before it was there, or did not load the module in time: piscina starts no others then, or only such.
// Its threads end when their messages have.

const { receiveMessageOnPort } = require('node:worker_threads')
const { systemClock } = require('../platform/clock')
const { FairlaneError, typeError, failure } = require('../arguments/errors')
const { putTogether, takeApart } = require('./failures')
const { REQUESTS, ANSWERS } = require('./message')

const ENTRY = require.resolve('./entry')

/** A thread, until it has ended. */
class Thread {
  constructor (worker, isFree) {
    this.worker = worker
    this.isFree = isFree // nobody's slot waits for it, so it is given messages before it is there
    ;[this.tellPiscina] = worker.listeners('error') // that it has ended
    this.port = undefined // once it has begun
    this.counts = undefined // of requests and answers; as message.js says
    this.answersCount = 0 // that were received
    this.isKeeping = false // the process alive
    this.message = undefined // that it has, or had when it ended
    this.hasLoaded = false // the module
    this.hasEnded = false
    this.timer = undefined // until it has loaded
    this.words = undefined // what ends it: an error, and the number of the message whose jobs run, if any do
  }
}

class Pool {
  /**
   * @param {Function} Piscina
   * @param {string} url of the module
   * @param {{ threads: number, name: string, loadTimeoutMs: number, worker: object }} options
   * @param {object} hooks `onSpent(message, { spent, index })`: a job of it has said what it costs; `onAnswer(message, answer)`,
   *   `onRefused(message, err)` (it could not be sent), `onFailed(message, err)` (it was, and has no answer), `onLost(message)`, each when
   *   the thread is idle, or another one is there; `onThread()`: one has been started, or has loaded the module; `onWorn(err)`, and
   *   `onOver()` when it has no messages after that
   * @param {{ setTimeout: Function, clearTimeout: Function }} [clock]
   */
  constructor (Piscina, url, { threads, name, loadTimeoutMs, worker }, hooks, clock = systemClock) {
    this.size = threads
    this.loadTimeoutMs = loadTimeoutMs
    this.hooks = hooks
    this.clock = clock
    this.workers = new Map() // → Thread; until they have ended
    this.idle = [] // threads without a message; the last one is given the next
    this.missingCount = threads // of those, until piscina has started them, also in the place of some that have ended
    this.messagesCount = 0 // under way, or lost
    this.sentCount = 0
    this.lost = [] // messages whose threads have ended, until others have taken their places
    this.isWorn = false
    this.ending = undefined
    this.lastError = undefined // that ended a thread
    this.piscina = newPiscina(Piscina, {
      ...worker,
      filename: ENTRY,
      name: 'serve',
      argv: [...worker.argv ?? [], name, url],
      minThreads: threads,
      maxThreads: threads,
      atomics: 'disabled', // the thread waits for our messages, not for those of piscina
      recordTiming: false
    })
    this.piscina.on('workerDestroy', () => this.threadEnded())
    this.piscina.on('error', () => {}) // a thread's own events tell more
    this.look()
  }

  get idleCount () {
    return this.idle.length
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
    const thread = this.idle.pop()
    message.number = this.sentCount++
    message.thread = thread
    thread.message = message
    this.messagesCount++
    if (thread.port !== undefined) this.post(thread)
  }

  /** Ends the thread of a message, unless its answer is there. */
  stop (message) {
    const { thread } = message
    if (message.isLost || thread.message !== message || hasAnswered(thread)) return
    // So piscina ends it, and has another one at once: nothing interrupts code that is not JavaScript.
    const why = new Error('The job was stopped')
    thread.tellPiscina(why)
    this.ended(thread, why, this.lastError)
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
    this.giveBack()
  }

  post (thread) {
    const { message, port, counts } = thread
    const parts = [message.number]
    const list = []
    for (const { payload, type, attempt, moved } of message.jobs) {
      parts.push(payload, type, attempt)
      if (moved !== undefined) list.push(...moved)
    }
    try {
      port.postMessage(parts, list)
    } catch (err) {
      thread.message = undefined
      queueMicrotask(() => {
        this.leave(thread)
        this.hooks.onRefused(message, err)
      })
      return
    }
    Atomics.add(counts, REQUESTS, 1)
    Atomics.notify(counts, REQUESTS, 1)
    this.keepAlive(thread)
  }

  /** Which takes 0.2 µs, so a thread that is sent one message after the other is left as it is. */
  keepAlive (thread) {
    const isBusy = thread.message !== undefined
    if (isBusy === thread.isKeeping) return
    thread.isKeeping = isBusy
    if (isBusy) thread.port.ref()
    else thread.port.unref()
  }

  /**
   * An answer has come by an event, which costs more than to look for those of other threads. Each of them is looked at once, so that
   * promises and timers have their turn however fast the threads are.
   */
  received (thread, answer) {
    if (isSpent(answer)) return this.hooks.onSpent(thread.message, answer)
    this.answered(thread, answer)
    for (const other of this.workers.values()) {
      if (hasAnswered(other)) this.answered(other, this.receive(other))
    }
  }

  /** @returns {any} its answer, which is there; what its jobs have spent comes before */
  receive (thread) {
    let answer = receive(thread)
    while (isSpent(answer)) {
      this.hooks.onSpent(thread.message, answer)
      answer = receive(thread)
    }
    return answer
  }

  /** @returns {any} undefined if it has ended without an answer */
  receiveLast (thread) {
    if (hasAnswered(thread)) return this.receive(thread)
    if (thread.message !== undefined && thread.port !== undefined) this.receive(thread) // for what it has spent
    return undefined
  }

  answered (thread, answer) {
    const { message } = thread
    thread.answersCount = thread.answersCount + 1 | 0 // as the other count, which is of 32 bits
    thread.message = undefined
    this.leave(thread)
    this.tell(message, answer)
    this.keepAlive(thread)
  }

  tell (message, answer) {
    if (Array.isArray(answer)) this.hooks.onAnswer(message, answer)
    else this.hooks.onFailed(message, putTogether(answer.broken))
  }

  /** A thread has taken the place of one that has ended, or none will. */
  giveBack (count = this.lost.length) {
    for (const message of this.lost.splice(0, count)) {
      this.leave()
      if (message.answer !== undefined) this.tell(message, message.answer)
      else this.hooks.onLost(message)
    }
  }

  /** There is one message less. @param {Thread} [thread] that had it, and is idle */
  leave (thread) {
    this.messagesCount--
    if (thread !== undefined) this.idle.push(thread)
    if (this.isWorn && this.messagesCount === 0) this.hooks.onOver()
  }

  /** piscina has told that, and starts another one. */
  threadEnded () {
    queueMicrotask(() => {
      this.look() // at the thread that takes the place, before it can say anything
      this.hooks.onThread()
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
    this.giveBack()
    if (this.messagesCount === 0) this.hooks.onOver()
  }

  /** Gets to know threads that have been started. */
  look () {
    for (const worker of this.piscina.threads) if (!this.workers.has(worker)) this.meet(worker)
  }

  meet (worker) {
    const thread = new Thread(worker, this.missingCount > 0)
    this.workers.set(worker, thread)
    if (thread.isFree) {
      this.missingCount--
      this.idle.push(thread)
    }
    worker.ref() // until it has loaded the module: somebody may wait for it
    worker.on('message', message => this.heard(thread, message))
    worker.once('error', err => this.ended(thread, failure(err), err))
    worker.once('exit', code => {
      this.ended(thread, new Error(`worker exited with code: ${code}`))
      this.workers.delete(worker)
    })
    if (this.loadTimeoutMs !== Infinity) thread.timer = this.clock.setTimeout(() => this.tooLate(thread), this.loadTimeoutMs)
  }

  /** What a thread says; whatever it is, since the code of the jobs may say things, too. */
  heard (thread, message) {
    if (message?.fairlane === 'begun' && thread.port === undefined) this.begun(thread, message)
    else if (message?.fairlane === 'loaded' && !thread.hasLoaded) this.loaded(thread)
    else if (message?.fairlane === 'ending') thread.words = readWords(message)
    if (thread.hasEnded) this.explain(thread) // what it has said may come behind the news of its end
  }

  /** It will take what comes by its port when it has loaded the module. */
  begun (thread, { port, counts }) {
    thread.port = port
    thread.counts = counts
    port.on('message', answer => this.received(thread, answer))
    port.on('close', () => thread.worker.ref()) // somebody may wait for what comes of its end
    port.on('messageerror', err => this.received(thread, unreadable(err)))
    thread.isKeeping = true // as each port that is listened to
    if (thread.message !== undefined) this.post(thread)
    this.keepAlive(thread)
  }

  loaded (thread) {
    thread.hasLoaded = true
    thread.worker.unref()
    this.clock.clearTimeout(thread.timer)
    if (!thread.isFree) {
      this.idle.push(thread)
      this.giveBack(1)
    }
    this.hooks.onThread()
  }

  /** A module that never finishes loading would keep its jobs for ever. */
  tooLate (thread) {
    const error = new FairlaneError('FAIRLANE_ERR_TIMEOUT', `The module did not load within ${this.loadTimeoutMs} ms (loadTimeoutMs)`)
    this.lastError = error
    thread.words = { number: undefined, error }
    this.wear()
    thread.worker.terminate()
  }

  /** @param {Error} why, for the job in it @param {Error} [lastError] for who waits for threads that are ready */
  ended (thread, why, lastError) {
    if (thread.hasEnded) return
    const answer = this.receiveLast(thread)
    thread.hasEnded = true
    this.lastError = lastError
    this.clock.clearTimeout(thread.timer)
    const { message } = thread
    if (this.idle.includes(thread)) {
      this.idle.splice(this.idle.indexOf(thread), 1)
      this.missingCount++
    }
    if (message !== undefined) {
      message.isLost = true
      message.hasBegun = thread.hasLoaded
      message.error = why
      message.answer = answer
      this.lost.push(message)
      if (this.isWorn || this.ending !== undefined) queueMicrotask(() => this.giveBack())
    }
    thread.port?.close() // what comes now is too late
    this.explain(thread)
  }

  /**
   * Node says what has ended a thread, too, but not of each error what class it is of. What a thread has said of another message than the
   * one that it had is not about its end.
   */
  explain ({ words, message }) {
    if (words === undefined) return
    this.lastError = words.error
    if (message !== undefined && (words.number === undefined || words.number === message.number)) message.error = words.error
  }
}

/** Whether its answer is there, and was not received. */
function hasAnswered ({ counts, answersCount, hasEnded }) {
  // an answer may be received a moment before it is counted
  return counts !== undefined && !hasEnded && (Atomics.load(counts, ANSWERS) - answersCount | 0) > 0
}

function receive ({ port }) {
  try {
    return receiveMessageOnPort(port)?.message
  } catch (err) {
    return unreadable(err)
  }
}

/** Whether it is no answer, but what a job has cost so far. */
function isSpent (said) {
  return typeof said?.spent === 'number'
}

/** A thread may have a larger stack than who is to read a result that is nested deep. */
function unreadable (err) {
  return { broken: takeApart(err) }
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
    throw typeError('FAIRLANE_ERR_OPTION', `threads cannot be started with these options: ${cause.message}`, { cause })
  }
}

module.exports = { Pool }
