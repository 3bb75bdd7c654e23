'use strict'

// What is said of a single job beside its payload and type, in the words that all queues have for it: when it may start, how often it is tried,
// whom it shares a key with.

const { rangeError, typeError, describe } = require('./errors')
const { readChoice, wrong } = require('./readers')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const HIGHEST = 15 // priority
const DUPLICATES = ['join', 'replace', 'postpone']
const PLAN_NAMES = ['delayMs', 'maxAttempts', 'key', 'onDuplicate', 'keyUntil', 'maxDelayMs', 'priority']

module.exports = { PLAN_NAMES, readPlan, readAttempts, readMs }

/**
 * @param {object} given with any of those names
 * @returns {{ delayMs: number | undefined, maxAttempts: number | undefined, priority: number | undefined, key: string | undefined,
 *   onDuplicate: string, keyUntil: 'started' | 'settled' | number, maxDelayMs: number } | undefined} undefined if nothing is said
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function readPlan ({ delayMs, maxAttempts, key, onDuplicate, keyUntil, maxDelayMs, priority }) {
  const plan = {
    delayMs: delayMs === undefined ? undefined : readMs(delayMs, 'delayMs'),
    maxAttempts: maxAttempts === undefined ? undefined : readAttempts(maxAttempts, ARGUMENT),
    priority: priority === undefined ? undefined : readPriority(priority),
    key: key === undefined ? undefined : readKey(key),
    onDuplicate: onDuplicate === undefined ? 'join' : readChoice(onDuplicate, 'onDuplicate', DUPLICATES, ARGUMENT),
    keyUntil: readKeyUntil(keyUntil),
    maxDelayMs: maxDelayMs === undefined || maxDelayMs === Infinity ? Infinity : readMs(maxDelayMs, 'maxDelayMs')
  }
  if (key === undefined) rejectLone({ onDuplicate, keyUntil, maxDelayMs })
  if ([delayMs, maxAttempts, priority, key].some(value => value !== undefined)) return plan
}

/** A positive integer, or Infinity. */
function readAttempts (value, code) {
  if (value === Infinity || (Number.isInteger(value) && value > 0)) return value
  throw wrong(value, 'number', code, 'maxAttempts must be a positive integer or Infinity')
}

/** @throws FAIRLANE_ERR_ARGUMENT */
function readMs (ms, what) {
  if (Number.isFinite(ms) && ms >= 0) return ms
  throw wrong(ms, 'number', ARGUMENT, `${what} must be a finite time in ms`)
}

/** Without a key these say nothing. */
function rejectLone (options) {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) throw typeError(ARGUMENT, `${name} needs a key`)
  }
}

function readPriority (value) {
  if (Number.isInteger(value) && value >= 0 && value <= HIGHEST) return value
  throw wrong(value, 'number', ARGUMENT, `priority must be an integer from 0 to ${HIGHEST}`)
}

function readKey (key) {
  if (typeof key === 'string') return key
  const isText = typeof key !== 'symbol' && key !== null
  const text = isText ? textOf(key) : ''
  if (isText && !(typeof key === 'object' && text.startsWith('[object '))) return text
  throw typeError(ARGUMENT, `key must be a string, or have a text of its own, not ${describe(key)}`)
}

function textOf (value) {
  try {
    return String(value)
  } catch (cause) {
    throw Object.assign(typeError(ARGUMENT, 'the key cannot be converted to a string'), { cause })
  }
}

function readKeyUntil (value = 'started') {
  if (value === 'started' || value === 'settled') return value
  if (typeof value !== 'string') return readMs(value, 'keyUntil')
  throw rangeError(ARGUMENT, `keyUntil must be 'started', 'settled' or a time in ms, not ${describe(value)}`)
}
