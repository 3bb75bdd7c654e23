'use strict'

// What a distributed queue is made of, put together: the parts of every process, and those of a process that runs jobs. Each part is
// given others that are there before it.

const { givenTo } = require('../platform/wiring')
const { Announcer } = require('./broker/announcer')
const { Notices } = require('./broker/notices')
const { Pushes } = require('./broker/pushes')
const { Records } = require('./broker/records')
const { Adding } = require('./calls/adding')
const { Batches } = require('./calls/batches')
const { DeadLetters } = require('./calls/dead-letters')
const { Explaining } = require('./calls/explaining')
const { Globals } = require('./calls/globals')
const { Health } = require('./calls/health')
const { Intake } = require('./calls/intake')
const { Removal } = require('./calls/removal')
const { Results } = require('./calls/results')
const { Scheduling } = require('./calls/scheduling')
const { Running } = require('./calls/running')
const { SingleJobs } = require('./calls/single-jobs')
const { Forgetting } = require('./forgetting')
const { Fleet } = require('./limits/fleet')
const { Starts } = require('./limits/starts')
const { readLimit } = require('./options')
const { Outcomes } = require('./outcomes')
const { Keeper } = require('./worker/keeper')
const { Late } = require('./worker/late')
const { Worker } = require('./worker/worker')

// part → those that it is given, in the order in which they are made; the first ones are there before
const WIRING = {
  broker: [],
  core: [], // the queue in memory
  observed: [], // undefined without observers
  stage: [], // what the owner of the queue in memory may do

  announcer: ['broker'],
  limits: ['broker'], // of all processes
  notices: ['broker'],
  records: ['broker'],
  outcomes: ['notices'],
  starts: ['broker', 'limits', 'stage'],
  worker: ['announcer', 'broker', 'core', 'observed', 'outcomes', 'records', 'stage', 'starts'],
  results: ['broker', 'records'],
  removal: ['broker', 'notices', 'outcomes', 'records', 'results'],
  late: ['broker', 'observed', 'records', 'removal'],
  keeper: ['announcer', 'broker', 'late'], // null in a process without a runner
  globals: ['announcer', 'broker', 'removal', 'worker'],
  explaining: ['broker', 'core', 'globals', 'limits', 'observed', 'records', 'stage', 'worker'],
  jobs: ['broker', 'records', 'removal'],
  runs: ['broker', 'globals', 'records'],
  pushes: ['broker'],
  deadLetters: ['broker', 'globals', 'jobs', 'pushes', 'records', 'removal'],
  intake: ['announcer', 'broker', 'limits', 'pushes'],
  batches: ['announcer', 'broker', 'intake', 'outcomes', 'pushes'],
  adding: ['batches', 'broker', 'intake', 'jobs', 'observed', 'outcomes', 'results', 'stage'],
  health: ['broker'],
  scheduling: ['broker', 'intake', 'records'],
  forgetting: ['broker', 'intake', 'scheduling', 'worker']
}

module.exports = { WIRING, makeParts }

/**
 * @param {object} given the first parts of WIRING
 * @param {object} options read; runner, and isPaused(type) beside them
 * @param {(event: string, makeValue: () => object) => void} tell listeners of the queue
 * @returns {object} the parts by name; worker is null in a process without a runner
 */
function makeParts (given, options, tell) {
  const parts = { ...given }
  const made = name => givenTo(name, WIRING, parts)
  parts.announcer = new Announcer(made('announcer'))
  parts.limits = new Fleet(made('limits'), options, tell)
  parts.notices = new Notices(made('notices'))
  parts.records = new Records(made('records'), options)
  parts.outcomes = new Outcomes(made('outcomes'), options, tell)
  parts.starts = options.runner === null ? null : new Starts(made('starts'), options)
  parts.worker = options.runner === null ? null : new Worker(made('worker'), options, most)
  parts.results = new Results(made('results'), options)
  parts.removal = new Removal(made('removal'), options)
  parts.late = options.runner === null ? null : new Late(made('late'), options)
  parts.keeper = options.runner === null ? null : new Keeper(made('keeper'), options)
  parts.globals = new Globals(made('globals'))
  parts.explaining = new Explaining(made('explaining'), options)
  parts.jobs = new SingleJobs(made('jobs'))
  parts.runs = new Running(made('runs'))
  parts.pushes = new Pushes(made('pushes'), options)
  parts.deadLetters = new DeadLetters(made('deadLetters'))
  parts.intake = new Intake(made('intake'), options)
  parts.batches = new Batches(made('batches'))
  parts.adding = new Adding(made('adding'), options)
  parts.health = new Health(made('health'))
  parts.scheduling = new Scheduling(made('scheduling'), options)
  parts.forgetting = new Forgetting(made('forgetting'))
  return parts

  /** A job that may be started once only is not taken before there is a slot for it: the end of the process would count as its start. */
  function most (concurrency) {
    return options.maxAttempts === 1 ? 0 : readLimit(options.prefetch, concurrency)
  }
}
