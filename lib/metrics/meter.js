'use strict'

// HOT. Stands between the lists of a queue and its ledger: hands on what the lists tell, and counts it. So a queue whose only
// observers are histories has nothing of it.
//
//   list ──▶ Meter ──▶ Ledger
//              └─ places.js
//
// It keeps nothing of single jobs: times and types are read from their records, before the ledger may let go of these, and the time of a change
// is the last reading that the ledger has made. Nothing of the caller's is called.

const { TIMES, ACCEPTED: ACCEPTED_AT, STARTED: STARTED_AT, WORDS, TYPE, RUNNING } = require('../ledger/segment')
const { changedAt } = require('../ledger/versions')
const { NOWHERE, ACCEPTED, UNACCEPTED, DONE, FAILED, CANCELLED, RETRIED, RUNNING_SINCE, WAIT_SUM, RUN_SUM, FIRST_BUCKET } = require('./places')

class Meter {
  /** @param {object} ledger or another Meter @param {Places} places @param {Buckets} buckets */
  constructor (ledger, places, buckets) {
    this.ledger = ledger
    this.records = ledger.records
    this.places = places
    this.buckets = buckets
    this.firstOfRun = places.firstOfRun
    this.originMs = this.records.time.clock.now() // sums of times since then stay exact, whatever the clock counts from
  }

  get nextId () {
    return this.ledger.nextId
  }

  makeList (scheduler, read, makeContext, extend) {
    const { makeList } = require('../ledger/lists')
    return makeList(this, scheduler, read, makeContext, extend)
  }

  // what lists tell, as in ledger.js

  accepted (id, type, guess) {
    const number = this.ledger.accepted(id, type, guess)
    const at = this.placeOf(number, type)
    this.places.cells[at + ACCEPTED]++
    return number
  }

  started (id) {
    const rows = this.records.find(id)
    if (rows === undefined) {
      this.ledger.started(id)
      return
    }
    const { row } = this.records
    const at = this.places.byType[rows.words[row * WORDS + TYPE] >> 3]
    const since = rows.versions === undefined ? rows.times[row * TIMES + ACCEPTED_AT] : changedAt(rows, row)
    this.ledger.started(id)
    const { cells } = this.places
    const { ms } = this.records.time
    const waitMs = ms > since ? ms - since : 0
    cells[at + RUNNING_SINCE] -= ms - this.originMs
    cells[at + WAIT_SUM] += waitMs
    cells[at + FIRST_BUCKET + this.buckets.indexOf(waitMs)]++
  }

  ended (id, hasFailed, err) {
    const rows = this.records.find(id)
    if (rows === undefined) {
      this.ledger.ended(id, hasFailed, err)
      return
    }
    const { row } = this.records
    const at = this.places.byType[rows.words[row * WORDS + TYPE] >> 3]
    const startedAt = rows.times[row * TIMES + STARTED_AT]
    this.ledger.ended(id, hasFailed, err)
    this.places.cells[at + (hasFailed ? FAILED : DONE)]++
    this.ran(at, startedAt, this.records.time.ms)
  }

  cancelled (id, err) {
    const left = this.leaving(id)
    this.ledger.cancelled(id, err)
    this.left(left, CANCELLED)
  }

  cancelledAll (ids, err) {
    const all = ids.map(id => this.leaving(id))
    this.ledger.cancelledAll(ids, err)
    for (const left of all) this.left(left, CANCELLED)
  }

  refused (type, err) {
    this.ledger.refused(type, err)
  }

  recovered (id, type, ageMs, attempts, state) {
    this.ledger.recovered(id, type, ageMs, attempts, state)
    const rows = this.records.find(id)
    const at = this.placeOf(rows.words[this.records.row * WORDS + TYPE], type)
    this.places.cells[at + ACCEPTED]++
  }

  retried (id, err) {
    const left = this.leaving(id)
    this.ledger.retried(id, err)
    this.left(left, RETRIED)
  }

  /** It is not tried again after all. */
  failed (id, err) {
    const { at } = this.leaving(id)
    this.ledger.failed(id, err)
    this.places.cells[at + RETRIED]--
    this.places.cells[at + FAILED]++
  }

  /** Its run has taken a slot nonetheless. */
  postponed (id, err) {
    const { at, startedAt } = this.leaving(id)
    this.ledger.postponed(id, err)
    if (startedAt === startedAt) this.ran(at, startedAt, this.records.time.ms) // eslint-disable-line no-self-compare
  }

  delayed (id) {
    this.ledger.delayed(id)
  }

  due (id) {
    this.ledger.due(id)
  }

  dead (id, err) {
    const left = this.leaving(id)
    this.ledger.dead(id, err)
    this.left(left, FAILED)
  }

  revived (id) {
    this.ledger.revived(id)
    this.count(id, ACCEPTED)
  }

  buried (id) {
    this.ledger.buried(id)
  }

  /** What was counted of the wait stays, since nothing that is counted may fall. */
  uncounted (id) {
    const { at, startedAt } = this.leaving(id)
    this.ledger.uncounted(id)
    if (startedAt === startedAt) this.places.cells[at + RUNNING_SINCE] += startedAt - this.originMs // eslint-disable-line no-self-compare
  }

  unaccepted (id) {
    this.count(id, UNACCEPTED)
    this.ledger.unaccepted(id)
  }

  // private from here on

  /** Where a type is counted that one more record has come of. */
  placeOf (number, type) {
    const { names, time } = this.records
    const { places } = this
    const at = places.byType[number >> 3]
    // numbers go to other types when they have no record left
    return at > NOWHERE && !names.isOnly(number) ? at : places.assign(number >> 3, type, time.ms)
  }

  count (id, cell) {
    const { at } = this.leaving(id)
    this.places.cells[at + cell]++
  }

  /** @returns {{ at: number, startedAt: number }} the place of a job, and when it started if it runs, else NaN; nobody's place if there is no record */
  leaving (id) {
    const { records } = this
    const rows = records.find(id)
    if (rows === undefined) return { at: NOWHERE, startedAt: NaN }
    const { row } = records
    return {
      at: this.places.byType[rows.words[row * WORDS + TYPE] >> 3],
      startedAt: rows.stateOf(row) === RUNNING ? rows.times[row * TIMES + STARTED_AT] : NaN
    }
  }

  left ({ at, startedAt }, cell) {
    this.places.cells[at + cell]++
    if (startedAt === startedAt) this.ran(at, startedAt, this.records.time.ms) // eslint-disable-line no-self-compare
  }

  ran (at, startedAt, endedAt) {
    const { cells } = this.places
    const runMs = endedAt > startedAt ? endedAt - startedAt : 0
    cells[at + RUNNING_SINCE] += startedAt - this.originMs
    cells[at + RUN_SUM] += runMs
    cells[at + this.firstOfRun + this.buckets.indexOf(runMs)]++
  }
}

module.exports = { Meter }
