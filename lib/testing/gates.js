'use strict'

// A runner whose jobs end when the test says so.

/**
 * @returns {{ runner: Function, started: object[], open: object[], until: (count: number) => Promise<void>,
 *   release: (count?: number) => void, fail: (error: any) => void }} `runner` for the queue; `started`, the jobs in the order in which
 *   they began, `{ payload, done, context }`; `open`, those of them that have not been ended; `until(n)` resolves at the n-th
 *   start; `release(n)` ends the n (1) oldest open jobs with their payload as the result; `fail(error)` fails the oldest
 */
function gateRunner () {
  const started = []
  const open = []
  let watchers = []

  function runner (payload, done, context) {
    if (typeof done === 'function') return begin({ payload, done, context })
    return new Promise((resolve, reject) => { // under settleBy: 'promise' the context is there
      begin({ payload, done: (err, result) => err ? reject(err) : resolve(result), context: done })
    })
  }

  function begin (job) {
    started.push(job)
    open.push(job)
    for (const { count, resolve } of watchers) if (count <= started.length) resolve()
    watchers = watchers.filter(({ count }) => count > started.length)
  }

  function until (count) {
    if (started.length >= count) return Promise.resolve()
    return new Promise(resolve => watchers.push({ count, resolve }))
  }

  function next () {
    if (open.length === 0) throw new Error('no job is open: wait for one with until(count) first')
    return open.shift()
  }

  function release (count = 1) {
    for (let i = 0; i < count; i++) {
      const { payload, done } = next()
      done(null, payload)
    }
  }

  return { runner, started, open, until, release, fail: error => next().done(error) }
}

module.exports = { gateRunner }
