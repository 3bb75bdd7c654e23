'use strict'

// The functions that make errors and warnings. codes.js has the table of their codes, which a queue in memory does not load.
// Wrong use of the API is a TypeError or RangeError thrown at once; what happens at run time is a FairlaneError, given
// to the job's callback. Both carry `code`; match on codes, never on messages.

/** What a job fails with when fairlane, not the runner, ended it. `code` is one of codes.js, `cause` what led to it. */
class FairlaneError extends Error {
  /**
   * @param {string} code one of codes.js
   * @param {string} message
   * @param {{ cause?: any }} [options] as of Error; `cause` is set if the property is there, even to undefined
   */
  constructor (code, message, options) {
    super(message, options)
    this.code = code
  }
}
Object.defineProperty(FairlaneError.prototype, 'name', { value: 'FairlaneError', writable: true, configurable: true })

module.exports = {
  FairlaneError,
  abortedError,
  cancelledError,
  clearedError,
  closedError,
  crashedError,
  overdueError,
  queueFullError,
  removedError,
  resultLostError,
  typeFullError,
  typeError,
  rangeError,
  describe,
  describeThrown,
  failure,
  warn
}

// What several engines refuse and end jobs with.

/** @param {any} reason of the signal */
function abortedError (reason) {
  return new FairlaneError('FAIRLANE_ERR_ABORTED', 'The job was aborted', { cause: reason })
}

/** By its id. */
function cancelledError () {
  return new FairlaneError('FAIRLANE_ERR_ABORTED', 'The job was cancelled')
}

/** @param {{ cause?: any }} [options] as of FairlaneError */
function clearedError (options) {
  return new FairlaneError('FAIRLANE_ERR_CLEARED', 'The queue was cleared', options)
}

function removedError () {
  return new FairlaneError('FAIRLANE_ERR_CLEARED', 'The job was removed')
}

/** From the close of a queue on. @param {{ cause?: any }} [options] as of FairlaneError */
function closedError (options) {
  return new FairlaneError('FAIRLANE_ERR_CLOSED', 'The queue is closed', options)
}

/** @param {number} attempt the last one */
function crashedError (attempt) {
  return new FairlaneError('FAIRLANE_ERR_CRASHED', `The process ended while attempt ${attempt} of the job was running`)
}

/** It was not started in time. */
function overdueError () {
  return new FairlaneError('FAIRLANE_ERR_MAX_WAIT', 'The job waited longer than maxWaitMs')
}

function resultLostError () {
  return new FairlaneError('FAIRLANE_ERR_RESULT', 'The job has ended, and its result was not kept')
}

/** @param {{ waiting: number, limit: number }} fields and others that the error gets */
function queueFullError (fields, message = `The queue is full: ${fields.waiting} jobs are waiting (limit: ${fields.limit})`) {
  return Object.assign(new FairlaneError('FAIRLANE_ERR_QUEUE_FULL', message), fields)
}

/** @param {{ type: string, waiting: number, limit: number }} fields and others that the error gets */
function typeFullError (fields) {
  const message = `The queue is full for this type: ${fields.waiting} of its jobs are waiting (limit: ${fields.limit})`
  return Object.assign(new FairlaneError('FAIRLANE_ERR_TYPE_FULL', message), fields)
}

/** Wrong use: an argument of the wrong type. @param {{ cause?: any }} [options] as of FairlaneError */
function typeError (code, message, options) {
  return Object.assign(new TypeError(message, options), { code })
}

/** Wrong use: an argument of the right type with a value that it cannot have. */
function rangeError (code, message) {
  return Object.assign(new RangeError(message), { code })
}

/** A value as error messages show it; short, and safe with values that cannot be converted. */
function describe (value) {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return Array.isArray(value) ? 'an array' : 'an object'
  } catch {
    return 'a revoked Proxy'
  }
}

/** What was thrown, as warnings tell it: an error by its name and its words. Safe with whatever a caller's function throws. */
function describeThrown (reason) {
  try {
    return reason instanceof Error ? String(reason) : describe(reason)
  } catch {
    return 'what cannot be described'
  }
}

/** What a runner failed with: a falsy reason would look like a success to whoever is told. */
function failure (reason) {
  if (reason) return reason
  return new FairlaneError('FAIRLANE_ERR_RUNNER', `The runner threw or rejected with ${describe(reason)}: use an Error`, { cause: reason })
}

/**
 * Warns by the process's warnings where there is a process, else on the console.
 * @param {string} code
 * @param {string} message
 * @param {string} [detail] where it comes from
 */
function warn (code, message, detail) {
  if (typeof process === 'object' && typeof process.emitWarning === 'function') {
    process.emitWarning(message, { type: 'FairlaneWarning', code, detail })
  } else {
    console.warn(`FairlaneWarning: [${code}] ${message}`)
  }
}
