'use strict'

// Options of all queues that have a log, read once.

const { resolve } = require('node:path')
const { readAll, readChoice, readFlag, readFunction, readInteger, readPositiveCount, readText } = require('../arguments/fields')

const ACKS = ['disk', 'os']
const OPTION = 'FAIRLANE_ERR_OPTION'

// name → how its value is read, given the value or undefined
const logReaders = {
  capacity: (value = Infinity) => readPositiveCount(value, 'capacity', OPTION),
  capacityBytes: (value = Infinity) => readPositiveCount(value, 'capacityBytes', OPTION),
  maxInflightOps: (value = 1000) => readPositiveCount(value, 'maxInflightOps', OPTION),
  ack: (value = 'disk') => readChoice(value, 'ack', ACKS, OPTION),
  // Below 1 KB a header and a frame are most of it; from 1 GB on offsets would not fit into 32 bits.
  segmentBytes: (value = 2 ** 26) => readInteger(value, 'segmentBytes', 2 ** 10, 2 ** 30, OPTION),
  repair: (value = false) => readFlag(value, 'repair', OPTION),
  onProgress: value => value === undefined ? undefined : readFunction(value, 'onProgress', OPTION)
}

module.exports = { logReaders, readOptions, readPath }

/** @throws FAIRLANE_ERR_OPTION */
function readOptions (options) {
  return readAll(options, logReaders, OPTION, 'options')
}

/** @throws FAIRLANE_ERR_ARGUMENT, or of another code */
function readPath (path, code = 'FAIRLANE_ERR_ARGUMENT') {
  return resolve(readText(path, 'the path', code)) // the process may change its directory
}
