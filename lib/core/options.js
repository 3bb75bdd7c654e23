'use strict'

// Options, read once when a queue is made: validated, completed, never kept by reference.

const { systemClock } = require('../platform/clock')
const { typeError, rangeError, describe } = require('../arguments/errors')
const {
  checkObject, copyOf, hasMethods, isArray, isObject, ownNames, readAll, readByType, readChoice, readCount, readDuration,
  readEach, readFields, readFlag, readFunction, readLimitMs, readPositiveCount, readSignal, rejectName, rejectUnknown
} = require('../arguments/fields')

const SETTLE_BY = ['either', 'callback', 'promise']
const ON_TIMEOUT = ['hold', 'release']
const ASYNC_CONTEXTS = ['queue', 'push', 'none']
const SCHEDULERS = ['fair', 'capped', 'equal']
const LANE_METHODS = ['queued', 'next', 'started', 'ended']
const WINDOW_METHODS = ['waiting', 'start', 'done', 'select']
// What an observer has under this name attaches it to a queue, whose concurrency it may change in the options that it is given; it has
// nothing there once it observes one.
const OBSERVE = Symbol('observe')
// What it has under this one is true if it makes no records, and takes what others have made: so it attaches last.
const JOINS = Symbol('joins')
// What it has under this one is true if it needs to know of runs only, not of all that becomes of a job.
const RUNS_ONLY = Symbol('runs only')
// What a queue has under this one is true if it is part of another one: nobody is told of it.
const INNER = Symbol('inner')
// What is said of names that are no options of a queue, and may be of another one. A test holds that it is true.
const HINTS = new Map([
  ...hints('path capacity capacityBytes maxInflightOps ack segmentBytes repair onProgress', 'fairlane/durable has'),
  ...hints('serialize schedules', 'fairlane/durable and fairlane/distributed have'),
  ...hints('name connection partitions globalConcurrency globalTypeCap globalTypeCaps leaseMs prefetch resultTtlMs pushTimeoutMs', 'fairlane/distributed has'),
  ...['weights', 'maxTypeShare', 'maxTypeCap', 'typeCaps', 'maxScanLength', 'hard'].map(name => [name, 'it belongs in schedulerOptions']),
  ['keepContext', "use asyncContext: 'push' instead of true"]
])

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const CALLBACK = 'FAIRLANE_ERR_CALLBACK'

let Plan // loaded for the first job of which something is said that most jobs have nothing of

// name → how its value is read, given the value or undefined; what it returns is the normal form
const readers = {
  concurrency: (value = 10) => readConcurrency(value),
  settleBy: (value = 'either') => readChoice(value, 'settleBy', SETTLE_BY, OPTION),
  scheduler: readScheduler,
  schedulerOptions: readSchedulerOptions,
  maxTypes: (value = Infinity) => readPositiveCount(value, 'maxTypes', OPTION),
  maxWaiting: (value = Infinity) => readCount(value, 'maxWaiting', OPTION),
  maxWaitingPerType: readMaxWaitingPerType,
  maxWaitMs: (value = Infinity) => readLimitMs(value, 'maxWaitMs', OPTION),
  timeoutMs: (value = Infinity) => readLimitMs(value, 'timeoutMs', OPTION),
  onTimeout: (value = 'hold') => readChoice(value, 'onTimeout', ON_TIMEOUT, OPTION),
  signal: value => value === undefined ? undefined : readSignal(value, OPTION),
  asyncContext: (value = 'queue') => readChoice(value, 'asyncContext', ASYNC_CONTEXTS, OPTION),
  clock: readClock,
  observers: readObservers
}
// What queues that keep their jobs elsewhere read for themselves.
const LIMIT_NAMES = ['maxAttempts', 'backoffMs', 'priorityMs', 'rate', 'ratePerType']
const NO_LIMITS = { maxAttempts: 1, backoffMs: undefined, priorityMs: undefined, rates: undefined }

