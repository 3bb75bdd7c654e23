'use strict'

// Options of distributed queues and of their methods, read once.

const { readBackoff } = require('../job/backoff')
const { typeError, rangeError, describe } = require('../arguments/errors')
const {
  checkObject, copyOf, elementsOf, isArray, readEach, readInteger, readKnown, readNumber, readOwn, readPositiveCount
} = require('../arguments/fields')
const keptCalls = require('../job/kept-calls')
const { readPlan } = require('../job/plan')
const internals = require('../core/internals')
const { readers: limits } = require('./limits/options')
const { keyNameOf, nameOf } = require('./names')
const { readSerialize } = require('./serialize')

const { options: queueOptions } = internals
const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const NAME = /^[A-Za-z0-9_-]{1,100}$/
const MOST_PARTITIONS = 1024
const PARTITIONS_OF_CLUSTER = 16
const MOST_PREFETCHED = 1000
const LONGEST_MS = 2 ** 31 - 1
// What a queue in memory does that needs a view of all jobs, or their callers.
const NOT_HERE = new Map([
  ['maxWaiting', 'use maxWaitingPerType, which limits each type']
])
const HINTS = new Map([...queueOptions.HINTS, ...NOT_HERE])

const readers = {
  name: readName,
  connection: readConnection,
  partitions: value => value === undefined ? undefined : readInteger(value, 'partitions', 1, MOST_PARTITIONS, OPTION),
  maxAttempts: (value = 5) => readPositiveCount(value, 'maxAttempts', OPTION),
  backoffMs: readBackoff,
  serialize: readSerialize,
  ...limits,
  priorityMs: value => value === undefined ? undefined : internals.limitOptions.readPriorityMs(value),
  leaseMs: (value = 30000) => readInteger(value, 'leaseMs', 1000, LONGEST_MS, OPTION),
  schedules: value => value, // read when it is known whether jobs have types
  prefetch: value => value === undefined ? undefined : readInteger(value, 'prefetch', 0, Number.MAX_SAFE_INTEGER, OPTION),
  resultTtlMs: (value = 60000) => readInteger(value, 'resultTtlMs', 0, LONGEST_MS, OPTION),
  pushTimeoutMs: (value = 30000) => readInteger(value, 'pushTimeoutMs', 1, LONGEST_MS, OPTION)
}

const PUSH_NAMES = ['key', 'keyUntil', 'onDuplicate', 'maxDelayMs', 'priority', 'delayMs', 'maxAttempts', 'timeoutMs', 'maxWaitMs', 'cost']
const ADD_NAMES = ['type', 'unshift', 'signal', ...PUSH_NAMES]
const BATCH_NAMES = ['type', 'payload', ...PUSH_NAMES]

module.exports = {
  readOptions,
  readPushOptions,
  readAddOptions,
  readBatch,
  readTypesOptions: queueOptions.readTypesOptions,
  readDeadLettersOptions,
  readRunningOptions: options => keptCalls.readRunningOptions(options, readStorableType),
  readClearOptions: queueOptions.readClearOptions,
  readWaitOptions: keptCalls.readWaitOptions,
  readSchedule,
  readStorableType,
  readId,
  readLimit
}

/**
 * @returns {{ jobs: object, queue: object }} jobs: read, of the distributed queue. queue: of the queue in memory, not read yet but for
 *   the names
 * @throws FAIRLANE_ERR_OPTION
 */
function readOptions (options = {}) {
  const names = [...Object.keys(readers), ...queueOptions.names.filter(name => !NOT_HERE.has(name))]
  const given = readOwn(options, 'options', names, OPTION, HINTS)
  const queue = Object.fromEntries(queueOptions.names.map(name => [name, given[name]]))
  if (queue.asyncContext === 'push') {
    throw rangeError(OPTION, "asyncContext must be 'queue' or 'none' at a broker, because a push may come from another process")
  }
  const jobs = readEach(given, readers)
  const { maxWaitingPerType, ...rest } = queue
  // there are types with a scheduler and without
  jobs.maxWaitingPerType = queueOptions.readOptions({ scheduler: 'fair', maxWaitingPerType }).maxWaitingPerType
  jobs.hasTypes = queue.scheduler !== undefined && queue.scheduler !== null
  if (jobs.schedules !== undefined) jobs.schedules = readSchedules(jobs.schedules, jobs)
  jobs.isCluster = isArray(jobs.connection)
  jobs.partitions ??= jobs.isCluster ? PARTITIONS_OF_CLUSTER : 1
  return { jobs, queue: rest }
}

/** As those on disk. @param {object} options read @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER */
function readSchedules (value, options) {
  return require('../job/schedule-options').readSchedules(value, schedulesOf(options))
}

/** The same of a call. @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER */
function readSchedule (name, value, options) {
  return require('../job/schedule-options').readSchedule(name, value, schedulesOf(options))
}

/** What their reader asks. */
function schedulesOf ({ serialize, hasTypes, priorityMs }) {
  const encode = payload => Buffer.from(serialize.encode(payload, undefined))
  return { serialize: { encode }, hasTypes, hasLevels: priorityMs !== undefined, readType: readStorableType }
}

/** @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TOO_LARGE */
function readStorableType (type) {
  const name = queueOptions.readType(type)
  nameOf(name)
  return name
}

