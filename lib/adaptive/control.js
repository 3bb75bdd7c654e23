'use strict'

// Sets the concurrency of a queue. What becomes of its runs it is told by its list, or by what keeps its jobs; what is right it asks of
// rounds.js, in a microtask: nothing of the caller's is called, and nothing set, in the middle of a change.
//
//   a list that nobody else observes ──▶ recorder.js ─┬─▶ runs.js ──▶ classes.js, rounds.js ──▶ queue.concurrency
//   other lists, and queues on disk ───▶ told.js ─────┘

const EventEmitter = require('eventemitter3')
const { callSafely } = require('../platform/clock')
const { typeError } = require('../arguments/errors')
const { JOINS, OBSERVE } = require('../core/internals')
const { asyncScope } = require('../platform/context')
const { readAdaptiveOptions } = require('./options')
const { Runs } = require('./runs')

const controlled = new WeakSet()

/**
 * To be given to one queue, in its option `observers`. What is documented of each member is in index.d.ts and docs/reference/adaptive.md.
 * Emits `limit` ({ limit, before, because }).
 */
class Control extends EventEmitter {
  #runs
  #queue = undefined
  #scope = asyncScope() // of its listeners and its functions

  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options) {
    super()
    this.#runs = new Runs(readAdaptiveOptions(options), () => queueMicrotask(() => this.#scope.runInAsyncScope(() => this.#look())))
  }

  /** Attaches it to a queue; undefined once it is. */
  get [OBSERVE] () {
    return this.#queue === undefined ? this.#observe : undefined
  }

  /** It needs no records of its own, and joins those that others have. */
  get [JOINS] () {
    return true
  }

  /** How many jobs may run at once. */
  get limit () {
    return this.#runs.rounds.limit
  }

  stats () {
    const { classes, rounds: { limit, slowdown, rejectCount, roundCount } } = this.#runs
    return { limit, slowdown, rejects: rejectCount, rounds: roundCount, classes: classes.size }
  }

  /** Leaves the concurrency as it is, for good. */
  stop () {
    this.#runs.stop()
  }

  // private from here on

  /**
   * @param {object} queue
   * @param {object | undefined} ledger the queue's, if another observer has made it
   * @param {{ clock: object, hasIds?: boolean, concurrency: number }} read hasIds: the queue has ids of its own, and tells its ledger of
   *   runs; concurrency: with which it begins
   * @returns {object} the queue's ledger, or what stands for it
   */
  #observe (queue, ledger, read) {
    const { clock, hasIds = false } = read
    if (controlled.has(queue)) throw typeError('FAIRLANE_ERR_OPTION', 'observers: another control sets the concurrency of this queue')
    controlled.add(queue)
    this.#queue = queue
    const runs = this.#runs
    runs.begin(queue, clock)
    if (runs.isOn) read.concurrency = runs.rounds.limit
    if (ledger === undefined && !hasIds) return runs
    const { Told } = require('./told')
    return new Told(ledger, runs)
  }

  /** Nothing of the caller's is on the stack. */
  #look () {
    const runs = this.#runs
    runs.isAwake = false
    runs.ask()
    if (!runs.isOn) return
    const { limit: before } = runs.rounds
    const queue = this.#queue
    runs.isOwed = queue.paused
    if (runs.isOwed) return
    const because = runs.close()
    const { limit } = runs.rounds
    if (queue.concurrency !== limit) queue.concurrency = limit
    if (because !== undefined) callSafely(() => this.emit('limit', { limit, before, because }))
  }
}

module.exports = { Control }
