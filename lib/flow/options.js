'use strict'

// Options of flow, read once.

const { readBackoff } = require('../job/backoff')
const { rangeError, describe } = require('../arguments/errors')
const { entriesOf, isArray, isMap, isOf, readEach, readFields, readOwn } = require('../arguments/fields')
const { Plan, readAttempts, readMs } = require('../job/plan')
const { wrong } = require('../arguments/readers')
const { ROOMS, options: queueOptions } = require('../core/internals')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const RATE_NAMES = ['limit', 'intervalMs']
const LONGEST_MS = 2 ** 31
const RATES_NAMES = ['rate', 'ratePerType']
const NO_RATES = Object.freeze({ all: undefined, byType: new Map(), ask: undefined })

const readers = {
  maxAttempts: value => value === undefined ? 1 : readAttempts(value, OPTION),
  backoffMs: readBackoff,
  priorityMs: readPriorityMs,
  rate: value => value === undefined ? undefined : readRates(value, 'rate', OPTION),
  ratePerType: value => value === undefined ? NO_RATES : readRatePerType(value, OPTION)
}

module.exports = { readOptions, readRateOptions, readAddOptions, readNewRates, readHoldMs, readPriorityMs }

/**
 * @returns {object} what a queue reads, and `rate`, an array of them or undefined, and `ratePerType`; `returns`: jobs come back to the list
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function readOptions (options) {
  if (typeof options !== 'object' || options === null || isArray(options)) return { ...ROOMS.readOptions(options), ...readEach({}, readers) }
  const names = Object.keys(readers)
  queueOptions.rejectUnknownOptions(options, [...queueOptions.names, ...names])
  const own = readEach(readFields(options, names, OPTION), readers)
  const others = readFields(options, queueOptions.names, OPTION)
  return { ...ROOMS.readOptions(others), ...own, returns: true }
}

/** @returns {{ rate: object[] | undefined, ratePerType: object }} @throws FAIRLANE_ERR_OPTION */
function readRateOptions ({ rate, ratePerType }) {
  return { rate: readers.rate(rate), ratePerType: readers.ratePerType(ratePerType) }
}

/**
 * As of a queue; `plan`, if there is one: what else is said of the job. What it has given already it gives again: add() of a queue reads its options, too.
 * @returns {Extras} @throws FAIRLANE_ERR_ARGUMENT
 */
function readAddOptions (options) {
  return isOf(options, queueOptions.Extras) ? options : ROOMS.readAddOptions(options, new Plan())
}

/** @returns {{ rate?: object[] | null, ratePerType?: object }} those that are given; null, or no rates: none from now on */
function readNewRates (rates) {
  const { rate, ratePerType } = readOwn(rates, 'setRates: the rates', RATES_NAMES, ARGUMENT)
  return {
    rate: rate === undefined || rate === null ? rate : readRates(rate, 'rate', ARGUMENT),
    ratePerType: ratePerType === undefined ? undefined : ratePerType === null ? NO_RATES : readRatePerType(ratePerType, ARGUMENT)
  }
}

/** @throws FAIRLANE_ERR_ARGUMENT */
function readHoldMs (ms) {
  return readMs(ms, 'a hold')
}

/** @throws FAIRLANE_ERR_OPTION */
function readPriorityMs (value) {
  if (value === undefined) return undefined
  if (Number.isFinite(value) && value > 0 && value <= LONGEST_MS) return value
  throw wrong(value, 'number', OPTION, `priorityMs must be a time in ms above 0, up to ${LONGEST_MS}`)
}

/** One rate for each type, rates by type, or a function that is asked for them. */
function readRatePerType (value, code) {
  if (typeof value === 'function') return { ...NO_RATES, ask: type => readAnswer(value(type)) }
  if (!isMap(value)) return { ...NO_RATES, all: readRates(value, 'ratePerType', code) }
  const byType = new Map()
  for (const [type, rate] of entriesOf(value, 'ratePerType', code)) byType.set(type, readRates(rate, `ratePerType of ${describe(type)}`, code))
  return { ...NO_RATES, byType }
}

function readAnswer (rate) {
  return rate === undefined ? undefined : readRates(rate, 'what ratePerType gives', OPTION)
}

/** One, or an array of them. */
function readRates (value, name, code) {
  if (!isArray(value)) return [readRate(value, name, code)]
  if (value.length > 0) return Array.from(value, rate => readRate(rate, name, code)) // those included that were left out
  throw rangeError(code, `${name} must have a rate in it`)
}

function readRate (value, name, code) {
  const { limit, intervalMs } = readOwn(value, name, RATE_NAMES, code)
  if (!(Number.isSafeInteger(limit) && limit > 0)) throw wrong(limit, 'number', code, `limit of ${name} must be a positive integer`)
  if (!(Number.isFinite(intervalMs) && intervalMs > 0)) throw wrong(intervalMs, 'number', code, `intervalMs of ${name} must be a finite time above 0`)
  return { limit, intervalMs }
}
