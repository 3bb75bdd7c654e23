'use strict'

// HOT (bench: history). The list of an observed queue with a lane scheduler.

const { lists } = require('../core/internals')
const { observed } = require('./observed')

const { countIn } = lists.overflow

/** A running job, where the list below has no more of that than its lane. Fields as of Origin in core/lists/lanes.js. */
class ObservedOrigin {
  constructor (lane, id) {
    this.lane = lane
    this.startedAt = 0
    this.type = lane.type
    this.isOverdue = false
    this.id = id
  }
}

class ObservedLanes extends observed(lists.Lanes) {
  get pushedCount () {
    return this.ids.count
  }

  push (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    const number = this.nextNumber++
    lane.append(lane.isShared ? countIn(lane, type, payload) : payload, whenSettled, number)
    lane.recordedAs = this.recorded(number, type, lane.recordedAs, whenSettled) // a property that other lanes do not have
    this.accept(lane, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    const lane = this.lanes.get(type) ?? this.open(type)
    const number = --this.firstNumber
    lane.prepend(lane.isShared ? countIn(lane, type, payload) : payload, whenSettled, number)
    lane.recordedAs = this.recorded(number, type, lane.recordedAs, whenSettled)
    this.accept(lane, whenSettled)
  }

  // private from here on

  withId (origin, id) {
    if (origin.lane === origin) return new ObservedOrigin(origin, id)
    origin.id = id
    return origin
  }

  choose () {
    const lane = super.choose()
    if (lane !== undefined) this.chosen = lane.headSeq
    return lane
  }

  takeOut (lane, block, at) {
    this.leaves(block[at + 2])
    return super.takeOut(lane, block, at)
  }
}

module.exports = { ObservedLanes }
