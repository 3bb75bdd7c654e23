'use strict'

const { backoff } = require('../job/backoff')
const { Postponed, Throttled } = require('../job/postponing')
const { batches } = require('./batches')
const { FlowQueue } = require('./flow-queue')

/** A queue with limits of rate, that runs jobs through runner. Takes and throws what FlowQueue does. */
function flow (runner, options) {
  return new FlowQueue(runner, options)
}

module.exports = { flow, FlowQueue, Throttled, Postponed, backoff, batches }
