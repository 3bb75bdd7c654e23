'use strict'

// Makes the parts of a durable queue and connects them, by a table of who is given whom. The queue in memory comes first, since wrong
// options are to be told at once; then the store, and what works with it.

const { announce, attach, innerQueueOf, makeInnerQueue, options: { readOptions } } = require('../core/internals')
const { Admission } = require('../log/admission')
const { MAX_TYPE_BYTES } = require('../log/format')
const { givenTo } = require('../platform/wiring')
const { readStorableType } = require('./options')
const { Clocks } = require('./life/clocks')
const { Closing } = require('./life/closing')
const { Events } = require('./life/events')
const { Findings } = require('./life/findings')
const { Flushes } = require('./life/flushes')
const { Idle } = require('./life/idle')
const { openJobStore } = require('./life/job-store')
const { Leaving } = require('./life/leaving')
const { Outage } = require('./life/outage')
const { PastTimes } = require('./life/past-times')
const { Report, Counts } = require('./life/report')
const { Restore } = require('./life/restore')
const { Status } = require('./life/status')
const { Survey } = require('./life/survey')
const { Types } = require('./life/types')
const { Adding } = require('./push/adding')
const { Intake } = require('./push/intake')
const { Keys } = require('./push/keys')
const { PushAll } = require('./push/push-all')
const { Refusals } = require('./push/refusals')
const { Results } = require('./push/results')
const { Reverts } = require('./push/reverts')
const { STAMP_BYTES } = require('./push/serialize')
const { Sharing } = require('./push/sharing')
const { Writing } = require('./push/writing')
const { Attempts } = require('./run/attempts')
const { Cancelling } = require('./run/cancelling')
const { Comebacks } = require('./run/comebacks')
const { Dead } = require('./run/dead')
const { DeadLetters } = require('./run/dead-letters')
const { Endings } = require('./run/endings')
const { Explaining } = require('./run/explaining')
const { Limiting } = require('./run/limiting')
const { Limits, checkRates } = require('./run/limits')
const { Listing } = require('./run/listing')
const { Lookup } = require('./run/lookup')
const { Outcomes } = require('./run/outcomes')
const { Records, idOf } = require('./run/records')
const { Removal } = require('./run/removal')
const { Retries } = require('./run/retries')
const { SingleJobs } = require('./run/single-jobs')
const { Waiting } = require('./run/waiting')
const { Notes } = require('./schedule/notes')
const { Schedules } = require('./schedule/schedules')

/**
 * Which part is given which others, in the order in which they are made. lib/platform/wiring.js says what this promises. Parts that hear
 * from others say so below, in listen().
 */
const WIRING = {
  core: [], // the queue in memory
  store: [], // the log
  ledger: [], // of observers, if there are any
  stage: ['core'], // what the owner of a queue in memory may do with it
  // what the others have in common
  status: [],
  types: [],
  counts: ['types'],
  events: ['stage'],
  report: ['counts', 'events', 'ledger'],
  clocks: ['stage'],
  records: ['store'],
  // where jobs wait, and those that wait for jobs
  waiting: ['stage', 'store'],
  retries: ['report', 'stage', 'types', 'waiting'],
  flushes: ['stage'],
  idle: ['core', 'report', 'retries', 'stage'],
  // what is written
  admission: ['store'],
  outage: ['report', 'stage', 'store'],
  keys: ['admission', 'clocks', 'outage', 'stage'],
  results: ['keys'],
  // pushes
  reverts: ['admission', 'flushes', 'idle', 'keys', 'report', 'retries', 'stage', 'status'],
  writing: ['admission', 'keys', 'report', 'results', 'retries', 'reverts', 'store'],
  refusals: ['admission', 'report', 'stage', 'status', 'store'],
  sharing: ['clocks', 'keys', 'records', 'refusals', 'report', 'retries', 'status', 'writing'],
  intake: ['keys', 'refusals', 'report', 'results', 'retries', 'sharing', 'store', 'writing'],
  pushAll: ['keys', 'refusals', 'report', 'results', 'retries', 'sharing', 'stage', 'writing'],
  notes: ['admission', 'outage', 'store'],
  schedules: ['admission', 'core', 'intake', 'keys', 'notes', 'outage', 'stage', 'status'],
  // from the slot to the end
  dead: ['clocks', 'keys', 'outage', 'types'],
  endings: ['admission', 'dead', 'flushes', 'records', 'report', 'results', 'retries', 'schedules'],
  limits: ['core', 'stage', 'waiting'],
  attempts: ['keys', 'limits', 'outage', 'records', 'report', 'retries', 'stage', 'writing'],
  limiting: ['attempts', 'limits', 'stage'],
  comebacks: ['attempts', 'clocks', 'endings', 'limiting', 'outage', 'report', 'retries', 'store'],
  outcomes: ['comebacks', 'endings', 'status'],
  // what users ask of jobs
  removal: ['endings', 'records', 'report', 'status', 'store', 'waiting', 'writing'],
  deadLetters: ['dead', 'endings', 'flushes', 'outage', 'records', 'report', 'status', 'waiting'],
  cancelling: ['deadLetters', 'idle', 'records', 'removal', 'retries', 'stage', 'store', 'waiting'],
  lookup: ['attempts', 'dead', 'records', 'retries'],
  jobs: ['attempts', 'idle', 'lookup', 'outage', 'removal', 'retries', 'stage', 'status'],
  listing: ['admission', 'attempts', 'core', 'dead', 'limits', 'records', 'retries', 'stage'],
  explaining: ['core', 'limits', 'listing', 'outage', 'report', 'retries', 'stage', 'status'],
  adding: ['dead', 'intake', 'jobs', 'records', 'results', 'stage', 'status', 'writing'],
  // the beginning and the end of the queue
  pastTimes: ['admission', 'clocks', 'outage', 'records', 'store'],
  findings: ['clocks', 'dead', 'keys', 'pastTimes', 'records', 'report', 'schedules', 'waiting'],
  restore: ['clocks', 'endings', 'findings', 'pastTimes', 'retries', 'status', 'store', 'waiting'],
  leaving: ['attempts', 'retries', 'stage', 'waiting'],
  closing: ['admission', 'leaving', 'outage', 'outcomes', 'report', 'stage', 'status', 'store']
}

