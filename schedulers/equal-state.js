'use strict'

// HOT (bench: schedulers). What the scheduler `equal` knows of a type, and what the numbers in there are relative to. Where types are in
// groups (groups.js), the same is known of a group.

const { Ranked } = require('./run-queue')

/**
 * What the virtual times and weights of a state are relative to. Times are counted from `base`, which is a time of the first frame with the
 * same unit; weights are multiples of `unit`.
 */
class Frame {
  constructor (unit, base, group, first) {
    this.unit = unit
    this.base = base
    this.group = group // whose types are ranked; null: all, or groups
    this.first = first ?? this
  }
}

/** A type, in the ranking while a job of it may start. */
class State extends Ranked {
  constructor (lane, used, estimateMs, frame) {
    super()
    this.lane = lane
    this.order = 0 // among equal keys the least comes first: the type that came, or started a job, longest ago
    this.isParked = false // jobs wait, and as many run as the cap allows
    this.wasParked = false // the type was parked at some time since it was last set to V
    this.parkedAt = 0 // V when the type was parked last
    this.limit = 0 // so many running jobs are too many for another
    this.weight = 1 // in units
    this.presentWeight = 0 // what the type adds to weightSum
    this.version = -1 // of the options that limit was read from
    this.weights = undefined // what weight was read from
    this.used = used // virtual time that the ended jobs have used
    this.startSum = 0 // sum of the start times of the running jobs
    this.estimateMs = estimateMs // how long a job of the type is expected to run
    this.frame = frame // of all that is above; a type that is neither in the ranking nor parked may have an old one
  }
}

module.exports = { Frame, State }
