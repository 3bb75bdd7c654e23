'use strict'

// Options of Metrics, read once: validated, completed, never kept by reference.

const { typeError } = require('../arguments/errors')
const { isArray, readAll, readChoice, readFlag, readFunction, readInteger, readNumber, readText } = require('../arguments/fields')

const OPTION = 'FAIRLANE_ERR_OPTION'
const CLOCKS = ['coarse', 'exact']
// 1 ms to 5 minutes. Prometheus wants the bounds of all processes to be the same.
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000]
const MOST_BOUNDS = 64
const LONGEST_MS = 2 ** 31 - 1

const readers = {
  name: (value = 'default') => readText(value, 'name', OPTION),
  maxTypes: (value = 100) => readInteger(value, 'maxTypes', 0, Number.MAX_SAFE_INTEGER, OPTION),
  otherType: (value = 'other') => readText(value, 'otherType', OPTION),
  labelOf: value => value === undefined || value === 'group' ? value : readFunction(value, 'labelOf', OPTION),
  windowMs: (value = 10000) => readPeriod(value, 'windowMs'),
  starveMs: (value = 30000) => readPeriod(value, 'starveMs'),
  bucketsMs: (value = BOUNDS_MS) => readBounds(value),
  clock: (value = 'coarse') => readChoice(value, 'clock', CLOCKS, OPTION)
}

const { windowMs, starveMs, clock } = readers

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const BY = ['share', 'waiting', 'oldestWait', 'failed', 'overdue']
const MOST_TOP = 1000
const LONGEST_WINDOW_MS = 900000

// What is said of a snapshot of the types that come first.
const snapshotReaders = {
  top: (value = 50) => readInteger(value, 'top', 1, MOST_TOP, ARGUMENT),
  by: (value = 'share') => readChoice(value, 'by', BY, ARGUMENT),
  windowMs: (value = 60000) => readNumber(value, 'windowMs', 1000, LONGEST_WINDOW_MS, ARGUMENT),
  timeline: (value = false) => readFlag(value, 'timeline', ARGUMENT)
}

module.exports = {
  readMetricsOptions: options => readAll(options, readers, OPTION),
  readSnapshotOptions: options => readAll(options, snapshotReaders, ARGUMENT, 'snapshot: the options'),
  readChannelsOptions: options => readAll(options, { windowMs, starveMs, clock }, OPTION)
}

/** In ms, such that a timer can wait for it. */
function readPeriod (value, name) {
  return readNumber(value, name, 1, LONGEST_MS, OPTION)
}

/** @returns {number[]} a copy */
function readBounds (value) {
  const bounds = isArray(value) ? [...value] : []
  const isRising = bounds.every((bound, i) => typeof bound === 'number' && bound > (i === 0 ? 0 : bounds[i - 1]) && bound < Infinity)
  if (isRising && bounds.length > 0 && bounds.length <= MOST_BOUNDS) return bounds
  throw typeError(OPTION, `bucketsMs must be an array of 1 to ${MOST_BOUNDS} times in ms above 0, each above the one before`)
}
