'use strict'

// Options of Metrics, read once: validated, completed, never kept by reference.

const { typeError, describe } = require('../arguments/errors')
const { isArray } = require('../arguments/fields')
const { readAll, readChoice, readText, wrong } = require('../arguments/readers')

const OPTION = 'FAIRLANE_ERR_OPTION'
const CLOCKS = ['coarse', 'exact']
// 1 ms to 5 minutes. Prometheus wants the bounds of all processes to be the same.
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000]
const MOST_BOUNDS = 64
const LONGEST_MS = 2 ** 31 - 1

const readers = {
  name: (value = 'default') => readText(value, 'name', OPTION),
  maxTypes: (value = 100) => readCount(value, 'maxTypes'),
  otherType: (value = 'other') => readText(value, 'otherType', OPTION),
  labelOf: value => readFunction(value, 'labelOf'),
  windowMs: (value = 10000) => readPeriod(value, 'windowMs'),
  starveMs: (value = 30000) => readPeriod(value, 'starveMs'),
  bucketsMs: (value = BOUNDS_MS) => readBounds(value),
  clock: (value = 'coarse') => readChoice(value, 'clock', CLOCKS, OPTION)
}

const { windowMs, starveMs, clock } = readers

module.exports = {
  readMetricsOptions: options => readAll(options, readers, OPTION),
  readChannelsOptions: options => readAll(options, { windowMs, starveMs, clock }, OPTION)
}

function readCount (value, name) {
  if (Number.isInteger(value) && value >= 0) return value
  throw wrong(value, 'number', OPTION, `${name} must be a whole number`)
}

function readFunction (value, name) {
  if (value === undefined || typeof value === 'function') return value
  throw typeError(OPTION, `${name} must be a function, not ${describe(value)}`)
}

/** In ms, such that a timer can wait for it. */
function readPeriod (value, name) {
  if (typeof value === 'number' && value >= 1 && value <= LONGEST_MS) return value
  throw wrong(value, 'number', OPTION, `${name} must be a time from 1 to ${LONGEST_MS} ms`)
}

/** @returns {number[]} a copy */
function readBounds (value) {
  const bounds = isArray(value) ? [...value] : []
  const isRising = bounds.every((bound, i) => typeof bound === 'number' && bound > (i === 0 ? 0 : bounds[i - 1]) && bound < Infinity)
  if (isRising && bounds.length > 0 && bounds.length <= MOST_BOUNDS) return bounds
  throw typeError(OPTION, `bucketsMs must be an array of 1 to ${MOST_BOUNDS} times in ms above 0, each above the one before`)
}