// The same for the options of methods, where wrong ones are wrong arguments.
const MOST_TYPES = 200 // that types() gives where nothing is said
const ADD_NAMES = ['type', 'unshift', 'signal', 'timeoutMs', 'maxWaitMs']
const mapReaders = {
  type: value => value,
  cost: value => value === undefined || typeof value === 'function' ? value : require('../job/cost').readCost(value, ARGUMENT),
  ordered: (value = true) => readFlag(value, 'ordered', ARGUMENT),
  maxPending: value => value === undefined ? undefined : readPositiveCount(value, 'maxPending', ARGUMENT),
  settled: (value = false) => readFlag(value, 'settled', ARGUMENT)
}
const clearReaders = {
  type: value => value,
  reason: value => value,
  dead: (value = false) => readFlag(value, 'dead', ARGUMENT) // of queues that keep dead letters; a queue in memory has none
}
const typesReaders = {
  limit: (value = MOST_TYPES) => readPositiveCount(value, 'limit', ARGUMENT)
}
const explainReaders = {
  ahead: (value = false) => readFlag(value, 'ahead', ARGUMENT)
}
const closeReaders = {
  drain: value => value === undefined ? undefined : readFlag(value, 'drain', ARGUMENT), // each engine has a default of its own
  timeoutMs: value => value === undefined ? undefined : readDuration(value, 'timeoutMs', ARGUMENT)
}

/** What is said of a job beside its payload. `plan` is what is said that most jobs have nothing of. */
class Extras {
  /** @throws FAIRLANE_ERR_ARGUMENT for values that are wrong; the type is not looked at */
  constructor (type, unshift, signal, timeoutMs, maxWaitMs, plan) {
    this.type = type
    this.unshift = unshift === undefined ? false : readFlag(unshift, 'unshift', ARGUMENT)
    this.signal = signal === undefined ? undefined : readSignal(signal, ARGUMENT)
    this.timeoutMs = timeoutMs === undefined ? undefined : readLimitMs(timeoutMs, 'timeoutMs', ARGUMENT)
    this.maxWaitMs = maxWaitMs === undefined ? undefined : readLimitMs(maxWaitMs, 'maxWaitMs', ARGUMENT)
    this.plan = plan
    this.work = undefined // what is done in its slot, if that is not to call the queue's runner (slots/)
  }
}

/** What a job without extras is queued with. */
const NO_EXTRAS = Object.freeze(new Extras())

module.exports = {
  Extras,
  HINTS,
  INNER,
  JOINS,
  LIMIT_NAMES,
  NO_EXTRAS,
  OBSERVE,
  RUNS_ONLY,
  names: Object.keys(readers),
  rejectUnknownOptions,
  readOptions,
  readConcurrency,
  readCallback,
  readJobCallback,
  readType,
  readJobType,
  readKnownType,
  readPausableType,
  typeRequired,
  noRunnerError,
  inOrder,
  isPausing,
  isLaneScheduler,
  readAddOptions,
  readSource,
  readMapOptions: options => readAll(options, mapReaders, ARGUMENT, 'map: the options'),
  readClearOptions: options => readAll(options, clearReaders, ARGUMENT, 'clear: the options'),
  readTypesOptions: options => readAll(options, typesReaders, ARGUMENT, 'types: the options'),
  readExplainOptions: options => readAll(options, explainReaders, ARGUMENT, 'explain: the options'),
  readCloseOptions: options => readAll(options, closeReaders, ARGUMENT, 'close: the options')
}

/**
 * @param {object | number | string | undefined} options an options object, or the concurrency alone
 * @returns {{ concurrency: number, settleBy: string, scheduler: string | object | null,
 *   schedulerOptions: object | undefined, maxTypes: number, maxWaiting: number,
 *   maxWaitingPerType: { all: number, byType: Map<string, number> }, maxWaitMs: number, timeoutMs: number, onTimeout: string,
 *   signal: AbortSignal | undefined, asyncContext: string, clock: object, observers: object[], maxAttempts: number,
 *   backoffMs: Function | undefined, priorityMs: number | undefined, rates: object | undefined, isInner: boolean, returns: true,
 *   isLimited: boolean, needsTickets: boolean }} clock: a SteadyClock, or the system's; returns: jobs may be delayed, and come back;
 *   isLimited: they may be refused; needsTickets: all jobs have extras
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function readOptions (options) {
  if (typeof options === 'number' || typeof options === 'string') options = { concurrency: options }
  if (options === undefined) options = {}
  if (!isObject(options)) throw typeError(OPTION, `options must be an object or the concurrency, not ${describe(options)}`)
  const names = [...Object.keys(readers), ...LIMIT_NAMES]
  rejectUnknownOptions(options, names)
  const given = readFields(options, names, OPTION)
  const read = Object.assign(readEach(given, readers), readLimits(given), { isInner: options[INNER] === true, returns: true })
  if (read.scheduler === null && given.maxWaitingPerType !== undefined) {
    throw typeError(OPTION, 'maxWaitingPerType needs a scheduler')
  }
  if (read.scheduler === null && read.schedulerOptions !== undefined && Object.keys(read.schedulerOptions).length > 0) {
    throw typeError(OPTION, 'schedulerOptions need a scheduler')
  }
  if (read.maxTypes !== Infinity && !isLaneScheduler(read.scheduler)) {
    throw typeError(OPTION, 'maxTypes needs a scheduler with lanes, such as fair or equal')
  }
  read.isLimited = read.maxWaiting !== Infinity || read.maxWaitingPerType.all !== Infinity || read.maxWaitingPerType.byType.size > 0
  read.needsTickets = read.timeoutMs !== Infinity || read.maxWaitMs !== Infinity || read.asyncContext === 'push'
  return read
}

/** What reads these is not loaded without them. */
function readLimits (given) {
  if (LIMIT_NAMES.every(name => given[name] === undefined)) return NO_LIMITS
  return require('./limits/options').readLimitOptions(given)
}

