'use strict'

// What observers are told by the process that runs a job: by a number that the job has in this process, from the call of its runner on,
// or from its end if it came to none. This process does not learn what becomes of a job elsewhere: so it is gone when it goes back, or
// is to be tried again.

const { RUNS_ONLY, attach } = require('../../core/internals')
const { rangeError } = require('../../arguments/errors')

class Observed {
  /** @param {object} ledger */
  constructor (ledger) {
    this.ledger = ledger
  }

  /** The runner of a job is called. */
  begins (job) {
    this.enter(job)
    this.ledger.started(job.number)
  }

  /** A job that runs is charged so many units more, or fewer. */
  charged (job, units) {
    this.ledger.charged(job.number, units)
  }

  /** A job has come to an end in this process. @param {{ job: object, kind: string, details: object }} ending */
  ends ({ job, kind, details: { error } }) {
    const { ledger } = this
    const hasBegun = job.number > 0
    if (kind === 'done') {
      ledger.ended(this.leave(job), false, undefined)
    } else if (kind === 'dead') {
      ledger.ended(this.leave(job), true, error)
    } else if (kind === 'cancelled') {
      ledger.cancelled(this.leave(job), error)
    } else if (hasBegun) {
      const number = this.leave(job)
      if (kind === 'retried') {
        ledger.undecided(number, error)
        ledger.again(number, error)
      } else {
        ledger.postponed(number, error)
      }
      ledger.unaccepted(number)
    }
  }

  /** What the queue in memory tells of runners that go on in their slots though their jobs have ended. */
  watcher () {
    const { ledger } = this
    return {
      outlives: ({ payload: { job } }) => job !== undefined && job.number > 0 ? ledger.outlived(job.number) : undefined,
      ends: told => ledger.outlivedEnds(told)
    }
  }

  /** A job that may run is another process's. */
  lost (job, error) {
    this.ends({ job, kind: 'lost', details: { error } })
  }

  refused (type, error) {
    this.ledger.refused(type, error)
  }

  // private from here on

  /** @returns {number} of the job, which is done with */
  leave (job) {
    if (job.number === 0) this.enter(job)
    const { number } = job
    job.number = 0
    return number
  }

  /** It waited since the broker had it, or since its delay was over. For later attempts the broker has no time of that. */
  enter (job) {
    const { attempt, place: { type }, takenAt } = job
    const waitedMs = attempt > 1 ? performance.now() - takenAt : job.waitedMs
    job.number = this.ledger.nextId
    this.ledger.recovered(job.number, type, Math.max(Math.round(waitedMs), 0), Math.max(attempt - 1, 0))
  }
}

/**
 * @param {object} queue
 * @param {object[]} observers read
 * @param {object} clock of the queue
 * @returns {Observed | undefined} undefined without observers
 * @throws FAIRLANE_ERR_OPTION
 */
function observe (queue, observers, clock) {
  const ledger = attach(observers, queue, { clock, hasDelays: false })
  return ledger === undefined ? undefined : new Observed(ledger)
}

/** @throws FAIRLANE_ERR_OPTION */
function checkObservers (observers, runner) {
  if (observers.length > 0 && runner === null) {
    throw rangeError('FAIRLANE_ERR_OPTION', 'observers: a process without a runner has nothing to observe')
  }
  if (observers.every(observer => observer[RUNS_ONLY] === true)) return
  throw rangeError('FAIRLANE_ERR_OPTION', 'observers: only Metrics can observe a queue at a broker, which keeps the records of jobs itself')
}

module.exports = { Observed, observe, checkObservers }
