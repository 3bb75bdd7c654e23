'use strict'

// HOT. Stands between the lists of a queue and its ledger: hands on what the lists tell, and counts it. So a queue whose only
// observers are histories has nothing of it.
//
//   list ──▶ Meter ──▶ Ledger
//              ├─ types.js    by type: where it is counted, and since when it waits
//              ├─ tallies.js  by type: what became of its jobs
//              └─ places.js   by label: counts and histograms
//
// It keeps nothing of single jobs: times and types are read from their records, before the ledger may let go of these, and the time of a
// change is the last reading that the ledger has made. Nothing of the caller's is called.

const { eachHead } = require('../core/internals')
const { ROW_MASK, TIMES, ACCEPTED: ACCEPTED_AT, STARTED: STARTED_AT, ENDED: ENDED_AT, WORDS, TYPE, RUNNING } = require('../ledger/segment')
const { changedAt } = require('../ledger/versions')
const { Between } = require('../ledger/between')
const { Overdue } = require('./overdue')
const {
  NOWHERE, DONE_LESS_RUNS, UNACCEPTED, FAILED, CANCELLED, RETRIED, THROTTLED, POSTPONED, USED: FORMER_USED, WAIT_SUM, RUN_SUM, SPENT,
  FIRST_BUCKET
} = require('./places')
const tallies = require('./tallies')
const { Types, PLACE, SINCE, STARTED: STARTED_LAST, USED, RUNS } = require('./types')
const { Windows } = require('./windows')
const { isThrottled } = require('../job/postponing')

const { Tallies } = tallies
// What is counted of a type beside its place, by the cell of the place.
const TALLIED = new Map([
  [FAILED, tallies.FAILED], [CANCELLED, tallies.CANCELLED], [RETRIED, tallies.RETRIED], [THROTTLED, tallies.THROTTLED],
  [POSTPONED, tallies.POSTPONED]
])

class Meter extends Between {
  /**
   * @param {object} ledger or another Meter
   * @param {{ places: Places, buckets: Buckets, labels: Labels }} parts
   * @param {(type: string | undefined) => void} [whenWaiting] called when a job waits, and none of its type did; not to call the caller's
   *   code
   */
  constructor (ledger, { places, buckets, labels }, whenWaiting = () => {}) {
    super(ledger)
    this.places = places
    this.buckets = buckets
    this.labels = labels
    this.whenWaiting = whenWaiting
    this.types = new Types()
    this.tallies = new Tallies((number, type) => this.gone(number, type))
    this.overdue = new Overdue()
    this.eachHead = () => {} // (visit, only) calls visit(id) for the job of each type that is to start next
    this.firstOfRun = places.firstOfRun
    this.costs = undefined // Map id → units that a job which runs was charged, once any was
    this.originMs = this.records.time.clock.now() // sums of times since then stay exact, whatever the clock counts from
    // the turn of a type begins when it comes, or has had its last one: since when the newest waited that was served
    this.overtookAt = -Infinity
    this.endedAt = -Infinity // when a runner last ended
    this.windows = new Windows(this, this.originMs, undefined)
  }

  recordedBy (recorder) {
    const { list } = recorder
    this.eachHead = (visit, only) => {
      if (list.scheduler !== undefined) eachHead(list, number => visit(recorder.idAt(number)), only)
      else if (list.size > 0) visit(recorder.idOfFirst()) // which types others have, nobody knows
    }
    super.recordedBy(recorder)
  }

  // what lists tell, as in ledger.js

  accepted (id, type, guess) {
    const number = this.ledger.accepted(id, type, guess)
    // numbers go to other types when they have no record left, and places when no job of a type is live: then this is the only one that
    // waits
    if (this.records.names.waitingOf(number) === 1) {
      this.place(number, type)
      this.waits(number)
    }
    return number
  }

  started (id) {
    if (this.startedUsually(id) !== undefined) return
    const rows = this.records.find(id)
    const since = rows === undefined ? NaN : changedAt(rows, this.records.row)
    this.ledger.started(id)
    if (rows !== undefined) this.begins(rows.words[this.records.row * WORDS + TYPE], since, this.records.time.ms)
  }

  startedUsually (id) {
    const rows = this.ledger.startedUsually(id)
    if (rows === undefined) return undefined
    const row = id & ROW_MASK
    this.begins(rows.words[row * WORDS + TYPE], rows.times[row * TIMES + ACCEPTED_AT], rows.times[row * TIMES + STARTED_AT])
    return rows
  }

  ended (id, hasFailed, err) {
    if (!hasFailed && this.endedUsually(id) !== undefined) return
    const { number, startedAt } = this.leaving(id)
    this.ledger.ended(id, hasFailed, err)
    if (number < 0) return
    if (hasFailed) {
      this.count(number, FAILED)
    } else {
      this.count(number, DONE_LESS_RUNS)
      this.tallies.add(number, tallies.LESS, -1)
    }
    this.freed(number, startedAt)
  }

  endedUsually (id) {
    const rows = this.ledger.endedUsually(id)
    if (rows === undefined) return undefined
    const row = id & ROW_MASK
    const number = rows.words[row * WORDS + TYPE]
    if (this.costs !== undefined) this.countCost(id, number)
    this.ran(number, this.types.cells[number + PLACE], rows.times[row * TIMES + STARTED_AT], rows.times[row * TIMES + ENDED_AT])
    return rows
  }

  /** It may be charged fewer later, and nothing that is counted may fall: so it is counted when the run has ended. */
  charged (id, units) {
    this.ledger.charged(id, units)
    this.costs ??= new Map()
    this.costs.set(id, (this.costs.get(id) ?? 0) + units)
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
    this.place(number, type)
    this.mayWait(number)
  }

