'use strict'

// HOT (bench: history). What is known of each job of an observed queue. Lists tell it of each change; views of it (history, metrics) ask.
//
//   segments   [ Segment, undefined, …, tail ]      of the ids from `first` on; undefined where no record is left
//   strays     records that outlived their segment (strays.js)
//   names      the types of the records, and how many there are by type and state (names.js)
//
// Promises: the record of a job that has not ended is never lost; counts are those of the records; nothing of the caller's is kept, and
// nothing of the caller's is called. It knows neither the queue nor who asks.

const { Names, BEGUN, FIRST_END } = require('./names')
const { Retention } = require('./retention')
const { Rows, SHIFT, ROWS, ROW_MASK, TIMES, ACCEPTED, STARTED, ENDED, WORDS, TYPE, STATE } = require('./segment')
const { WAITING, RUNNING, DELAYED, DONE, FAILED, CANCELLED, DEAD, STATE_MASK, ATTEMPT } = require('./segment')
const { Strays } = require('./strays')
const { textOf } = require('./text')
const { Time } = require('./time')
const { changedAt, noteVersion, takeBack, versionsOf } = require('./versions')
const { systemClock } = require('../platform/clock')

// Behind so many ids that nobody has there are no segments before the next one. After a crash a queue on disk goes on 2^20 ids later.
const GAP = 2 ** 25
const SPAN = 2 ** 30 // nor are there more ids than so many in segments, which fit into 31 bits

class Ledger {
  /** @param {{ keep: number, keepMs: number, isExact: boolean }} options keepMs: neither of the infinities has records go by time */
  constructor ({ keep, keepMs, isExact }) {
    this.keep = keep
    this.keepMs = keepMs
    this.isExact = isExact
    this.time = new Time(systemClock, isExact)
    this.names = new Names()
    this.segments = []
    this.first = 0 // the first id of the first segment, a multiple of ROWS
    this.tail = undefined // the last segment
    this.end = 0 // ids from there on are in no segment
    this.lastId = 0
    this.untilLook = ROWS // so many more are to end until the next look for what can go
    this.strays = new Strays(row => this.discard(this.strays, row))
    this.retention = new Retention(this)
    this.row = 0 // what find() has found
    this.records = this // what has the records, of this or of what stands before it
    this.lastError = '' // the text of it: many are the same
    this.refusedCounts = new Map() // by the code of the error
  }

  /** Records of jobs that have ended, in segments. O(segments). */
  get endedCount () {
    return this.segments.reduce((count, segment) => count + (segment?.endedCount ?? 0), 0)
  }

  /** The id of the next job, where the list gives ids. */
  get nextId () {
    return this.lastId + 1
  }

  /** A queue is observed from now on. @param {object} clock the queue's */
  begin (clock) {
    this.time = new Time(clock, this.isExact)
  }

  /** One more view of the ledger wants so much. */
  widen ({ keep, keepMs, isExact }) {
    this.keep = Math.max(this.keep, keep)
    this.keepMs = Math.max(this.keepMs, keepMs)
    this.isExact ||= isExact
    this.begin(this.time.clock)
  }

  /** What the list of the queue tells of each job. */
  recorderOf (list) {
    const { recorderOf } = require('./recorders')
    return recorderOf(this, list)
  }

  // what lists tell

  /** A job waits. Ids ascend. @param {number} [guess] what was returned for the type before @returns {number} for the next job of it */
  accepted (id, type, guess) {
    const segment = id < this.end ? this.tail : this.open(id)
    const row = id & ROW_MASK
    const { times, words } = segment
    const { time } = this
    times[row * TIMES + ACCEPTED] = time.isFresh ? time.ms : time.read()
    times[row * TIMES + STARTED] = NaN
    const number = words[row * WORDS + TYPE] = this.names.add(type, guess)
    words[row * WORDS + STATE] = WAITING
    segment.count++
    this.lastId = id
    return number
  }

