'use strict'

// How long a job waits between two attempts, where jobs have several.

const { rangeError, describe } = require('../arguments/errors')
const { readNumber, readOwn, wrong } = require('../arguments/fields')

const FIRST_BACKOFF_MS = 1000
const LONGEST_BACKOFF_MS = 60000

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const DEFAULTS = { firstMs: FIRST_BACKOFF_MS, factor: 2, mostMs: LONGEST_BACKOFF_MS, jitter: 0.5 }
const RANGES = { firstMs: [0, Number.MAX_VALUE], factor: [1, Number.MAX_VALUE], mostMs: [0, Number.MAX_VALUE], jitter: [0, 1] }

module.exports = { backoff, defaultBackoffMs, readBackoff, backoffAfter }

/**
 * For the option backoffMs: waits `firstMs`, then `factor` times as long each time, `mostMs` at most. A random part of it, up to `jitter`,
 * is left out, so that jobs that failed together do not come back together. Never less than `retryAfterMs` of the error.
 * @param {{ firstMs?: number, factor?: number, mostMs?: number, jitter?: number }} [options] jitter from 0 to 1
 * @returns {(attempt: number, error?: any) => number}
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function backoff (options = {}) {
  const { firstMs, factor, mostMs, jitter } = { ...DEFAULTS, ...readGiven(options) }
  return (attempt, error) => {
    const rise = Math.min(factor ** (attempt - 1), Number.MAX_VALUE) // not Infinity, of which 0 times is no number
    const ms = Math.min(firstMs * rise, mostMs) * (1 - jitter * Math.random())
    const leastMs = error?.retryAfterMs
    return typeof leastMs === 'number' && leastMs > ms && leastMs < Infinity ? leastMs : ms
  }
}

function readGiven (options) {
  const given = readOwn(options, 'backoff: the options', Object.keys(DEFAULTS), ARGUMENT)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) delete given[name]
    else readNumber(value, name, ...RANGES[name], ARGUMENT)
  }
  return given
}

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
  throw wrong(value, 'number', 'FAIRLANE_ERR_OPTION', 'backoffMs must be a time in ms or a function that returns one')
}

/**
 * What backoffMs says of an attempt that failed: a time, or Infinity if there is to be no other one. The default, if it says neither.
 * @param {(attempt: number, error: any) => number} backoffMs the caller's
 * @param {(err: any) => void} onFault given what is wrong with it
 */
function backoffAfter (backoffMs, attempt, error, onFault) {
  try {
    const ms = backoffMs(attempt, error)
    if (typeof ms === 'number' && ms >= 0) return ms
    throw rangeError('FAIRLANE_ERR_OPTION', `backoffMs must return a time in ms, not ${describe(ms)}`)
  } catch (err) {
    onFault(err)
    return defaultBackoffMs(attempt)
  }
}
