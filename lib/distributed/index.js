'use strict'

// Queues of many processes and machines, at a Redis or Valkey server, with BullMQ as the engine. Node only; its peers are loaded when a
// queue is opened.

const { FairlaneError, Postponed, Throttled, backoff } = require('../job/exports')
const { distributed, DistributedQueue } = require('./queue')

module.exports = { distributed, DistributedQueue, FairlaneError, Throttled, Postponed, backoff }
