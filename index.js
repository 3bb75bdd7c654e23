'use strict'

const { Queue } = require('./lib/core/queue')
const { FairlaneError } = require('./lib/arguments/errors')

/** A queue that runs jobs through runner; with or without `new`, and as a base class. Takes and throws what Queue does. */
function fairlane (runner, options) {
  return Reflect.construct(Queue, [runner, options], new.target ?? Queue)
}

fairlane.prototype = Queue.prototype

module.exports = fairlane
module.exports.Queue = Queue
module.exports.FairlaneError = FairlaneError
