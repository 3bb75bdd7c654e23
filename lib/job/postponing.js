'use strict'

// What a runner fails with to have its job wait without counting the attempt.

const { readNumber } = require('../arguments/fields')

const LONGEST_MS = 2 ** 31 // of Postponed
const USUAL_MS = 1000
// From here on, a day of 2001, the reading of a clock is one in ms since 1970. One that counts from anywhere else gets there in 31 years.
const FIRST_DATE = 1e12
// What a Retry-After header may say: seconds, or a date, which has a time of day. Date.parse() finds a date in nearly any text with a
// number in it.
const SECONDS = /^(\d+\.?\d*|\.\d+)$/
const DATE = /\d:\d\d|^\d{4}-\d\d-\d\d$/
// A form of HTTP that says no time zone, and means GMT.
const ASCTIME = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i

// An error is told by what is here, not by `instanceof`, and its time cannot be changed: what a runner fails with may be a Proxy that
// throws at any look.
const throttled = new WeakSet()
const postponed = new WeakSet()
const dates = new WeakMap() // Throttled → in ms since 1970, of those that were given a date

/** Somebody said that there were too many requests: the type of the job is held for a while, and the job waits again as the first of it. */
class Throttled extends Error {
  /**
   * @param {number | string | null} [retryAfterMs] ms, 1 or more; or the text of a Retry-After header, which is seconds or a date. What is
   *   neither, or over, is 1 s
   * @param {{ cause?: any }} [options] as of Error
   */
  constructor (retryAfterMs, options) {
    const date = typeof retryAfterMs === 'string' ? readDate(retryAfterMs.trim()) : undefined
    const ms = timeOf(date === undefined ? readTime(retryAfterMs) : date - Date.now())
    super(`throttled for ${ms} ms`, options)
    Object.defineProperty(this, 'retryAfterMs', { value: ms, enumerable: true })
    throttled.add(this)
    if (date !== undefined) dates.set(this, date)
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
    readNumber(delayMs, 'delayMs', 0, LONGEST_MS, 'FAIRLANE_ERR_ARGUMENT')
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

/**
 * For how long a queue is to hold what was throttled. A date is compared with the date that the queue goes by.
 * @param {Throttled} err
 * @param {{ now: () => number }} clock of the queue
 * @param {() => number} [now] in ms since 1970
 * @returns {number} ms
 */
function heldMsOf (err, clock, now = Date.now) {
  const date = dates.get(err)
  return date === undefined ? err.retryAfterMs : timeOf(date - dateBy(clock, now))
}

/** Which date it is, in ms since 1970: by a clock that tells so, else by the machine (docs/decisions/0091-dates-and-clocks.md). */
function dateBy (clock, now) {
  const time = clock.now()
  return time >= FIRST_DATE ? time : now()
}

/** @returns {number | undefined} in ms since 1970 */
function readDate (text) {
  return DATE.test(text) ? Date.parse(ASCTIME.test(text) ? `${text} GMT` : text) : undefined
}

/** @returns {number} ms, if it is a time */
function readTime (value) {
  if (typeof value !== 'string') return typeof value === 'number' ? value : NaN
  const text = value.trim()
  return SECONDS.test(text) ? Number(`${text}e3`) : NaN
}

function timeOf (ms) {
  return ms >= 1 && ms <= Number.MAX_SAFE_INTEGER ? Math.ceil(ms) : USUAL_MS
}

module.exports = { Throttled, Postponed, heldMsOf, isThrottled, isPostponed }
