'use strict'

// How long after its permit a job may start, of what limits all processes: so that starts do not come closer together than permits, which
// are granted for stretches that are longer by that. A process counts it from when it asked.

module.exports = {
  SLACK: 0.05, // of an interval
  LONGEST_SLACK_MS: 100,
  FOR_STARTS: 0.5, // of that, for calls of runners: what a runner does first comes somewhat later, on a busy machine by much
  FOR_LATE_STARTS: 0.75, // ... where the answer took more than SLOW of it, or there is much of it
  SLOW: 0.25,
  AMPLE_SLACK_MS: 2000 // where no more than half of a rate is used, for jobs that are taken ahead
}
