'use strict'

// For programs written for async 3: require('fairlane/compat/async') in the place of require('async'), for its queue,
// priorityQueue, cargo and cargoQueue.
//
// Promises: workers start in a microtask after push, and every member does what async documents, in the same order. What
// differs on purpose is in docs/reference/migrating.md.

const QList = require('qlist')
const fairlane = require('../../index.js')
const { startNow } = require('../core/internals')
const { callSafely } = require('../platform/clock')
const { FairlaneError, rangeError, typeError } = require('../arguments/errors')
const { isArray, readFunction } = require('../arguments/fields')
const { Priority } = require('./priority')

module.exports = { queue, priorityQueue, cargo, cargoQueue }

/**
 * @param {(task: any, callback: (err?: any, ...results: any[]) => void) => void} worker what it returns is ignored; an
 *   async function gets no callback, and its promise counts
 * @param {number} [concurrency=1]
 * @returns {object} a queue with the members of async's
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_CONCURRENCY
 */
function queue (worker, concurrency) {
  const { q, add } = makeQueue(worker, concurrency, 1, { isCargo: false, scheduler: undefined })
  return withPushAndUnshift(q, add)
}

/** The same, but push and pushAsync take a priority: the task of the lowest number starts first. */
function priorityQueue (worker, concurrency) {
  const { q, add } = makeQueue(worker, concurrency, 1, { isCargo: false, scheduler: new Priority() })
  q.push = (data, priority = 0, callback) => add(data, callback, { priority: readPriority(priority) })
  q.pushAsync = (data, priority = 0, callback) => add(data, callback, { priority: readPriority(priority), rejects: true })
  return q
}

/** The same as queue, but the worker gets an array of up to `payload` tasks, and there is one worker. */
function cargo (worker, payload) {
  return cargoQueue(worker, 1, payload)
}

/**
 * @param {(tasks: any[], callback: (err?: any, ...results: any[]) => void) => void} worker
 * @param {number} [concurrency=1]
 * @param {number} [payload=Infinity] how many tasks a worker gets at most
 */
function cargoQueue (worker, concurrency, payload) {
  const { q, add } = makeQueue(worker, concurrency, payload, { isCargo: true, scheduler: undefined })
  return withPushAndUnshift(q, add)
}

/** A task, and as such a job's payload in a queue; test functions of remove see its data, and its priority if it has one. */
class Task {
  constructor (data, priority, settle, isPromised) {
    this.data = data
    this.settle = settle
    this.isPromised = isPromised
    this.isStarted = false
    if (priority !== undefined) this.priority = priority
  }

  get tasks () {
    return [this]
  }

  /** The task was removed: callbacks are not called, as in async, but promises do not stay pending. */
  drop (err) {
    if (this.isPromised) this.settle(err)
  }
}

/** A job's payload in a cargo: the tasks of one call of the worker. */
class Batch {
  constructor () {
    this.tasks = []
    this.isStarted = false
  }
}

/** Where the tasks of a queue or priorityQueue wait: each is a job. */
class Singles {
  constructor (jobs, end) {
    this.jobs = jobs
    this.end = end
  }

  get size () {
    return this.jobs.waiting
  }

  add (task, isFirst) {
    const { jobs } = this
    const whenSettled = this.end.bind(undefined, task)
    if (task.priority !== undefined) jobs.pushType(task.priority, task, whenSettled)
    else if (isFirst) jobs.unshift(task, whenSettled)
    else jobs.push(task, whenSettled)
  }

  begin () {}

  toArray () {
    return Array.from(this.jobs.jobs(), ({ payload: task }) => task)
  }

  remove (test) {
    this.jobs.remove(({ payload: task }) => test(task))
  }
}

/** Where the tasks of a cargo wait: one job waits while tasks wait, and takes its tasks when it starts. */
class Batches {
  constructor (jobs, end, maxTasks) {
    this.jobs = jobs
    this.end = end
    this.maxTasks = maxTasks
    this.tasks = new QList()
  }

  get size () {
    return this.tasks.size()
  }

  add (task, isFirst) {
    if (isFirst) this.tasks.unshift(task)
    else this.tasks.push(task)
    this.ask()
  }

  begin (batch) {
    let count = Math.min(this.size, this.maxTasks())
    while (count-- > 0) batch.tasks.push(this.tasks.shift())
    this.ask()
  }

  toArray () {
    return this.tasks.toArray()
  }

  remove (test) {
    const removed = new Set(this.toArray().filter(test))
    const kept = new QList()
    for (const task of this.toArray()) {
      if (!removed.has(task)) kept.push(task)
    }
    this.tasks = kept
    const err = new FairlaneError('FAIRLANE_ERR_CLEARED', 'The task was removed')
    for (const task of removed) task.drop(err)
  }

  ask () {
    if (this.size === 0 || this.jobs.waiting > 0) return
    const batch = new Batch()
    this.jobs.push(batch, this.end.bind(undefined, batch))
  }
}

/** What waits for an event: at most one handler, and promises of the next occurrence. */
class Event {
  constructor () {
    this.handler = undefined
    this.waiters = []
  }

  trigger (...args) {
    const { handler, waiters } = this
    if (handler !== undefined) callSafely(handler, ...args)
    if (waiters.length === 0) return
    const [err, data] = args
    this.waiters = []
    for (const { resolve, reject } of waiters) {
      if (err) reject(err)
      else resolve(data)
    }
  }

  /** The member of that name: sets the handler, or returns a promise if there is none. */
  method () {
    return handler => {
      if (!handler) return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }))
      this.handler = handler
    }
  }
}

