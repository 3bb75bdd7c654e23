'use strict'

/**
 * Lanes and slots without a queue: a scheduler is told what a test does, step by step. A job starts at `now`, and ends when the test says
 * so.
 */
class Slots {
  /** @param {object} scheduler of lanes */
  constructor (scheduler) {
    this.scheduler = scheduler
    this.now = 0
    this.lanes = new Map() // by type
    this.starts = new Map() // type → start times of its running jobs
  }

  lane (type) {
    if (!this.lanes.has(type)) {
      this.lanes.set(type, { type, size: 0, running: 0, headSeq: 0, isPaused: false, isShared: false, state: undefined })
      this.starts.set(type, [])
    }
    return this.lanes.get(type)
  }

  push (type, count = 1) {
    const lane = this.lane(type)
    for (let i = 0; i < count; i++) {
      lane.size++
      if (!lane.isPaused) this.scheduler.queued(lane)
    }
  }

  /** @returns {string} the types whose jobs were started, one after the other; fewer if no more may start */
  start (count = 1) {
    let types = ''
    for (let i = 0; i < count; i++) {
      const lane = this.scheduler.next(this.now)
      if (lane === undefined) break
      this.begin(lane.type)
      types += lane.type
    }
    return types
  }

  /** A job of a type starts, whatever the scheduler wants. */
  begin (type) {
    const lane = this.lane(type)
    lane.size--
    lane.running++
    this.starts.get(type).push(this.now)
    this.scheduler.started(lane, this.now, 1)
  }

  /** A job of a type that has run longest is charged so many units more. */
  charge (type, difference) {
    this.scheduler.charged(this.lane(type), difference, this.starts.get(type)[0])
  }

  /** After so many ms the jobs of a type that have run longest end. @param {number} [cost] that they were charged */
  end (type, count = 1, ms = 0, cost = 1) {
    const lane = this.lane(type)
    this.now += ms
    for (const startedAt of this.starts.get(type).splice(0, count)) {
      lane.running--
      this.scheduler.ended(lane, startedAt, this.now, cost)
    }
  }

  cancel (type) {
    const lane = this.lane(type)
    lane.size--
    if (!lane.isPaused) this.scheduler.removed(lane)
  }

  cancelAll (type) {
    while (this.lane(type).size > 0) this.cancel(type)
  }

  pause (type) {
    this.lane(type).isPaused = true
    this.scheduler.paused(this.lane(type))
  }

  resume (type) {
    this.lane(type).isPaused = false
    this.scheduler.resumed(this.lane(type))
  }

  /** One job after the other, of so many ms each. */
  run (type, ms, count = 1) {
    for (let i = 0; i < count; i++) {
      this.push(type)
      if (this.start() !== type) throw new Error(`no job of '${type}' was started`)
      this.end(type, 1, ms)
    }
  }
}

module.exports = { Slots }
