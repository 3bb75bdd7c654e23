'use strict'

// Options of durable queues, read once.

const { readBackoff } = require('../job/backoff')
const { typeError, describe } = require('../arguments/errors')
const { checkObject, elementsOf, isArray, readEach, readFields, readOwn, readPositiveCount, readWhole } = require('../arguments/fields')
const keptCalls = require('../job/kept-calls')
const { PLAN_NAMES, readPlan } = require('../job/plan')
const { readSerializer } = require('../job/serializers')
const { readWellFormed } = require('../job/well-formed')
const { options: queueOptions } = require('../core/internals')
const { logReaders, readPath } = require('../log/options')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const PUSH_NAMES = [...PLAN_NAMES, 'timeoutMs', 'maxWaitMs']
const BATCH_NAMES = [...PUSH_NAMES, 'type', 'payload']
const ADD_NAMES = [...PUSH_NAMES, 'type', 'unshift', 'signal']

// Of job queues only.
const jobReaders = {
  serialize: value => readSerializer(value, 'structured'),
  maxAttempts: (value = 5) => readPositiveCount(value, 'maxAttempts', OPTION),
  backoffMs: readBackoff,
  priorityMs: value => value === undefined ? undefined : limitOptions().readPriorityMs(value),
  schedules: value => value // read when it is known whether jobs have types
}

// Of queues with limits of rate.
const RATE_NAMES = ['rate', 'ratePerType']

module.exports = {
  readDeadLettersOptions,
  readRunningOptions: options => keptCalls.readRunningOptions(options, queueOptions.readType),
  readTypesOptions: queueOptions.readTypesOptions,
  readWaitOptions: keptCalls.readWaitOptions,
  readClearOptions,
  readId,
  readJobOptions,
  readPushOptions,
  readAddOptions,
  readBatch,
  readStorableType
}

/**
 * @returns {{ path: string, jobs: object, queue: object }} jobs: read, of the durable queue, with its `rates` if there are any. queue: not
 *   read yet but for the names, of the queue in memory
 * @throws FAIRLANE_ERR_OPTION
 */
function readJobOptions (options = {}) {
  const own = { ...logReaders, ...jobReaders }
  const names = ['path', ...Object.keys(own), ...RATE_NAMES, ...queueOptions.names]
  checkObject(options, 'options', OPTION)
  queueOptions.rejectUnknownOptions(options, names)
  const given = readFields(options, names, OPTION)
  const queue = Object.fromEntries(queueOptions.names.map(name => [name, given[name]]))
  return { path: readPath(given.path, OPTION), jobs: { ...readEach(given, own), rates: readRates(given) }, queue }
}

/**
 * @returns {{ rate: object[] | undefined, ratePerType: object } | undefined} undefined if none is given: then their reader is not loaded
 */
function readRates (given) {
  return RATE_NAMES.every(name => given[name] === undefined) ? undefined : limitOptions().readRateOptions(given)
}

function limitOptions () {
  return require('../core/internals').limitOptions
}

/** @returns {{ type: string | undefined, limit: number, after: number | undefined }} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
function readDeadLettersOptions (options) {
  return keptCalls.readDeadLettersOptions(options, { readType: queueOptions.readType, readId: readWholeId })
}

/** @returns {{ type: string | undefined, reason: unknown, dead: boolean }} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
function readClearOptions (options) {
  const { type, ...rest } = queueOptions.readClearOptions(options)
  return { ...rest, type: type === undefined ? undefined : queueOptions.readType(type) }
}

/**
 * What is said of a job beside its payload.
 * @param {boolean} hasLevels whether jobs may have priorities
 * @returns {object | undefined} a plan, with timeoutMs and maxWaitMs; undefined if nothing is said
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function readPushOptions (options, method, hasLevels) {
  return options === undefined ? undefined : jobOptionsOf(readNames(options, PUSH_NAMES, method), method, hasLevels)
}

/**
 * @returns {{ type: any, unshift: boolean, signal: AbortSignal | undefined, jobOptions: object | undefined }} jobOptions: as of
 *   readPushOptions()
 */
function readAddOptions (options = {}, hasLevels) {
  const given = readNames(options, ADD_NAMES, 'add')
  const { unshift, signal } = queueOptions.readAddOptions({ unshift: given.unshift, signal: given.signal })
  return { type: given.type, unshift, signal, jobOptions: jobOptionsOf(given, 'add', hasLevels) }
}

/**
 * @returns {{ type: any, payload: any, jobOptions: object | undefined }[]} jobOptions: as of readPushOptions()
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function readBatch (jobs, hasLevels) {
  if (!isArray(jobs)) throw typeError(ARGUMENT, `pushAll takes an array of jobs, not ${describe(jobs)}`)
  return elementsOf(jobs, 'pushAll: the array', ARGUMENT).map(job => {
    const given = readNames(job, BATCH_NAMES, 'pushAll')
    return { type: given.type, payload: given.payload, jobOptions: jobOptionsOf(given, 'pushAll', hasLevels) }
  })
}

function readNames (options, names, method) {
  return readOwn(options, `${method}: the options`, names, ARGUMENT)
}

function jobOptionsOf (given, method, hasLevels) {
  const { timeoutMs, maxWaitMs } = queueOptions.readAddOptions({ timeoutMs: given.timeoutMs, maxWaitMs: given.maxWaitMs })
  const plan = readPlan(given)
  if (plan === undefined && timeoutMs === undefined && maxWaitMs === undefined) return undefined
  if (plan?.key !== undefined) readWellFormed(plan.key, `${method}: the key of a job on disk`, ARGUMENT)
  if (given.priority !== undefined && !hasLevels) throw typeError(ARGUMENT, `${method}: priority needs a queue with the option priorityMs`)
  return { ...plan, timeoutMs, maxWaitMs }
}

/** @throws FAIRLANE_ERR_TYPE also if it is no text that can be written and read back as it is */
function readStorableType (type) {
  return readWellFormed(queueOptions.readType(type), 'the type of a job on disk', 'FAIRLANE_ERR_TYPE')
}

/** @throws FAIRLANE_ERR_ARGUMENT */
function readId (id, method) {
  return readWholeId(id, `${method}: the id`)
}

function readWholeId (id, what) {
  return readWhole(id, what, ARGUMENT)
}
