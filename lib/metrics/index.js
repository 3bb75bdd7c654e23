'use strict'

// What is counted and timed of the jobs of a queue, by type, for those who collect metrics. Loaded by those who ask for it.

const { Metrics } = require('./metrics')

module.exports = { Metrics }
