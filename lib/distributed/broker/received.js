'use strict'

// Reads what others have written at the broker, or sent through it: another program may have done that, so all of it is checked before
// it is used.

const { errorOf } = require('../../job/error-text')

const MOST_WORKERS = 2 ** 48 - 1 // what randomInt() takes
const NO_LIMIT = 2 ** 52 // from here on a limit is none: JSON has no Infinity
const NOTHING = Object.freeze({ maxAttempts: undefined, timeoutMs: undefined, maxWaitMs: undefined, schedule: undefined })

module.exports = { NO_LIMIT, jsonOf, readWake, readNotice, faultOf, countOf, dueAtOf, ownOf }

/** @returns {any} undefined if it is not JSON, which no JSON is */
function jsonOf (text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * What is said on the channel of a partition.
 * @returns {{ workersCount: number, names: string[] } | { cancelled: [string, string] } | { changed: string, by: string } |
 *   { freed: string } | { given: string } | { limits: string } | undefined} undefined if it is none of that
 */
function readWake (message) {
  if (Array.isArray(message)) {
    const [workersCount, names] = message
    const isRead = Number.isInteger(workersCount) && workersCount >= 0 && workersCount <= MOST_WORKERS && areStrings(names)
    return isRead ? { workersCount, names } : undefined
  }
  if (typeof message !== 'object' || message === null) return undefined
  const { cancelled, changed, by, freed, given, limits } = message
  if (areStrings(cancelled) && cancelled.length === 2) return { cancelled }
  if (typeof changed === 'string' && typeof by === 'string') return { changed, by }
  if (typeof limits === 'string') return { limits }
  if (typeof given === 'string') return { given }
  return typeof freed === 'string' ? { freed } : undefined
}

/** Of a job that has ended. @returns {{ id: string, error?: Error, result?: any } | undefined} */
function readNotice (notice) {
  if (!Array.isArray(notice)) return undefined
  const [id, text, fault] = notice
  if (typeof id !== 'string') return undefined
  if (fault !== undefined && fault !== null) return typeof fault === 'string' ? { id, error: faultOf(fault) } : undefined
  const result = typeof text === 'string' ? jsonOf(text) : undefined
  return result === undefined ? undefined : { id, result }
}

/** What errorText() made a text of. */
function faultOf (text) {
  const { name, message, code } = Object(jsonOf(text))
  const isRead = typeof name === 'string' && typeof message === 'string' && (code === undefined || typeof code === 'string')
  return isRead ? errorOf(text) : new Error('The job failed, and its error at the broker cannot be read')
}

/** A count in a record: none where it cannot be read. */
function countOf (value) {
  return Number.isInteger(value) && value >= 0 ? value : 0
}

/**
 * Since when a job waits for its first start, by the broker's clock: since it was pushed, or its delay was over.
 * @param {number} due if that was put off
 * @param {number} timestamp of the push
 * @param {object} opts its options
 * @returns {number} in ms since 1970; Infinity where it cannot be read
 */
function dueAtOf (due, timestamp, { delay }) {
  if (due > 0) return due
  return Number.isFinite(timestamp) ? timestamp + countOf(delay) : Infinity
}

/** What the options of a job say of its limits, and of the schedule that has pushed it. */
function ownOf ({ attempts, timeoutMs, maxWaitMs, schedule }) {
  if (attempts === undefined && timeoutMs === undefined && maxWaitMs === undefined && schedule === undefined) return NOTHING
  return {
    maxAttempts: limitOf(attempts, 1),
    timeoutMs: limitOf(timeoutMs, 0),
    maxWaitMs: limitOf(maxWaitMs, 0),
    schedule: typeof schedule?.name === 'string' && Number.isFinite(schedule.time) ? Object.freeze({ ...schedule }) : undefined
  }
}

/** BullMQ has 0 attempts where nothing is said. */
function limitOf (value, least) {
  if (typeof value !== 'number' || !(value >= least)) return undefined
  return value >= NO_LIMIT ? Infinity : value
}

function areStrings (values) {
  return Array.isArray(values) && values.every(value => typeof value === 'string')
}
