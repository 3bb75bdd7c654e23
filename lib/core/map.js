'use strict'

// queue.map(): the results of a job for each value of a source, in the source's order or as they come. It takes from the
// source only as much as the consumer keeps up with, and leaves nothing behind when the consumer stops.
//
//   source ──pump()──▶ jobs in the queue ──▶ results ──give()──▶ takers: next() that wait
//              └── at most maxPending between here and there ──┘
//
// No generator: return() of a generator waits for the next() before it, and that for a job.

const QList = require('qlist')
const { defer } = require('../platform/clock')
const { noRunnerError } = require('./options')

/** The async iterator that map() gives. */
class Results {
  #mapping

  constructor (mapping) {
    this.#mapping = mapping
  }

  next () {
    return this.#mapping.take()
  }

  /** The consumer stops: aborts what is queued, then waits for the source to close, unless it is at work: that may take for ever. */
  async return (value) {
    await this.#mapping.stop()
    return { done: true, value: await value }
  }

  async throw (error) {
    await this.#mapping.stop()
    throw error
  }

  async [Symbol.asyncDispose] () {
    await this.#mapping.stop()
  }

  [Symbol.asyncIterator] () {
    return this
  }
}

/**
 * One run of map(). `queue` adds jobs and waits for room: `{ add(payload, signal), accepts(), ready(), slice() }`. `source`: `{ isAsync,
 * iterate() }`.
 */
class Mapping {
  constructor (queue, source, { ordered, maxPending, settled }) {
    this.queue = queue
    this.isOrdered = ordered
    this.maxPending = maxPending
    this.isSettled = settled
    this.isAsync = source.isAsync
    this.iterator = source.iterate()
    this.controller = new AbortController()
    this.results = new QList() // entries in the order in which they are to be given out; if not ordered, those that settled
    this.takers = new QList() // { resolve, reject } of next() calls that wait
    this.pendingCount = 0 // taken from the source and not given out
    this.isBegun = false
    this.isPulling = false // next() of the source is on the stack, or its promise pends
    this.isSourceOver = false // it has ended or failed by itself
    this.isPumped = false
    this.isOver = false
    this.failure = undefined // { error } to be thrown, behind the results that came before it
    this.wakePump = undefined
  }

  /** @returns {Promise<{ done: boolean, value: any }>} the next result, or the failure that ended it */
  take () {
    if (!this.isBegun) {
      this.isBegun = true
      this.pump()
    }
    return new Promise((resolve, reject) => {
      this.takers.push({ resolve, reject })
      this.give()
    })
  }

  /** Nobody wants results any more. @returns {Promise<void>} rejects with what closing the source does */
  async stop () {
    this.failure = undefined
    this.results = new QList()
    const closed = this.end()
    if (this.isPulling) closed.catch(() => {}) // nobody will hear of it
    else await closed
  }

  // private from here on

  /** Serves those that wait, with results, with the failure, or with the end. */
  give () {
    while (!this.takers.isEmpty()) {
      if (this.hasResult()) {
        this.takers.shift().resolve({ done: false, value: this.takeResult() })
      } else if (this.failure !== undefined) {
        this.takers.shift().reject(this.failure.error)
        this.failure = undefined
        this.results = new QList()
      } else if (this.isOver) {
        this.takers.shift().resolve({ done: true, value: undefined })
      } else if (this.isPumped && this.pendingCount === 0) {
        this.isOver = true
      } else {
        return
      }
    }
  }

  hasResult () {
    return !this.results.isEmpty() && this.results.peek().outcome !== undefined
  }

  takeResult () {
    const { outcome } = this.results.shift()
    this.pendingCount--
    wake(this.wakePump)
    return this.isSettled ? outcome : outcome.value
  }

  /** Moves values from the source into the queue for as long as somebody wants results. */
  async pump () {
    const slice = this.queue.slice()
    try {
      while (!this.isOver) {
        if (slice.isOver()) {
          await new Promise(defer)
          slice.begin()
        }
        if (this.pendingCount >= this.maxPending) {
          await new Promise(resolve => { this.wakePump = resolve })
          slice.begin() // for a job that has ended, or a consumer that has come
          continue
        }
        const { done, value } = await this.pull()
        if (done) break
        // looked at last thing before start(): others may take the room as soon as this waits
        while (!this.isOver && !this.queue.accepts()) await this.queue.ready()
        if (!this.isOver) this.start(value)
      }
    } catch (err) {
      this.fail(err)
    }
    this.isPumped = true
    this.give()
  }

  async pull () {
    const { done, value } = await this.step()
    return { done, value: this.isAsync || done ? value : await value }
  }

  /** A source that throws is over, and not closed. */
  async step () {
    this.isPulling = true
    try {
      const result = this.isAsync ? await this.iterator.next() : this.iterator.next()
      if (result.done) this.isSourceOver = true
      return result
    } catch (err) {
      this.isSourceOver = true
      throw err
    } finally {
      this.isPulling = false
      if (this.isOver && !this.isAsync) this.closeSource().catch(() => {}) // the consumer has stopped inside its next()
    }
  }

  start (value) {
    const entry = { outcome: undefined }
    this.pendingCount++
    if (this.isOrdered) this.results.push(entry)
    this.queue.add(value, this.controller.signal).then(
      value => this.settle(entry, { status: 'fulfilled', value }),
      reason => this.settle(entry, { status: 'rejected', reason })
    )
  }

  settle (entry, outcome) {
    if (this.isOver) return
    if (outcome.status === 'rejected' && !this.isSettled) return this.fail(outcome.reason)
    entry.outcome = outcome
    if (!this.isOrdered) this.results.push(entry)
    this.give()
  }

  /** The first failure ends it all at once: what else is queued would be for nobody. It does not wait for the source to close. */
  fail (error) {
    if (this.isOver) return
    this.failure = { error }
    this.end().catch(() => {})
  }

  async end () {
    if (this.isOver) return
    this.isOver = true
    this.controller.abort()
    wake(this.wakePump)
    this.give()
    await this.closeSource()
  }

  async closeSource () {
    const { iterator } = this
    if (this.isSourceOver || (this.isPulling && !this.isAsync)) return
    this.isSourceOver = true
    if (typeof iterator.return === 'function') await iterator.return()
  }
}

function wake (resolve) {
  if (resolve !== undefined) resolve()
}

/**
 * @param {object} queue in memory
 * @param {object} internals of it
 * @param {string | undefined} type of the jobs
 * @param {number | ((payload: any) => number) | undefined} cost of each
 * @returns {object} what a Mapping does with it
 * @throws FAIRLANE_ERR_RUNNER if it has none
 */
function jobsOf (queue, { admission, dispatch }, type, cost) {
  if (dispatch.runner === null) throw noRunnerError()
  return {
    add: (payload, signal) => queue.add(payload, optionsOf(type, signal, cost, payload)),
    accepts: () => admission.accepts(type),
    ready: () => admission.ready(type),
    slice: () => dispatch.telling.slice()
  }
}

/** What add() is given for a value of the source. @throws what the caller's function does, that is asked what a job costs */
function optionsOf (type, signal, cost, payload) {
  if (cost === undefined) return { type, signal }
  return { type, signal, cost: typeof cost === 'function' ? cost(payload) : cost }
}

/** As the constructor of Mapping. @returns {Results} */
function map (queue, source, options) {
  return new Results(new Mapping(queue, source, options))
}

module.exports = { jobsOf, map, optionsOf }
