'use strict'

// What a Retry-After header says: seconds, or a date. Loaded by the first one that is read.

const { describe, warn } = require('../arguments/errors')

const USUAL_MS = 1000
const SECONDS = /^(\d+\.?\d*|\.\d+)$/
// A date has a time of day. Date.parse() finds a date in nearly any text with a number in it.
const DATE = /\d:\d\d|^\d{4}-\d\d-\d\d$/
// A form of HTTP that says no time zone, and means GMT.
const ASCTIME = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i

let hasWarned = false

module.exports = { readRetryAfter, readSecondsOrDate }

/**
 * @param {unknown} header its text; null and undefined: there was none
 * @returns {number} ms, from 1, by the clock of the process; 1 s if the time is over, or cannot be read, which is said once
 */
function readRetryAfter (header) {
  const ms = header === undefined || header === null ? USUAL_MS : readSecondsOrDate(header)
  if (!(ms <= Number.MAX_SAFE_INTEGER)) {
    warnOf(header)
    return USUAL_MS
  }
  return ms >= 1 ? ms : USUAL_MS
}

/** @param {unknown} header @returns {number} ms from now; NaN if it says no time */
function readSecondsOrDate (header) {
  if (typeof header !== 'string') return NaN
  const text = header.trim()
  if (SECONDS.test(text)) return Number(`${text}e3`)
  if (!DATE.test(text)) return NaN
  return Date.parse(ASCTIME.test(text) ? `${text} GMT` : text) - Date.now()
}

function warnOf (header) {
  if (hasWarned) return
  hasWarned = true
  warn('FAIRLANE_WARN_RETRY_AFTER', `A Retry-After header, or the argument of Throttled.after(), is ${describe(header)}: neither ` +
    'a number of seconds nor a date. The type is held for 1 s instead. Further cases are not reported.')
}
