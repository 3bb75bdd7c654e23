'use strict'

// Reads what limits all processes: options, and what calls say. As the readers of queues in memory, but for intervals, which are not
// shorter than the time for which a permit is good, and functions, which other processes do not have.

const { rangeError, typeError } = require('../../arguments/errors')
const { isArray, isMap, readByType, readNumber, readOwn, readPositiveCount } = require('../../arguments/fields')
const { readRate } = require('../../arguments/rates')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const LEAST_INTERVAL_MS = 1000
const RATES_NAMES = ['rate', 'ratePerType']
const NO_RATES = Object.freeze({ all: undefined, byType: new Map() })

// what is not given stays as the last opening gave it, so undefined is not what a default would be
const readers = {
  rate: value => value === undefined ? undefined : readRates(value, 'rate', OPTION),
  ratePerType: value => value === undefined ? undefined : readRatePerType(value, OPTION),
  globalConcurrency: value => value === undefined ? undefined : readCap(value, 'globalConcurrency', OPTION),
  globalTypeCap: value => value === undefined ? undefined : readCap(value, 'globalTypeCap', OPTION),
  globalTypeCaps: value => {
    return value === undefined ? undefined : readByType(value, 'globalTypeCaps', OPTION, (cap, name) => readCap(cap, name, OPTION))
  }
}

module.exports = { readers, readCap, readHoldMs, readNewRates }

/** A positive integer, or Infinity for none. */
function readCap (value, name, code = ARGUMENT) {
  return readPositiveCount(value, name, code)
}

/** The broker counts time in whole ms, which must be as exact in its numbers as in ours. @throws FAIRLANE_ERR_ARGUMENT */
function readHoldMs (ms) {
  return Math.ceil(readNumber(ms, 'a hold', 0, Number.MAX_SAFE_INTEGER, ARGUMENT))
}

/** @returns {{ rate?: object[] | null, ratePerType?: object }} those that are given; null, or no rates: none from now on */
function readNewRates (rates) {
  const { rate, ratePerType } = readOwn(rates, 'setRates: the rates', RATES_NAMES, ARGUMENT)
  return {
    rate: rate === undefined || rate === null ? rate : readRates(rate, 'rate', ARGUMENT),
    ratePerType: ratePerType === undefined ? undefined : ratePerType === null ? NO_RATES : readRatePerType(ratePerType, ARGUMENT)
  }
}

/** One rate for each type, or rates by type. */
function readRatePerType (value, code) {
  if (typeof value === 'function') {
    throw typeError(code, 'ratePerType cannot be a function at a broker, because the other processes do not have it: give rates by type')
  }
  if (!isMap(value)) return { all: readRates(value, 'ratePerType', code), byType: new Map() }
  return { all: undefined, byType: readByType(value, 'ratePerType', code, (rate, name) => readRates(rate, name, code)) }
}

/** One, or an array of them. */
function readRates (value, name, code) {
  if (!isArray(value)) return [readWholeRate(value, name, code)]
  if (value.length > 0) return Array.from(value, rate => readWholeRate(rate, name, code)) // those included that were left out
  throw rangeError(code, `${name} must have at least one rate`)
}

function readWholeRate (value, name, code) {
  return readRate(value, name, code, (ms, name) => {
    return Math.ceil(readNumber(ms, `${name} at a broker`, LEAST_INTERVAL_MS, Number.MAX_SAFE_INTEGER, code))
  })
}