function hints (names, rooms) {
  return names.split(' ').map(name => [name, `${rooms} it`])
}

/** @throws FAIRLANE_ERR_OPTION if there is one of another name */
function rejectUnknownOptions (options, names) {
  rejectUnknown(options, names, OPTION, HINTS)
}

/**
 * By hand, because with a scheduler each add() has options: 50 ns, where a table of readers takes 500 to 800 (Node 24, 20;
 * bench: features).
 * @param {string} [method] that takes them
 * @param {string[]} [planNames] which it has of those that most jobs have nothing of; default: all
 * @returns {Extras}
 */
function readAddOptions (options, method = 'add', planNames = undefined) {
  checkObject(options, `${method}: the options`, ARGUMENT)
  let type, unshift, signal, timeoutMs, maxWaitMs, plan
  for (const name of ownNames(options, ARGUMENT)) {
    switch (name) {
      case 'type': type = options.type; break
      case 'unshift': unshift = options.unshift; break
      case 'signal': signal = options.signal; break
      case 'timeoutMs': timeoutMs = options.timeoutMs; break
      case 'maxWaitMs': maxWaitMs = options.maxWaitMs; break
      default:
        plan ??= makePlan()
        if (planNames === undefined ? plan.reads(name, options) : planNames.includes(name) && plan.reads(name, options)) break
        rejectName(options, name, [...ADD_NAMES, ...planNames ?? plan.names], ARGUMENT)
    }
  }
  return new Extras(type, unshift, signal, timeoutMs, maxWaitMs, plan?.checked())
}

