'use strict'

// What the suite asserts with. It needs nothing of a test framework, and nothing of Node: engines may run in browsers.

module.exports = { equal, expect, reasonOf, rejects, throws }

/** @throws {Error} with that message, unless `condition` is truthy */
function expect (condition, message) {
  if (!condition) throw new Error(message)
}

/** Compares values, arrays and plain objects by what is in them. @throws {Error} that has `actual` and `expected`, which frameworks show */
function equal (actual, expected, what = 'it') {
  if (isSame(actual, expected)) return
  const error = new Error(`${what} is ${show(actual)}, not ${show(expected)}`)
  throw Object.assign(error, { name: 'AssertionError', actual, expected })
}

/** @param {string} code without FAIRLANE_ERR_ @returns {Error} what was thrown, at once, with that code */
function throws (call, code, what = 'the call') {
  let result
  try {
    result = call()
  } catch (error) {
    return coded(error, code, what)
  }
  reasonOf(result)
  throw new Error(`${what} did not throw FAIRLANE_ERR_${code}`)
}

/** @returns {Promise<Error>} what the promise rejects with, which has that code */
async function rejects (promise, code, what = 'the promise') {
  let value
  try {
    value = await promise
  } catch (error) {
    return coded(error, code, what)
  }
  throw new Error(`${what} resolved with ${show(value)}, but must reject with FAIRLANE_ERR_${code}`)
}

/** @returns {Promise<any>} what the promise rejects with; undefined if it does not. Nobody else is told that it rejects */
async function reasonOf (promise) {
  try {
    await promise
  } catch (error) {
    return error
  }
  return undefined
}

function coded (error, code, what) {
  equal(error?.code ?? String(error), `FAIRLANE_ERR_${code}`, `the code of the error of ${what}`)
  return error
}

function isSame (one, other) {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every(name => Object.hasOwn(other, name) && isSame(one[name], other[name]))
}

function show (value) {
  return JSON.stringify(value, (name, part) => part === undefined || ['function', 'symbol', 'bigint', 'number'].includes(typeof part) ? shownAs(part) : part)
}

/** JSON has no word for these. */
function shownAs (value) {
  return Number.isFinite(value) ? value : `(${String(value)})`
}
