'use strict'

// HOT (bench: fifo). A started job, and its states.
//
//   ON_STACK ──▶ PENDING ──▶ ENDED      its runner has returned, and it goes on; or it has ended by then
//                   └──▶ OVERDUE, RELEASED ──▶ ENDED      settled by something else, and its runner goes on

const { rethrow } = require('../platform/clock')
const { failure, warn } = require('../arguments/errors')
const { promiseOf } = require('../platform/promised')
const { isPostponed, isThrottled } = require('../job/postponing')

// What ended a job, as a third argument of `done` that callers can not have.
const FULFILLED = Symbol('fulfilled')
const THROWN = Symbol('thrown')

const PENDING = 0
const ON_STACK = -1 // its runner has not returned
const ENDED = -2
const OVERDUE = -3 // settled by a timeout, an abort or close; its runner goes on, in its slot
const RELEASED = -4 // ... and without its slot

/** A started job. */
class Running {
  /** @param {any} payload kept until the job has settled, since it may be tried again */
  constructor (dispatch, whenSettled, generation, origin, payload) {
    this.dispatch = dispatch
    this.whenSettled = whenSettled
    this.payload = payload
    this.generation = generation
    this.origin = origin
    this.state = ON_STACK
    this.block = undefined // among those that pend
    this.at = 0
  }
}

/** By the runner's `done`, by its throw, or by what became of its promise. The first call counts. */
function settle (job, err, result, how) {
  const { state, dispatch } = job
  if (state < ON_STACK) {
    if (state !== ENDED) dispatch.interruptions.endOverdue(job)
    else if (how !== FULFILLED) reportMisuse(job)
    return
  }
  if (how === THROWN) err = failure(err)
  if (state === ON_STACK) {
    job.state = ENDED
    dispatch.err = err
    dispatch.result = result
  } else {
    dispatch.endLate(job, err, result)
  }
}

function reportMisuse ({ dispatch }) {
  if (dispatch.misuse++ > 0) return
  warn('FAIRLANE_WARN_SETTLED_TWICE', 'A runner settled its job more than once (it called done() twice, or rejected after calling it). ' +
    'The first settlement counts. Further cases are only counted, in stats().misuse.')
}

/** What a runner threw, or looking at what it returned did. */
function settleByThrow (job, err) {
  if (job.state === ENDED) rethrow(err)
  else settle(job, err, undefined, THROWN)
}

/** The runner returned something: if it is a promise or thenable, it settles the job. */
function follow (job, returned) {
  const { dispatch } = job
  const promise = promiseOf(returned)
  if (promise !== undefined) {
    promise.then(fulfil.bind(job), reject.bind(job))
  } else if (!dispatch.givesDone) {
    settle(job, null, returned)
  } else if (!dispatch.hasSeenValue && job.state === ON_STACK) {
    dispatch.hasSeenValue = true
    require('../job/ignored-return').warnOfValue(dispatch.runner, returned)
  }
}

/** @this {Running} */
function fulfil (value) {
  settle(this, null, value, FULFILLED)
}

/** @this {Running} */
function reject (reason) {
  settle(this, reason, undefined, THROWN)
}

/** Asked about each job that has failed, so it loads nothing where none is tried again. @returns who is told if this one is */
function retryOf (job, err) {
  const { dispatch, whenSettled } = job
  if (dispatch.isInner) return undefined
  const own = ownOf(whenSettled)
  const ticket = typeof own === 'object' ? own : undefined
  if ((ticket?.maxAttempts ?? dispatch.maxAttempts) === 1 && !isThrottled(err) && !isPostponed(err)) return undefined
  return dispatch.hooks.retryOf(job, err, own)
}

/** Frees the slot of a job that has failed, if it is to be tried again. @returns who is to be told so, else undefined */
function releaseToRetry (job, err) {
  const { dispatch, origin } = job
  const retry = retryOf(job, err)
  if (retry === undefined) return undefined
  job.whenSettled = job.payload = undefined
  dispatch.running--
  if (origin !== undefined) dispatch.list.ended(origin, 'returns', err)
  return retry
}

/**
 * The runner of a job says what that has cost so far.
 * @param {Running | undefined} job undefined: it has ended
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function spend ({ costs }, job, total) {
  const units = require('../job/cost').readSpent(total)
  if (costs !== null && job !== undefined && job.state >= ON_STACK) costs.correct(job, units)
}

/** What a job has in the place of a callback, behind what tells listeners of it (listeners.js). */
function ownOf (whenSettled) {
  return typeof whenSettled === 'object' && whenSettled.isTeller ? whenSettled.whenSettled : whenSettled
}

/** Tells who is to be told of a job's end: a plain callback, or what a job with extras has in its place. */
function tell (whenSettled, err, result) {
  if (typeof whenSettled === 'function') whenSettled(err, result)
  else whenSettled.settle(err, result)
}

/** As tell(), in the queue's scope; what the caller's code throws becomes an uncaught exception. */
function callBack (whenSettled, err, result) {
  try {
    tell(whenSettled, err, result)
  } catch (thrown) {
    rethrow(thrown)
  }
}

module.exports = {
  Running,
  ownOf,
  retryOf,
  releaseToRetry,
  settle,
  settleByThrow,
  follow,
  spend,
  tell,
  callBack,
  PENDING,
  ON_STACK,
  ENDED,
  OVERDUE,
  RELEASED
}