function makePlan () {
  Plan ??= require('../job/plan').Plan
  return new Plan()
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

/** @returns the callback, or undefined if there is none */
function readCallback (callback) {
  return callback === undefined ? undefined : readFunction(callback, 'a callback', CALLBACK)
}

/** The same, of a job: queues that keep their jobs elsewhere have options in this place. */
function readJobCallback (callback) {
  if (callback === undefined || typeof callback === 'function') return callback
  const hint = isObject(callback) ? '; only add() takes options, and returns a promise of the result' : ''
  throw typeError(CALLBACK, `a callback must be a function, not ${describe(callback)}${hint}`)
}

/** @returns {{ isAsync: boolean, iterate: () => object }} iterate throws what the source throws */
function readSource (source) {
  let method, isAsync
  try {
    method = source?.[Symbol.asyncIterator]
    isAsync = typeof method === 'function'
    if (!isAsync) method = source?.[Symbol.iterator]
  } catch (cause) {
    throw typeError(ARGUMENT, 'map: the source cannot be read', { cause })
  }
  if (typeof method === 'function') return { isAsync, iterate: () => method.call(source) }
  throw typeError(ARGUMENT, `map: the source must be iterable, not ${describe(source)}`)
}

/**
 * @param {unknown} type anything whose text tells it from others; most are strings, which cost one look
 * @returns {string}
 * @throws FAIRLANE_ERR_TYPE for a symbol, undefined and null, and for an object whose text is that of all objects: most often the payload,
 *   in the type's place
 */
function readType (type) {
  if (typeof type === 'string') return type
  if (typeof type === 'symbol') throw typeError('FAIRLANE_ERR_TYPE', 'a type cannot be a symbol')
  if (type === undefined || type === null) throw typeError('FAIRLANE_ERR_TYPE', `a type cannot be ${type}: it says whose job it is`)
  const text = textOf(type)
  if (typeof type !== 'object' || !text.startsWith('[object ')) return text
  throw typeError('FAIRLANE_ERR_TYPE', `a type cannot be ${describe(type)} without a toString() of its own; are the type and the payload swapped?`)
}

function textOf (value) {
  try {
    return String(value)
  } catch (cause) {
    throw typeError('FAIRLANE_ERR_TYPE', 'the type cannot be converted to a string', { cause })
  }
}

/** The type of a job to be added: without a scheduler it may be absent. @param {object} [slots] as of typeRequired() */
function readJobType (type, scheduler, method, slots) {
  if (type !== undefined) return readType(type)
  if (scheduler === null) return undefined
  throw typeRequired(method, slots, "the option 'type'")
}

/** A type to look for, which only queues with a scheduler have. */
function readKnownType (type, scheduler, method) {
  if (scheduler !== null) return readType(type)
  throw typeError(ARGUMENT, `${method}: only a queue with a scheduler has types`)
}

function readPausableType (type, scheduler, method) {
  if (scheduler !== null && isLaneScheduler(scheduler) && scheduler.paused && scheduler.resumed) return readType(type)
  throw typeError('FAIRLANE_ERR_SCHEDULER', `${method}: the queue needs a scheduler that can pause types, such as fair or equal`)
}

/** @param {{ runner: Function | null }} [slots] of a queue in memory: without a runner, it is that which is missing */
function typeRequired (method, slots, what = `a type; use ${method}Type`) {
  if (slots?.runner === null) return noRunnerError()
  return typeError('FAIRLANE_ERR_TYPE_REQUIRED', `${method}: a queue with a scheduler needs ${what}`)
}

function noRunnerError () {
  return typeError('FAIRLANE_ERR_RUNNER',
    'the queue was made with null instead of a runner: use run() for functions, or acquire() for slots')
}

/** Whether a concurrency stands for a pause. */
function isPausing (concurrency) {
  if (typeof concurrency === 'string' && concurrency.trim() !== '') return Number(concurrency) <= 0
  return typeof concurrency === 'number' && concurrency <= 0
}

/** A number for each type, or numbers by type. */
function readMaxWaitingPerType (value = Infinity) {
  const name = 'maxWaitingPerType'
  if (!isObject(value)) return { all: readCount(value, name, OPTION), byType: new Map() }
  return { all: Infinity, byType: readByType(value, name, OPTION, (count = Infinity, name) => readCount(count, name, OPTION)) }
}

function readScheduler (value = null) {
  if (value === null || SCHEDULERS.includes(value)) return value
  if (typeof value === 'string') {
    throw rangeError('FAIRLANE_ERR_SCHEDULER', `scheduler must be '${SCHEDULERS.join("', '")}' or an object, not ${describe(value)}`)
  }
  if (typeof value === 'object' && (hasMethods(value, LANE_METHODS) || hasMethods(value, WINDOW_METHODS))) return value
  throw typeError('FAIRLANE_ERR_SCHEDULER', `scheduler must have the methods ${LANE_METHODS.join(', ')}, ` +
    `or ${WINDOW_METHODS.join(', ')}, and ${describe(value)} does not`)
}

/** A copy; what is in it the scheduler checks. */
function readSchedulerOptions (value) {
  if (value === undefined) return undefined
  checkObject(value, 'schedulerOptions', OPTION)
  return copyOf(value, OPTION)
}

/** One, or an array of them. */
function readObservers (value = []) {
  const observers = isArray(value) ? [...value] : [value]
  if (observers.every((one, at) => hasMethods(one, [OBSERVE]) && observers.indexOf(one) === at)) return observers
  throw typeError(OPTION, 'observers must come from fairlane/history, metrics or adaptive, each for one queue only')
}

/** Observers in the order in which they are to attach. */
function inOrder (observers) {
  const joins = one => one[JOINS] === true
  return observers.some(joins) ? [...observers.filter(one => !joins(one)), ...observers.filter(joins)] : observers
}

function readClock (value) {
  if (value === undefined) return systemClock
  if (typeof value !== 'object' || value === null || !hasMethods(value, ['now', 'setTimeout', 'clearTimeout'])) {
    throw typeError(OPTION, 'clock must be an object with the methods now, setTimeout and clearTimeout')
  }
  const { SteadyClock } = require('./steady')
  return new SteadyClock(value)
}
