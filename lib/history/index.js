'use strict'

// A queryable record of every job. It can be saved, for which it needs a file system, so Node only; loaded by those who ask for it.

const { History } = require('./history')

module.exports = { History }