/** How many jobs a process may have taken that wait for slots. */
function readLimit (prefetch, concurrency) {
  return prefetch ?? Math.min(10 * concurrency, MOST_PREFETCHED)
}

/** @returns {{ delayMs: number, plan: object | undefined, limits: object | undefined }} @throws FAIRLANE_ERR_ARGUMENT */
function readPushOptions (options, method) {
  if (options === undefined) return { delayMs: 0, plan: undefined, limits: undefined }
  checkObject(options, `${method}: the options`, ARGUMENT)
  return readJobOptions(readKnown(options, PUSH_NAMES, ARGUMENT), method)
}

/**
 * @returns {{ delayMs: number, plan: object | undefined, limits: object | undefined, type: any, unshift: boolean,
 *   signal: AbortSignal | undefined }}
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function readAddOptions (options = {}) {
  checkObject(options, 'add: the options', ARGUMENT)
  const given = readKnown(options, ADD_NAMES, ARGUMENT)
  const { unshift, signal } = queueOptions.readAddOptions({ unshift: given.unshift, signal: given.signal })
  return { ...readJobOptions(given, 'add'), type: given.type, unshift, signal }
}

/** @returns {{ type: string | undefined, limit: number, after: string | undefined }} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
function readDeadLettersOptions (options) {
  return keptCalls.readDeadLettersOptions(options, { readType: readStorableType, readId: readTextId })
}

/** @returns {{ type: any, payload: any, jobOptions: object }[]} jobOptions: as of readPushOptions() @throws FAIRLANE_ERR_ARGUMENT */
function readBatch (jobs) {
  if (!isArray(jobs)) throw typeError(ARGUMENT, `pushAll takes an array of jobs, not ${describe(jobs)}`)
  return elementsOf(jobs, 'pushAll: the array', ARGUMENT).map(job => {
    const given = readOwn(job, 'pushAll: a job', BATCH_NAMES, ARGUMENT, queueOptions.JOB_HINTS)
    return { type: given.type, payload: given.payload, jobOptions: readJobOptions(given, 'pushAll') }
  })
}

/** @throws FAIRLANE_ERR_ARGUMENT */
function readId (id, method) {
  return readTextId(id, `${method}: the id`)
}

function readTextId (id, what) {
  if (typeof id === 'string') return id
  throw typeError(ARGUMENT, `${what} must be a string, not ${describe(id)}`)
}

/** The broker counts time in whole ms, which must be as exact in its numbers as in ours. */
function readWholeMs (value, name) {
  return Math.ceil(readNumber(value, name, 0, Number.MAX_SAFE_INTEGER, ARGUMENT))
}

function readJobOptions (given, method) {
  return { ...readKeyAndDelay(given, method), limits: readLimits(given) }
}

/** @returns {{ maxAttempts?: number, timeoutMs?: number, maxWaitMs?: number } | undefined} undefined if nothing is said */
function readLimits (given) {
  const { timeoutMs, maxWaitMs } = queueOptions.readAddOptions({ timeoutMs: given.timeoutMs, maxWaitMs: given.maxWaitMs })
  const maxAttempts = given.maxAttempts === undefined ? undefined : readPositiveCount(given.maxAttempts, 'maxAttempts', ARGUMENT)
  return maxAttempts === undefined && timeoutMs === undefined && maxWaitMs === undefined ? undefined : { maxAttempts, timeoutMs, maxWaitMs }
}

/** @returns {{ delayMs: number, plan: object | undefined }} plan: its priority, its key and what goes with that, if it has any */
function readKeyAndDelay (given, method) {
  const { key, keyUntil, onDuplicate, maxDelayMs, priority, cost } = given
  const delayMs = given.delayMs === undefined ? undefined : readWholeMs(given.delayMs, `${method}: delayMs`)
  const plan = readPlan({ key, keyUntil, onDuplicate, maxDelayMs, priority, cost, delayMs })
  if (plan?.key !== undefined) plan.key = keyNameOf(plan.key)
  const isSaid = plan?.key !== undefined || plan?.priority !== undefined || plan?.cost !== undefined
  return { delayMs: delayMs ?? 0, plan: isSaid ? plan : undefined }
}

function readName (value) {
  if (typeof value === 'string' && NAME.test(value)) return value
  throw typeError(OPTION, `name must be a string of 1 to 100 letters, digits, _ and -, not ${describe(value)}`)
}

/** A URL, options of ioredis, start nodes of a cluster, or a function that makes clients. */
function readConnection (value) {
  if (typeof value === 'function' || (typeof value === 'string' && value !== '')) return value
  if (isArray(value)) {
    if (value.length > 0 && value.every(isUrl)) return [...value]
    throw typeError(OPTION, 'connection, as an array, must hold the URLs of the nodes of a cluster')
  }
  if (typeof value !== 'object' || value === null) {
    const kinds = 'a URL, an array of URLs, options of ioredis, or a function that makes clients'
    throw typeError(OPTION, `connection must be ${kinds}, not ${describe(value)}`)
  }
  if (typeof value.defineCommand === 'function') {
    throw typeError(OPTION, 'connection must not be a client: give a function that makes a client for each purpose')
  }
  if (value.keyPrefix !== undefined) throw typeError(OPTION, 'connection must not have a keyPrefix, because BullMQ does not work with one')
  return copyOf(value, OPTION)
}

function isUrl (value) {
  return typeof value === 'string' && URL.canParse(value)
}
