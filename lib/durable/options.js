'use strict'

// Options of durable queues, read once.

const { typeError, rangeError, rejectUnknown, describe } = require('../errors')

const readers = {
  capacity: value => readCount('capacity', value, Infinity),
  capacityBytes: value => readCount('capacityBytes', value, Infinity),
  maxInflightOps: value => readCount('maxInflightOps', value, 1000),
  ack: readAck,
  segmentBytes: readSegmentBytes,
  repair: readRepair,
  onProgress: readOnProgress
}

module.exports = { readOptions, readPath }

/** @throws FAIRLANE_ERR_OPTION */
function readOptions (options = {}) {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw typeError('FAIRLANE_ERR_OPTION', `options must be an object, not ${describe(options)}`)
  }
  rejectUnknown(options, Object.keys(readers), 'FAIRLANE_ERR_OPTION')
  return Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(options[name])]))
}

/** @throws FAIRLANE_ERR_ARGUMENT */
function readPath (path) {
  if (typeof path === 'string' && path !== '') return path
  throw typeError('FAIRLANE_ERR_ARGUMENT', `the path must be a string with something in it, not ${describe(path)}`)
}

function readCount (name, value, ifAbsent) {
  if (value === undefined) return ifAbsent
  if (value === Infinity || (Number.isInteger(value) && value > 0)) return value
  const error = typeof value === 'number' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `${name} must be a positive integer or Infinity, not ${describe(value)}`)
}

function readAck (value = 'disk') {
  if (value === 'disk' || value === 'os') return value
  const error = typeof value === 'string' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `ack must be 'disk' or 'os', not ${describe(value)}`)
}

/** Below 4 KB a header and a frame are most of it; from 1 GB on offsets would not fit into 32 bits. */
function readSegmentBytes (value = 2 ** 26) {
  if (Number.isInteger(value) && value >= 2 ** 12 && value <= 2 ** 30) return value
  const error = typeof value === 'number' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `segmentBytes must be an integer from 4096 to 1073741824, not ${describe(value)}`)
}

function readRepair (value = false) {
  if (typeof value === 'boolean') return value
  throw typeError('FAIRLANE_ERR_OPTION', `repair must be true or false, not ${describe(value)}`)
}

function readOnProgress (value) {
  if (value === undefined || typeof value === 'function') return value
  throw typeError('FAIRLANE_ERR_OPTION', 'onProgress must be a function')
}
