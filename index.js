'use strict'

const { Queue } = require('./lib/queue')
const { FairlaneError } = require('./lib/errors')

/** A queue that runs jobs through runner; with or without `new`. Takes and throws what Queue does. */
function fairlane (runner, options) {
  return new Queue(runner, options)
}

fairlane.prototype = Queue.prototype

module.exports = fairlane
module.exports.Queue = Queue
module.exports.FairlaneError = FairlaneError
