'use strict'

// HOT (bench: threads). The jobs, from their slots to their ends: those of a turn are sent together, at most `perThread` to a thread and
// spread over the idle ones. More jobs than there are idle threads wait here, in order.
//
//   slot ──run()──▶ waiting ──flush()──▶ message ──answer──▶ done
//                      │                    └──▶ its thread has ended, another one is there ──▶ failed
//                      └──▶ stopped by its signal: its slot is given back at once
//
// A job that loses its thread keeps its slot until another thread is there, so that the time of the next job is its own.

const { AsyncResource } = require('node:async_hooks')
const { isArrayBuffer } = require('node:util').types
const { isMarkedAsUntransferable } = require('node:worker_threads') // since Node 21; before that, such memory is copied by itself
const { callSafely } = require('../platform/clock')
const { FairlaneError, typeError, describe, failure } = require('../arguments/errors')
const { Signals } = require('../platform/signals')
const { putTogether } = require('./failures')
const { Message } = require('./message')
const { Pool } = require('./pool')

const NO_CONTEXT = { type: undefined, attempt: 1, signal: undefined } // of queues that give their runners none

class Job {
  constructor (payload, done, context) {
    const { type, attempt, signal } = context
    this.payload = payload
    this.done = done
    this.context = context
    this.type = type
    this.attempt = attempt
    this.signal = signal
    this.moved = undefined // what of the payload is transferred
    this.message = undefined // that it was sent in
    this.isAlone = false // it shares no message: one that it was to be sent in could not be cloned
    this.isStopped = false // by its signal, in its thread
  }
}

class Jobs {
  /**
   * @param {Function} Piscina
   * @param {string} url of the module
   * @param {object} options as options.js reads them
   * @param {object} [clock] of the loading
   */
  constructor (Piscina, url, options, clock) {
    this.Piscina = Piscina
    this.url = url
    this.options = options
    this.clock = clock
    this.scope = new AsyncResource('fairlane.threads', { requireManualDestroy: true }) // threads are no job's
    this.signals = new Signals((signal, jobs) => this.abort(signal, jobs))
    this.waiting = [] // for an idle thread
    this.isDue = false // flush()
    this.pools = new Set()
    this.whoAwaits = [] // ready()
    this.closing = undefined
    this.started = 0
    this.stopped = 0
    this.crashed = 0
    this.running = 0
    this.pool = this.newPool()
  }

  /** The runner. @param {Function} [done] without it, a promise is returned */
  run (payload, done, context = NO_CONTEXT) {
    if (done !== undefined) return this.accept(new Job(payload, done, context))
    return new Promise((resolve, reject) => {
      this.accept(new Job(payload, (err, result) => err ? reject(err) : resolve(result), context))
    })
  }

  /** @returns {Promise<void>} of all threads being there */
  async ready () {
    if (this.closing !== undefined) throw closedError()
    this.pool ??= this.newPool()
    if (this.pool.isReady) return
    await new Promise((resolve, reject) => this.whoAwaits.push({ resolve, reject }))
  }

  close () {
    return (this.closing ??= this.end())
  }

  stats () {
    const { started, stopped, crashed, running } = this
    let threads = 0
    for (const { threadCount } of this.pools) threads += threadCount
    return { started, stopped, crashed, running, threads }
  }

  // private from here on

  accept (job) {
    const { signal } = job
    if (this.closing !== undefined) return job.done(closedError())
    if (signal?.aborted) return job.done(failure(signal.reason))
    if (this.options.transfer !== undefined && !this.readMoved(job)) return
    if (signal !== undefined) this.signals.add(signal, job)
    this.waiting.push(job)
    if (this.options.perThread === 1) this.flush()
    else this.flushLater()
  }

  /** @returns {boolean} whether the caller could say what is to be moved; otherwise the job has failed */
  readMoved (job) {
    try {
      job.moved = movable(this.options.transfer(job.payload))
      return true
    } catch (reason) {
      job.done(failure(reason))
      return false
    }
  }

  /** When all jobs of this turn are here. */
  flushLater () {
    if (this.isDue) return
    this.isDue = true
    queueMicrotask(() => {
      this.isDue = false
      this.flush()
    })
  }

  flush () {
    while (this.waiting.length > 0) {
      try {
        this.pool ??= this.newPool()
      } catch (err) {
        for (const job of this.waiting.splice(0)) this.tell(job, err)
        return
      }
      const { idleCount } = this.pool
      if (idleCount === 0) return
      this.send(this.take(Math.min(this.options.perThread, Math.ceil(this.waiting.length / idleCount))))
    }
  }

  /** @returns {object[]} at most so many jobs, for one message; those that are sent alone stand before all others */
  take (most) {
    const { waiting } = this
    return most === 1 || waiting[0].isAlone ? [waiting.shift()] : waiting.splice(0, most)
  }

  send (jobs) {
    const message = new Message(this.pool, jobs)
    for (const job of jobs) job.message = message
    this.started += jobs.length
    this.running += jobs.length
    this.pool.send(message)
  }

