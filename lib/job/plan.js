'use strict'

// What is said of a single job beside its payload and type, in the words that all queues have for it: when it may start, how often it is
// tried, whom it shares a key with, what it costs.

const { rangeError, typeError, describe } = require('../arguments/errors')
const { readChoice, readFiniteMs, readInteger, readPositiveCount, wrong } = require('../arguments/fields')
const { readCost } = require('./cost')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const HIGHEST = 15 // priority
const DUPLICATES = ['join', 'replace', 'postpone']
const PLAN_NAMES = ['delayMs', 'maxAttempts', 'key', 'onDuplicate', 'keyUntil', 'maxDelayMs', 'priority', 'cost']

/**
 * What is said of one job: first as it was given, then as checked() has it. `key` is a string then, and `onDuplicate` and what follows is
 * never undefined.
 */
class Plan {
  constructor () {
    this.delayMs = undefined
    this.maxAttempts = undefined
    this.priority = undefined
    this.cost = undefined
    this.key = undefined
    this.onDuplicate = undefined
    this.keyUntil = undefined // 'started', 'settled' or a time in ms
    this.maxDelayMs = undefined
  }

  get names () {
    return PLAN_NAMES
  }

  /**
   * Reads the option of a name. By hand: a job with options is queued in less time than a loop over names takes.
   * @returns {boolean} whether it is one of those
   */
  reads (name, options) {
    switch (name) {
      case 'delayMs': this.delayMs = options.delayMs; return true
      case 'maxAttempts': this.maxAttempts = options.maxAttempts; return true
      case 'priority': this.priority = options.priority; return true
      case 'cost': this.cost = options.cost; return true
      case 'key': this.key = options.key; return true
      case 'onDuplicate': this.onDuplicate = options.onDuplicate; return true
      case 'keyUntil': this.keyUntil = options.keyUntil; return true
      case 'maxDelayMs': this.maxDelayMs = options.maxDelayMs; return true
      default: return false
    }
  }

  /** @returns {Plan | undefined} undefined if nothing is said @throws FAIRLANE_ERR_ARGUMENT */
  checked () {
    const { delayMs, maxAttempts, priority, cost, key, onDuplicate, keyUntil, maxDelayMs } = this
    if (delayMs !== undefined) this.delayMs = readFiniteMs(delayMs, 'delayMs', ARGUMENT)
    if (maxAttempts !== undefined) this.maxAttempts = readPositiveCount(maxAttempts, 'maxAttempts', ARGUMENT)
    if (priority !== undefined) this.priority = readPriority(priority, ARGUMENT)
    if (cost !== undefined) this.cost = readCost(cost, ARGUMENT)
    if (key !== undefined) this.key = readKey(key)
    this.onDuplicate = onDuplicate === undefined ? 'join' : readChoice(onDuplicate, 'onDuplicate', DUPLICATES, ARGUMENT)
    this.keyUntil = readKeyUntil(keyUntil)
    this.maxDelayMs = maxDelayMs === undefined || maxDelayMs === Infinity ? Infinity : readFiniteMs(maxDelayMs, 'maxDelayMs', ARGUMENT)
    if (key === undefined) rejectLone({ onDuplicate, keyUntil, maxDelayMs })
    if (delayMs !== undefined || maxAttempts !== undefined || priority !== undefined || cost !== undefined) return this
    return key !== undefined ? this : undefined
  }
}

module.exports = { PLAN_NAMES, Plan, readPlan, readPriority, readKey }

/** @param {object} given with any of those names @returns {Plan | undefined} undefined if nothing is said @throws FAIRLANE_ERR_ARGUMENT */
function readPlan (given) {
  const plan = new Plan()
  for (const name of PLAN_NAMES) plan.reads(name, given)
  return plan.checked()
}

/** Without a key these say nothing. */
function rejectLone ({ onDuplicate, keyUntil, maxDelayMs }) {
  if (onDuplicate !== undefined) throw typeError(ARGUMENT, 'onDuplicate needs a key')
  if (keyUntil !== undefined) throw typeError(ARGUMENT, 'keyUntil needs a key')
  if (maxDelayMs !== undefined) throw typeError(ARGUMENT, 'maxDelayMs needs a key')
}

function readPriority (value, code) {
  return readInteger(value, 'priority', 0, HIGHEST, code)
}

/**
 * Two jobs that have the same key are the same job to a queue, so what merely has the text of something else is no key.
 * @param {unknown} key a string, or a finite number, which is made into one
 * @returns {string}
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function readKey (key) {
  if (typeof key === 'string') return key
  if (Number.isFinite(key)) return String(key)
  throw wrong(key, 'number', ARGUMENT, 'key must be a string or a finite number')
}

function readKeyUntil (value = 'started') {
  if (value === 'started' || value === 'settled') return value
  if (typeof value !== 'string') return readFiniteMs(value, 'keyUntil', ARGUMENT)
  throw rangeError(ARGUMENT, `keyUntil must be 'started', 'settled' or a time in ms, not ${describe(value)}`)
}
