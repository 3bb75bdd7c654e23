'use strict'

// Options of admission(), read once: its own here, the others by the queue that they are for.

const { checkObject, readChoice, readEach, readFields, readFlag, readFunction, rejectUnknown } = require('../arguments/fields')
const { options: { HINTS, LIMIT_NAMES, isLaneScheduler, names: queueNames } } = require('../core/internals')

const OPTION = 'FAIRLANE_ERR_OPTION'

const readers = {
  tenant: value => readAsked(value, 'tenant'),
  exempt: value => readAsked(value, 'exempt'),
  cost: value => readAsked(value, 'cost'),
  refuse: value => readAsked(value, 'refuse'),
  serverTiming: (value = true) => readFlag(value, 'serverTiming', OPTION),
  until: (value = 'close') => readChoice(value, 'until', ['close', 'headers'], OPTION)
}

// What a queue has for jobs that may be run again, or that end when a runner says so.
const OF_JOBS = new Map(['settleBy', 'maxAttempts', 'backoffMs'].map(name => {
  return [name, 'a request is handled once, and its job ends with the response']
}))
const OF_QUEUES = [...queueNames, ...LIMIT_NAMES].filter(name => !OF_JOBS.has(name))
const NAMES = [...Object.keys(readers), ...OF_QUEUES]

const DEFAULTS = { scheduler: 'equal', concurrency: 64, maxWaiting: 1000, maxWaitMs: 10000, asyncContext: 'push' }

module.exports = { names: NAMES, readAdmissionOptions }

/**
 * @param {object} [options]
 * @returns {{ own: { tenant?: Function, exempt?: Function, cost?: Function, refuse?: Function, serverTiming: boolean, until: string },
 *   ofQueue: object }} ofQueue: those that the queue is to check
 * @throws FAIRLANE_ERR_OPTION
 */
function readAdmissionOptions (options = {}) {
  checkObject(options, 'admission: the options', OPTION)
  rejectUnknown(options, NAMES, OPTION, new Map([...HINTS, ...OF_JOBS]))
  const given = readFields(options, NAMES, OPTION)
  return { own: readEach(given, readers), ofQueue: { ...withDefaults(given), settleBy: 'callback' } }
}

/** Limits of types have a default where there are types. */
function withDefaults (given) {
  const said = Object.fromEntries(OF_QUEUES.filter(name => given[name] !== undefined).map(name => [name, given[name]]))
  const { scheduler } = { ...DEFAULTS, ...said }
  const ofTypes = scheduler === null ? {} : { maxWaitingPerType: 50 }
  const ofLanes = isLaneScheduler(scheduler) ? { maxTypes: 10000 } : {}
  return { ...DEFAULTS, ...ofTypes, ...ofLanes, ...said }
}

/** A function that is asked about requests. */
function readAsked (value, name) {
  return value === undefined ? undefined : readFunction(value, name, OPTION)
}
