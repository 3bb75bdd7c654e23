'use strict'

// How long a job waits between two attempts, where jobs have several.

const { typeError, rangeError, describe } = require('./errors')

const FIRST_BACKOFF_MS = 1000
const LONGEST_BACKOFF_MS = 60000

module.exports = { defaultBackoffMs, readBackoff, backoffAfter }

/** Before attempt 2, 3, …: a second, twice as long each time, a minute at most. */
function defaultBackoffMs (attempt) {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS)
}

/**
 * @returns {(attempt: number, error: any) => number}
 * @throws FAIRLANE_ERR_OPTION
 */
function readBackoff (value = defaultBackoffMs) {
  if (typeof value === 'function') return value
  if (Number.isFinite(value) && value >= 0) return () => value
  const error = typeof value === 'number' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `backoffMs must be a time in ms or a function that gives one, not ${describe(value)}`)
}

/**
 * What backoffMs says of an attempt that failed; the default, if what it says is no time.
 * @param {(attempt: number, error: any) => number} backoffMs the caller's
 * @param {(err: any) => void} onFault given what is wrong with it
 */
function backoffAfter (backoffMs, attempt, error, onFault) {
  try {
    const ms = backoffMs(attempt, error)
    if (Number.isFinite(ms) && ms >= 0) return ms
    throw rangeError('FAIRLANE_ERR_OPTION', `backoffMs must give a time in ms, and it gave ${describe(ms)}`)
  } catch (err) {
    onFault(err)
    return defaultBackoffMs(attempt)
  }
}
