'use strict'

// A log on disk, and the queue of bytes that is one. Needs a file system, so Node only; loaded by those who ask for it.

const { PersistentQueue } = require('./persistent-queue')

module.exports = { PersistentQueue }
