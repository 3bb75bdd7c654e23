'use strict'

// Jobs that are pushed at certain times, each time once, whatever crashes. The job of a time says so in its record, and the record of the last one
// stays on disk, over, when the job has ended. So what was pushed and how far the schedule is are one record, which is there or not.
//
//   due ──▶ pushed, with its time ──▶ safe: the record of the time before may go
//    │                                                  │
//    └─ the job before is not over: skipped             └▶ ends: over, until the next one is safe
//
// A schedule that nobody knows yet gets a record without a job, of when it began. Times are of the machine's clock.

const { defaultBackoffMs } = require('../backoff')
const { rethrow } = require('../clock')
const { Batch } = require('./batch')
const { headOf } = require('./job-options')
const { JobState, DEAD, OVER } = require('./job-state')
const { stampOf } = require('./serialize')

// How long it may take until a clock that was set is noticed.
const LOOK_MS = 60000
const MOST_AT_ONCE = 100
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
   * @param {{ schedules: object[] | undefined, now: () => number }} options schedules: undefined if they were not given. now: in ms since 1970
   * @param {{ push: (type: string | undefined, payload: any, said: object) => Promise<number>, ready: (type: string | undefined) => Promise<void> }} queue
   *   push: as of the intake. ready: resolves when that would be accepted
   */
  constructor ({ admission, keys, outage, stage, status, store }, { schedules, now }, { push, ready }) {
    this.admission = admission
    this.keys = keys
    this.pushJob = push
    this.whenReady = ready
    this.outage = outage
    this.deadlines = stage.deadlines
    this.status = status
    this.store = store
    this.now = now
    this.byName = new Map((schedules ?? []).map(schedule => [schedule.name, new Schedule(this, schedule)]))
    this.unknown = schedules === undefined ? new Map() : undefined // name → Schedule, of those found where none were given: they stay as they are
    this.bySeq = new Map() // of the records that are kept
    this.isStopped = false
  }

  /** A job of a schedule was found on disk. @param {{ name: string, time: number }} about @param {object | undefined} state of the job */
  found (seq, { name, time }, state) {
    const schedule = this.byName.get(name) ?? this.unknownOf(name)
    if (schedule === undefined || Math.abs(time) < schedule.keptAt) return // it is a job as others, or none
    const before = schedule.seq
    this.keep(schedule, seq, time)
    this.drop(before)
    // times until its end were skipped
    const until = state?.phase === OVER && !schedule.overlap ? state.dueAt : 0
    schedule.doneUntil = Math.max(schedule.keptAt, until)
  }

  /** All jobs on disk stand in the queue. */
  begin () {
    for (const schedule of this.byName.values()) this.catchUp(schedule)
  }

  /** Writes that a job has ended: it is gone, or its record says only how far its schedule is. @returns {object | undefined} as outage.finish() */
  finish (seq) {
    return this.bySeq.has(seq) ? this.outage.change(seq, JobState.overAt(this.now())) : this.keys.finish(seq)
  }

  /** Whether the record of a job is kept that has ended. */
  has (seq) {
    return this.bySeq.has(seq)
  }

  /** @returns {{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]} */
  list () {
    return [...this.byName.values()].map(({ name, nextAt, lastAt }) => ({ name, nextAt: this.isStopped || nextAt === Infinity ? undefined : nextAt, lastAt }))
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
    const { times, overlap, refused } = schedule
    let left = MOST_AT_ONCE // the rest in a later turn
    if (refused.length > 0) {
      this.push(schedule, refused.shift())
      if (overlap) left = 0 // each of them, in order
    }
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
      const missed = schedule.times.upTo(now)
      if (missed > schedule.doneUntil) {
        schedule.doneUntil = missed
        if (schedule.catchUp === 'last' && this.mayPush(schedule)) this.push(schedule, missed)
      }
    }
    this.arm(schedule)
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
      this.pushJob(type, payload, { schedule: { name, time }, priority }).then(seq => {
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
    if (FULL.includes(code)) this.whenReady(schedule.type).then(() => this.look(schedule), () => {}) // it may have closed
  }

  /** Writes how far a schedule is, without a job. @param {number} time negative: it has begun then. While that cannot be written, it is not known */
  mark (schedule, time) {
    const { name, type } = schedule
    const head = headOf(stampOf(this.now()), { schedule: { name, time } })
    if (this.store.refusal(1, head.length, type) !== undefined) return
    const batch = new Batch(this.store)
    batch.add(type, false, head, true, NONE, JobState.overAt(0))
    const { promise } = this.admission.write(batch)
    const seq = this.store.nextSeq - 1
    promise.then(() => this.replace(schedule, seq, time), () => {})
  }

  /** The record of a job is safe, and says how far its schedule is: the one before may go. */
  replace (schedule, seq, time) {
    if (Math.abs(time) < schedule.keptAt || this.isEnded) return
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
    if (time >= 0) schedule.lastAt = time
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
    const phase = this.store.table.find(seq) ? this.store.states.get(seq)?.phase : OVER
    return phase === OVER || phase === DEAD
  }
}

module.exports = { Schedules }
