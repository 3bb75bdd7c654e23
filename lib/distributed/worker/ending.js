'use strict'

// What became of a job in this process, as the broker is to be told of it.

const { FairlaneError } = require('../../arguments/errors')
const { brokerError } = require('../broker/failures')

class Ending {
  /**
   * @param {object} job
   * @param {'done' | 'dead' | 'cancelled' | 'retried' | 'postponed' | 'throttled' | 'returned'} kind
   * @param {object} [details] result, text of it, fault, error, delayMs, holdMs, fields
   * @param {object} [delivery] of a runner that may go on, and keeps its place then; undefined of a job that was cancelled before that was
   *   called
   */
  constructor (job, kind, details = {}, delivery = undefined) {
    this.job = job
    this.kind = kind
    this.details = details
    this.delivery = delivery
    this.mayFetch = kind !== 'returned' && kind !== 'throttled'
  }
}

/** The reason of a job's signal, when another process may have it. */
function lostError (cause) {
  const options = cause === undefined ? undefined : { cause: typeof cause.code === 'number' ? cause : brokerError(cause) }
  return new FairlaneError('FAIRLANE_ERR_LEASE', 'This process no longer holds the job: another one may run it', options)
}

module.exports = { Ending, lostError }
