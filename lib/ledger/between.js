'use strict'

// What stands between the lists of a queue and its ledger, and hands on what the lists tell.

class Between {
  /** @param {object} ledger or another that stands before it */
  constructor (ledger) {
    this.ledger = ledger
    this.records = ledger.records
  }

  get nextId () {
    return this.ledger.nextId
  }

  recorderOf (list) {
    const { recorderOf } = require('./recorders')
    const recorder = recorderOf(this, list)
    this.recordedBy(recorder)
    return recorder
  }

  /** What tells it of the jobs of a list. */
  recordedBy (recorder) {
    if (this.ledger instanceof Between) this.ledger.recordedBy(recorder)
  }

  accepted (id, type, guess) {
    return this.ledger.accepted(id, type, guess)
  }

  started (id) {
    this.ledger.started(id)
  }

  /** Nothing is done: started() is to be called. */
  startedUsually (id) {
    return undefined
  }

  ended (id, hasFailed, err) {
    this.ledger.ended(id, hasFailed, err)
  }

  endedUsually (id) {
    return undefined
  }

  charged (id, units) {
    this.ledger.charged(id, units)
  }

  cancelled (id, err) {
    this.ledger.cancelled(id, err)
  }

  cancelledAll (ids, err) {
    this.ledger.cancelledAll(ids, err)
  }

  failed (id, err) {
    this.ledger.failed(id, err)
  }

  refused (type, err) {
    this.ledger.refused(type, err)
  }

  recovered (id, type, ageMs, attempts, state) {
    this.ledger.recovered(id, type, ageMs, attempts, state)
  }

  undecided (id, err) {
    this.ledger.undecided(id, err)
  }

  again (id, err) {
    this.ledger.again(id, err)
  }

  postponed (id, err) {
    this.ledger.postponed(id, err)
  }

  delayed (id) {
    this.ledger.delayed(id)
  }

  due (id) {
    this.ledger.due(id)
  }

  dead (id, err) {
    this.ledger.dead(id, err)
  }

  revived (id) {
    this.ledger.revived(id)
  }

  outlived (id) {
    return this.ledger.outlived(id)
  }

  outlivedEnds (told) {
    this.ledger.outlivedEnds(told)
  }

  buried (id) {
    this.ledger.buried(id)
  }

  uncounted (id) {
    this.ledger.uncounted(id)
  }

  unaccepted (id) {
    this.ledger.unaccepted(id)
  }
}

module.exports = { Between }