  /** Its runner is called, or will be at once. */
  started (id) {
    if (this.startedUsually(id) === undefined) this.startedOtherwise(id)
  }

  /** As started(), of a record that is where most are. @returns {Rows | undefined} its segment; undefined if nothing was done */
  startedUsually (id) {
    const segment = this.usual(id, WAITING)
    if (segment === undefined) return undefined
    const { times, words } = segment
    const { names, time } = this
    const row = id & ROW_MASK
    words[row * WORDS + STATE] += ATTEMPT + RUNNING - WAITING
    names.first[words[row * WORDS + TYPE] + BEGUN]++
    segment.runningCount++
    times[row * TIMES + STARTED] = time.isFresh ? time.ms : time.read()
    return segment
  }

  /** It is charged so many units more, or fewer. */
  charged (id, units) {
    this.find(id)?.charge(this.row, units)
  }

  /** It has come to its end. */
  ended (id, hasFailed, err) {
    if (hasFailed) this.failed(id, err)
    else if (this.endedUsually(id) === undefined) this.doneOtherwise(id)
  }

  /** As ended(), for a job that is done, as startedUsually(). Type and times of its row stay there until the next job is accepted. */
  endedUsually (id) {
    const segment = this.usual(id, RUNNING)
    if (segment === undefined) return undefined
    const { times, words } = segment
    const { names, time } = this
    const row = id & ROW_MASK
    words[row * WORDS + STATE] += DONE - RUNNING
    names.first[words[row * WORDS + TYPE] + DONE]++
    segment.runningCount--
    times[row * TIMES + ENDED] = time.isFresh ? time.ms : time.read()
    if ((++segment.endedCount === segment.count && segment !== this.tail) || --this.untilLook === 0) this.retention.look(false)
    return segment
  }

  /** It has failed, and will not be tried again. */
  failed (id, err) {
    this.endBy(id, this.textOf(err), FAILED)
  }

  /** It has come to its end otherwise. */
  cancelled (id, err) {
    this.endBy(id, this.textOf(err), CANCELLED)
  }

  /** Several have, for the same reason. */
  cancelledAll (ids, err) {
    const text = this.textOf(err)
    for (const id of ids) this.endBy(id, text, CANCELLED)
  }

  /** One was not taken in. */
  refused (type, { code }) {
    this.refusedCounts.set(code, (this.refusedCounts.get(code) ?? 0) + 1)
  }

  // what queues with attempts tell, whose ids are their own

  /**
   * A job is there that was accepted before the queue was opened. Ids ascend.
   * @param {number} ageMs how long ago that was
   * @param {number} attempts that have begun
   * @param {{ isDelayed?: boolean, isDead?: boolean, error?: any }} [state] if it does not wait; error: of the last attempt
   */
  recovered (id, type, ageMs, attempts, { isDelayed = false, isDead = false, error } = {}) {
    const text = error === undefined ? undefined : this.textOf(error)
    this.accepted(id, type)
    const rows = this.find(id)
    const { row } = this
    rows.times[row * TIMES + ENDED] = rows.times[row * TIMES + ACCEPTED]
    rows.times[row * TIMES + ACCEPTED] -= ageMs
    rows.words[row * WORDS + STATE] += attempts * ATTEMPT
    if (text !== undefined) rows.setError(row, text)
    if (isDead) rows.failedCount++
    if (!isDelayed && !isDead) return
    this.keepVersions(rows, row)
    this.change(rows, row, isDead ? DEAD : DELAYED, 0)
  }

  /** An attempt has failed. Its job is delayed until it is said whether there will be another one: by again(), failed() or cancelled(). */
  undecided (id, err) {
    this.failedFor(id, err, DELAYED)
  }

  again () {} // there will be: records are the same
  outlived () {} // who holds slots is of interest to others
  outlivedEnds () {}

