'use strict'

// Whether a call may be made again: it changes nothing more when it is, its body can be sent again, and the answer, or the error, says that
// it might go better then.

const { FairlaneError } = require('../arguments/errors')
const { isError, isOf } = require('../arguments/fields')

const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'] // RFC 9110, 9.2.2; nobody can send TRACE
const REPEATED = [408, 425, 429, 500, 502, 503, 504]

// A TypeError stands for a failure of the network, and for a call that is wrong. Node.js and Bun tell the first by a code, of the error or
// of its cause; others by what they say: Chromium, Firefox, Safari, Deno, React Native.
const OF_NETWORK = new RegExp('^(' + [
  'fetch failed$', 'terminated$', 'failed to fetch', 'networkerror', 'network error', 'load failed', 'network request failed',
  '(the )?(internet|network) connection', 'error (sending|reading)'
].join('|') + ')', 'i')
// Codes of those whose caller was wrong.
const OF_CALLER = /^(ERR_INVALID_|UND_ERR_(INVALID_|NOT_SUPPORTED|REQ_))/
// Of those that are no TypeError, the ones that a program makes by mistake, and those of somebody who has ended the call.
const NOT_OF_NETWORK = ['AbortError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']
const DOM_OF_NETWORK = ['NetworkError', 'TimeoutError']

module.exports = { isIdempotent, isNetworkFailure, isRepeated, isSentOnce }

/** @param {string} method in upper case */
function isIdempotent (method) {
  return IDEMPOTENT.includes(method)
}

/** @param {any} body of an init, neither null nor undefined */
function isSentOnce (body) {
  return typeof body === 'object' && ['getReader', 'pipe', 'next', Symbol.asyncIterator].some(name => typeof body[name] === 'function')
}

/** @param {any} response */
function isRepeated (response) {
  return REPEATED.includes(response?.status)
}

/** @param {any} err what a call has failed with */
function isNetworkFailure (err) {
  if (!isError(err) || isOf(err, FairlaneError)) return false
  if (isOf(err, globalThis.DOMException)) return DOM_OF_NETWORK.includes(err.name)
  if (err.name !== 'TypeError') return !NOT_OF_NETWORK.includes(err.name)
  const cause = isError(err.cause) ? err.cause : err
  const code = err.code ?? cause.code
  return typeof code === 'string' ? !OF_CALLER.test(code) : OF_NETWORK.test(cause.message)
}
