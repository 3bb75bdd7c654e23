'use strict'

// Everything that falls due at a time: how long jobs may wait and run, how long close() waits. One heap and one timer for
// all, on the queue's clock; the timer is set only while something is due.

const { callSafely, defer, rethrow, systemClock } = require('../../platform/clock')
const { Heap } = require('../../platform/heap')

const LONGEST_TIMER_MS = 2 ** 31 - 1
// When a clock that could not set a timer is asked again.
const RETRY_MS = 100

class Deadlines {
  /**
   * @param {object} clock a SteadyClock, or the system's
   * @param {object} scope the AsyncLocalStorage context of timers: they are nobody's in particular
   * @param {(items: object[], runs: number[]) => void} onDue given all that fall due at a time, in order; of very many, the rest in later
   *   turns. runs: how often each item falls due one time after the other
   * @param {{ slice: () => object }} telling makes slices of time
   */
  constructor (clock, scope, onDue, telling) {
    this.clock = clock
    this.scope = scope
    this.onDue = onDue
    this.telling = telling
    this.heap = new Heap()
    this.count = 0
    this.timer = undefined
    this.timerAt = Infinity
    this.setAt = 0 // when the timer was set, and
    this.timerMs = 0 // ... for how long
    this.isLate = false // what is due already is looked at in the next turn, and no timer is set meanwhile
    this.isSetting = false // the clock's setTimeout is on the stack
    this.timersCount = 0
    this.retryTimer = undefined // of the system
    this.retry = this.retry.bind(this)
  }

  /**
   * Has an item fall due in so many ms; Infinity: never. Among those of the same time the first comes first.
   * @param {{ position: number, order: number }} item that is in no heap
   * @param {number} [now] what the clock has just said
   * @throws what the clock throws, or FAIRLANE_ERR_OPTION if it gives no number; then the item is in no heap
   */
  add (item, ms, now = undefined) {
    if (ms === Infinity) return
    now ??= this.clock.now()
    if (this.clock.failure !== undefined) throw this.clock.failure
    this.insert(item, now + ms)
    try {
      this.arm(now)
    } catch (err) {
      this.remove(item)
      this.retryLater()
      throw err
    }
  }

  /**
   * As add(), for an item that falls due more than once, of which the last time has been added: passNext() says that one has come, and
   * when the next one does. O(1) behind others. @throws as add(); then that time has still to be taken out
   */
  addNext (item, now) {
    if (this.clock.failure !== undefined) throw this.clock.failure
    if (item.pendingCount > 1) return
    this.move(item)
    try {
      this.arm(now)
    } catch (err) {
      this.retryLater()
      throw err
    }
  }

  /** The first time of such an item is another. If there is none any more, the item is to be removed. */
  move (item) {
    const at = item.nextAt()
    if (at === Infinity) return
    if (item.position === -1) this.heap.insert(item, at)
    else this.heap.update(item.position, at)
  }

  /** What the items of one time are told apart by. */
  nextOrder () {
    return this.count++
  }

  /** As add(), for an item without anybody to tell that the clock fails: that becomes an uncaught exception, and the item falls due. */
  addAnyway (item, ms) {
    if (ms === Infinity) return
    const now = this.clock.now()
    if (this.clock.failure !== undefined) rethrow(this.clock.failure)
    this.insert(item, now + ms)
    try {
      this.arm(now)
    } catch (err) {
      this.retryLater()
      rethrow(err)
    }
  }

  /** When an item falls due; Infinity: it is in no heap. */
  dueAt ({ position }) {
    return position === -1 ? Infinity : this.heap.keys[position]
  }

  /** Takes out an item if it is there. */
  remove (item) {
    if (item.position === -1) return
    this.heap.remove(item.position)
    if (this.heap.size > 0) return
    this.disarm()
    this.stopRetry()
  }

  // private from here on

  insert (item, at) {
    item.order = this.nextOrder()
    this.heap.insert(item, at)
  }

  /** Sets the timer for the first item. @throws what the clock throws; then there is none */
  arm (now) {
    const { clock } = this
    const at = this.heap.keys[0]
    if (at >= this.timerAt || this.isLate) return
    this.disarm()
    const ms = Math.min(Math.max(Math.ceil(at - now), 0), LONGEST_TIMER_MS)
    this.timerAt = at
    this.setAt = now
    this.timerMs = ms
    const number = ++this.timersCount
    this.isSetting = true
    try {
      const timer = this.scope.runInAsyncScope(clock.setTimeout, clock, () => this.fire(number), ms)
      if (this.timerAt !== at) return // it has fired at once
      this.timer = timer
      this.stopRetry()
    } catch (err) {
      if (number === this.timersCount) this.timerAt = Infinity
      throw err
    } finally {
      this.isSetting = false
    }
  }

  /** The clock could set no timer: what is due is not to be lost by that. */
  retryLater () {
    if (this.heap.size === 0 || this.retryTimer !== undefined) return
    this.retryTimer = this.scope.runInAsyncScope(systemClock.setTimeout, systemClock, this.retry, RETRY_MS)
  }

  retry () {
    this.retryTimer = undefined
    callSafely(() => this.look(this.clock.now()))
  }

  stopRetry () {
    if (this.retryTimer === undefined) return
    systemClock.clearTimeout(this.retryTimer)
    this.retryTimer = undefined
  }

  disarm () {
    if (this.timerAt === Infinity) return
    const { timer } = this
    this.timer = undefined
    this.timerAt = Infinity
    try {
      this.clock.clearTimeout(timer)
    } catch (err) {
      rethrow(err) // a job is being settled: it must be told
    }
  }

  /** A timer may be early: for something that was taken out since, by rounding, or because the time is too long for one. */
  fire (number) {
    if (number !== this.timersCount || this.timerAt === Infinity) return // one that was cleared, by a clock that can not
    this.timer = undefined
    this.timerAt = Infinity
    this.look(this.timeOfTimer())
  }

  look (now) {
    const due = []
    const runs = []
    const slice = this.telling.slice()
    let hasTime = true
    let last
    while (hasTime && this.isDue(now)) {
      const item = this.takeFirst()
      if (item === last) {
        runs[runs.length - 1]++
      } else {
        due.push(item)
        runs.push(1)
        last = item
      }
      hasTime = !slice.isOver()
    }
    try {
      if (this.isDue(now)) this.lookLater()
      else if (this.heap.size > 0) this.arm(now)
    } catch (err) {
      this.retryLater()
      throw err
    } finally {
      if (due.length > 0) this.onDue(due, runs)
    }
  }

  takeFirst () {
    const { heap } = this
    const item = heap.items[0]
    const nextAt = item.passNext === undefined ? Infinity : item.passNext()
    if (nextAt === Infinity) heap.remove(0)
    else heap.update(0, nextAt)
    return item
  }

  isDue (now) {
    return this.heap.size > 0 && this.heap.keys[0] <= now
  }

  lookLater () {
    this.isLate = true
    this.scope.runInAsyncScope(defer, undefined, () => {
      this.isLate = false
      callSafely(() => this.look(this.clock.now()))
    })
  }

  /** The time; a clock that does not go on while its timers do is not believed, else they would be set again for ever. */
  timeOfTimer () {
    const { clock, setAt, timerMs } = this
    const now = clock.now()
    const hasStopped = clock.isUnsure || this.isSetting || now <= setAt
    if (!hasStopped || now >= setAt + timerMs) return now
    clock.reach(setAt + timerMs)
    return setAt + timerMs
  }
}

module.exports = { Deadlines }
