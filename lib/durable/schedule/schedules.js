'use strict'

// Jobs that are pushed at certain times, each time once, whatever crashes. The job of a time says so in its record, and the record of the
// last one stays on disk, over, when the job has ended. So what was pushed and how far the schedule is are one record, which is there or
// not.
//
//   due ──▶ pushed, with its time ──▶ safe: the record of the time before may go
//    │                                                  │
//    └─ the job before is not over: skipped             └▶ ends: over, until the next one is safe
//
// A schedule that nobody knows yet gets a record without a job, of when it began; so does one that begins anew, since the machine's clock
// was far ahead when it was last used. Times are of that clock.

const { defaultBackoffMs } = require('../../job/backoff')
const { rethrow } = require('../../platform/clock')
const { Slice } = require('../../platform/slice')
const { Batch } = require('../push/batch')
const { headOf } = require('../push/job-options')
const { JobState, DEAD, OVER } = require('../run/job-state')
const { stampOf } = require('../push/serialize')
const { LONG_WORK, nextTurn } = require('../../log/turns')

// How long it may take until a clock that was set is noticed. A time that passed longer ago is one that was missed.
const LOOK_MS = 60000
const MOST_AT_ONCE = 100
// Of a look for the next time of a cron expression, in pieces of LONG_WORK.
const BEGIN_PIECES = 1000
const NONE = Buffer.alloc(0)
const FULL = ['FAIRLANE_ERR_QUEUE_FULL', 'FAIRLANE_ERR_TYPE_FULL']
const CANCELLED = ['FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_ABORTED', 'FAIRLANE_ERR_MAX_WAIT']

/** One schedule, and how far it is. */
class Schedule {
  constructor (schedules, { name, times, type, payload, catchUp, overlap, priority }) {
    this.schedules = schedules
    this.name = name
    this.times = times
    this.type = type
    this.payload = payload
    this.catchUp = catchUp
    this.overlap = overlap
    this.priority = priority
    this.doneUntil = undefined // times up to this one are dealt with
    this.lastAt = undefined // the last one whose job was pushed
    this.seq = 0 // whose record says so; 0: none yet
    this.keptAt = -Infinity // the time in that
    this.pendingCount = 0 // jobs that are pushed and not safe
    this.refused = [] // times whose jobs could not be pushed, ascending
    this.refusalsCount = 0 // in a row
    this.isAnew = false // it has begun anew, and no record says so
    this.position = -1 // in the heap of deadlines
    this.order = 0
  }

  get nextAt () {
    return this.refused[0] ?? this.times.after(this.doneUntil)
  }

  whenDue () {
    this.schedules.look(this)
  }
}

