'use strict'

// HOT (bench: types). The lanes in which no job waits or runs. A lane is forgotten as soon as its scheduler agrees, so that memory follows
// the types in use. A scheduler that has to remember something of a type, as the time by which `equal` is ahead, does not agree: then the
// lane is kept, and the scheduler is asked again later.

const QList = require('qlist')

// When a job has ended or has left, the scheduler is asked about so many of the kept lanes; each such job adds one at most.
const CHECKED_COUNT = 2

class IdleLanes {
  /** @param {object} list the Lanes whose lanes these are */
  constructor (list) {
    this.list = list
  }

  /** A job of the lane has ended or has left. */
  update (lane) {
    this.release(lane)
    if (this.list.keptLanes !== undefined) this.releaseKept()
  }

  /** Forgets the lane if it is idle and the scheduler agrees; keeps it if the scheduler does not. */
  release (lane) {
    const { list } = this
    if (!this.isIdle(lane)) return
    const mayForget = this.mayForget(lane)
    if (!this.isIdle(lane)) return // the scheduler has pushed a job
    if (mayForget) {
      list.forget(lane)
    } else {
      lane.isKept = true
      list.keptLanes ??= new QList()
      list.keptLanes.push(lane)
    }
  }

  /** Asks again about some of the kept lanes; about all of them when no job waits or runs at all. */
  releaseKept () {
    const { list } = this
    const kept = list.keptLanes
    const count = list.size + list.running === 0 ? kept.size() : CHECKED_COUNT
    for (let i = 0; i < count && !kept.isEmpty(); i++) {
      const lane = kept.shift()
      lane.isKept = false
      this.release(lane)
    }
    if (list.keptLanes?.isEmpty()) list.keptLanes = undefined
  }

  // private from here on

  isIdle (lane) {
    return lane.size + lane.running === 0 && !lane.isPaused && !lane.isKept && !lane.isOpening && lane.owner === this.list
  }

  mayForget (lane) {
    const { list } = this
    if (!list.asksForget) return true
    try {
      return list.scheduler.forget(lane)
    } catch (err) {
      list.blameThrow('forget', err)
      return true
    }
  }
}

module.exports = { IdleLanes }
