'use strict'

// What a runner fails with to have its job wait without counting the attempt.

const { readNumber } = require('../arguments/fields')

const LONGEST_MS = 2 ** 31 // of Postponed
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'

// An error is told by what is here, not by `instanceof`, and its time cannot be changed: what a runner fails with may be a Proxy that
// throws at any look.
const throttled = new WeakSet()
const postponed = new WeakSet()

/** Somebody said that there were too many requests: the type of the job is held for a while, and the job waits again as the first of it. */
class Throttled extends Error {
  /**
   * @param {number} retryAfterMs from 0; what is less than 1 is 1
   * @param {{ cause?: any }} [options] as of Error
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  constructor (retryAfterMs, options) {
    readNumber(retryAfterMs, 'retryAfterMs', 0, Number.MAX_SAFE_INTEGER, ARGUMENT)
    const ms = Math.max(1, Math.ceil(retryAfterMs))
    super(`throttled for ${ms} ms`, options)
    Object.defineProperty(this, 'retryAfterMs', { value: ms, enumerable: true })
    throttled.add(this)
  }

  /**
   * For as long as a Retry-After header says, as readRetryAfter() reads it.
   * @param {string | null | undefined} header
   * @param {{ cause?: any }} [options] as of Error
   */
  static after (header, options) {
    return new this(require('./retry-after').readRetryAfter(header), options)
  }
}
Object.defineProperty(Throttled.prototype, 'name', { value: 'Throttled', writable: true, configurable: true })

/** The job is to be tried later, while others of its type go on. */
class Postponed extends Error {
  /**
   * @param {number} delayMs from 0 to 2^31
   * @param {{ cause?: any }} [options] as of Error
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  constructor (delayMs, options) {
    readNumber(delayMs, 'delayMs', 0, LONGEST_MS, ARGUMENT)
    super(`postponed for ${delayMs} ms`, options)
    Object.defineProperty(this, 'delayMs', { value: delayMs, enumerable: true })
    postponed.add(this)
  }
}
Object.defineProperty(Postponed.prototype, 'name', { value: 'Postponed', writable: true, configurable: true })

/** Whether somebody has made it by `new Throttled()`; calls nothing of the caller's. @param {any} err */
function isThrottled (err) {
  return throttled.has(err)
}

/** The same for Postponed. @param {any} err */
function isPostponed (err) {
  return postponed.has(err)
}

module.exports = { Throttled, Postponed, isThrottled, isPostponed }