/** @returns {{ q: object, add: Function }} the members that all four kinds have, and what push and unshift are made of */
function makeQueue (worker, concurrency, payload, { isCargo, scheduler }) {
  let slots = concurrency ?? 1
  if (slots === 0) throw rangeError('FAIRLANE_ERR_CONCURRENCY', 'concurrency must not be 0')
  const run = typeof worker === 'function' ? withCallback(worker) : undefined
  const jobs = fairlane(run && start, { concurrency: slots, settleBy: 'callback', scheduler })
  const waiting = isCargo ? new Batches(jobs, end, () => q.payload || Infinity) : new Singles(jobs, end)
  const working = []
  const events = { saturated: new Event(), unsaturated: new Event(), empty: new Event(), drain: new Event(), error: new Event() }
  let isPaused = false
  let hasStarted = false
  let isWaking = false

  const q = {
    payload,
    buffer: slots / 4,
    get concurrency () {
      return slots
    },
    set concurrency (value) {
      jobs.concurrency = value
      slots = value
      if (isPaused) jobs.pause()
    },
    get started () {
      return hasStarted
    },
    get paused () {
      return isPaused
    },
    length: () => waiting.size,
    running: () => jobs.running,
    idle: isIdle,
    workersList: () => [...working],
    remove: test => { waiting.remove(test) },
    pause,
    resume,
    kill,
    [Symbol.iterator]: () => waiting.toArray().map(({ data }) => data).values()
  }
  for (const [name, event] of Object.entries(events)) Object.defineProperty(q, name, { value: event.method() })
  return { q, add }

  /** One task, or each of an array of them. */
  function add (data, callback, how) {
    if (callback != null) readFunction(callback, 'a callback', 'FAIRLANE_ERR_CALLBACK')
    if (!isArray(data)) return addOne(data, callback, how)
    if (data.length > 0 || !isIdle()) return data.map(datum => addOne(datum, callback, how))
    queueMicrotask(() => events.drain.trigger())
  }

  function addOne (data, callback, how) {
    if (how.rejects || !callback) return addPromised(data, how)
    enqueue(new Task(data, how.priority, callback, false), how.isFirst)
  }

  function addPromised (data, { isFirst, rejects, priority }) {
    return new Promise((resolve, reject) => {
      enqueue(new Task(data, priority, settler(resolve, rejects && reject), true), isFirst)
    })
  }

  function enqueue (task, isFirst) {
    hasStarted = true
    waiting.add(task, isFirst)
    wake()
  }

  function wake () {
    if (isWaking) return
    isWaking = true
    queueMicrotask(() => {
      isWaking = false
      startNow(jobs)
    })
  }

  /** @param {Task | Batch} job */
  function start (job, done) {
    job.isStarted = true
    waiting.begin(job)
    const { tasks } = job
    if (tasks.length === 0) {
      done()
      return
    }
    for (const task of tasks) working.push(task)
    if (waiting.size === 0) events.empty.trigger()
    if (jobs.running === slots) events.saturated.trigger()
    run(isCargo ? tasks.map(({ data }) => data) : tasks[0].data, (err, ...results) => done(err, results))
  }

  function end (job, err, results = []) {
    const { tasks, isStarted } = job
    if (tasks.length === 0) return
    if (!isStarted) {
      tasks[0].drop(err)
      return
    }
    for (const task of tasks) {
      working.splice(working.indexOf(task), 1)
      callSafely(task.settle, err, ...results)
      if (err != null) events.error.trigger(err, task.data)
    }
    if (jobs.running <= slots - q.buffer) events.unsaturated.trigger()
    if (isIdle()) events.drain.trigger()
  }

  function isIdle () {
    return waiting.size + jobs.running === 0
  }

  function pause () {
    isPaused = true
    jobs.pause()
  }

  function resume () {
    if (!isPaused) return
    isPaused = false
    jobs.concurrency = slots
    wake()
  }

  /** Handlers go; promises of events stay: that of drain is kept. */
  function kill () {
    for (const event of Object.values(events)) event.handler = undefined
    waiting.remove(() => true)
    if (isIdle()) events.drain.trigger()
  }
}

function withPushAndUnshift (q, add) {
  q.push = (data, callback) => add(data, callback, {})
  q.pushAsync = (data, callback) => add(data, callback, { rejects: true })
  q.unshift = (data, callback) => add(data, callback, { isFirst: true })
  q.unshiftAsync = (data, callback) => add(data, callback, { isFirst: true, rejects: true })
  return q
}

function readPriority (priority) {
  if (typeof priority === 'function' || typeof priority === 'symbol' || Number.isNaN(Number(priority))) {
    throw typeError('FAIRLANE_ERR_ARGUMENT', 'a priority must be a number')
  }
  return Number(priority)
}

/** What settles the promise of a task: several results become an array; without reject a failure is no result. */
function settler (resolve, reject) {
  return (err, ...results) => {
    if (!err) resolve(results.length > 1 ? results : results[0])
    else if (reject) reject(err)
    else resolve()
  }
}

/** An async function gets no callback: its promise counts. What other workers return is ignored. */
function withCallback (worker) {
  if (worker[Symbol.toStringTag] !== 'AsyncFunction') return worker
  return (data, callback) => {
    worker(data).then(result => callback(null, result), reason => callback(isError(reason) ? reason : new Error(reason)))
  }
}

function isError (reason) {
  return reason instanceof Error || Boolean(reason?.message)
}
