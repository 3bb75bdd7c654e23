'use strict'

// Options of flow, read once.

const { readBackoff } = require('../job/backoff')
const { rangeError } = require('../arguments/errors')
const { isArray, isMap, isObject, isOf, readByType, readEach, readFields, readFiniteMs, readOwn, readPositiveCount, wrong } = require('../arguments/fields')
const { readRate } = require('../arguments/rates')
const { Plan } = require('../job/plan')
const { ROOMS, options: queueOptions } = require('../core/internals')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const LONGEST_MS = 2 ** 31
const RATES_NAMES = ['rate', 'ratePerType']
const NO_RATES = Object.freeze({ all: undefined, byType: new Map(), ask: undefined })

const readers = {
  maxAttempts: value => value === undefined ? 1 : readPositiveCount(value, 'maxAttempts', OPTION),
  backoffMs: readBackoff,
  priorityMs: readPriorityMs,
  rate: value => value === undefined ? undefined : readRates(value, 'rate', OPTION),
  ratePerType: value => value === undefined ? NO_RATES : readRatePerType(value, OPTION)
}

module.exports = { readOptions, readRateOptions, readAddOptions, readNewRates, readHoldMs, readPriorityMs }

/**
 * @returns {object} what a queue reads, and `rate`, an array of them or undefined, and `ratePerType`
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function readOptions (options) {
  if (!isObject(options)) return { ...ROOMS.readOptions(options), ...readEach({}, readers) }
  const names = Object.keys(readers)
  queueOptions.rejectUnknownOptions(options, [...queueOptions.names, ...names])
  const own = readEach(readFields(options, names, OPTION), readers)
  const others = readFields(options, queueOptions.names, OPTION)
  return { ...ROOMS.readOptions(others), ...own }
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
  return readFiniteMs(ms, 'a hold', ARGUMENT)
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
  return { ...NO_RATES, byType: readByType(value, 'ratePerType', code, (rate, name) => readRates(rate, name, code)) }
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
