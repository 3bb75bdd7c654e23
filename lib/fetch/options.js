'use strict'

// Reads the options of a fetch, and what is said of one call.

const { typeError } = require('../arguments/errors')
const { checkObject, copyOf, readChoice, readFlag, readFunction, readPositiveCount, rejectUnknown } = require('../arguments/fields')
const { readBackoff } = require('../job/backoff')
const { options: ofQueue } = require('../core/internals')

const CONCURRENCY = 100
const MOST_TYPES = 10000
const PRIORITY_MS = 1000
const UNTIL = ['headers', 'body']
const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'

// What add() takes and a call cannot have.
const OF_JOBS_ONLY = new Map([
  ['signal', 'put it beside `fairlane`, as the signal of fetch'],
  ...['key', 'onDuplicate', 'keyUntil', 'maxDelayMs'].map(name => [name, 'calls cannot share a response: a body can be read once only'])
])

module.exports = { readOptions, readCallOptions }

/**
 * @param {object} [options] as fairFetch() takes them
 * @returns {{ queue: object, backoffMs: Function, maxAttempts: number, type: Function | undefined, until: 'headers' | 'body' }}
 *   queue: its options, as yet unread
 * @throws FAIRLANE_ERR_OPTION
 */
function readOptions (options = {}) {
  checkObject(options, 'fairFetch: the options', OPTION)
  const names = [...ofQueue.names, ...ofQueue.LIMIT_NAMES, 'type', 'until'].filter(name => name !== 'settleBy')
  rejectUnknown(options, names, OPTION, ofQueue.HINTS)
  const { type, until = 'headers', backoffMs, ...given } = copyOf(options, OPTION)
  return {
    queue: { ...defaultsFor(given), ...withoutUndefined(given), settleBy: 'promise' },
    backoffMs: readBackoff(backoffMs),
    maxAttempts: given.maxAttempts ?? 1,
    type: type === undefined ? undefined : readFunction(type, 'type', OPTION),
    until: readChoice(until, 'until', UNTIL, OPTION)
  }
}

/**
 * @param {object} [fairlane] of the init of a call
 * @param {{ maxAttempts: number, until: string }} defaults
 * @returns {{ type: any, retry: boolean | undefined, maxAttempts: number, until: string, job: object }} maxAttempts: if it may be made
 *   again at all. job: what add() is to read
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function readCallOptions (fairlane = {}, defaults) {
  checkObject(fairlane, 'fairlane', ARGUMENT)
  const { type, retry, maxAttempts = defaults.maxAttempts, until = defaults.until, ...job } = copyOf(fairlane, ARGUMENT)
  for (const name of Object.keys(job)) {
    if (OF_JOBS_ONLY.has(name)) throw typeError(ARGUMENT, `a call cannot have the option ${name}: ${OF_JOBS_ONLY.get(name)}`)
  }
  return {
    type,
    retry: retry === undefined ? undefined : readFlag(retry, 'retry', ARGUMENT),
    maxAttempts: readPositiveCount(maxAttempts, 'maxAttempts', ARGUMENT),
    until: readChoice(until, 'until', UNTIL, ARGUMENT),
    job
  }
}

/** Some of them are for schedulers with lanes. */
function defaultsFor ({ scheduler = 'equal' }) {
  const defaults = { scheduler, concurrency: CONCURRENCY, asyncContext: 'push' }
  if (scheduler === null) return { ...defaults, priorityMs: PRIORITY_MS }
  return ofQueue.isLaneScheduler(scheduler) ? { ...defaults, priorityMs: PRIORITY_MS, maxTypes: MOST_TYPES } : defaults
}

function withoutUndefined (given) {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
