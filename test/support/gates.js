'use strict'

// A runner whose jobs end when the test says so.

module.exports = gates

/**
 * @returns {object} `runner` for the queue; `started`, the jobs in the order in which they began
 *   (`{ payload, done, context }`); `payloads`, theirs; `until(n)`, a promise of the n-th start;
 *   `release(n)`, ends the n oldest open jobs with their own payload as the result; `open`, those still running
 */
function gates () {
  const started = []
  const payloads = []
  const open = []
  let watchers = []

  function runner (payload, done, context) {
    const job = { payload, done, context }
    started.push(job)
    payloads.push(payload)
    open.push(job)
    const due = watchers.filter((watcher) => watcher.count <= started.length)
    watchers = watchers.filter((watcher) => watcher.count > started.length)
    due.forEach((watcher) => watcher.resolve())
  }

  function until (count) {
    if (started.length >= count) return Promise.resolve()
    return new Promise((resolve) => watchers.push({ count, resolve }))
  }

  function release (count = 1) {
    for (let i = 0; i < count; i++) {
      if (open.length === 0) throw new Error('no open job to release')
      const job = open.shift()
      job.done(null, job.payload)
    }
  }

  return { runner, started, payloads, open, until, release }
}
