'use strict'

const { Queue } = require('./lib/core/queue')
const { FairlaneError, Postponed, Throttled, backoff } = require('./lib/job/exports')

/** A queue that runs jobs through runner; with or without `new`, and as a base class. Takes and throws what Queue does. */
function fairlane (runner, options) {
  return Reflect.construct(Queue, [runner, options], new.target ?? Queue)
}

/** As in lib/core/batches.js, which is loaded by the first call. */
function batches (queue, options) {
  return require('./lib/core/batches').batches(queue, options)
}

fairlane.prototype = Queue.prototype

module.exports = fairlane
module.exports.Queue = Queue
module.exports.FairlaneError = FairlaneError
module.exports.Throttled = Throttled
module.exports.Postponed = Postponed
module.exports.backoff = backoff
module.exports.batches = batches
