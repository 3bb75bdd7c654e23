'use strict'

// Makes the parts of a durable queue and connects them. The queue in memory comes first, since wrong options are to be told at once; then
// the store, and what works with it. Each part is given those that it uses.

const { ROOMS, attach, innerQueueOf, makeInnerQueue, options: { readOptions } } = require('../core/internals')
const { Admission } = require('../log/admission')
const { Attempts } = require('./run/attempts')
const { Cancelling } = require('./run/cancelling')
const { Clocks } = require('./life/clocks')
const { Closing } = require('./life/closing')
const { DeadLetters } = require('./run/dead-letters')
const { Events } = require('./life/events')
const { Flushes } = require('./life/flushes')
const { Idle } = require('./life/idle')
const { Intake } = require('./push/intake')
const { openJobStore } = require('./life/job-store')
const { Keys } = require('./push/keys')
const { Limiting, checkRates } = require('./run/limiting')
const { Outage } = require('./life/outage')
const { Outcomes } = require('./run/outcomes')
const { PushAll } = require('./push/push-all')
const { Records } = require('./run/records')
const { Restore } = require('./life/restore')
const { Results } = require('./push/results')
const { Retries } = require('./run/retries')
const { Schedules } = require('./schedule/schedules')
const { STAMP_BYTES } = require('./push/serialize')
const { Sharing } = require('./push/sharing')
const { SingleJobs } = require('./run/single-jobs')
const { Status } = require('./life/status')
const { Survey } = require('./life/survey')
const { Waiting } = require('./run/waiting')

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
  parts.core = makeInnerQueue(start, queue, jobs.priorityMs === undefined ? undefined : levels().levelRooms(jobs.priorityMs))
  checkRates(parts.core, jobs.rates)
  const hasTypes = scheduler !== null
  const hasLevels = jobs.priorityMs !== undefined
  const schedules = jobs.schedules === undefined ? undefined : readSchedules(jobs.schedules, { ...jobs, hasTypes, hasLevels })
  const options = { ...jobs, runner, settleBy, hasTypes, hasLevels, maxWaitMs, schedules, now: environment.now }
  return async () => {
    parts.queue = makeQueue(parts)
    ROOMS.announce(parts.queue, { observers }, path)
    const survey = observers.length === 0 && !hasLevels ? new Survey() : makeTimedSurvey()
    parts.store = await openJobStore(path, { ...jobs, observer: survey }, environment)
    await observe(parts, observers, clock)
    connect(parts, options)
    parts.core.pause()
    const ages = hasLevels ? new (levels().Ages)(parts.stage.list, survey, parts.clocks) : undefined
    parts.counts.accepted += await new Restore(survey, ages, parts, options).run()
    await parts.schedules.begin()
    return parts
  }
}

function readSchedules (value, queue) {
  return require('./schedule/schedule-options').readSchedules(value, queue)
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
async function observe (parts, observers, clock) {
  try {
    parts.ledger = attach(observers, parts.queue, { clock, hasIds: true })
  } catch (err) {
    await parts.store.close()
    throw err
  }
}

/** Makes the other parts, in an order in which each finds those that it uses. */
function connect (parts, options) {
  const { core, store } = parts
  parts.hasTypes = options.hasTypes
  parts.hasLevels = options.hasLevels
  parts.counts = { accepted: 0, done: 0, failed: 0, cancelled: 0, rejected: 0, retried: 0, throttled: 0, joined: 0 }
  parts.status = new Status()
  parts.stage = innerQueueOf(core, (job, err, result) => slotLost(parts, job, err, result))
  parts.clocks = new Clocks(options.now, parts.stage.deadlines.clock)
  parts.events = new Events(fn => parts.stage.call(fn))
  parts.flushes = new Flushes(callback => queueMicrotask(() => parts.stage.call(callback)))
  parts.records = new Records(store, options.serialize)
  parts.waiting = new Waiting(parts, options)
  parts.retries = new Retries(parts)
  parts.idle = new Idle(parts)
  parts.admission = new Admission(store, options, { stampBytes: STAMP_BYTES, refusal: () => undefined })
  parts.outage = new Outage(store, parts.stage.deadlines, {
    hold: () => {
      parts.stage.hold()
      parts.attempts.recall(() => true)
    },
    letGo: () => parts.stage.letGo(),
    attemptsCount: () => parts.attempts.writtenCount,
    began: err => parts.events.tell('outage', err),
    ended: () => parts.events.tell('outageover')
  })
  parts.keys = new Keys(parts)
  parts.schedules = new Schedules(parts, options, {
    push: (type, payload, said) => parts.intake.push(type, payload, false, said),
    ready: type => parts.admission.ready(() => core.ready(type))
  })
  parts.dead = new DeadLetters(parts)
  parts.intake = new Intake(parts, options, job => parts.outcomes.revert(job))
  parts.intake.sharing = new Sharing(parts)
  parts.results = parts.intake.results = new Results(parts)
  parts.pushAll = new PushAll(parts, options)
  parts.limiting = new Limiting(parts, options.rates, test => parts.attempts.recall(test))
  parts.attempts = new Attempts(parts, options)
  parts.outcomes = new Outcomes(parts, options)
  parts.cancelling = new Cancelling(parts, options)
  parts.jobs = new SingleJobs(parts)
  parts.closing = new Closing(parts)

  core.drain = () => parts.idle.check()
  for (const event of PASSED_ON) core.on(event, () => parts.events.pass(event))
  store.ownedBy({
    settled: group => {
      parts.admission.settled(group)
      parts.attempts.logged()
    },
    failed: err => parts.closing.fail(err),
    unwritable: err => parts.outage.begin(err),
    full: err => parts.outage.spend(err),
    freed: () => parts.outage.freed(),
    ended: () => parts.closing.over()
  })
}

/** The queue in memory has settled a job. */
function slotLost ({ attempts, outcomes, cancelling }, job, err, result) {
  const delivery = attempts.settled(job)
  if (delivery !== undefined) {
    outcomes.settled(delivery, err, result)
    return
  }
  // it had no slot, and has waited for too long
  /* istanbul ignore else: what waits is taken out before the queue in memory closes */
  if (err?.code !== 'FAIRLANE_ERR_CLOSED') cancelling.cancel([job], () => err)
}

module.exports = { prepare }
