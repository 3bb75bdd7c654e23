'use strict'

// HOT (bench: history). Stands between a list and the ledger: what any list of an observed queue tells, where the list knows the id of the
// job.
//
//   accepted ──▶ [ list ] ──▶ running ──▶ ended
//      │            ▲            │
//      └▶ delayed ──┴── delayed ◀┘ it has failed

const { isPostponed, isThrottled } = require('../job/postponing')

/** The base of Line, without a scheduler, and of LaneRecorder, with one. */
class Recorder {
  /** @param {object} list @param {object} ledger is told of each job */
  constructor (list, ledger) {
    this.list = list
    this.ledger = ledger
    this.removedIds = [] // jobs that were taken out, and that the ledger has not been told of
  }

  /** The runner of a job has ended. @param {string} outcome as of TypeCounts in the core */
  ended (id, outcome, err) {
    if (outcome === 'returns') this.mayReturn(id, err)
    else if (outcome !== 'settled') this.ledger.ended(id, outcome === 'failed', err)
  }

  /** It was settled while its runner goes on. */
  interrupted (id, outcome, end) {
    if (outcome === 'returns') this.mayReturn(id, end.error())
    else if (outcome === 'failed') this.ledger.ended(id, true, end.error())
    else this.ledger.cancelled(id, end.error())
  }

  /** The runner of a job goes on in its slot, though the job is about to be settled. @returns {any} for ends() */
  outlives ({ origin }) {
    return this.ledger.outlived(typeof origin === 'number' ? origin : origin.id)
  }

  /** ... and has ended. */
  ends (told) {
    this.ledger.outlivedEnds(told)
  }

  /** All that were removed have been counted. */
  tellRemovals (verdict) {
    const ids = this.removedIds.splice(0)
    if (ids.length > 0) this.ledger.cancelledAll(ids, verdict.error())
  }

  /** A job is accepted whose time has not come. @param {object} ticket gets an id */
  delayed (ticket, type) {
    const { ledger } = this
    this.keepIds()
    const id = ticket.id = ledger.nextId
    ledger.accepted(id, type)
    ledger.delayed(id)
  }

  /** A job that runs is charged so many units more, or fewer. */
  charged (id, units) {
    this.ledger.charged(id, units)
  }

  // of delayed jobs

  cancelled (id, err) {
    this.ledger.cancelled(id, err)
  }

  failed (id, err) {
    this.ledger.failed(id, err)
  }

  again (id, err) {
    this.ledger.again(id, err)
  }

  // private from here on

  /** An attempt has failed that may not be the last one. */
  mayReturn (id, err) {
    if (isThrottled(err) || isPostponed(err)) this.ledger.postponed(id, err)
    else this.ledger.undecided(id, err)
  }
}

module.exports = { Recorder }
