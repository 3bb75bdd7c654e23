'use strict'

// Errors on their way out of a thread. Structured clone keeps the class and the message of an error; `code`, `retryAfterMs` and whatever
// else was put on it are lost. So an error is taken to pieces in the thread, and put together outside.

const { isNativeError } = require('node:util').types
const { describe } = require('../arguments/errors')

const MAX_DEPTH = 8 // of causes, which may go round in circles
const CLASSES = { AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }

module.exports = { takeApart, putTogether }

/**
 * @param {any} reason what was thrown
 * @returns {{ value: any } | { className: string, name: string, message: string, stack: string, fields: any[] }} what can be cloned
 */
function takeApart (reason, depth = 0) {
  try {
    if (isNativeError(reason) || reason instanceof Error) return partsOf(reason, depth)
  } catch {
    return partsOf(new Error('The job failed with an error that cannot be read'), depth)
  }
  return canBeCloned(reason) ? { value: reason } : partsOf(new Error(`The job failed with ${describe(reason)}`), depth)
}

/** @returns {any} what was thrown, or as much of it as there is */
function putTogether (parts) {
  if (!('className' in parts)) return parts.value
  const { className, name, message, stack, fields } = parts
  const err = newError(className, name, message)
  define(err, 'stack', stack, false)
  if (err.name !== name) define(err, 'name', name, false)
  for (const { key, isEnumerable, value, isList } of fields) {
    define(err, key, isList ? value.map(putTogether) : putTogether(value), isEnumerable)
  }
  return err
}

function partsOf (err, depth) {
  const { message, name, stack } = err
  const fields = depth < MAX_DEPTH ? fieldsOf(err, depth) : []
  return { className: classOf(err), name: String(name), message: String(message), stack: String(stack), fields }
}

/** Its own properties; `cause` and the `errors` of an AggregateError are not enumerable. */
function fieldsOf (err, depth) {
  const fields = []
  for (const [key, { enumerable: isEnumerable }] of Object.entries(Object.getOwnPropertyDescriptors(err))) {
    const { [key]: value } = err
    if (key === 'message' || key === 'stack' || (!isEnumerable && key !== 'cause' && key !== 'errors')) continue
    const isList = Array.isArray(value) && value.some(isNativeError)
    if (isList) fields.push({ key, isEnumerable, isList, value: value.map(item => takeApart(item, depth + 1)) })
    else if (isNativeError(value) || canBeCloned(value)) fields.push({ key, isEnumerable, isList, value: takeApart(value, depth + 1) })
  }
  return fields
}

function classOf (err) {
  if (err instanceof DOMException) return 'DOMException'
  return Object.keys(CLASSES).find(name => err instanceof CLASSES[name]) ?? 'Error'
}

function newError (className, name, message) {
  if (className === 'DOMException') return new DOMException(message, name)
  if (className === 'AggregateError') return new AggregateError([], message)
  return new (CLASSES[className] ?? Error)(message)
}

function canBeCloned (value) {
  try {
    structuredClone(value)
    return true
  } catch {
    return false
  }
}

function define (err, key, value, enumerable) {
  Object.defineProperty(err, key, { value, enumerable, writable: true, configurable: true })
}
