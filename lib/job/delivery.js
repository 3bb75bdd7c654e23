'use strict'

// One attempt at a job: from the slot that it was given to the end of the caller's runner. It knows how runners tell that they end, and
// tells the queue's slot of it; what becomes of the job is not its business.
//
//   slot ──▶ safe, attempt written ──run()──▶ runner ──▶ done(), promise, throw ──▶ end()

const { rethrow } = require('../platform/clock')
const { failure } = require('../arguments/errors')
const { promiseOf } = require('../platform/promised')

/** What the runner knows of its job, its last argument, as far as that is the same wherever jobs are kept. */
class DeliveryContext {
  #slot

  constructor (id, type, attempt, slot) {
    this.id = id
    this.type = type
    this.attempt = attempt
    this.#slot = slot
  }

  get signal () {
    return this.#slot.signal
  }
}

class Delivery {
  /**
   * @param {number | object} job what the slot was given for
   * @param {(err?: any, result?: any) => void} done of the slot
   * @param {{ signal: AbortSignal }} slot its context
   * @param {object} ticket what limits its time from when the runner begins
   * @param {number} [waitsUntil] when the job would have waited for a slot for too long, by the queue's clock
   */
  constructor (job, done, slot, ticket, waitsUntil = Infinity) {
    this.job = job
    this.done = done
    this.slot = slot
    this.ticket = ticket
    this.waitsUntil = waitsUntil
    this.isRecalled = false // it lost its slot before its runner was called
    this.isGivenBack = false // the slot was
    this.id = 0 // of the job, as its context says it
    this.type = slot.type // until the job is read
    this.attempt = 0
    this.payload = undefined // once it was decoded
    this.before = undefined // the state of the job before that
    this.cost = undefined // what it is charged, once it has begun, where that is counted
    this.options = undefined // what was said of it beside its payload, once it was read
    this.hasBegun = false // the caller's runner was called
    this.hasEnded = false // ... and has ended, with
    this.error = undefined
    this.result = undefined
    this.isSettled = false // by its end, a timeout or close
    this.isCancelled = false // the job is gone whatever its runner does
    this.isFinal = false // not to be tried again whatever is left
    this.whenEnded = undefined // called when the runner ends after that
  }

  /**
   * Calls the caller's runner.
   * @param {Function} runner
   * @param {'either' | 'callback' | 'promise'} settleBy
   * @param {DeliveryContext} context of a class that extends it
   * @returns {any} a value of it that settles nothing, while it has not called done; else undefined
   */
  run (runner, payload, settleBy, context) {
    this.hasBegun = true
    const done = settleBy === 'promise' ? undefined : (err, result) => this.end(err, result)
    try {
      const returned = done === undefined ? runner(payload, context) : runner(payload, done, context)
      if (settleBy !== 'callback') return this.follow(returned, settleBy)
    } catch (err) {
      this.endByThrow(err)
    }
    return undefined
  }

  /** The slot is given back; a second end is for the queue to count. */
  end (err, result) {
    const isFirst = !this.hasEnded
    if (isFirst) {
      this.hasEnded = true
      this.error = err
      this.result = result
    }
    this.done(err, result)
    if (isFirst) this.whenEnded?.()
  }

  /** Whether what settled the job is the end of its runner, not something that came over it before. */
  isSettledBy (err) {
    return this.hasEnded && (!err || err === this.error)
  }

  /**
   * The job was settled by something else: tells whoever wants to know when the runner ends, or that it has meanwhile. The last one who
   * asks is told.
   */
  onceEnded (callback) {
    this.whenEnded = callback
    if (this.hasEnded) callback()
  }

  /** The same, with its result, if it ends well nonetheless. */
  onceWell (callback) {
    this.onceEnded(() => { if (!this.error) callback(this.result) })
  }

  /** As end() for what was thrown, which may be anything. */
  fail (reason) {
    this.end(failure(reason))
  }

  /** The slot is given back without an end: the runner was not called. A second time is none. */
  giveBack () {
    if (this.isGivenBack) return
    this.isGivenBack = true
    this.done()
  }

  // private from here on

  follow (returned, settleBy) {
    const promise = promiseOf(returned)
    if (promise !== undefined) {
      promise.then(
        // after done() this is no second end
        value => { if (!this.hasEnded) this.end(null, value) },
        reason => this.fail(reason)
      )
    } else if (settleBy === 'promise') {
      this.end(null, returned)
    } else if (!this.hasEnded) {
      return returned
    }
    return undefined
  }

  endByThrow (err) {
    if (this.hasEnded) rethrow(err)
    else this.fail(err)
  }
}

module.exports = { Delivery, DeliveryContext }
