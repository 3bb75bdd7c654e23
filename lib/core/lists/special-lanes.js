'use strict'

// HOT (bench: history). How jobs come into lanes that are not plain, and leave them when they start: lanes that types share, lanes with
// priorities, and those of an observed queue. So a plain lane asks for none of this.

const { countIn, countOut, countStart } = require('./overflow')

/**
 * What the list has to know of a running job. The lane alone does, unless the scheduler needs a clock, types share the lane or the queue is
 * observed.
 */
class Origin {
  constructor (lane, startedAt, type) {
    this.lane = lane
    this.startedAt = startedAt
    this.type = type
    this.isOverdue = false // the job has settled, and its runner goes on
    this.id = 0 // for the recorder
  }
}

// What it is charged, of queues that count costs (limits/costs.js).
Origin.prototype.charge = undefined

/** Puts a job into a lane of the list, but for counting it. The recorder is told of each job before the scheduler hears of it. */
function putInto (list, lane, type, payload, whenSettled, atHead) {
  const { levels, recorder } = list
  if (levels !== null && !atHead) levels.advance()
  const number = atHead ? --list.firstNumber : list.nextNumber++
  const kept = lane.isShared ? countIn(lane, type, payload) : payload
  if (atHead) lane.prepend(kept, whenSettled, number)
  else lane.append(kept, whenSettled, number)
  if (recorder !== null) lane.recordedAs = recorder.accepted(type, number, lane.recordedAs, whenSettled)
}

/** The first job of a lane, which has this number, starts. @returns its payload */
function startFrom (list, lane, kept, number) {
  const { recorder } = list
  if (!lane.isShared) {
    list.context = lane.context ??= list.makeContext(lane.type)
    list.origin = recorder !== null || list.needsClock ? new Origin(lane, list.now, lane.type) : lane
    if (recorder !== null) list.origin.id = recorder.taken(number, lane.type, lane.recordedAs)
    return kept
  }
  const { type } = kept
  list.context = list.makeContext(type)
  list.origin = new Origin(lane, list.now, type)
  if (recorder !== null) list.origin.id = recorder.taken(number, type)
  countStart(lane, list.origin)
  return countOut(lane, kept)
}

module.exports = { Origin, putInto, startFrom }
