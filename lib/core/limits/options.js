'use strict'

// Options of rates, attempts and priorities, and what is said of rates and holds later, read once. Not loaded before there is one.

const { readBackoff } = require('../../job/backoff')
const { rangeError } = require('../../arguments/errors')
const { isArray, isMap, readByType, readFiniteMs, readOwn, readPositiveCount, wrong } = require('../../arguments/fields')
const { readRate } = require('../../arguments/rates')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const LONGEST_MS = 2 ** 31
const RATES_NAMES = ['rate', 'ratePerType']
const NO_RATES = Object.freeze({ all: undefined, byType: new Map(), ask: undefined })

module.exports = { NO_RATES, readLimitOptions, readRateOptions, readNewRates, readHoldMs, readPriorityMs }

/**
 * @param {object} given any of these, as they were given
 * @returns {{ maxAttempts: number, backoffMs: Function, priorityMs: number | undefined, rates: object | undefined }} rates: undefined if
 *   none are given
 * @throws FAIRLANE_ERR_OPTION
 */
function readLimitOptions ({ maxAttempts, backoffMs, priorityMs, rate, ratePerType }) {
  return {
    maxAttempts: maxAttempts === undefined ? 1 : readPositiveCount(maxAttempts, 'maxAttempts', OPTION),
    backoffMs: readBackoff(backoffMs),
    priorityMs: readPriorityMs(priorityMs),
    rates: rate === undefined && ratePerType === undefined ? undefined : readRateOptions({ rate, ratePerType })
  }
}

/** @returns {{ rate: object[] | undefined, ratePerType: object }} @throws FAIRLANE_ERR_OPTION */
function readRateOptions ({ rate, ratePerType }) {
  return {
    rate: rate === undefined ? undefined : readRates(rate, 'rate', OPTION),
    ratePerType: ratePerType === undefined ? NO_RATES : readRatePerType(ratePerType, OPTION)
  }
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
  return rate === undefined ? undefined : readRates(rate, 'the rate from ratePerType', OPTION)
}

/** One, or an array of them. */
function readRates (value, name, code) {
  if (!isArray(value)) return [readRate(value, name, code)]
  if (value.length > 0) return Array.from(value, rate => readRate(rate, name, code)) // those included that were left out
  throw rangeError(code, `${name} must have at least one rate`)
}
