'use strict'

// Forgets what is over at a certain time, by a timer that keeps no process alive: all that this does is to give room back. A pass goes
// through all that there is, in slices, between which the event loop turns; the more there was, the longer is the rest after it.
//
//   note(at) ──▶ timer ──▶ pass: a slice │ turn │ a slice │ … ──▶ rest ──▶ timer, for the first of those that are left

const { callSafely, defer } = require('./clock')
const { Slice } = require('./slice')

// So much is worth a timer where only memory is given back; less is forgotten when more comes.
const MANY = 1024
const LONGEST_TIMER_MS = 2 ** 31 - 1
// For each that was looked at. To look at one that stays takes less than 0.1 µs, so this takes 5 % of the time at most.
const REST_MS = 0.002
// Of memory so many are gone through in a ms or so.
const QUICK = Object.freeze({ ms: 2, pieces: 8192 })

class Forgetting {
  /**
   * @param {{ now: () => number, setTimeout: Function, clearTimeout: Function }} clock
   * @param {(fn: () => void) => void} call calls the caller's code in the context of the queue: the clock is the caller's
   * @param {() => Iterable<T>} all what there is; it may change meanwhile
   * @param {(item: T, now: number) => number} look forgets it if it is over. Gives when it is, else; Infinity: that is not known, or it was
   *   forgotten
   * @param {{ ms: number, pieces: number }} [pace] of slices
   */
  constructor (clock, call, all, look, pace = QUICK) {
    this.clock = clock
    this.call = call
    this.all = all
    this.look = look
    this.pace = pace
    this.soonestAt = Infinity // when the first one is over, of those that were noted or looked at
    this.timer = undefined
    this.timerAt = Infinity // when it is due
    this.items = undefined // what is left of a pass
    this.count = 0 // of those that it has looked at
    this.restUntil = -Infinity
    this.isStopped = false
  }

  /** Something is over at a time by the clock. */
  note (at) {
    if (at < this.soonestAt) this.soonestAt = at
    this.plan()
  }

  /** Begins a pass, unless one goes on. Its first slice is over when this returns. */
  begin () {
    if (this.items !== undefined) return
    this.clearTimer()
    this.soonestAt = Infinity
    this.count = 0
    this.items = this.all()[Symbol.iterator]()
    this.goOn()
  }

  /** From here on nothing is forgotten. */
  stop () {
    this.isStopped = true
    this.items = undefined
    this.clearTimer()
  }

  // private from here on

  plan () {
    const at = Math.max(this.soonestAt, this.restUntil)
    if (at >= this.timerAt || this.items !== undefined || this.isStopped) return
    this.clearTimer()
    this.call(() => callSafely(() => this.setTimer(at)))
  }

  setTimer (at) {
    const ms = Math.min(Math.max(Math.ceil(at - this.clock.now()), 1), LONGEST_TIMER_MS)
    let isSet = false
    const timer = this.clock.setTimeout(() => {
      if (isSet) this.begin() // else the clock calls at once whatever it is told to call later
    }, ms)
    isSet = true
    this.timer = timer
    this.timerAt = at
    timer?.unref?.()
  }

  clearTimer () {
    if (this.timerAt === Infinity) return
    const { timer } = this
    this.timer = undefined
    this.timerAt = Infinity
    this.call(() => callSafely(() => this.clock.clearTimeout(timer)))
  }

  goOn () {
    const { items } = this
    const now = this.clock.now()
    const slice = new Slice(this.pace)
    for (let next = items.next(); !next.done && !this.isStopped; next = items.next()) {
      const at = this.look(next.value, now)
      if (at < this.soonestAt) this.soonestAt = at
      this.count++
      if (slice.isOver()) {
        this.call(() => defer(() => { if (!this.isStopped) this.goOn() }))
        return
      }
    }
    this.items = undefined
    this.restUntil = now + this.count * REST_MS
    this.plan()
  }
}

module.exports = { Forgetting, MANY }
