'use strict'

// Options of all queues that have a log, read once.

const { resolve } = require('node:path')
const { typeError, rangeError, describe } = require('../arguments/errors')
const { readEach, readOwn } = require('../arguments/fields')
const { readText } = require('../arguments/readers')
const { options: { readChoice, readFlag, readPositiveCount } } = require('../core/internals')

const ACKS = ['disk', 'os']
const OPTION = 'FAIRLANE_ERR_OPTION'

// name → how its value is read, given the value or undefined
const logReaders = {
  capacity: value => readLimit(value, 'capacity'),
  capacityBytes: value => readLimit(value, 'capacityBytes'),
  maxInflightOps: value => readLimit(value, 'maxInflightOps', 1000),
  ack: value => readChoice(value, 'ack', ACKS),
  segmentBytes: readSegmentBytes,
  repair: value => readFlag(value, 'repair', false, OPTION),
  onProgress: readOnProgress
}

module.exports = { logReaders, readLimit, readOptions, readPath }

/** @throws FAIRLANE_ERR_OPTION */
function readOptions (options = {}) {
  return readEach(readOwn(options, 'options', Object.keys(logReaders), OPTION), logReaders)
}

/** @throws FAIRLANE_ERR_ARGUMENT, or of another code */
function readPath (path, code = 'FAIRLANE_ERR_ARGUMENT') {
  return resolve(readText(path, 'the path', code)) // the process may change its directory
}

function readLimit (value, name, byDefault = Infinity) {
  return value === undefined ? byDefault : readPositiveCount(value, name, OPTION)
}

/** Below 1 KB a header and a frame are most of it; from 1 GB on offsets would not fit into 32 bits. */
function readSegmentBytes (value = 2 ** 26) {
  if (Number.isInteger(value) && value >= 2 ** 10 && value <= 2 ** 30) return value
  const error = typeof value === 'number' ? rangeError : typeError
  throw error(OPTION, `segmentBytes must be an integer from 1024 to 1073741824, not ${describe(value)}`)
}

function readOnProgress (value) {
  if (value === undefined || typeof value === 'function') return value
  throw typeError(OPTION, 'onProgress must be a function')
}
