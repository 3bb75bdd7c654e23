'use strict'

// What is counted of each type: how many jobs it has, and what became of them since it had none. A type without jobs and dead letters is
// forgotten, and begins anew. Jobs without a type are of none, unless the queue has a scheduler, to which their type is ''.

const WHAT = ['accepted', 'rejected', 'done', 'failed', 'cancelled', 'retried', 'throttled', 'joined', 'spent']

class TypeCounts {
  constructor (type) {
    this.type = type
    this.jobs = 0 // that have not settled
    this.delayed = 0 // of these
    this.dead = 0
    this.accepted = 0
    this.rejected = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.retried = 0
    this.throttled = 0
    this.joined = 0
    this.spent = 0
  }
}

const NOTHING = Object.freeze(new TypeCounts(''))

class Types {
  /**
   * @param {{}} parts of the queue: none
   * @param {{ hasTypes: boolean }} options hasTypes: it has a scheduler
   */
  constructor (parts, { hasTypes }) {
    this.noType = hasTypes ? '' : undefined // what the type is of jobs without one; undefined: these are not counted
    this.byType = new Map()
  }

  /** How many types have jobs or dead letters. */
  get size () {
    return this.byType.size
  }

  /** @returns {TypeCounts} nobody may change it */
  of (type) {
    return this.byType.get(type) ?? NOTHING
  }

  /** What stats(type) gives of it. */
  statsOf (type) {
    const counts = this.of(type)
    return Object.fromEntries(WHAT.map(what => [what, counts[what]]))
  }

  /** Those that have delayed jobs. O(types). */
  * delayedTypes () {
    for (const { type, delayed } of this.byType.values()) if (delayed > 0) yield type
  }

  /** So many jobs more, or fewer, wait for their time. @param {string | undefined} [type] */
  delay (type = this.noType, change) {
    if (type !== undefined) this.open(type).delayed += change
  }

  /** A job has become a dead letter, or is none any more. */
  bury (type = this.noType, change) {
    if (type === undefined) return
    const counts = this.open(type)
    counts.dead += change
    this.forgetIfIdle(counts)
  }

  /** There is one more job, or one fewer: it has settled as `what` says. */
  count (type = this.noType, what, change, jobsChange) {
    if (type === undefined) return
    const counts = jobsChange > 0 ? this.open(type) : this.byType.get(type)
    if (counts === undefined) return // it has no jobs, and one was refused
    counts[what] += change
    counts.jobs += jobsChange
    if (jobsChange < 0) this.forgetIfIdle(counts)
  }

  // private from here on

  open (type) {
    let counts = this.byType.get(type)
    if (counts === undefined) this.byType.set(type, counts = new TypeCounts(type))
    return counts
  }

  forgetIfIdle ({ type, jobs, dead }) {
    if (jobs === 0 && dead === 0) this.byType.delete(type)
  }
}

module.exports = { Types }
