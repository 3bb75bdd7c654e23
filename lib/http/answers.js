'use strict'

// What a request is answered that is not handled: problem details (RFC 9457), and when to come back.

const { spread } = require('../platform/jitter')

const TITLES = { 429: 'Too Many Requests', 500: 'Internal Server Error', 503: 'Service Unavailable' }
const DETAILS = {
  FAIRLANE_ERR_TYPE_FULL: 'Too many of your requests are waiting already.',
  FAIRLANE_ERR_QUEUE_FULL: 'Too many requests are waiting already.',
  FAIRLANE_ERR_MAX_WAIT: 'The request has waited for too long.',
  FAIRLANE_ERR_TIMEOUT: 'The request has taken too long.',
  FAIRLANE_ERR_CLOSED: 'The server is being shut down.'
}

module.exports = { failureOf, problemOf, timingOf }

/**
 * @param {FairlaneError} error that the queue has refused or ended a request with
 * @returns {{ status: number, title: string, headers: object, body: string }}
 */
function problemOf ({ code, retryAfterMs = 0 }) {
  const status = code === 'FAIRLANE_ERR_TYPE_FULL' ? 429 : 503
  const title = TITLES[status]
  const body = JSON.stringify({ type: 'about:blank', title, status, detail: DETAILS[code] ?? 'The server does not handle the request.', code })
  const headers = {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(body.length), // of ASCII
    'Retry-After': String(Math.max(1, Math.ceil(spread(retryAfterMs) / 1000)))
  }
  return { status, title, headers, body }
}

/**
 * What a request is answered that could not be let in, since the caller's code has failed.
 * @returns {{ status: number, title: string, headers: object, body: string }}
 */
function failureOf ({ code }) {
  const status = 500
  const title = TITLES[status]
  const told = typeof code === 'string' && /^\w+$/.test(code) ? code : undefined
  const body = JSON.stringify({ type: 'about:blank', title, status, detail: 'The request could not be let in.', code: told })
  return { status, title, headers: { 'Content-Type': 'application/problem+json', 'Content-Length': String(body.length) }, body }
}

/** The header Server-Timing of a request that has waited so long. */
function timingOf (ms) {
  return `queue;dur=${ms.toFixed(1)}`
}
