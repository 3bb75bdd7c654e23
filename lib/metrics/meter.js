'use strict'

// HOT. Stands between the lists of a queue and its ledger: hands on what the lists tell, and counts it. So a queue whose only
// observers are histories has nothing of it.
//
//   list ──▶ Meter ──▶ Ledger
//              ├─ types.js    by type: where it is counted, and since when it waits
//              └─ places.js   by label: counts and histograms
//
// It keeps nothing of single jobs: times and types are read from their records, before the ledger may let go of these, and the time of a change
// is the last reading that the ledger has made. Nothing of the caller's is called.

const { TIMES, ACCEPTED: ACCEPTED_AT, STARTED: STARTED_AT, WORDS, TYPE, RUNNING } = require('../ledger/segment')
const { changedAt } = require('../ledger/versions')
const { Between } = require('./between')
const { NOWHERE, ACCEPTED, UNACCEPTED, DONE, FAILED, CANCELLED, RETRIED, USED: FORMER_USED, WAIT_SUM, RUN_SUM, FIRST_BUCKET } = require('./places')
const { Types, PLACE, SINCE, STARTED: STARTED_LAST, USED } = require('./types')

class Meter extends Between {
  /**
   * @param {object} ledger or another Meter
   * @param {{ places: Places, buckets: Buckets, labels: Labels }} parts
   * @param {(type: string | undefined) => void} [whenWaiting] called when a job waits, and none of its type did; not to call the caller's code
   */
  constructor (ledger, { places, buckets, labels }, whenWaiting = () => {}) {
    super(ledger)
    this.places = places
    this.buckets = buckets
    this.labels = labels
    this.whenWaiting = whenWaiting
    this.types = new Types()
    this.firstOfRun = places.firstOfRun
    this.originMs = this.records.time.clock.now() // sums of times since then stay exact, whatever the clock counts from
    this.overtookAt = -Infinity // the turn of a type begins when it comes, or has had its last one: since when the newest waited that was served
  }

  // what lists tell, as in ledger.js

  accepted (id, type, guess) {
    const number = this.ledger.accepted(id, type, guess)
    const at = this.placeOf(number, type)
    this.places.cells[at + ACCEPTED]++
    if (this.records.names.waitingOf(number) === 1) this.waits(number)
    return number
  }

