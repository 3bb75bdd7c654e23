'use strict'

// What stats() of a queue says that has had no job.

const NO_COUNTS = {
  accepted: 0,
  waiting: 0,
  running: 0,
  overdue: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
  rejected: 0,
  misuse: 0,
  overrun: 0,
  types: 0,
  delayed: 0,
  retried: 0,
  throttled: 0,
  joined: 0,
  heldTypes: 0,
  spent: 0,
  groups: 0
}

module.exports = { NO_COUNTS }
