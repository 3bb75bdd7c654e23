'use strict'

// Jobs that are pushed at certain times, each time once, whatever crashes. The job of a time says so in its record, and the record of the
// last one stays on disk, over, when the job has ended. So what was pushed and how far the schedule is are one record, which is there or
// not.
//
//   due ──▶ pushed, with its time ──▶ safe: the record of the time before may go
//    │                                                  │
//    └─ the job before is not over: skipped             └▶ ends: over, until the next one is safe
//
// What a schedule is stands in a record, too, and so does how far it is where no job says so (notes.js). Schedules stay until setSchedule()
// removes them: the option adds and changes those that it names. Times are of the machine's clock; where that was far ahead when a schedule
// was last used, it begins anew.

const { rangeError, describe } = require('../../arguments/errors')
const { defaultBackoffMs } = require('../../job/backoff')
const { rethrow } = require('../../platform/clock')
const { Slice } = require('../../platform/slice')
const { JobState } = require('../run/job-state')
const { isOver } = require('./notes')
const { Schedule } = require('./schedule')
const { LONG_WORK, nextTurn } = require('../../log/turns')

// How long it may take until a clock that was set is noticed. A time that passed longer ago is one that was missed.
const LOOK_MS = 60000
const MOST_AT_ONCE = 100
// Of a look for the next time of a cron expression, in pieces of LONG_WORK.
const BEGIN_PIECES = 1000
const FULL = ['FAIRLANE_ERR_QUEUE_FULL', 'FAIRLANE_ERR_TYPE_FULL']
const CANCELLED = ['FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_ABORTED', 'FAIRLANE_ERR_MAX_WAIT']