  started (id) {
    const rows = this.records.find(id)
    if (rows === undefined) {
      this.ledger.started(id)
      return
    }
    const { row } = this.records
    const number = rows.words[row * WORDS + TYPE]
    const since = rows.versions === undefined ? rows.times[row * TIMES + ACCEPTED_AT] : changedAt(rows, row)
    this.ledger.started(id)
    const { ms } = this.records.time
    const types = this.types.cells
    const turn = Math.max(types[number + SINCE], types[number + STARTED_LAST])
    if (turn > this.overtookAt) this.overtookAt = turn
    types[number + STARTED_LAST] = ms
    types[number + USED] -= ms - this.originMs
    const at = types[number + PLACE] || this.placeNow(number)
    const waitMs = ms > since ? ms - since : 0
    const { cells } = this.places
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
    const number = rows.words[row * WORDS + TYPE]
    const at = this.types.cells[number + PLACE]
    const startedAt = rows.times[row * TIMES + STARTED_AT]
    this.ledger.ended(id, hasFailed, err)
    this.places.cells[at + (hasFailed ? FAILED : DONE)]++
    this.ran(number, at, startedAt, this.records.time.ms)
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

  recovered (id, type, ageMs, attempts, state) {
    this.ledger.recovered(id, type, ageMs, attempts, state)
    const rows = this.records.find(id)
    const number = rows.words[this.records.row * WORDS + TYPE]
    const at = this.placeOf(number, type)
    this.places.cells[at + ACCEPTED]++
    this.mayWait(number)
  }

  retried (id, err) {
    const left = this.leaving(id)
    this.ledger.retried(id, err)
    this.left(left, RETRIED)
  }

  /** It is not tried again after all. */
  failed (id, err) {
    const { number } = this.leaving(id)
    this.ledger.failed(id, err)
    this.count(number, RETRIED, -1)
    this.count(number, FAILED)
  }

  /** Its run has taken a slot nonetheless. */
  postponed (id, err) {
    const { number, startedAt } = this.leaving(id)
    this.ledger.postponed(id, err)
    this.freed(number, startedAt)
  }

  due (id) {
    this.ledger.due(id)
    this.mayWait(this.leaving(id).number)
  }

  dead (id, err) {
    const left = this.leaving(id)
    this.ledger.dead(id, err)
    this.left(left, FAILED)
  }

  revived (id) {
    this.ledger.revived(id)
    const { number } = this.leaving(id)
    this.count(number, ACCEPTED)
    this.mayWait(number)
  }

  /** What was counted of the wait stays, since nothing that is counted may fall. */
  uncounted (id) {
    const { number, startedAt } = this.leaving(id)
    this.ledger.uncounted(id)
    if (startedAt !== startedAt) return // eslint-disable-line no-self-compare
    this.types.cells[number + USED] += startedAt - this.originMs
    this.mayWait(number)
  }

  unaccepted (id) {
    this.count(this.leaving(id).number, UNACCEPTED)
    this.ledger.unaccepted(id)
  }

  // what a Metrics asks

  /** Gives types their labels that have none as yet. Calls the caller's code. */
  label () {
    for (const [{ number, counts }, label, isCurrent] of this.labels.ask()) {
      const { at } = this.places.placeOf(label, this.records.time.ms)
      if (isCurrent) this.types.cells[number + PLACE] = at
      for (const [cell, count] of counts) this.places.cells[at + cell] += count
    }
  }

  /** None of the jobs of a type is live: it may get another place. */
  release (number) {
    const { cells } = this.types
    const at = cells[number + PLACE]
    if (!(at > NOWHERE)) return // it has had no job since this has been there
    this.places.cells[at + FORMER_USED] += cells[number + USED]
    cells[number + USED] = 0
    cells[number + PLACE] = NOWHERE
  }

  // private from here on

  /** Where a type is counted that one more record has come of. */
  placeOf (number, type) {
    const at = this.types.cells[number + PLACE]
    // numbers go to other types when they have no record left
    return at > NOWHERE && !this.records.names.isOnly(number) ? at : this.assign(number, type)
  }

  assign (number, type) {
    const { labels, records, types } = this
    types.reach(number)
    if (types.cells[number + PLACE] > NOWHERE) this.release(number)
    const label = labels.known(type)
    if (label !== undefined) return (types.cells[number + PLACE] = this.places.placeOf(label, records.time.ms).at)
    if (records.names.isOnly(number) || !labels.byNumber.has(number)) this.labelLater(number, type)
    labels.byNumber.get(number).count(ACCEPTED)
    return NOWHERE
  }

  labelLater (number, type) {
    if (this.labels.put(type, number)) queueMicrotask(() => this.label())
  }

  /** The place of a type whose first job starts before the label could be asked for: that of all others. */
  placeNow (number) {
    const { cells } = this.types
    cells[number + PLACE] = this.places.placeOf(this.places.otherLabel, this.records.time.ms).at
    return cells[number + PLACE]
  }

  /** A job waits, and none of its type did. */
  waits (number) {
    this.types.cells[number + SINCE] = this.records.time.ms
    this.whenWaiting()
  }

  /** A job may wait that did not. @param {number} number of its type; -1 if there is none */
  mayWait (number) {
    if (number >= 0 && this.records.names.waitingOf(number) === 1) this.waits(number)
  }

  /** @param {number} number -1 if there is none */
  count (number, cell, by = 1) {
    if (number < 0) return
    const at = this.types.cells[number + PLACE]
    if (at > NOWHERE) this.places.cells[at + cell] += by
    else this.labels.byNumber.get(number).count(cell)
  }

  /** @returns {{ number: number, startedAt: number }} the type of a job, -1 if there is no record of it, and when it started if it runs, else NaN */
  leaving (id) {
    const { records } = this
    const rows = records.find(id)
    if (rows === undefined) return { number: -1, startedAt: NaN }
    const { row } = records
    return {
      number: rows.words[row * WORDS + TYPE],
      startedAt: rows.stateOf(row) === RUNNING ? rows.times[row * TIMES + STARTED_AT] : NaN
    }
  }

  left ({ number, startedAt }, cell) {
    this.count(number, cell)
    this.freed(number, startedAt)
  }

  /** @param {number} startedAt NaN if it had no slot */
  freed (number, startedAt) {
    if (startedAt === startedAt) this.ran(number, this.types.cells[number + PLACE], startedAt, this.records.time.ms) // eslint-disable-line no-self-compare
  }

  ran (number, at, startedAt, endedAt) {
    const { cells } = this.places
    const runMs = endedAt > startedAt ? endedAt - startedAt : 0
    this.types.cells[number + USED] += startedAt + runMs - this.originMs
    cells[at + RUN_SUM] += runMs
    cells[at + this.firstOfRun + this.buckets.indexOf(runMs)]++
  }
}

module.exports = { Meter }
