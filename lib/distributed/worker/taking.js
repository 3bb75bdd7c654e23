'use strict'

// Whether this process takes jobs from the broker.

class Taking {
  isStopped = false // the queue closes
  isHeldUp = false // a job runs alone, and nothing starts beside it
  changed = undefined // called when isHeldUp has changed

  get isOn () {
    return !this.isStopped && !this.isHeldUp
  }

  /** @param {(isHeldUp: boolean) => void} changed called when jobs are not taken any more, or again */
  whenHeldUp (changed) {
    this.changed = changed
  }

  holdUp (isHeldUp) {
    this.isHeldUp = isHeldUp
    this.changed(isHeldUp)
  }
}

module.exports = { Taking }