  /** An attempt has failed that does not count: the job waits for its time, as before it. */
  postponed (id, err) {
    this.uncounted(id)
    this.failedFor(id, err, DELAYED)
  }

  /** A job that was just accepted is not to start before its time. */
  delayed (id) {
    const rows = this.find(id)
    const { row } = this
    this.keepVersions(rows, row)
    rows.times[row * TIMES + ENDED] = rows.times[row * TIMES + ACCEPTED]
    this.change(rows, row, DELAYED, 0)
  }

  /** The time of a job, or of its next attempt, has come. */
  due (id) {
    const rows = this.find(id)
    if (rows === undefined) return
    this.keepVersions(rows, this.row)
    rows.times[this.row * TIMES + ENDED] = this.time.read()
    this.change(rows, this.row, WAITING, 0)
  }

  /** An attempt has failed, and there will be no other one unless somebody asks for it. */
  dead (id, err) {
    const rows = this.failedFor(id, err, DEAD)
    if (rows !== undefined) rows.failedCount++
  }

  /** A dead letter waits again, with all its attempts. */
  revived (id) {
    const rows = this.find(id)
    if (rows === undefined) return
    const { row } = this
    this.keepVersions(rows, row)
    rows.times[row * TIMES + ACCEPTED] = this.time.read()
    rows.times[row * TIMES + STARTED] = NaN
    rows.words[row * WORDS + STATE] &= STATE_MASK
    rows.failedCount--
    this.change(rows, row, WAITING, 0)
  }

  /** A dead letter has been deleted: it has failed. */
  buried (id) {
    const rows = this.find(id)
    if (rows === undefined) return
    this.changeSilently(rows, this.row, FAILED, 0)
    this.leave(rows, id)
  }

  /** The last attempt does not count: the job waits, as before it. */
  uncounted (id) {
    const rows = this.find(id)
    if (rows === undefined) return
    const { row } = this
    rows.times[row * TIMES + STARTED] = takeBack(rows, row)
    this.changeSilently(rows, row, WAITING, -ATTEMPT)
  }

  /** It turned out to be none: it could not be written. */
  unaccepted (id) {
    const rows = this.find(id)
    if (rows === undefined) return
    rows.endedCount++
    this.remove(id, rows)
  }

  // what asks

  /**
   * Looks a record up; it is at `row` then. O(1).
   * @returns {Rows | undefined} undefined if there is none
   */
  find (id) {
    if (id >= this.first && id < this.end) {
      const segment = this.segments[(id - this.first) >> SHIFT]
      if (segment !== undefined) {
        const row = this.row = id & ROW_MASK
        if (segment.words[row * WORDS + STATE] !== 0) return segment
      }
    }
    const row = this.strays.rows.get(id)
    if (row === undefined) return undefined
    this.row = row
    return this.strays
  }

  /** For how long a job has waited by now, which waits; undefined if there is no record of it. */
  waitMsOf (id) {
    const rows = this.find(id)
    return rows === undefined ? undefined : Math.max(this.time.read() - changedAt(rows, this.row), 0)
  }

  /** @returns {Rows | undefined} the segment of the ids from base on */
  segmentAt (base) {
    return base >= this.first && base < this.end ? this.segments[(base - this.first) >> SHIFT] : undefined
  }

  /** One that is behind all others. */
  addSegment (segment) {
    const { segments } = this
    const { base } = segment
    if (segments.length === 0) this.first = base
    this.tail = segments[(base - this.first) / ROWS] = segment
    this.end = base + ROWS
  }

  /** Forgets the record of a job that has ended, which find() has just found. */
  remove (id, rows) {
    const { row, strays } = this
    this.discard(rows, row)
    if (rows === strays) strays.close(id, row)
    else rows.clearRow(row)
  }

  /** Takes a record out of all counts, but for those of a job that has not ended. */
  discard (rows, row) {
    const { words } = rows
    const state = words[row * WORDS + STATE] & STATE_MASK
    this.names.drop(words[row * WORDS + TYPE], state)
    if (state === FAILED) rows.failedCount--
    rows.endedCount--
    rows.count--
  }