class Schedules {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ schedules: object[] | undefined, now: () => number }} options schedules: undefined if they were not given. now: in ms since
   *   1970
   */
  constructor ({ admission, core, intake, keys, outage, stage, status, store }, { schedules, now }) {
    this.admission = admission
    this.core = core
    this.intake = intake
    this.keys = keys
    this.outage = outage
    this.deadlines = stage.deadlines
    this.status = status
    this.store = store
    this.now = now
    this.byName = new Map((schedules ?? []).map(schedule => [schedule.name, new Schedule(this, schedule)]))
    // name → Schedule, of those found where none were given: they stay as they are
    this.unknown = schedules === undefined ? new Map() : undefined
    this.bySeq = new Map() // of the records that are kept
    this.isStopped = false
  }

  /** A job of a schedule was found on disk. @param {{ name: string, time: number }} about @param {object | undefined} state of the job */
  found (seq, { name, time }, state) {
    const schedule = this.byName.get(name) ?? this.unknownOf(name)
    if (schedule === undefined || !isNews(schedule, time)) return // it is a job as others, or none
    const before = schedule.seq
    this.keep(schedule, seq, time)
    this.drop(before)
    // times until its end were skipped
    const until = isOver(state) && !schedule.overlap ? state.dueAt : 0
    schedule.doneUntil = Math.max(schedule.keptAt, until)
  }

  /** All jobs on disk stand in the queue. @returns {Promise<void>} rejects with the error of the log if that fails meanwhile */
  async begin () {
    const slice = new Slice(LONG_WORK)
    for (const schedule of this.byName.values()) {
      this.catchUp(schedule)
      if (slice.isOver(BEGIN_PIECES)) await nextTurn(slice)
      if (this.status.error !== undefined) throw this.status.error
    }
  }

  /**
   * Writes that a job has ended: it is gone, or its record says only how far its schedule is.
   * @returns {object | undefined} as outage.finish()
   */
  finish (seq) {
    if (!this.bySeq.has(seq)) return this.keys.finish(seq)
    const state = this.store.states.get(seq)
    return this.outage.change(seq, JobState.overAt(isOver(state) ? state.dueAt : this.now()))
  }

  /** Whether the record of a job is kept that has ended. */
  has (seq) {
    return this.bySeq.has(seq)
  }

  /** @returns {{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]} */
  list () {
    return [...this.byName.values()].map(({ name, nextAt, lastAt }) => ({
      name, nextAt: this.isStopped || nextAt === Infinity ? undefined : nextAt, lastAt
    }))
  }

  /** The queue closes. */
  stop () {
    this.isStopped = true
    for (const schedule of this.byName.values()) this.deadlines.remove(schedule)
  }

  /** The time of a schedule may have come. */
  look (schedule) {
    if (this.isStopped) return
    const now = this.now()
    this.comeBack(schedule, now)
    const { times, overlap, refused } = schedule
    let left = MOST_AT_ONCE // the rest in a later turn
    if (refused.length > 0) {
      this.push(schedule, refused.shift())
      if (overlap) left = 0 // each of them, in order
    }
    if (left > 0 && now - times.after(schedule.doneUntil) > LOOK_MS) this.pushMissed(schedule, now)
    for (let time = times.after(schedule.doneUntil); time <= now && left > 0; time = times.after(schedule.doneUntil), left--) {
      if (this.mayPush(schedule)) this.push(schedule, time)
      else schedule.doneUntil = times.upTo(now)
    }
    this.arm(schedule)
  }

  // private from here on

  /** Whether nothing can be written any more. */
  get isEnded () {
    return this.status.error !== undefined || this.status.isOver
  }

  unknownOf (name) {
    if (this.unknown === undefined) return undefined
    if (!this.unknown.has(name)) this.unknown.set(name, new Schedule(this, { name, overlap: true }))
    return this.unknown.get(name)
  }

  catchUp (schedule) {
    const now = this.now()
    if (schedule.doneUntil === undefined) {
      schedule.doneUntil = now
      this.mark(schedule, -now)
    } else {
      this.comeBack(schedule, now)
      this.pushMissed(schedule, now)
    }
    this.arm(schedule)
  }

  /** Of times that were missed, since nobody looked, the last one counts, or none. */
  pushMissed (schedule, now) {
    // the more costly question last
    if (schedule.times.after(schedule.doneUntil) > now) return
    const missed = schedule.times.upTo(now)
    schedule.doneUntil = missed
    if (schedule.catchUp === 'last' && this.mayPush(schedule)) this.push(schedule, missed)
  }

  /**
   * The machine's clock may have been set back. If it was by little, a schedule waits until it is there again, so that no time comes twice.
   * If it was by more, the clock was wrong before, and the schedule begins anew, once it is known what has become of jobs that are being
   * pushed.
   */
  comeBack (schedule, now) {
    const aheadMs = schedule.doneUntil - now
    if (schedule.pendingCount === 0 && aheadMs > LOOK_MS && aheadMs > lastIntervalOf(schedule)) {
      schedule.doneUntil = now
      schedule.lastAt = undefined
      schedule.keptAt = -Infinity
      schedule.refused = schedule.refused.filter(time => time <= now)
      schedule.isAnew = true
    }
    // the record of the last job is kept until that is over
    if (!schedule.isAnew || !this.mayPush(schedule)) return
    schedule.isAnew = false
    this.mark(schedule, -schedule.doneUntil)
  }

  arm (schedule) {
    const { refused, refusalsCount, doneUntil, times } = schedule
    this.deadlines.remove(schedule)
    const ms = refused.length > 0 ? defaultBackoffMs(refusalsCount) : Math.max(0, times.after(doneUntil) - this.now())
    this.deadlines.addAnyway(schedule, ms === Infinity ? ms : Math.min(ms, LOOK_MS))
  }

  /** Pushes the job of a time. */
  push (schedule, time) {
    const { name, type, payload, priority } = schedule
    schedule.doneUntil = Math.max(schedule.doneUntil, time)
    schedule.pendingCount++
    const ended = () => { schedule.pendingCount-- }
    try {
      this.intake.push(type, payload, false, { schedule: { name, time }, priority }).then(seq => {
        ended()
        this.pushed(schedule, seq, time)
      }, err => {
        ended()
        this.notPushed(schedule, time, err)
      })
    } catch (err) {
      ended()
      rethrow(err) // what is to be encoded is another one by now
    }
  }

  pushed (schedule, seq, time) {
    schedule.lastAt = Math.max(schedule.lastAt ?? time, time)
    schedule.refusalsCount = 0
    if (schedule.refused.length > 0) this.look(schedule)
    // it may have ended before it was told to be safe
    if (this.store.table.find(seq)) this.replace(schedule, seq, time)
    else if (!this.isEnded) this.mark(schedule, time)
  }

  notPushed (schedule, time, { code }) {
    if (this.isStopped) return
    if (CANCELLED.includes(code)) {
      this.mark(schedule, time)
      return
    }
    schedule.refusalsCount++
    schedule.refused.push(time)
    schedule.refused.sort((a, b) => a - b)
    this.arm(schedule)
    // it may have closed
    if (FULL.includes(code)) this.admission.ready(() => this.core.ready(schedule.type)).then(() => this.look(schedule), () => {})
  }

  /**
   * Writes how far a schedule is, without a job.
   * @param {number} time negative: it has begun then. While that cannot be written, it is not known
   */
  mark (schedule, time) {
    const { name, type } = schedule
    const head = headOf(stampOf(this.now()), { schedule: { name, time } })
    if (this.store.refusal(1, head.length, type) !== undefined) return
    const batch = new Batch(this.store)
    batch.add(type, false, head, true, NONE, JobState.overAt(this.now()))
    const { promise } = this.admission.write(batch)
    const seq = this.store.nextSeq - 1
    promise.then(() => this.replace(schedule, seq, time), () => {})
  }

  /** The record of a job is safe, and says how far its schedule is: the one before may go. */
  replace (schedule, seq, time) {
    if (!isNews(schedule, time) || this.isEnded) return
    const before = schedule.seq
    this.keep(schedule, seq, time)
    this.drop(before)
  }

  /** A record says how far a schedule is. */
  keep (schedule, seq, time) {
    this.bySeq.delete(schedule.seq)
    this.bySeq.set(seq, schedule)
    schedule.seq = seq
    schedule.keptAt = Math.abs(time)
    schedule.lastAt = time < 0 ? undefined : time
  }

  /** A record is not needed any more, if its job has ended. */
  drop (seq) {
    this.bySeq.delete(seq)
    if (seq !== 0 && this.store.table.find(seq) && this.store.states.get(seq)?.phase === OVER) this.outage.finish(seq)
  }

  /** Whether jobs of a schedule may overlap, or the last one has ended. */
  mayPush ({ overlap, seq, pendingCount, refused }) {
    if (overlap) return true
    if (pendingCount > 0 || refused.length > 0) return false
    return !this.store.table.find(seq) || isOver(this.store.states.get(seq))
  }
}

/** Whether a record says more of a schedule than the one that is kept: it is of a later time, or the schedule has begun anew. */
function isNews ({ keptAt }, time) {
  return time < 0 || time >= keptAt
}

/** Whether the job in this state has ended; dueAt of that says when, if that is known. */
function isOver (state) {
  return state?.phase === OVER || state?.phase === DEAD
}

/** How long it was from the last but one of the times that are dealt with to the last one. */
function lastIntervalOf ({ times, doneUntil }) {
  const last = times.upTo(doneUntil)
  return last === -Infinity ? 0 : last - times.upTo(last - 1)
}

module.exports = { Schedules }