  newPool () {
    const hooks = {
      onAnswer: (message, answer) => this.answered(message, answer),
      onSpent: ({ jobs }, { spent, index }) => this.spent(jobs[index], spent),
      onRefused: (message, err) => this.refused(message, err),
      onFailed: (message, err) => this.failed(message, err),
      onLost: message => this.lost(message),
      onThread: () => this.threadCame(),
      onWorn: err => this.worn(err),
      onOver: () => pool.end().then(() => this.pools.delete(pool))
    }
    const pool = this.scope.runInAsyncScope(() => new Pool(this.Piscina, this.url, this.options, hooks, this.clock))
    this.pools.add(pool)
    return pool
  }

  answered ({ jobs }, results) {
    if (results.length > jobs.length) {
      for (const { index, parts } of results.pop()) results[index] = new Failed(failure(putTogether(parts)))
    }
    this.running -= jobs.length
    for (let i = 0; i < jobs.length; i++) {
      const result = results[i]
      if (result instanceof Failed) this.tell(jobs[i], result.reason)
      else this.tell(jobs[i], null, result)
    }
    this.flush()
  }

  /** Its runner says what it has cost so far. */
  spent ({ context: { spent } }, total) {
    if (spent !== undefined) callSafely(spent, total) // queues of others may count no costs
  }

  /** A payload cannot be cloned, or something cannot be moved. Of several jobs each is sent alone, so that only the one fails. */
  refused ({ jobs }, err) {
    this.running -= jobs.length
    this.started -= jobs.length
    if (jobs.length === 1) {
      this.tell(jobs[0], err)
    } else {
      for (const job of jobs) {
        job.message = undefined
        job.isAlone = true
      }
      this.waiting.unshift(...jobs)
    }
    this.flush()
  }

  /** Something has failed in the thread that is no job's own. None of them is run again, since each may have begun. */
  failed ({ jobs }, err) {
    this.running -= jobs.length
    for (const job of jobs) this.tell(job, failure(err))
    this.flush()
  }

  lost ({ jobs, error, hasBegun }) {
    this.running -= jobs.length
    for (const job of jobs) {
      if (job.isStopped) {
        this.tell(job, failure(job.signal.reason))
      } else {
        this.crashed++
        this.tell(job, crashedError(error, hasBegun))
      }
    }
    this.flush()
  }

  tell (job, err, result) {
    if (job.signal !== undefined) this.signals.remove(job.signal, job)
    callSafely(job.done, err, result)
  }

  abort (signal, jobs) {
    for (const job of [...jobs]) {
      if (job.message !== undefined) {
        job.message.pool.stop(job.message)
        job.isStopped = job.message.isLost
        if (job.isStopped) this.stopped++
      } else {
        this.waiting.splice(this.waiting.indexOf(job), 1)
        this.tell(job, failure(signal.reason))
      }
    }
  }

  threadCame () {
    this.flush()
    if (!this.pool?.isReady) return
    for (const { resolve } of this.whoAwaits.splice(0)) resolve()
  }

  /** The next job is to try it again. */
  worn (err) {
    this.pool = undefined
    const reason = err ?? new FairlaneError('FAIRLANE_ERR_CRASHED', 'A thread ended before it had loaded the module')
    for (const { reject } of this.whoAwaits.splice(0)) reject(reason)
    this.flush()
  }

  async end () {
    await undefined // in which `closing` is set
    for (const { reject } of this.whoAwaits.splice(0)) reject(closedError())
    for (const job of this.waiting.splice(0)) this.tell(job, closedError())
    await Promise.all(Array.from(this.pools, pool => pool.end()))
  }
}

/**
 * @param {any} list what `transfer` has returned
 * @returns {any[]} without what Node does not let go of, such as the memory that small Buffers share: that is copied
 * @throws FAIRLANE_ERR_OPTION if it is none, or has memory that is gone: a thread would get nothing of it
 */
function movable (list) {
  if (!Array.isArray(list)) throw typeError('FAIRLANE_ERR_OPTION', 'transfer must return an array')
  if (list.some(isGone)) {
    const message = 'transfer returned what an earlier attempt or another job has already moved, so the payload is incomplete'
    throw typeError('FAIRLANE_ERR_OPTION', message)
  }
  return list.filter(item => isMarkedAsUntransferable?.(item) !== true)
}

/** Whether it is memory that was moved away. */
function isGone (item) {
  if (!isArrayBuffer(item) || item.byteLength > 0) return false
  try {
    item.slice()
    return false
  } catch {
    return true
  }
}

/** In the place of a result. */
class Failed {
  constructor (reason) {
    this.reason = reason
  }
}

function closedError () {
  return new FairlaneError('FAIRLANE_ERR_CLOSED', 'The threads are closed')
}

/** What is kept of an error on disk is its message, without the cause. Nobody knows whose code an uncaught exception comes from. */
function crashedError (cause, hasBegun) {
  const when = hasBegun ? 'while the job ran, because of it or of what an earlier job left behind' : 'before it had loaded the module'
  const why = typeof cause.message === 'string' ? cause.message : describe(cause)
  return new FairlaneError('FAIRLANE_ERR_CRASHED', `The thread ended ${when}: ${why}`, { cause })
}

module.exports = { Jobs }
