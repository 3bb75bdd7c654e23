'use strict'

/**
 * What stats() of a queue gives.
 * @param {boolean} hasTypes whether the queue has a scheduler: where priorities are there is a lane nonetheless
 * @param {object} [planned] the PlannedJobs, if there were any
 * @param {object} [limiter] if there was a rate or a hold
 */
function statsOf (dispatch, list, hasTypes, planned, limiter) {
  const { accepted, waiting, running, done, failed, cancelled, rejected, misuse, overrun, delayed } = dispatch
  const types = hasTypes ? list.typesCount : 0
  const retried = planned === undefined ? 0 : planned.retriedCount
  const throttled = planned === undefined ? 0 : planned.throttledCount
  const joined = planned?.madeKeys === undefined ? 0 : planned.madeKeys.joinedCount
  const heldTypes = limiter === undefined ? 0 : limiter.heldTypes
  return {
    accepted, waiting, running, done, failed, cancelled, rejected, misuse, overrun, types, delayed, retried, throttled, joined, heldTypes
  }
}

module.exports = { statsOf }