  undecided (id, err) {
    const { number, startedAt } = this.leaving(id)
    this.ledger.undecided(id, err)
    this.freed(number, startedAt)
  }

  again (id, err) {
    this.ledger.again(id, err)
    this.count(this.leaving(id).number, RETRIED)
  }

  /** The runner of a job goes on in its slot, though the job is about to be settled. @returns {any} for outlivedEnds() */
  outlived (id) {
    const inner = this.ledger.outlived(id)
    const { number, startedAt } = this.leaving(id)
    if (startedAt !== startedAt) return inner // eslint-disable-line no-self-compare
    const { names, time } = this.records
    return this.overdue.begin(names.textOf(number), this.types.cells[number + PLACE], time.now(), inner)
  }

  /** ... and has ended. */
  outlivedEnds (told) {
    if (!this.overdue.runners.has(told)) {
      this.ledger.outlivedEnds(told)
      return
    }
    const { type, at, sinceMs, inner } = told
    this.ledger.outlivedEnds(inner)
    this.overdue.end(told)
    const ms = this.endedAt = this.records.time.now()
    const { cells } = this.types
    const number = this.records.names.numbers.get(type)
    if (number !== undefined && cells[number + PLACE] > NOWHERE) {
      cells[number + USED] += ms - sinceMs
    } else {
      this.places.cells[at + FORMER_USED] += ms - sinceMs
      this.windows.use(type, ms - sinceMs)
    }
  }

  /** It is not tried again. */
  failed (id, err) {
    const { number } = this.leaving(id)
    this.ledger.failed(id, err)
    this.count(number, FAILED)
  }

  /** Its run has taken a slot nonetheless. */
  postponed (id, err) {
    const { number, startedAt } = this.leaving(id)
    this.ledger.postponed(id, err)
    if (startedAt !== startedAt) return // eslint-disable-line no-self-compare
    this.freed(number, startedAt)
    this.count(number, isThrottled(err) ? THROTTLED : POSTPONED)
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
    this.mayWait(this.leaving(id).number)
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
    this.tallies.given[number / tallies.STRIDE] += cells[number + USED]
    cells[number + USED] = 0
    cells[number + PLACE] = NOWHERE
  }

  // private from here on

  /** Gives a type its place, unless it has one. */
  place (number, type) {
    const { labels, records, types } = this
    types.reach(number)
    if (types.cells[number + PLACE] > NOWHERE) {
      if (!records.names.isOnly(number)) return
      this.release(number)
    }
    this.tallies.come(number, type)
    const label = labels.known(type)
    if (label !== undefined) types.cells[number + PLACE] = this.places.placeOf(label, records.time.ms).at
    else if (records.names.isOnly(number) || !labels.byNumber.has(number)) this.labelLater(number, type)
  }

  /** A number is another type's from now on, or nobody's. */
  gone (number, type) {
    this.release(number)
    this.windows.leave(number, type, this.records.time.ms)
    this.types.cells[number + RUNS] = 0
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

  /** A job of a type has started that waited since then. */
  begins (number, since, ms) {
    const types = this.types.cells
    const cameAt = types[number + SINCE]
    const servedAt = types[number + STARTED_LAST]
    const turn = cameAt > servedAt ? cameAt : servedAt
    if (turn > this.overtookAt) this.overtookAt = turn
    types[number + STARTED_LAST] = ms
    types[number + USED] -= ms - this.originMs
    const at = types[number + PLACE] || this.placeNow(number)
    const waitMs = ms > since ? ms - since : 0
    const { cells } = this.places
    cells[at + WAIT_SUM] += waitMs
    cells[at + FIRST_BUCKET + this.buckets.indexOf(waitMs)]++
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
    if (TALLIED.has(cell)) this.tallies.add(number, TALLIED.get(cell), by)
    const at = this.types.cells[number + PLACE]
    if (at > NOWHERE) this.places.cells[at + cell] += by
    else this.labels.byNumber.get(number).count(cell)
  }

  /**
   * @returns {{ number: number, startedAt: number }} the type of a job, -1 if there is no record of it, and when it started if it runs,
   *   else NaN
   */
  leaving (id) {
    const { records } = this
    const rows = records.find(id)
    if (rows === undefined) return { number: -1, startedAt: NaN }
    const { row } = records
    const number = rows.words[row * WORDS + TYPE]
    if (this.costs !== undefined) this.countCost(id, number)
    return {
      number,
      startedAt: rows.stateOf(row) === RUNNING ? rows.times[row * TIMES + STARTED_AT] : NaN
    }
  }

  /** A job is about to leave its state: what it was charged is final, if it ran. */
  countCost (id, number) {
    const units = this.costs.get(id)
    if (units === undefined) return
    this.costs.delete(id)
    this.count(number, SPENT, units)
  }

  left ({ number, startedAt }, cell) {
    this.count(number, cell)
    this.freed(number, startedAt)
  }

  /** A run has ended, but is not that of a job that is done. @param {number} startedAt NaN if there was none */
  freed (number, startedAt) {
    if (startedAt !== startedAt) return // eslint-disable-line no-self-compare
    this.count(number, DONE_LESS_RUNS, -1)
    this.tallies.add(number, tallies.LESS)
    this.ran(number, this.types.cells[number + PLACE], startedAt, this.records.time.ms)
  }

  ran (number, at, startedAt, endedAt) {
    const { cells } = this.places
    const types = this.types.cells
    const runMs = endedAt > startedAt ? endedAt - startedAt : 0
    types[number + USED] += startedAt + runMs - this.originMs
    types[number + RUNS]++
    this.endedAt = endedAt
    cells[at + RUN_SUM] += runMs
    cells[at + this.firstOfRun + this.buckets.indexOf(runMs)]++
  }
}

module.exports = { Meter }
