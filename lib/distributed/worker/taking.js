'use strict'

// Whether this process takes jobs from the broker.

class Taking {
  isStopped = false // the queue closes
  isHeldUp = false // a job runs alone, and nothing starts beside it

  get isOn () {
    return !this.isStopped && !this.isHeldUp
  }
}

module.exports = { Taking }
