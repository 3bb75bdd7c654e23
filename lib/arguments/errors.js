'use strict'

// Every error code and warning code, in one table, and the functions that make errors of them.
// Wrong use of the API is a TypeError or RangeError thrown at once; what happens at run time is a FairlaneError, given
// to the job's callback. Both carry `code`; match on codes, never on messages.

const codes = Object.freeze({
  FAIRLANE_ERR_RUNNER:
    'The runner is not a function, it threw or rejected without a reason, or it did not give a result for each job of a batch.',
  FAIRLANE_ERR_OPTION: 'An option is unknown or has a value that is not allowed.',
  FAIRLANE_ERR_CONCURRENCY: 'The concurrency is neither a positive integer nor Infinity.',
  FAIRLANE_ERR_SCHEDULER: 'The scheduler is unknown or incomplete, cannot do what is asked, or has misbehaved (a warning).',
  FAIRLANE_ERR_TYPE_REQUIRED: 'A queue with a scheduler takes jobs only with a type.',
  FAIRLANE_ERR_TYPE:
    'The type is undefined, null, a symbol, a value without a text of its own such as `{}`, ' +
    'or, on disk and at a broker, not well-formed Unicode.',
  FAIRLANE_ERR_CALLBACK: 'A callback is not a function.',
  FAIRLANE_ERR_ARGUMENT: 'An argument is not what the method takes.',
  FAIRLANE_ERR_QUEUE_FULL: 'The job was refused: as many jobs are waiting as the queue allows.',
  FAIRLANE_ERR_TYPE_FULL: 'The job was refused: as many jobs of its type are waiting as the queue allows.',
  FAIRLANE_ERR_TIMEOUT: 'The job ran longer than its time limit, or its thread did not load the module in time.',
  FAIRLANE_ERR_MAX_WAIT: 'The job was cancelled: it waited longer than allowed.',
  FAIRLANE_ERR_ABORTED: 'The job was cancelled by its signal.',
  FAIRLANE_ERR_CLEARED: 'The job was cancelled by clear() or remove() while it waited.',
  FAIRLANE_ERR_CLOSED: 'The queue is closed, or was closed before the job ended; or its threads are closed.',
  FAIRLANE_ERR_CRASHED: 'The thread ended while the job ran; or the process did, and the queue had no attempt left for it.',
  FAIRLANE_ERR_LOCKED: 'The durable queue is already open, in this process or in another one.',
  FAIRLANE_ERR_CORRUPT: 'The files of a durable queue or a history are damaged; `file` and `offset` say where.',
  FAIRLANE_ERR_VERSION: 'The folder of a durable queue has a format that this version of fairlane does not read; `file` says where.',
  FAIRLANE_ERR_SERIALIZER: 'The jobs of a durable queue were pushed with another `serialize` than it is opened with.',
  FAIRLANE_ERR_IO: 'The file system or a database failed; `cause` says how.',
  FAIRLANE_ERR_TOO_LARGE: 'A payload, a batch or a type is larger than the queue can hold.',
  FAIRLANE_ERR_PEER:
    'A package that this part of fairlane needs is not installed, or is another version; the message says how to install it.',
  FAIRLANE_ERR_BROKER: 'The broker refused a call or could not be reached; `cause` says how.',
  FAIRLANE_ERR_LEASE: 'The process was not heard of for so long that another one may run the job.',
  FAIRLANE_ERR_RESULT: 'The job has ended, and its result is not kept.',
  FAIRLANE_ERR_UNSUPPORTED: 'A queue of this kind does not have this member; the message says which have it, and what to use here.'
})

const warnings = Object.freeze({
  FAIRLANE_WARN_SETTLED_TWICE: 'A runner settled a job that had already settled.',
  FAIRLANE_WARN_STALLED: 'Jobs that wait for jobs of their own queue seem to hold all slots.',
  FAIRLANE_WARN_VALUE_IGNORED: 'A runner that takes no `done` returned a value that is not a promise: its jobs never end.',
  FAIRLANE_WARN_OUTAGE: 'A durable queue cannot write its log at present: it starts fewer jobs or none, and keeps trying.',
  FAIRLANE_WARN_DAMAGE: 'A durable queue found damage in its files while it was open: some jobs cannot be read any more.',
  FAIRLANE_WARN_BROKER: 'The broker is not set up to keep jobs, refuses what a queue does by itself, or has what cannot be read.'
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

module.exports = {
  codes,
  warnings,
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
  return new FairlaneError('FAIRLANE_ERR_CRASHED', `The process ended while the job ran, in attempt ${attempt}`)
}

/** It was not started in time. */
function overdueError () {
  return new FairlaneError('FAIRLANE_ERR_MAX_WAIT', 'The job waited longer than maxWaitMs')
}

function resultLostError () {
  return new FairlaneError('FAIRLANE_ERR_RESULT', 'The job has ended, and its result is not kept')
}

/** @param {{ waiting: number, limit: number }} fields and others that the error gets */
function queueFullError (fields, message = `${fields.waiting} jobs wait already`) {
  return Object.assign(new FairlaneError('FAIRLANE_ERR_QUEUE_FULL', message), fields)
}

/** @param {{ type: string, waiting: number, limit: number }} fields and others that the error gets */
function typeFullError (fields) {
  return Object.assign(new FairlaneError('FAIRLANE_ERR_TYPE_FULL', `${fields.waiting} jobs of the type wait already`), fields)
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

/** What a runner failed with: a falsy reason would look like a success to whoever is told. */
function failure (reason) {
  if (reason) return reason
  return new FairlaneError('FAIRLANE_ERR_RUNNER', 'The runner threw or rejected without a reason', { cause: reason })
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