// The classes of those that are made by their rows alone; the others are made where they need more.
const CLASSES = {
  status: Status,
  types: Types,
  counts: Counts,
  events: Events,
  report: Report,
  clocks: Clocks,
  records: Records,
  waiting: Waiting,
  retries: Retries,
  flushes: Flushes,
  idle: Idle,
  outage: Outage,
  keys: Keys,
  results: Results,
  reverts: Reverts,
  writing: Writing,
  refusals: Refusals,
  sharing: Sharing,
  intake: Intake,
  pushAll: PushAll,
  notes: Notes,
  schedules: Schedules,
  dead: Dead,
  endings: Endings,
  limits: Limits,
  attempts: Attempts,
  limiting: Limiting,
  comebacks: Comebacks,
  outcomes: Outcomes,
  removal: Removal,
  deadLetters: DeadLetters,
  cancelling: Cancelling,
  lookup: Lookup,
  jobs: SingleJobs,
  listing: Listing,
  explaining: Explaining,
  adding: Adding,
  pastTimes: PastTimes,
  findings: Findings,
  restore: Restore,
  leaving: Leaving,
  closing: Closing
}

const PASSED_ON = ['saturated', 'unsaturated']

/**
 * @param {Function} runner the caller's
 * @param {{ path: string, jobs: object, queue: object }} read options
 * @param {{ files: object, lock: Function, now: () => number }} environment
 * @param {(parts: object) => object} makeQueue what users and observers see; it is not asked for anything until the parts are there
 * @returns {() => Promise<object>} opens the store, and gives the parts once all jobs on disk stand in the queue in memory, which is paused
 * @throws as fairlane()
 */
function prepare (runner, { path, jobs, queue }, environment, makeQueue) {
  const { settleBy, scheduler, maxWaitMs, clock, observers } = readOptions(queue)
  const parts = {}
  // those of the parts that the queue in memory calls are there before it has a job
  const start = typeof runner === 'function' ? (job, done, slot) => parts.attempts.start(job, done, slot) : runner
  parts.core = makeInnerQueue(start, { ...queue, priorityMs: jobs.priorityMs })
  checkRates(parts.core, jobs.rates)
  const hasTypes = scheduler !== null
  const hasLevels = jobs.priorityMs !== undefined
  const aboutSchedules = {
    serialize: jobs.serialize, hasTypes, hasLevels, readType: readStorableType, maxTypeBytes: MAX_TYPE_BYTES
  }
  const schedules = jobs.schedules === undefined ? undefined : scheduleOptions().readSchedules(jobs.schedules, aboutSchedules)
  parts.readSchedule = (name, schedule) => scheduleOptions().readSchedule(name, schedule, aboutSchedules)
  const options = { ...jobs, runner, settleBy, hasTypes, hasLevels, maxWaitMs, schedules, now: environment.now }
  return async () => {
    parts.queue = makeQueue(parts)
    announce(parts.queue, { observers }, path)
    const survey = observers.length === 0 && !hasLevels ? new Survey() : makeTimedSurvey()
    parts.isVisited = jobs.isVisited === true
    const serialize = parts.isVisited ? undefined : jobs.serialize // by which the folder is checked, and marked
    parts.store = await openJobStore(path, { ...jobs, serialize, observer: survey }, environment)
    try {
      observe(parts, observers, clock)
      connect(parts, options)
      parts.core.pause()
      const ages = hasLevels ? new (levels().Ages)(parts.stage.list, survey, parts.clocks) : undefined
      await parts.restore.run(survey, ages)
      if (parts.isVisited) parts.schedules.show()
      else await parts.schedules.begin()
    } catch (err) {
      await abandon(parts)
      throw err
    }
    return parts
  }
}

