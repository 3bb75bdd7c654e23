'use strict'

// Queues that survive a crash. Needs a file system, so Node only; loaded by those who ask for it.

const { durable, DurableQueue } = require('./durable-queue')
const { FairlaneError, Postponed, Throttled, backoff } = require('../job/exports')

module.exports = { durable, DurableQueue, FairlaneError, Throttled, Postponed, backoff }
