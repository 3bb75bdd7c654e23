'use strict'

// Every error code and warning code, in one table, and the functions that make errors of them.
// Wrong use of the API is a TypeError or RangeError thrown at once; what happens at run time is a FairlaneError, given
// to the job's callback. Both carry `code`; match on codes, never on messages.

const codes = Object.freeze({
  FAIRLANE_ERR_RUNNER: 'The runner is not a function, or it threw or rejected without a reason.',
  FAIRLANE_ERR_OPTION: 'An option is unknown or has a value that it can not have.',
  FAIRLANE_ERR_CONCURRENCY: 'The concurrency is neither a positive integer nor Infinity.',
  FAIRLANE_ERR_TYPE: 'The type of a job can not be made into a string.',
  FAIRLANE_ERR_CALLBACK: 'A callback is not a function.',
  FAIRLANE_ERR_ARGUMENT: 'An argument is not what the method takes.',
  FAIRLANE_ERR_CLEARED: 'The job was cancelled by clear() or remove() while it waited.'
})

const warnings = Object.freeze({
  FAIRLANE_WARN_SETTLED_TWICE: 'A runner settled a job that was settled already.'
})

/** What a job fails with when fairlane, not the runner, ended it. `code` is one of `codes`, `cause` what led to it. */
class FairlaneError extends Error {
  /**
   * @param {string} code a key of `codes`
   * @param {string} message
   * @param {{ cause?: any }} [options] as of Error; `cause` is set if the property is there, even to undefined
   */
  constructor (code, message, options) {
    super(message, options)
    this.code = code
  }
}
Object.defineProperty(FairlaneError.prototype, 'name', { value: 'FairlaneError', writable: true, configurable: true })

module.exports = { codes, warnings, FairlaneError, typeError, rangeError, warn }

/** Wrong use: an argument of the wrong type. */
function typeError (code, message) {
  return Object.assign(new TypeError(message), { code })
}

/** Wrong use: an argument of the right type with a value that it can not have. */
function rangeError (code, message) {
  return Object.assign(new RangeError(message), { code })
}

/** Warns by the process's warnings where there is a process, else on the console. */
function warn (code, message) {
  if (typeof process === 'object' && typeof process.emitWarning === 'function') {
    process.emitWarning(message, { type: 'FairlaneWarning', code })
  } else {
    console.warn(`FairlaneWarning: [${code}] ${message}`)
  }
}
