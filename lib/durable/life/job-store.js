'use strict'

// The log of a job queue: one of jobs, whose states it is told how to read.

const { openStore } = require('../../log/opening')
const { JobState } = require('../run/job-state')

/** As openStore() of the log. @param {object} options as there, without `kind` and `readState` */
function openJobStore (folder, options, environment, owner) {
  return openStore(folder, { ...options, kind: 'jobs', readState: JobState.read }, environment, owner)
}

module.exports = { openJobStore }