  // private from here on

  /** @returns {Rows | undefined} the segment of a job, if its record is where most are, and in that state */
  usual (id, state) {
    const segment = id >= this.first && id < this.end ? this.segments[(id - this.first) >> SHIFT] : undefined
    if (segment === undefined || segment.versions !== undefined) return undefined
    const { words } = segment
    const at = (id & ROW_MASK) * WORDS
    return (words[at + STATE] & STATE_MASK) === state && words[at + TYPE] < FIRST_END ? segment : undefined
  }

  /** As started(), of a job whose record is where few are. */
  startedOtherwise (id) {
    const rows = this.find(id)
    if (rows === undefined) return
    const { row } = this
    rows.times[row * TIMES + STARTED] = this.time.now()
    this.change(rows, row, RUNNING, ATTEMPT)
  }

  doneOtherwise (id) {
    const rows = this.find(id)
    if (rows !== undefined) this.finish(rows, id, DONE)
  }

  /** The segment for the next id. */
  open (id) {
    const base = Math.floor(id / ROWS) * ROWS
    const { tail } = this
    if (tail !== undefined) tail.newestAt = tail.acceptedAt(this.lastId - tail.base)
    this.retention.look(true)
    if (base - this.end >= GAP || base - this.first >= SPAN) this.retention.scatter()
    const segment = this.retention.spares.pop() ?? new Rows(ROWS)
    segment.base = base
    this.addSegment(segment)
    return segment
  }

  change (rows, row, state, attempts) {
    this.changeSilently(rows, row, state, attempts)
    if (rows.versions !== undefined) noteVersion(rows, row)
  }

  /** That is no version of its own. @param {number} attempts more of them, in units of ATTEMPT */
  changeSilently (rows, row, state, attempts) {
    const { words } = rows
    const word = words[row * WORDS + STATE]
    const from = word & STATE_MASK
    words[row * WORDS + STATE] = word - from + state + attempts
    if (from === RUNNING) rows.runningCount--
    if (state === RUNNING) rows.runningCount++
    this.names.move(words[row * WORDS + TYPE], from, state)
  }

  finish (rows, id, state) {
    const { row } = this
    rows.times[row * TIMES + ENDED] = this.time.now()
    this.change(rows, row, state, 0)
    this.leave(rows, id)
  }

  /** A record is of a job that has ended. */
  leave (rows, id) {
    rows.endedCount++
    if (rows === this.strays) {
      rows.hasEnded(id)
      return
    }
    if ((rows.liveCount === 0 && rows !== this.tail) || --this.untilLook === 0) this.retention.look(false)
  }

  endBy (id, text, state) {
    const rows = this.find(id)
    if (rows === undefined) return
    rows.setError(this.row, text)
    if (state === FAILED) rows.failedCount++
    this.finish(rows, id, state)
  }

  /** To be asked before anything is looked up: the error is the caller's, and its getters may do anything. */
  textOf (err) {
    const text = textOf(err)
    if (text !== this.lastError) this.lastError = text
    return this.lastError
  }

  /** An attempt has failed, and its job lives on in a state. @returns {Rows | undefined} */
  failedFor (id, err, state) {
    const text = this.textOf(err)
    const rows = this.find(id)
    if (rows === undefined) return undefined
    const { row } = this
    if (state === DELAYED) this.keepVersions(rows, row)
    rows.times[row * TIMES + ENDED] = this.time.read()
    rows.setError(row, text)
    this.change(rows, row, state, 0)
    return rows
  }

  /** A row is going to lose what its versions are told from. */
  keepVersions (rows, row) {
    rows.versions ??= new Map()
    if (!rows.versions.has(row)) rows.versions.set(row, versionsOf(rows, row))
  }
}

module.exports = { Ledger }
