'use strict'

// What a distributed queue is made of, put together: the parts of every process, and those of a process that runs jobs.

const { Announcer } = require('./broker/announcer')
const { Notices } = require('./broker/notices')
const { Attempts } = require('./worker/attempts')
const { Crew } = require('./worker/crew')
const { Endings } = require('./worker/endings')
const { Forgetting } = require('./forgetting')
const { Globals } = require('./calls/globals')
const { Intake } = require('./calls/intake')
const { Keeper } = require('./worker/keeper')
const { Leases } = require('./worker/leases')
const { JobNames, processName } = require('./names')
const { readLimit } = require('./options')
const { Outcomes } = require('./outcomes')
const { Overdue } = require('./worker/overdue')
const { Records } = require('./broker/records')
const { Results } = require('./calls/results')
const { Settings } = require('./calls/settings')
const { SingleJobs } = require('./calls/single-jobs')
const { Suspects } = require('./worker/suspects')

module.exports = { makeParts }

/**
 * @param {object} broker that is open
 * @param {object} options read
 * @param {object} queue runner, core (the queue in memory), stage (what its owner may do), tell(event, value), isPaused(type)
 * @returns {object} the parts by name; a process without a runner has no crew and what goes with it
 */
function makeParts (broker, options, queue) {
  const token = processName()
  broker.troubles.tell = error => queue.tell('error', error)
  const announcer = new Announcer(broker)
  const records = new Records(broker, options.serialize)
  const globals = new Globals(broker, announcer, place => parts.crew?.changed(place))
  const parts = {
    token,
    names: new JobNames(token),
    announcer,
    records,
    globals,
    outcomes: new Outcomes(new Notices(broker), queue.tell),
    jobs: new SingleJobs(broker, records, globals),
    intake: new Intake(broker, announcer, new Settings(broker, options), options),
    results: new Results(broker, records, token)
  }
  if (queue.runner !== null) Object.assign(parts, workersParts(broker, options, queue, parts))
  parts.forgetting = new Forgetting({ broker, ...parts })
  return parts
}

function workersParts (broker, options, { runner, core, stage, observed, isPaused }, { token, announcer, records, outcomes }) {
  const { leaseMs, resultTtlMs, maxAttempts, prefetch } = options
  const concurrency = () => Math.max(core.concurrency, 1)
  const lost = (job, error) => {
    const hasRun = job.delivery !== undefined || job.isEnding
    attempts.lost(job, error)
    if (hasRun) outcomes.lost(job, error)
  }
  const overdue = new Overdue(broker, { token, leaseMs })
  const endings = new Endings(broker, token, options, overdue, { ended: ending => outcomes.ended(ending), lost })
  const suspects = new Suspects({
    holdUp: () => {
      stage.hold()
      crew.holdUp()
    },
    letGo: () => {
      crew.letGo()
      stage.letGo()
    },
    runningCount: () => attempts.running.size
  })
  const attempts = new Attempts(runner, options, { records, stage, suspects, observed }, {
    returned: job => crew.returnJobs(job.supply, [job]),
    outlived: job => {
      job.supply.drop(job)
      overdue.leave(job, false)
    }
  })
  const crew = new Crew({ broker, stage, endings, announcer }, {
    leaseMs,
    token,
    concurrency,
    // a job that may be started once only is not taken before there is a slot for it: the end of the process would count as its start
    prefetch: () => maxAttempts === 1 ? 0 : readLimit(prefetch, concurrency())
  }, {
    hasTypes: core.scheduler !== null,
    begin: (delivery, job) => attempts.begin(delivery, job),
    lost,
    cancelled: (place, name) => {
      const job = crew.supplies.get(place?.type)?.jobs.get(name)
      if (job !== undefined) attempts.cancelled(job)
    },
    mayStart: type => !isPaused(type)
  })
  broker.onReady.push(() => crew.resume())
  broker.onShaken.push(() => crew.shaken())
  return {
    endings,
    overdue,
    attempts,
    crew,
    leases: new Leases(crew, { leaseMs, token }),
    keeper: new Keeper(broker, announcer, { leaseMs, resultTtlMs, token })
  }
}
