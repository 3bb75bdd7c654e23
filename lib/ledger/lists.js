'use strict'

// The lists of observed queues. What a queue does not use is not loaded.

const { options: { isLaneScheduler } } = require('../core/internals')

/** As the builder in core/rooms.js, for lists that tell a ledger. */
function makeList (ledger, scheduler, read, makeContext, extend) {
  const returns = read.returns ? require('./returning') : undefined // jobs come back to the list
  if (scheduler === null) {
    const { Line } = returns ?? require('./line')
    return new (extend(Line))(ledger, makeContext(undefined))
  }
  if (isLaneScheduler(scheduler)) {
    const { ObservedLanes } = returns ?? require('./observed-lanes')
    return new (extend(ObservedLanes))(ledger, scheduler, read, makeContext)
  }
  const { ObservedWindow } = returns ?? require('./observed-window')
  return new (extend(ObservedWindow))(ledger, scheduler, makeContext)
}

module.exports = { makeList }
