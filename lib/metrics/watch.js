'use strict'

// Looks at the types of a queue now and then, for as long as jobs wait: how evenly they share the slots, whether any starves, and whether
// nothing starts or ends at all. Between its looks it costs nothing.

const { callSafely } = require('../platform/clock')
const { Fairness } = require('./fairness')
const { Starvation } = require('./starvation')
const { Ticker } = require('./ticker')
const { HELD, SINCE, STARTED, USED } = require('./types')

const NONE = { count: 0, slotMs: 0 }

class Watch {
  /**
   * @param {{ queue: object, clock: object, meter: object, windowMs: number, starveMs: number, shares: object, timeline: object }} parts
   *   shares: of schedulers/shares.js
   * @param {(event: string, told: object) => void} emit
   */
  constructor ({ queue, clock, meter, windowMs, starveMs, shares, timeline }, emit) {
    this.queue = queue
    this.clock = clock
    this.meter = meter
    this.shares = shares
    this.emit = emit
    this.timeline = timeline // is told of each look
    this.windowMs = windowMs
    this.starveMs = starveMs
    this.periodMs = Math.min(windowMs, starveMs / 3)
    this.fairness = new Fairness()
    this.starvation = new Starvation(starveMs)
    this.ticker = new Ticker(clock, this.periodMs, () => this.look())
    this.isFirst = false // no window has begun since it is on
    this.hasStopped = false // a standstill was told
  }

  get isOn () {
    return this.ticker.isOn
  }

  /** Jobs wait. */
  begin () {
    this.isFirst = true
    this.ticker.begin()
  }

  // private from here on

  /** @returns {number | undefined} in how many ms to look again */
  look () {
    const now = this.meter.records.time.read()
    this.timeline.look()
    const isEnd = this.isFirst || now - this.fairness.beganAt >= this.windowMs
    const { waiting, since, movedAt } = this.see(now, isEnd)
    const news = [...this.starvation.close(), ...this.newsOfStandstill(waiting, now - Math.max(since, movedAt))]
    if (waiting === 0) {
      this.fairness.restart(now)
    } else if (isEnd) {
      this.fairness.close(now)
      this.isFirst = false
    }
    for (const [event, told] of news) callSafely(this.emit, event, told)
    return waiting === 0 ? undefined : Math.max(Math.min(this.periodMs, this.fairness.beganAt + this.windowMs - now), 1)
  }

  /** @returns {[string, object][]} as of Starvation */
  newsOfStandstill (waiting, sinceMs) {
    const hasStopped = waiting > 0 && sinceMs >= this.starveMs
    if (hasStopped === this.hasStopped) return []
    this.hasStopped = hasStopped
    return [hasStopped ? ['standstill', { waiting, running: this.queue.running, sinceMs }] : ['moving', {}]]
  }

  /**
   * @returns {{ waiting: number, since: number, movedAt: number }} how many jobs wait, and since when some of a type have, and never none;
   *   when a job last started, or ended
   */
  see (now, isEnd) {
    const { fairness, meter, queue, shares, starvation } = this
    const { overdue, records: { names }, types: { cells }, overtookAt } = meter
    const { concurrency, paused, scheduler } = queue
    const late = overdue.by('type', now)
    const all = { waiting: 0, since: Infinity, movedAt: meter.endedAt }
    for (const [type, number] of names.numbers) {
      const waiting = names.waitingOf(number)
      if (cells[number + STARTED] > all.movedAt) all.movedAt = cells[number + STARTED]
      if (waiting === 0) continue
      all.waiting += waiting
      all.since = Math.min(all.since, cells[number + SINCE])
      const { count, slotMs } = late.get(type) ?? NONE
      const pending = names.runningOf(number)
      const running = pending + count
      const ownCap = shares.capOf(scheduler, type)
      const cap = ownCap < concurrency ? ownCap : Infinity // who has all slots has more than its share
      const isHeld = paused || cap === 0 || (type !== undefined && this.isHeldApart(type))
      const usedMs = cells[number + USED] + pending * (now - meter.originMs) + slotMs
      const weigh = isEnd ? () => shares.weightOf(scheduler, type) : undefined
      fairness.see(cells, number, { isFit: !isHeld && running < cap, cap, usedMs, now }, weigh)
      if (isHeld) cells[number + HELD] = Infinity
      else if (cells[number + HELD] === Infinity) cells[number + HELD] = now
      if (!isHeld) starvation.see(cells, number, { type, waiting, running, now, overtookAt })
    }
    return all
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
