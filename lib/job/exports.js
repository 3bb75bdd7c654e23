'use strict'

// What the entry of each engine exports: the same objects.

const { FairlaneError } = require('../arguments/errors')
const { Postponed, Throttled } = require('./postponing')

module.exports = { FairlaneError, Throttled, Postponed, backoff }

/** As in backoff.js, which is loaded by the first call. */
function backoff (options) {
  return require('./backoff').backoff(options)
}
