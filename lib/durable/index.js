'use strict'

// Queues that survive a crash. Needs a file system, so Node only; loaded by those who ask for it.

const { durable, DurableQueue } = require('./durable-queue')
const { Postponed, Throttled } = require('../job/postponing')

module.exports = { durable, DurableQueue, Throttled, Postponed }
