'use strict'

// Options, read once when a queue is made: validated, completed, never kept by reference.

const { now } = require('./clock')
const { typeError, rangeError, rejectUnknown, describe } = require('./errors')

const SETTLE_BY = ['either', 'callback', 'promise']
const SCHEDULERS = ['fair', 'capped', 'equal']
const LANE_METHODS = ['queued', 'next', 'started', 'ended']
const WINDOW_METHODS = ['waiting', 'start', 'done', 'select']

// name → how its value is read, given the value or undefined; what it returns is the normal form
const readers = {
  concurrency: value => value === undefined ? 10 : readConcurrency(value),
  settleBy: readSettleBy,
  scheduler: readScheduler,
  schedulerOptions: readSchedulerOptions,
  maxTypes: readMaxTypes,
  clock: readClock
}

module.exports = { readOptions, readConcurrency, isLaneScheduler }

/**
 * @param {object | number | string | undefined} options an options object, or the concurrency alone
 * @returns {{ concurrency: number, settleBy: string, scheduler: string | object | null,
 *   schedulerOptions: object | undefined, maxTypes: number, clock: { now: () => number } }}
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function readOptions (options) {
  if (typeof options === 'number' || typeof options === 'string') options = { concurrency: options }
  if (options === undefined) options = {}
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw typeError('FAIRLANE_ERR_OPTION', `options must be an object or the concurrency, not ${describe(options)}`)
  }
  rejectUnknown(options, Object.keys(readers), 'FAIRLANE_ERR_OPTION')
  const read = Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(options[name])]))
  if (read.scheduler === null && read.schedulerOptions !== undefined && Object.keys(read.schedulerOptions).length > 0) {
    throw typeError('FAIRLANE_ERR_OPTION', 'schedulerOptions are of no use without a scheduler')
  }
  if (read.maxTypes !== Infinity && !isLaneScheduler(read.scheduler)) {
    throw typeError('FAIRLANE_ERR_OPTION', 'maxTypes is of no use without a scheduler of lanes')
  }
  return read
}

/** Whether a scheduler is of the lane protocol; one by name is. An object that has the methods of both is, too. */
function isLaneScheduler (scheduler) {
  return typeof scheduler === 'string' || (scheduler !== null && hasMethods(scheduler, LANE_METHODS))
}

/**
 * @param {unknown} value a positive integer, Infinity, or a string of one
 * @returns {number}
 * @throws FAIRLANE_ERR_CONCURRENCY
 */
function readConcurrency (value) {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (number === Infinity || (Number.isInteger(number) && number > 0)) return number
  const error = typeof value === 'number' || typeof value === 'string' ? rangeError : typeError
  throw error('FAIRLANE_ERR_CONCURRENCY', `concurrency must be a positive integer or Infinity, not ${describe(value)}`)
}

function readSettleBy (value = 'either') {
  if (SETTLE_BY.includes(value)) return value
  const error = typeof value === 'string' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `settleBy must be one of ${SETTLE_BY.join(', ')}, not ${describe(value)}`)
}

function readScheduler (value = null) {
  if (value === null || SCHEDULERS.includes(value)) return value
  if (typeof value === 'string') {
    throw rangeError('FAIRLANE_ERR_SCHEDULER', `scheduler must be one of ${SCHEDULERS.join(', ')} or an object, not ${describe(value)}`)
  }
  if (typeof value === 'object' && (hasMethods(value, LANE_METHODS) || hasMethods(value, WINDOW_METHODS))) return value
  throw typeError('FAIRLANE_ERR_SCHEDULER', 'a scheduler object must have the methods ' +
    `${LANE_METHODS.join(', ')}, or ${WINDOW_METHODS.join(', ')}; ${describe(value)} has not`)
}

/** A copy; what is in it the scheduler checks. */
function readSchedulerOptions (value) {
  if (value === undefined) return undefined
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw typeError('FAIRLANE_ERR_OPTION', `schedulerOptions must be an object, not ${describe(value)}`)
}

function readMaxTypes (value = Infinity) {
  if (value === Infinity || (Number.isInteger(value) && value > 0)) return value
  const error = typeof value === 'number' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `maxTypes must be a positive integer or Infinity, not ${describe(value)}`)
}

function readClock (value) {
  if (value === undefined) return { now }
  if (typeof value !== 'object' || value === null || !hasMethods(value, ['now', 'setTimeout', 'clearTimeout'])) {
    throw typeError('FAIRLANE_ERR_OPTION', 'clock must be an object with the methods now, setTimeout and clearTimeout')
  }
  if (!Number.isFinite(value.now())) throw typeError('FAIRLANE_ERR_OPTION', 'the now() of clock must give finite numbers')
  return value
}

function hasMethods (object, names) {
  return names.every(name => typeof object[name] === 'function')
}
