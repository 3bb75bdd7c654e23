'use strict'

// What a distributed queue is made of, put together: the parts of every process, and those of a process that runs jobs. Each part is given others
// that are there before it.

const { Announcer } = require('./broker/announcer')
const { Notices } = require('./broker/notices')
const { Records } = require('./broker/records')
const { Globals } = require('./calls/globals')
const { Intake } = require('./calls/intake')
const { Results } = require('./calls/results')
const { Settings } = require('./calls/settings')
const { SingleJobs } = require('./calls/single-jobs')
const { Forgetting } = require('./forgetting')
const { JobNames, processName } = require('./names')
const { readLimit } = require('./options')
const { Outcomes } = require('./outcomes')
const { Worker } = require('./worker/worker')

module.exports = { makeParts }

/**
 * @param {object} broker that is open
 * @param {object} options read
 * @param {object} queue runner, core (the queue in memory), stage (what its owner may do), observed, tell(event, value), isPaused(type)
 * @returns {object} the parts by name; worker is null in a process without a runner
 */
function makeParts (broker, options, { runner, core, stage, observed, tell, isPaused }) {
  const token = processName()
  const announcer = new Announcer(broker)
  const notices = new Notices(broker)
  const records = new Records(broker, options.serialize)
  const outcomes = new Outcomes(notices, tell)
  const own = { ...options, token, runner, isPaused }
  const worker = runner === null ? null : new Worker({ broker, announcer, records, outcomes, observed, core, stage }, own, readLimit)
  const globals = new Globals(broker, announcer, worker)
  const jobs = new SingleJobs(broker, records, globals)
  const settings = new Settings(broker, options)
  const intake = new Intake(broker, announcer, settings, options)
  const results = new Results(broker, records, token)
  const forgetting = new Forgetting({ broker, intake, worker })
  return { broker, names: new JobNames(token), announcer, records, outcomes, worker, globals, jobs, intake, results, forgetting }
}