class Schedules {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ schedules: object[] | undefined, now: () => number }} options schedules: those of the option. now: in ms since 1970
   */
  constructor ({ admission, core, intake, keys, notes, outage, stage, status }, { schedules = [], now }) {
    this.admission = admission
    this.core = core
    this.intake = intake
    this.keys = keys
    this.notes = notes
    this.outage = outage
    this.deadlines = stage.deadlines
    this.status = status
    this.now = now
    this.byName = new Map(schedules.map(schedule => [schedule.name, new Schedule(this, schedule.name, schedule)]))
    this.bySeq = new Map() // of the records that are kept
    this.isStopped = false
  }

  /** A job of a schedule was found on disk. @param {{ name: string, time: number }} about @param {object | undefined} state of the job */
  found (seq, { name, time }, state) {
    const schedule = this.foundOf(name)
    if (!isNews(schedule, time)) return // it is a job as others, or none
    const before = schedule.seq
    this.keep(schedule, seq, time)
    this.drop(before)
    schedule.endedAt = isOver(state) ? state.dueAt : 0
    schedule.doneUntil = schedule.keptAt
  }

  /** A note was found that says what a schedule is. @param {object} read the record */
  foundNote (seq, read) {
    const schedule = this.foundOf(JSON.parse(read.options.note).name)
    this.keepNote(schedule, seq)
    schedule.found = read
  }

  /**
   * All jobs on disk stand in the queue.
   * @returns {Promise<void>} rejects with the error of the log if that fails meanwhile; with FAIRLANE_ERR_SERIALIZER, FAIRLANE_ERR_PEER
   */
  async begin () {
    const slice = new Slice(LONG_WORK)
    for (const schedule of [...this.byName.values()]) {
      if (this.isKnown(schedule)) this.catchUp(schedule)
      else this.forget(schedule)
      if (slice.isOver(BEGIN_PIECES)) await nextTurn(slice)
      if (this.status.error !== undefined) throw this.status.error
    }
  }

  /** As begin(), of a queue that is opened by somebody who runs nothing: they push nothing, and have no next time. */
  show () {
    this.isStopped = true
    for (const schedule of this.byName.values()) {
      try {
        if (!this.isKnown(schedule)) this.byName.delete(schedule.name)
      } catch {
        this.byName.delete(schedule.name) // what it needs is not here; its records stay
      }
    }
  }

  /**
   * Writes that a job has ended: it is gone, or its record says only how far its schedule is.
   * @returns {object | undefined} as outage.finish()
   */
  finish (seq) {
    if (!this.bySeq.has(seq)) return this.keys.finish(seq)
    return this.outage.change(seq, JobState.overAt(this.notes.endOf(seq)))
  }

  /** Whether the record of a job is kept that has ended. */
  has (seq) {
    return this.bySeq.has(seq)
  }

  /** @returns {Promise<{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]>} */
  async list () {
    return [...this.byName.values()].map(({ name, nextAt, lastAt, paused }) => ({
      name, nextAt: this.isStopped || nextAt === Infinity ? undefined : nextAt, lastAt, ...paused && { paused }
    }))
  }

  /** Adds a schedule, or changes that of its name. @param {object} read @returns {Promise<void>} when that is safe */
  async set (read) {
    this.status.check()
    const { notes } = this
    const begunAt = this.now()
    const meaning = notes.meaningOf(read)
    const written = notes.write(this.byName.has(read.name) ? [meaning] : [meaning, notes.timeOf(read, -begunAt)])
    await written.promise
    const [noteSeq, timeSeq = 0] = written.seqs
    const known = this.byName.get(read.name)
    const schedule = known ?? new Schedule(this, read.name)
    this.byName.set(read.name, schedule)
    schedule.become(read)
    schedule.isNoted = true
    this.keepNote(schedule, noteSeq)
    if (known !== undefined) notes.drop(timeSeq)
    else if (timeSeq > 0) this.keep(schedule, timeSeq, -begunAt)
    else this.mark(schedule, -begunAt) // it was removed meanwhile
    // times of what it was before are none of its own
    schedule.doneUntil = Math.max(schedule.doneUntil ?? begunAt, begunAt)
    if (!this.isStopped) this.arm(schedule)
  }

  /** A schedule pushes nothing at its times, or does again: those between are over. @returns {Promise<void>} when that is safe */
  async pause (name, paused) {
    const schedule = this.named(name, paused ? 'pauseSchedule' : 'resumeSchedule')
    schedule.refused = []
    await this.set({ ...schedule, times: schedule.ownTimes, paused: paused || undefined })
    if (paused || this.isStopped) return
    schedule.isAnew = true // or times that have passed would be missed ones when the queue is opened again
    this.look(schedule)
  }

  /** There is no such schedule from now on; jobs that it has pushed stay. @returns {Promise<void>} when that is safe */
  async remove (name) {
    this.status.check()
    const schedule = this.byName.get(name)
    if (schedule === undefined) return
    this.deadlines.remove(schedule)
    await this.outage.safe(this.forget(schedule))
  }

  /** Pushes a job of a schedule, whatever its times are. @returns {Promise<number>} as Intake.push() */
  async run (name) {
    const { type, payload, priority, cost } = this.named(name, 'runSchedule')
    return this.intake.push(type, payload, false, { schedule: { name, time: this.now() }, byHand: true, priority, cost })
  }

  /** The queue closes. */
  stop () {
    this.isStopped = true
    for (const schedule of this.byName.values()) this.deadlines.remove(schedule)
  }

  /** The time of a schedule may have come. */
  look (schedule) {
    if (this.isStopped || schedule.isRemoved) return
    const now = this.now()
    if (!schedule.isNoted) this.note(schedule)
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

  /** @throws FAIRLANE_ERR_ARGUMENT if there is none, FAIRLANE_ERR_CLOSED */
  named (name, method) {
    this.status.check()
    const schedule = this.byName.get(name)
    if (schedule !== undefined) return schedule
    throw rangeError('FAIRLANE_ERR_ARGUMENT', `${method}: there is no schedule ${describe(name)}`)
  }

  foundOf (name) {
    if (!this.byName.has(name)) this.byName.set(name, new Schedule(this, name))
    return this.byName.get(name)
  }

  /** Whether it is known what a schedule is, by the option or by its note. */
  isKnown (schedule) {
    const { found } = schedule
    schedule.found = undefined
    if (schedule.times === undefined) {
      if (found === undefined) return false
      schedule.become(this.notes.read(found))
      schedule.isNoted = true
    } else {
      // a pause stays as long as the option says the same
      if (found !== undefined && this.notes.isPause(found) && this.notes.isSame(found, { ...schedule, paused: true })) {
        schedule.become({ ...schedule, paused: true })
      }
      schedule.isNoted = found !== undefined && this.notes.isSame(found, schedule)
    }
    return true
  }

  /** A schedule is none any more. @returns {object | undefined} as outage.finish() */
  forget (schedule) {
    schedule.isRemoved = true
    this.byName.delete(schedule.name)
    this.drop(schedule.seq)
    this.bySeq.delete(schedule.noteSeq)
    return this.notes.drop(schedule.noteSeq)
  }

  /** Writes what a schedule is; where that cannot be done, it is tried again when somebody looks at it. */
  note (schedule) {
    schedule.isNoted = true
    try {
      const { seqs, promise } = this.notes.write([this.notes.meaningOf(schedule)])
      promise.then(() => this.keepNote(schedule, seqs[0]), () => { schedule.isNoted = false })
    } catch (err) {
      rethrow(err) // what is to be encoded is another one by now
    }
  }

  /** A record says what a schedule is: the one before may go. */
  keepNote (schedule, seq) {
    if (this.isEnded) return
    if (schedule.isRemoved) {
      this.notes.drop(seq)
      return
    }
    const before = schedule.noteSeq
    this.bySeq.delete(before)
    this.bySeq.set(seq, schedule)
    schedule.noteSeq = seq
    this.notes.drop(before)
  }

  catchUp (schedule) {
    const now = this.now()
    if (!schedule.isNoted) this.note(schedule)
    if (schedule.doneUntil === undefined) {
      schedule.doneUntil = now
      this.mark(schedule, -now)
    } else {
      // times until the end of the last job were skipped
      if (!schedule.overlap) schedule.doneUntil = Math.max(schedule.doneUntil, schedule.endedAt)
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
    const { name, type, payload, priority, cost } = schedule
    schedule.doneUntil = Math.max(schedule.doneUntil, time)
    schedule.pendingCount++
    const ended = () => { schedule.pendingCount-- }
    try {
      this.intake.push(type, payload, false, { schedule: { name, time }, priority, cost }).then(seq => {
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
    if (this.notes.has(seq)) this.replace(schedule, seq, time)
    else if (!this.isEnded) this.mark(schedule, time)
  }

  notPushed (schedule, time, { code }) {
    if (this.isStopped || schedule.isRemoved) return
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
    if (schedule.isRemoved) return
    const { seqs, promise } = this.notes.write([this.notes.timeOf(schedule, time)])
    promise.then(() => this.replace(schedule, seqs[0], time), () => {})
  }

  /** The record of a job is safe, and says how far its schedule is: the one before may go. */
  replace (schedule, seq, time) {
    if (this.isEnded) return
    if (schedule.isRemoved) {
      this.notes.drop(seq)
      return
    }
    if (!isNews(schedule, time)) return
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
    this.notes.drop(seq)
  }

  /** Whether jobs of a schedule may overlap, or the last one has ended. */
  mayPush ({ overlap, seq, pendingCount, refused }) {
    if (overlap) return true
    if (pendingCount > 0 || refused.length > 0) return false
    return !this.notes.has(seq) || this.notes.isOver(seq)
  }
}

/** Whether a record says more of a schedule than the one that is kept: it is of a later time, or the schedule has begun anew. */
function isNews ({ keptAt }, time) {
  return time < 0 || time >= keptAt
}

/** How long it was from the last but one of the times that are dealt with to the last one. */
function lastIntervalOf ({ times, doneUntil }) {
  const last = times.upTo(doneUntil)
  return last === -Infinity ? 0 : last - times.upTo(last - 1)
}

module.exports = { Schedules }
