'use strict'

// Which recorder the list of an observed queue has. What a queue does not use is not loaded.

/** @param {object} ledger @param {object} list of the core, without jobs @returns {object} what it tells of each job */
function recorderOf (ledger, list) {
  if (list.scheduler === undefined) {
    const { Line } = require('./line')
    return new Line(list, ledger)
  }
  const { LaneRecorder } = require('./lanes')
  return new LaneRecorder(list, ledger, Boolean(list.levels))
}

module.exports = { recorderOf }
