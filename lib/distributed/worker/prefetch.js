'use strict'

// How many jobs are taken ahead, before there is a slot for them: no more than were started lately. If jobs are long, those taken ahead
// would wait beside idle processes.

const STRETCH_MS = 50 // starts are counted in stretches of this
const SHORTER = 4 // by so much fewer are taken ahead of jobs that go back if they do not start in 50 to 100 ms
const LONGEST_MS = 1000 // a job that has waited here for longer is given back

class Prefetch {
  /**
   * @param {{ slots: object, starts: object }} parts
   * @param {(concurrency: number) => number} most how many there may be at any time
   */
  constructor ({ slots, starts }, most) {
    this.slots = slots
    this.starts = starts
    this.most = most
    this.giveBack = undefined // called now and then: jobs taken before a time, by performance.now(), are to go back
    this.count = 0 // jobs that wait for a slot
    this.comingCount = 0 // calls on their way that bring such jobs
    this.stretch = 0
    this.startsNow = 0 // in this stretch of time
    this.startsBefore = 0 // ... and in the one before it
    this.timer = undefined
  }

  /** @param {(takenBefore: number) => void} giveBack called now and then while there are any */
  whenStale (giveBack) {
    this.giveBack = giveBack
  }

  /** Whether one more may be taken. @param {boolean} isShort it must start soon after it was taken */
  hasRoom (isShort) {
    if (this.starts.isBinding) return false // it would wait in the line of all types
    this.turn()
    const starts = this.startsBefore + this.startsNow
    return this.count + this.comingCount < Math.min(this.most(this.slots.concurrency), isShort ? starts / SHORTER : starts)
  }

  /** A job waits for a slot. */
  add () {
    this.count++
    this.timer ??= setTimeout(() => this.check(), LONGEST_MS / 4)
  }

  /** A job has started, taken ahead or not. */
  started () {
    this.turn()
    this.startsNow++
  }

  stop () {
    clearTimeout(this.timer)
  }

  // private from here on

  /** Starts are counted anew in each stretch of time. */
  turn () {
    const stretch = Math.floor(performance.now() / STRETCH_MS)
    if (stretch === this.stretch) return
    this.startsBefore = stretch === this.stretch + 1 ? this.startsNow : 0
    this.startsNow = 0
    this.stretch = stretch
  }

  check () {
    this.timer = undefined
    this.giveBack(performance.now() - LONGEST_MS)
    if (this.count > 0) this.timer = setTimeout(() => this.check(), LONGEST_MS / 4)
  }
}

module.exports = { Prefetch }
