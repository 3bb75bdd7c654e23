'use strict'

// The calls of a fetch, from the queue to the response. One attempt at a call is one start of its job.
//
//   fetch() ──▶ waiting ──▶ attempt ─┬─▶ response ──▶ the caller        the slot is free, or the body goes on in it
//                  ▲                 ├─▶ error ─────▶ the caller
//                  └─ backoffMs ─────┘  either of them, if the call is to be made again

const fairlane = require('../../index.js')
const { FairlaneError, typeError } = require('../arguments/errors')
const { isObject } = require('../arguments/fields')
const { holdAtLeast, options: { readType } } = require('../core/internals')
const { isPostponed, isThrottled } = require('../job/postponing')
const { Signals } = require('../platform/signals')
const { Call } = require('./call')
const { discard, watch } = require('./body')
const { holdMsOf } = require('./limits')
const { readCallOptions } = require('./options')
const { isRepeated, isNetworkFailure } = require('./repeating')

class Calls {
  /**
   * @param {Function} fetch
   * @param {object} options as readOptions() gives them
   */
  constructor (fetch, { queue, backoffMs, maxAttempts, type, until }) {
    this.wrapped = fetch
    this.hasOwnSignals = queue.asyncContext === 'push' // each job has, and that is what fetch is given
    this.signals = new Signals((signal, followers) => { for (const follower of followers) this.abort(signal.reason, follower) })
    this.backoffMs = backoffMs
    this.maxAttempts = maxAttempts
    this.type = type
    this.until = until
    this.finalErrors = new WeakSet() // after which no attempt is made
    this.answered = new WeakMap() // error → the call whose response it stands for
    this.queue = fairlane((call, context) => this.attempt(call, context), { ...queue, backoffMs: (...about) => this.backOff(...about) })
  }

  /** As fetch: whatever is wrong, it rejects. @returns {Promise<any>} */
  fetch (input, init) {
    try {
      return this.add(new Call(input, init))
    } catch (err) {
      return Promise.reject(err)
    }
  }

  // private from here on

  add (call) {
    const { type, retry, maxAttempts, until, job } = readCallOptions(call.fairlane, this)
    call.until = until
    call.maxAttempts = call.mayRepeat(retry) ? maxAttempts : 1
    const options = { ...job, type: this.typeOf(call, type), signal: call.signal }
    if (call.maxAttempts !== this.maxAttempts) options.maxAttempts = call.maxAttempts
    const promise = new Promise((resolve, reject) => call.expect(resolve, reject))
    this.queue.add(call, options).then(response => call.resolve(response), err => call.fail(err))
    return promise
  }

  /** Whose call it is: as it says, as the option says, or the origin of its URL. */
  typeOf (call, given) {
    const type = given === undefined && this.type !== undefined ? this.type(call) : given
    call.type = readType(type === undefined ? call.origin : type)
    return call.type
  }

  /** The runner. */
  async attempt (call, { attempt, signal }) {
    if (!(call instanceof Call)) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'the queue of a fetch takes calls from that fetch only')
    }
    if (call.isSettled) return // its time was up when its body had ended, and that was not known to its job yet
    call.drop()
    const follower = { call, controller: this.hasOwnSignals && call.signal === undefined ? undefined : new AbortController() }
    if (follower.controller !== undefined || call.until === 'body') this.signals.add(signal, follower)
    try {
      return await this.send(call, follower.controller, signal, attempt)
    } finally {
      this.signals.remove(signal, follower)
    }
  }

  /** @returns {Promise<any>} the response; nothing when its body has ended, if that has the slot, or if nobody waits for it any more */
  async send (call, controller, signal, attempt) {
    const isLast = attempt >= call.maxAttempts
    let response
    try {
      response = await call.send(this.wrapped, controller, signal)
    } catch (reason) {
      throw signal.aborted ? reason : this.failure(call, reason, isLast)
    }
    try {
      return this.receive(call, response, isLast, signal)
    } catch (err) {
      throw this.answered.has(err) ? err : this.finalError(call, err) // it was answered: to ask again mends nothing
    }
  }

  /** @throws what is to have the call made again, and what the response throws: it may be of any make */
  receive (call, response, isLast, signal) {
    const holdMs = holdMsOf(response)
    if (holdMs > 0) holdAtLeast(this.queue, call.type, holdMs)
    if (!signal.aborted) {
      if (!isLast && isRepeated(response)) throw this.repeat(call, response, holdMs)
      return call.until === 'body' ? this.follow(call, response) : response
    }
    discard(response?.body)
  }

  /** A job has been ended. If the caller has its response, the call is over, and not made again for its body. */
  abort (reason, { call, controller }) {
    if (call.isSettled) this.finalErrors.add(reason)
    controller?.abort(call.abortReason(reason))
  }

  /** What the job of a failed attempt fails with. A call that would fail the same is not made again. */
  failure (call, reason, isLast) {
    const err = errorOf(reason)
    if (!isLast && (err !== reason || !isNetworkFailure(reason))) return this.finalError(call, reason, err)
    call.failure = { err, reason }
    return err
  }

  /** ... and one after which it is not made again. */
  finalError (call, reason, err = errorOf(reason)) {
    call.failure = { err, reason }
    this.finalErrors.add(err)
    return err
  }

  /** What an attempt fails with whose response is not given to the caller, unless it is the last after all. */
  repeat (call, response, holdMs) {
    const err = new FairlaneError('FAIRLANE_ERR_RESPONSE', `${call.method} ${call.origin} was answered ${response.status}`)
    err.status = response.status
    if (holdMs > 0) err.retryAfterMs = holdMs
    call.response = response
    this.answered.set(err, call)
    return err
  }

  /** The response goes to the caller, and the job goes on until the body has ended. */
  follow (call, response) {
    const { given, ended } = watch(response)
    call.resolve(given)
    return ended.catch(reason => { throw this.finalError(call, reason) })
  }

  /** The option of the queue. What is not to be waited for is not read any more. */
  backOff (attempt, error) {
    if (this.finalErrors.has(error)) return Infinity
    const ms = this.backoffMs(attempt, error)
    if (ms < Infinity) this.answered.get(error)?.drop()
    return ms
  }
}

/** What a job fails with. After Throttled and Postponed it would be tried again whatever the call may. */
function errorOf (reason) {
  if (isObject(reason) && !isThrottled(reason) && !isPostponed(reason)) return reason
  return new FairlaneError('FAIRLANE_ERR_RUNNER', 'The call failed with a value that is not an error', { cause: reason })
}

module.exports = { Calls }
