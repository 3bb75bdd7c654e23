'use strict'

// How much a queue tells, and how many jobs it starts, before the event loop gets its turn. By default that is a matter of time, which
// no test may depend on.

const { internalsOf } = require('../../lib/core/internals')

module.exports = { setPace }

const PACES = {
  'all at once': { ms: Infinity, pieces: 1 },
  'one in a turn': { ms: 0, pieces: 1 },
  'three in a turn': { ms: 0, pieces: 3 }
}

/**
 * @param {object} queue
 * @param {keyof PACES} pace
 * @returns {object} the queue
 */
function setPace (queue, pace) {
  const { dispatch } = internalsOf(queue)
  dispatch.telling.pace = PACES[pace]
  dispatch.pace.sliceMs = PACES[pace].ms
  return queue
}
