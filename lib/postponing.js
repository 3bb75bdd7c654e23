'use strict'

// What a runner fails with to have its job wait without counting the attempt.

const { rangeError, typeError, describe } = require('./errors')

const LONGEST_MS = 2 ** 31
const USUAL_MS = 1000

// An error is told by what is here, not by `instanceof`, and its time cannot be changed: what a runner fails with may be a Proxy that throws at any look.
const throttled = new WeakSet()
const postponed = new WeakSet()

/** Somebody said that there were too many requests: the type of the job is held for a while, and the job waits again as the first of it. */
class Throttled extends Error {
  /**
   * @param {number | string | null} [retryAfterMs] ms, from 1 to 2^31; or the text of a Retry-After header, which is seconds or a date. What is
   *   neither is 1 s
   * @param {{ cause?: any }} [options] as of Error
   */
  constructor (retryAfterMs, options) {
    const ms = readRetryAfter(retryAfterMs)
    super(`throttled for ${ms} ms`, options)
    Object.defineProperty(this, 'retryAfterMs', { value: ms, enumerable: true })
    throttled.add(this)
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
    if (typeof delayMs !== 'number') throw typeError('FAIRLANE_ERR_ARGUMENT', `delayMs must be a time in ms, not ${describe(delayMs)}`)
    if (!(delayMs >= 0 && delayMs <= LONGEST_MS)) throw rangeError('FAIRLANE_ERR_ARGUMENT', `delayMs must be from 0 to ${LONGEST_MS}, not ${delayMs}`)
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

/** @returns {number} ms */
function readRetryAfter (value) {
  if (typeof value === 'number') return value >= 1 && value <= LONGEST_MS ? Math.ceil(value) : USUAL_MS
  if (typeof value !== 'string' || value.trim() === '') return USUAL_MS
  const ms = /^\s*\d+\s*$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now()
  return ms >= 1 && ms <= LONGEST_MS ? Math.ceil(ms) : USUAL_MS
}

module.exports = { Throttled, Postponed, isThrottled, isPostponed }
