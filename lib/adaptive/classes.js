'use strict'

// HOT (bench: metrics). What a job of each class takes while nothing is overloaded: its baseline, which is learnt from the jobs.
//
// All is reckoned with square roots of times. What makes each job s times as long makes their mean √s times as long, as it is with times;
// and a few jobs that take a thousand times as long as others move it little: the roots of times have a variance where times have none.

const FIRST = 50 // jobs that make a baseline
const BLOCK = 512 // jobs by which one goes down
const MOST = 1000 // classes; others share one
const STALE_MS = 600000 // one without jobs for so long makes room for another, if there are MOST

/** A class of jobs that take about as long as each other. */
class JobClass {
  constructor () {
    this.baseline = 0 // the mean root of the time of a job; 0: it is not known
    this.startedCount = 0 // of the first jobs, which make it
    this.longest = 0 // root of the time of one of these
    this.count = 0 // of the jobs that are looked at
    this.sum = 0 // of the roots of their times
    this.squares = 0 // ... and of their times
    this.triedCount = 0 // the same of jobs that started in an experiment
    this.triedSum = 0
    this.lastMs = 0 // when a round last had a job of it
  }

  /** A job starts. @returns {boolean} whether it is one of those that make the baseline */
  starts () {
    if (this.baseline > 0 || this.startedCount === FIRST) return false
    this.startedCount++
    return true
  }

  /** One of these took so long. @param {number} root of its time @param {number} slow root of the slowdown there is */
  begins (root, slow) {
    if (this.baseline > 0) return
    this.count++
    this.sum += root
    this.longest = Math.max(this.longest, root)
    if (this.count >= 0.9 * FIRST) this.begin((this.sum + (FIRST - this.count) * this.longest) / FIRST / slow)
  }

  /** A job took so long, and there is a baseline. */
  learn (root) {
    this.count++
    this.sum += root
    this.squares += root * root
    if (this.count === BLOCK) this.lower()
  }

  /** What was measured at a limit that is half of the one before. */
  tried (root) {
    this.triedCount++
    this.triedSum += root
  }

  // private from here on

  /** Halfway down, if the last jobs were quicker, and that is no chance. */
  lower () {
    const mean = this.sum / BLOCK
    const error = Math.sqrt(Math.max(0, this.squares / BLOCK - mean * mean) / BLOCK)
    this.begin(mean + 3 * error < this.baseline ? (this.baseline + mean) / 2 : this.baseline)
  }

  begin (baseline) {
    this.baseline = baseline
    this.startedCount = baseline > 0 ? FIRST : 0
    this.count = this.sum = this.squares = 0
  }
}

/** All classes of jobs, by name. */
class Classes {
  constructor () {
    this.byName = new Map()
    this.others = new JobClass() // for classes beyond MOST
    this.sweptMs = 0
  }

  get size () {
    return this.byName.size
  }

  /** @param {string | undefined} name @param {number} nowMs @returns {JobClass} */
  of (name, nowMs) {
    let found = this.byName.get(name)
    if (found !== undefined) return found
    if (this.byName.size >= MOST && !this.sweep(nowMs)) return this.others
    this.byName.set(name, found = new JobClass())
    return found
  }

  /** Jobs take longer than was thought, or less long. @param {number} slow the root of how much */
  adopt (slow) {
    for (const one of this.all()) {
      if (one.baseline === 0) continue
      one.begin(one.triedCount >= FIRST ? one.triedSum / one.triedCount : one.baseline * slow)
    }
  }

  forgetTries () {
    for (const one of this.all()) one.triedCount = one.triedSum = 0
  }

  // private from here on

  * all () {
    yield * this.byName.values()
    yield this.others
  }

  /** @returns {boolean} whether there is room now */
  sweep (nowMs) {
    if (nowMs - this.sweptMs < STALE_MS / 10) return false
    this.sweptMs = nowMs
    for (const [name, { lastMs }] of this.byName) if (nowMs - lastMs > STALE_MS) this.byName.delete(name)
    return this.byName.size < MOST
  }
}

module.exports = { Classes }
