'use strict'

// A lane scheduler in the place of one that gives no answers: the oldest job starts, in O(log types) instead of a look at each
// lane. It passes on all that it is told, so that the other one still knows of each job when it is asked again.

const { Heap } = require('../../platform/heap')

/** A lane in the heap; its key there is `headSeq` of the lane. */
class Place {
  constructor (lane) {
    this.lane = lane
    this.position = -1
  }
}

class ArrivalOrder {
  /**
   * @param {object} scheduler
   * @param {Iterable<object>} lanes all that there are
   */
  constructor (scheduler, lanes) {
    this.scheduler = scheduler
    this.places = new Map() // by lane, of those with jobs that may start
    this.heap = new Heap()
    for (const lane of lanes) this.place(lane)
  }

  next () {
    return this.heap.items[0]?.lane
  }

  queued (lane) {
    this.place(lane)
    this.scheduler.queued(lane)
  }

  started (lane, now, cost) {
    this.place(lane)
    this.scheduler.started(lane, now, cost)
  }

  ended (lane, startedAt, now, cost) {
    this.scheduler.ended(lane, startedAt, now, cost)
  }

  charged (lane, difference, startedAt) {
    if (typeof this.scheduler.charged === 'function') this.scheduler.charged(lane, difference, startedAt)
  }

  removed (lane) {
    this.place(lane)
    if (typeof this.scheduler.removed === 'function') this.scheduler.removed(lane)
  }

  paused (lane) {
    this.place(lane)
    this.scheduler.paused(lane)
  }

  resumed (lane) {
    this.place(lane)
    this.scheduler.resumed(lane)
  }

  forget (lane) {
    return this.scheduler.forget(lane)
  }

  isNamed (type) {
    return this.scheduler.isNamed(type)
  }

  // private from here on

  place (lane) {
    const place = this.places.get(lane)
    if (lane.size > 0 && !lane.isPaused) {
      if (place === undefined) this.enter(lane)
      else this.heap.update(place.position, lane.headSeq)
    } else if (place !== undefined) {
      this.places.delete(lane)
      this.heap.remove(place.position)
    }
  }

  enter (lane) {
    const place = new Place(lane)
    this.places.set(lane, place)
    this.heap.insert(place, lane.headSeq)
  }
}

module.exports = { ArrivalOrder }
