'use strict'

// The beginner's first mistake: `n => n * 2` under settleBy 'either'. Its value is no promise, and it takes no `done`, so none of its
// jobs ever ends, and nothing says why. Whether a runner takes `done` is asked once, when the first such value comes.

const { describe, warn } = require('../arguments/errors')

// How a function may take more than its `length` says, or hide what it takes: bound ones, native ones and proxies are native code.
const MAY_TAKE_MORE = /\barguments\b|\.\.\.|\[native code\]/

/**
 * Warns that a runner has returned a value which settles nothing, if it can not settle its job by `done` either.
 * @param {Function} runner
 * @param {any} value
 */
function warnOfValue (runner, value) {
  if (mayTakeDone(runner)) return
  warn('FAIRLANE_WARN_VALUE_IGNORED', `A runner returned ${describe(value)}, which is not a promise, and takes no parameter 'done', so ` +
    "its jobs never end. If that value is the result, make the queue with settleBy: 'promise'; otherwise have it call done(err, result).")
}

/** Whether a function may have a second parameter. Where there is a default, `length` does not count on: 0 says nothing. */
function mayTakeDone (fn) {
  try {
    return fn.length !== 1 || MAY_TAKE_MORE.test(Function.prototype.toString.call(fn))
  } catch {
    return true // a Proxy may throw
  }
}

module.exports = { warnOfValue }