function scheduleOptions () {
  return require('../job/schedule-options')
}

/** With push times. */
function makeTimedSurvey () {
  const { TimedSurvey } = require('./life/timed-survey')
  return new TimedSurvey()
}

/** What priorities need. */
function levels () {
  return require('./run/levels')
}

/** Has observers make their ledger, which the parts tell what becomes of jobs. Without one, that is undefined. */
function observe (parts, observers, clock) {
  const eachHead = (...args) => parts.listing.eachHead(...args)
  const read = { clock, hasIds: true, concurrency: parts.core.concurrency, eachHead }
  parts.ledger = attach(observers, parts.queue, read)
  if (read.concurrency !== parts.core.concurrency) parts.core.concurrency = read.concurrency
}

/** Gives the folder back: the queue cannot be opened. A log that has failed closes by itself. */
async function abandon ({ schedules, status, store }) {
  schedules?.stop()
  if (status?.error === undefined) await store.close()
}

/** Makes the other parts, in the order of the table, and has those hear from others that are to. */
function connect (parts, options) {
  const { core, store } = parts
  parts.hasTypes = options.hasTypes
  parts.hasLevels = options.hasLevels
  parts.stage = innerQueueOf(core, (job, err, result) => slotLost(parts, job, err, result))
  parts.admission = new Admission(store, options, { stampBytes: STAMP_BYTES, refusal: () => undefined })
  for (const [name, Part] of Object.entries(CLASSES)) parts[name] = new Part(givenTo(name, WIRING, parts), options)
  listen(parts)
  if (parts.ledger !== undefined) watchOverdue(parts)
}

/** Runners that go on in their slots though their jobs have settled. */
function watchOverdue ({ ledger, stage }) {
  stage.dispatch.interruptions.watcher = {
    outlives: ({ payload }) => ledger.outlived(idOf(payload)),
    ends: told => ledger.outlivedEnds(told)
  }
}

/** What parts tell without knowing whom, each in the order in which that is to be done. */
function listen ({
  admission, attempts, closing, core, events, flushes, idle, keys, limits, outage, records, results, retries, schedules, status, store,
  waiting
}) {
  core.drain = () => idle.check()
  waiting.whenCosted = () => limits.countCosts()
  for (const event of PASSED_ON) core.on(event, () => events.pass(event))
  store.ownedBy({
    settled: group => {
      admission.settled(group)
      attempts.logged()
    },
    failed: err => closing.fail(err),
    unwritable: err => outage.begin(err),
    full: err => outage.spend(err),
    freed: () => outage.freed(),
    ended: () => status.over()
  })
  outage.whenHeld = () => attempts.recall(() => true)
  status.whenClosing.push(() => retries.stop(), () => schedules.stop(), () => keys.stop(), () => admission.freed())
  status.whenFailed.push(
    err => records.end(err), err => admission.fail(err), err => outage.stop(err), () => attempts.end(), () => keys.stop()
  )
  status.whenOver.push(err => records.end(err), err => results.close(err), () => retries.clear())
  status.whenEnded.push(() => flushes.end(), () => admission.freed(), () => idle.check())
}

/** The queue in memory has settled a job. */
function slotLost ({ attempts, outcomes, removal }, job, err, result) {
  const delivery = attempts.settled(job)
  if (delivery !== undefined) {
    outcomes.settled(delivery, err, result)
    return
  }
  // it had no slot, and has waited for too long
  /* istanbul ignore else: what waits is taken out before the queue in memory closes */
  if (err?.code !== 'FAIRLANE_ERR_CLOSED') removal.cancel([job], () => err)
}

module.exports = { prepare, WIRING }
