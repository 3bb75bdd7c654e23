'use strict'

// One schedule: what it is, how far it is, and which records say so.

class Schedule {
  /** @param {object} [read] what it is; undefined: that is not known yet */
  constructor (schedules, name, read) {
    this.schedules = schedules
    this.name = name
    this.doneUntil = undefined // times up to this one are dealt with
    this.lastAt = undefined // the last one whose job was pushed
    this.seq = 0 // whose record says so; 0: none yet
    this.keptAt = -Infinity // the time in that
    this.endedAt = 0 // when the job of that had ended, if it had when the queue was opened
    this.noteSeq = 0 // of the record that says what it is; 0: none yet
    this.found = undefined // that record, until it is known whether it says the same as the option
    this.pendingCount = 0 // jobs that are pushed and not safe
    this.refused = [] // times whose jobs could not be pushed, ascending
    this.refusalsCount = 0 // in a row
    this.isAnew = false // it has begun anew, and no record says so
    this.isNoted = false // what it is, is written, or being written
    this.isRemoved = false
    this.position = -1 // in the heap of deadlines
    this.order = 0
    this.become(read)
  }

  /** It is another one from now on, and as far as it was. */
  become ({ times, cron, everyMs, timezone, type, payload, catchUp, overlap, priority, cost, paused } = {}) {
    this.ownTimes = times
    this.times = paused ? require('../../job/schedule-times').NEVER : times
    this.paused = paused // true, or undefined
    this.cron = cron
    this.everyMs = everyMs
    this.timezone = timezone
    this.type = type
    this.payload = payload
    this.catchUp = catchUp
    this.overlap = overlap
    this.priority = priority
    this.cost = cost
  }

  get nextAt () {
    return this.refused[0] ?? this.times.after(this.doneUntil)
  }

  whenDue () {
    this.schedules.look(this)
  }
}

module.exports = { Schedule }
