'use strict'

// Options of adaptive(), read once.

const { rangeError } = require('../arguments/errors')
const { readAll, readFunction, readInteger } = require('../arguments/fields')

const OPTION = 'FAIRLANE_ERR_OPTION'
const FIRST = 10 // where nothing is said: as many as a queue has without a control
const MOST = 2 ** 30

const readers = {
  least: (value = 1) => readInteger(value, 'least', 1, MOST, OPTION),
  most: value => readInteger(value, 'most', 1, MOST, OPTION),
  first: value => value === undefined ? undefined : readInteger(value, 'first', 1, MOST, OPTION),
  classOf: value => value === undefined ? undefined : readFunction(value, 'classOf', OPTION),
  isOverload: (value = isUnavailable) => readFunction(value, 'isOverload', OPTION)
}

module.exports = { readAdaptiveOptions }

/**
 * @returns {{ least: number, most: number, first: number, classOf: Function | undefined, isOverload: Function }}
 * @throws FAIRLANE_ERR_OPTION
 */
function readAdaptiveOptions (options) {
  const read = readAll(options, readers, OPTION, 'adaptive: the options')
  const { least, most } = read
  if (least > most) throw rangeError(OPTION, `least must not be above most, which is ${most}`)
  const first = read.first ?? Math.min(most, Math.max(least, FIRST))
  if (first < least || first > most) throw rangeError(OPTION, `first must be from least to most, which is from ${least} to ${most}`)
  return { ...read, first }
}

/** As clients of HTTP say it. */
function isUnavailable (err) {
  return err?.status === 503 || err?.statusCode === 503
}
