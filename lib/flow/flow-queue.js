'use strict'

// The public class: a queue in memory with limits of rate. What is documented of each method is in index.d.ts and docs/flow.md.

const { typeError } = require('../arguments/errors')
const { isPostponed, isThrottled } = require('../job/postponing')
const {
  FailureObserver, Queue, ROOMS, internalsOf, limits: { Limiter, checkRates }, options: { readJobType, readPausableType }
} = require('../core/internals')
const { readAddOptions, readHoldMs, readNewRates, readOptions } = require('./options')

const FLOW_ROOMS = { ...ROOMS, readOptions, readAddOptions, makeScheduler, makeTickets }

function makeScheduler (read) {
  const scheduler = ROOMS.makeScheduler(read)
  checkRates(scheduler, read.ratePerType)
  return scheduler
}

function makeTickets (dispatch, list, read) {
  const { FlowTickets } = require('./tickets')
  return new FlowTickets(dispatch, read)
}

/** A queue with limits of rate. Made by `flow(runner, options)` or `new FlowQueue(runner, options)`. */
class FlowQueue extends Queue {
  #internals
  #limiter

  /**
   * @param {Function} runner as of a queue
   * @param {object | number | string} [options] those of a queue, `rate` and `ratePerType`
   * @throws as Queue
   */
  constructor (runner, options) {
    super(runner, options, FLOW_ROOMS)
    const internals = this.#internals = internalsOf(this)
    const { list, dispatch, read } = internals
    const { maxAttempts, clock } = read
    this.#limiter = new Limiter(internals, this.scheduler, { clock, deadlinesOf: () => internals.tickets.deadlines }, read)
    list.hooks = { throttle: (type, ms) => this.#limiter.throttle(type, ms), onRetry: about => this.#tellRetry(about) }
    dispatch.retries = { takes: (job, err) => mayRetry(job, err, maxAttempts) ? internals.tickets.takes(job, err, ownOf(job)) : undefined }
  }

  /** As of a queue. With a key that is taken: shares the job that has taken it. @throws as of a queue */
  add (payload, options) {
    if (options === undefined) return super.add(payload)
    const read = readAddOptions(options)
    const { plan } = read
    if (plan === undefined) return super.add(payload, read)
    if (plan.priority !== undefined && this.#internals.read.priorityMs === undefined) throw typeError('FAIRLANE_ERR_ARGUMENT', 'priority needs a queue with the option priorityMs')
    if (plan.key === undefined) return super.add(payload, read)
    const type = readJobType(read.type, this.scheduler, 'add')
    return this.#internals.tickets.keys.add(type, payload, read, read => super.add(payload, read))
  }

  /** Starts no job of a type for so many ms; 0 ends that. @returns {this} @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT */
  holdType (type, ms) {
    const name = readPausableType(type, this.scheduler, 'holdType')
    this.#limiter.holdType(name, readHoldMs(ms))
    return this
  }

  /** Starts no job for so many ms; 0 ends that. @returns {this} @throws FAIRLANE_ERR_ARGUMENT */
  hold (ms) {
    this.#limiter.hold(readHoldMs(ms))
    return this
  }

  /** In how many ms a job (of a type) might start as far as limits go; 0: now. @throws FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE */
  heldMs (type) {
    return this.#limiter.heldMs(type === undefined ? undefined : readPausableType(type, this.scheduler, 'heldMs'))
  }

  /** Replaces the rates that are given; null: none. @returns {this} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_SCHEDULER */
  setRates (rates) {
    this.#limiter.setRates(readNewRates(rates))
    return this
  }

  /** As of a queue, and `delayed`; of the whole queue `retried`, `throttled`, `joined` and `heldTypes`, too. */
  stats (type) {
    const stats = super.stats(type)
    if (type !== undefined) return { delayed: 0, ...stats }
    const { retriedCount = 0, throttledCount = 0, keys } = this.#internals.madeTickets ?? {}
    const { heldTypes } = this.#limiter
    const types = this.scheduler === null ? 0 : stats.types // where priorities are, there is a lane nonetheless
    return { ...stats, types, delayed: this.#internals.dispatch.delayed, retried: retriedCount, throttled: throttledCount, joined: keys?.joinedCount ?? 0, heldTypes }
  }

  #tellRetry (about) {
    if (this.listenerCount('retry') > 0) this.#internals.dispatch.call(() => this.emit('retry', about))
  }
}

/** What a job that was started has in the place of a callback. */
function ownOf ({ whenSettled }) {
  return whenSettled instanceof FailureObserver ? whenSettled.whenSettled : whenSettled
}

/** Whether a job that has failed is one that tickets must be asked about. */
function mayRetry (job, err, maxAttempts) {
  return maxAttempts > 1 || typeof ownOf(job) === 'object' || isThrottled(err) || isPostponed(err)
}

module.exports = { FlowQueue }
