'use strict'

// How far a durable queue has come to its end, and why calls are refused from there on.

const { closedError } = require('../../arguments/errors')

class Status {
  constructor () {
    this.error = undefined // of the log: nothing is written any more
    this.isClosed = false // nothing new is taken in
    this.isOver = false // the log is closed
  }

  /** @throws FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED: what asks something of jobs is too late */
  check () {
    if (this.error !== undefined) throw this.error
    if (this.isClosed) throw closedError()
  }
}

module.exports = { Status }
