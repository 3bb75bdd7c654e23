'use strict'

// A lane scheduler for async.priorityQueue: the type is the priority, and the lowest number that waits starts first.

const { Heap } = require('../platform/heap')

class State {
  constructor (lane) {
    this.lane = lane
    this.position = -1
  }
}

/** O(log priorities) per job; tasks of one priority start in arrival order. */
class Priority {
  constructor () {
    this.heap = new Heap() // of the priorities that wait
  }

  queued (lane) {
    this.place(lane)
  }

  /** Asked only while jobs wait, and types are never paused here. */
  next () {
    return this.heap.items[0].lane
  }

  started (lane) {
    this.place(lane)
  }

  ended () {}

  removed (lane) {
    this.place(lane)
  }

  // private from here on

  place (lane) {
    const state = lane.state ?? (lane.state = new State(lane))
    const isIn = state.position !== -1
    if (lane.size > 0 && !isIn) this.heap.insert(state, Number(lane.type))
    else if (lane.size === 0 && isIn) this.heap.remove(state.position)
  }
}

module.exports = { Priority }
