'use strict'

// Looks at the types of a queue now and then, for as long as jobs wait: how evenly they share the slots, and whether any starves. Its timer
// is of the queue's clock, keeps no process alive, and is nobody's in particular. Between its looks it costs nothing.

const { asyncScope } = require('../platform/context')
const { callSafely } = require('../platform/clock')
const { Fairness } = require('./fairness')
const { Starvation } = require('./starvation')
const { USED, HELD } = require('./types')

class Watch {
  /**
   * @param {{ queue: object, clock: object, meter: object, windowMs: number, starveMs: number, shares: object }} parts shares: of
   *   schedulers/shares.js
   * @param {(event: string, told: object) => void} emit
   */
  constructor ({ queue, clock, meter, windowMs, starveMs, shares }, emit) {
    this.queue = queue
    this.clock = clock
    this.meter = meter
    this.shares = shares
    this.emit = emit
    this.windowMs = windowMs
    this.periodMs = Math.min(windowMs, starveMs / 3)
    this.fairness = new Fairness()
    this.starvation = new Starvation(starveMs)
    this.scope = asyncScope() // that of who makes the queue
    this.isOn = false
    this.isFirst = false // no window has begun since it is on
    this.isSetting = false // the clock's setTimeout is on the stack
  }

  /** Jobs wait. The clock is the caller's: it is called when the queue is done with what it is about. */
  begin () {
    this.isOn = this.isFirst = true
    queueMicrotask(() => this.scope.runInAsyncScope(() => callSafely(() => this.set(this.periodMs))))
  }

  // private from here on

  set (ms) {
    this.isSetting = true
    let hasSet = false
    try {
      const timer = this.clock.setTimeout(() => this.fire(), ms)
      if (typeof timer?.unref === 'function') timer.unref()
      hasSet = true
    } finally {
      this.isSetting = false
      if (!hasSet) this.isOn = false // the next job that waits for itself tries again
    }
  }

  fire () {
    // a clock that does not wait would never come to an end
    if (this.isSetting) this.isOn = false
    else this.scope.runInAsyncScope(() => this.look())
  }

  look () {
    const now = this.meter.records.time.read()
    const isEnd = this.isFirst || now - this.fairness.beganAt >= this.windowMs
    const hasWaiting = this.see(now, isEnd)
    const news = this.starvation.close()
    if (!hasWaiting) {
      this.isOn = false
      this.fairness.restart(now)
    } else if (isEnd) {
      this.fairness.close(now)
      this.isFirst = false
    }
    for (const [event, told] of news) callSafely(this.emit, event, told)
    if (hasWaiting) callSafely(() => this.set(Math.max(Math.min(this.periodMs, this.fairness.beganAt + this.windowMs - now), 1)))
  }

  /** @returns {boolean} whether any job waits */
  see (now, isEnd) {
    const { fairness, meter, queue, shares, starvation } = this
    const { records: { names }, types: { cells }, overtookAt } = meter
    const { concurrency, paused, scheduler } = queue
    let hasWaiting = false
    for (const [type, number] of names.numbers) {
      const waiting = names.waitingOf(number)
      if (waiting === 0) continue
      hasWaiting = true
      const running = names.runningOf(number)
      const ownCap = shares.capOf(scheduler, type)
      const cap = ownCap < concurrency ? ownCap : Infinity // who has all slots has more than its share
      const isHeld = paused || cap === 0 || (type !== undefined && this.isHeldApart(type))
      const usedMs = cells[number + USED] + running * (now - meter.originMs)
      const weigh = isEnd ? () => shares.weightOf(scheduler, type) : undefined
      fairness.see(cells, number, { isFit: !isHeld && running < cap, cap, usedMs, now }, weigh)
      if (isHeld) cells[number + HELD] = Infinity
      else if (cells[number + HELD] === Infinity) cells[number + HELD] = now
      if (!isHeld) starvation.see(cells, number, { type, waiting, running, now, overtookAt })
    }
    return hasWaiting
  }

  /** Whether a type is paused, or held by a limit of its own: where the whole queue is, all are alike. */
  isHeldApart (type) {
    const { queue } = this
    if (queue.isTypePaused(type)) return true
    const { scheduler } = queue
    return typeof queue.heldMs === 'function' && typeof scheduler?.paused === 'function' && queue.heldMs(type) > queue.heldMs()
  }
}

module.exports = { Watch }
