'use strict'

// What is counted and timed of the jobs of a queue, by type, for those who collect metrics, and what is published of each job. Loaded by
// those who ask for it.

const { channels } = require('./channels')
const { Metrics } = require('./metrics')

module.exports = { Metrics, channels }
