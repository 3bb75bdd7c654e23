'use strict'

// The beginner's first mistake: `n => n * 2` under settleBy 'either'. Its value is no promise, and it takes no `done`, so none of its
// jobs ever ends, and nothing says why. Whether a runner takes `done` is told from its source, once, when the first such value comes.

const { describe, warn } = require('../arguments/errors')

// One parameter without parentheses.
const BARE = /^(?:async\s+)?[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>/u
const CLOSING = { '(': ')', '[': ']', '{': '}' }

/**
 * Warns that a runner has returned a value which settles nothing, if it can not settle its job by `done` either.
 * @param {Function} runner
 * @param {any} value
 */
function warnOfValue (runner, value) {
  if (mayTakeDone(runner)) return
  warn('FAIRLANE_WARN_VALUE_IGNORED', `A runner returned ${describe(value)}, which is no promise, and it takes no parameter 'done': its ` +
    "jobs never end. If what it returns is the result, make the queue with settleBy: 'promise'; else have it call done(err, result).")
}

/** Whether a function has, or may have, a second parameter. */
function mayTakeDone (fn) {
  try {
    return fn.length > 1 || mayTakeSecond(Function.prototype.toString.call(fn))
  } catch {
    return true // a Proxy may throw
  }
}

/** The same by its source: where that is not sure, it may. */
function mayTakeSecond (source) {
  if (source.includes('[native code]') || /\barguments\b/.test(source)) return true
  if (BARE.test(source)) return false
  const begin = source.indexOf('(')
  return /['"`/[]/.test(source.slice(0, begin)) || hasSecond(source, begin + 1)
}

/** Whether there is a comma between two parameters, or a rest parameter, in the list that begins there. */
function hasSecond (source, begin) {
  const open = []
  let isSecond = false // a comma has come
  for (let at = begin; at < source.length; at++) {
    const char = source[at]
    if (open.length === 0 && (char === ')' || isSecond || source.startsWith('...', at))) {
      if (isSecond && /\s/.test(char)) continue
      return char !== ')'
    }
    if (/['"`/]/.test(char)) return true // strings, comments and patterns may hold anything
    if (char in CLOSING) open.push(CLOSING[char])
    else if (char === open.at(-1)) open.pop()
    else if (char === ',' && open.length === 0) isSecond = true
  }
  return true
}

module.exports = { warnOfValue, mayTakeDone }
