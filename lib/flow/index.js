'use strict'

const { backoff } = require('../backoff')
const { Postponed, Throttled } = require('../postponing')
const { batches } = require('./batches')
const { FlowQueue } = require('./flow-queue')

/** A queue with limits of rate, that runs jobs through runner. Takes and throws what FlowQueue does. */
function flow (runner, options) {
  return new FlowQueue(runner, options)
}

module.exports = { flow, FlowQueue, Throttled, Postponed, backoff, batches }
