'use strict'

// For programs written for fastq 1: require('fairlane/compat/fastq') in the place of require('fastq').
// Promises: a worker starts inside push if a slot is free, and inside the end of another task; and every member does what fastq documents,
// in the same order. What differs on purpose is in docs/reference/migrating.md.

const fairlane = require('../../index.js')
const { startNow, startPromptly } = require('../core/internals')
const { callSafely } = require('../platform/clock')
const { FairlaneError, rangeError } = require('../arguments/errors')
const { readFunction } = require('../arguments/fields')

const ABORT = Symbol('abort')

/** What waits in the queue: a job's payload. */
class Task {
  constructor (value, done, onError) {
    this.value = value
    this.done = done
    this.onError = onError
    this.hasWaited = false
    this.isStarted = false
  }
}

/**
 * @param {any} [context] `this` of the worker and of the callbacks
 * @param {(value: any, done: (err?: any, result?: any) => void) => void} worker what it returns is ignored
 * @param {number} concurrency 1 or more
 * @returns {object} a queue with the members of fastq's
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_CONCURRENCY
 */
function fastq (context, worker, concurrency) {
  return makeQueue('callback', ...readArguments(context, worker, concurrency)).queue
}

/**
 * The same for a worker that returns a promise; push and unshift return promises, which may be left alone.
 * @param {any} [context] `this` of the worker
 * @param {(value: any) => Promise<any>} worker
 * @param {number} concurrency 1 or more
 * @returns {object} a queue with the members of fastq.promise's
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_CONCURRENCY
 */
function promise (context, worker, concurrency) {
  const { queue, jobs } = makeQueue('promise', ...readArguments(context, worker, concurrency))
  const { push, unshift } = queue
  return Object.assign(queue, {
    push: value => settled(done => push(value, done)),
    unshift: value => settled(done => unshift(value, done)),
    drained: () => new Promise(resolve => queueMicrotask(() => queue.idle() ? resolve() : jobs.once('drain', resolve)))
  })
}

/** @returns {{ queue: object, jobs: object }} the members of fastq, and the fairlane queue behind them */
function makeQueue (settleBy, context, worker, concurrency) {
  checkConcurrency(concurrency)
  const jobs = fairlane(typeof worker === 'function' ? runner : worker, { concurrency, settleBy })
  let slots = jobs.concurrency // that is -1 while paused
  let onError
  let endingCount = 0 // tasks whose callbacks are on the stack: fastq counts them as running

  const queue = {
    push: (value, done) => { add('push', value, done) },
    unshift: (value, done) => { add('unshift', value, done) },
    pause: () => { jobs.pause() },
    resume,
    running,
    idle: () => running() === 0 && jobs.waiting === 0,
    length: () => jobs.waiting,
    getQueue: () => Array.from(jobs.jobs(), ({ payload: task }) => task.value),
    kill: () => { removeWaiting() },
    killAndDrain,
    abort,
    error: handler => { onError = handler },
    drain: noop,
    empty: noop,
    saturated: noop,
    get paused () {
      return jobs.paused
    },
    get concurrency () {
      return slots
    },
    set concurrency (value) {
      setConcurrency(value)
    }
  }
  jobs.drain = drained
  startPromptly(jobs)
  return { queue, jobs }

  function runner (task, done) {
    task.isStarted = true
    try {
      // that of a promise is called with the value alone: a second parameter of it may have a default
      return settleBy === 'promise' ? worker.call(context, task.value) : worker.call(context, task.value, done)
    } finally {
      if (task.hasWaited && jobs.waiting === 0) emptied()
    }
  }

  function add (method, value, done) {
    const callback = readFunction(done || noop, 'a callback', 'FAIRLANE_ERR_CALLBACK')
    const task = new Task(value, callback, onError)
    const isFirst = jobs.waiting === 0
    task.hasWaited = jobs.paused || running() >= slots
    jobs[method](task, (err, result) => end(task, err, result))
    if (!task.hasWaited) startNow(jobs)
    else if (isFirst) queue.saturated()
  }

  function end (task, err, result) {
    if (!task.isStarted) {
      if (err.cause === ABORT) tell(task, new FairlaneError('FAIRLANE_ERR_CLEARED', 'abort'))
      else if (settleBy === 'promise') task.done(err)
      return
    }
    endingCount++
    try {
      tell(task, err, result)
    } finally {
      endingCount--
    }
  }

  function tell ({ value, done, onError }, err, result) {
    try {
      if (onError) onError(err, value)
    } finally {
      done.call(context, err, result)
    }
  }

  function running () {
    return jobs.running + endingCount
  }

  function resume () {
    if (!jobs.paused) return
    const isIdle = queue.idle()
    jobs.resume(slots)
    if (isIdle) drained()
    else startNow(jobs)
  }

  function setConcurrency (value) {
    checkConcurrency(value)
    const { paused } = jobs
    jobs.concurrency = value
    slots = jobs.concurrency
    if (paused) jobs.pause()
    startNow(jobs)
  }

  /** Without a word to the callbacks, but for abort; promises reject. */
  function removeWaiting (reason) {
    const { drain } = queue
    queue.drain = noop
    jobs.clear({ reason })
    return drain
  }

  function killAndDrain () {
    queue.drain = removeWaiting()
    drained()
    queue.drain = noop
  }

  function abort () {
    removeWaiting(ABORT)
    startNow(jobs)
  }

  function drained () {
    if (typeof queue.drain === 'function') queue.drain()
  }

  function emptied () {
    callSafely(() => queue.empty())
  }
}

function readArguments (context, worker, concurrency) {
  return typeof context === 'function' ? [null, context, worker] : [context, worker, concurrency]
}

/** Here 0 does not pause, and an absent value is an error. */
function checkConcurrency (value) {
  if (!(value >= 1)) throw rangeError('FAIRLANE_ERR_CONCURRENCY', 'concurrency must be 1 or more')
}

/** @returns {Promise<any>} how the task of one call ends; never an unhandled rejection */
function settled (add) {
  const promise = new Promise((resolve, reject) => {
    add((err, result) => err ? reject(err) : resolve(result))
  })
  promise.catch(noop)
  return promise
}

function noop () {}

module.exports = fastq
module.exports.promise = promise
