'use strict'

// What a response says of how long nothing more is to be asked: by Retry-After, or because there is nothing left of a limit.
//
//   Retry-After: 30                                      seconds, or a date; of 429, 503 and 403
//   RateLimit: "burst";r=0;t=5, "day";r=12;t=40000       draft-ietf-httpapi-ratelimit-headers from 08 on
//   RateLimit: limit=100, remaining=0, reset=5           ... 07
//   RateLimit-Remaining: 0 + RateLimit-Reset: 5          ... up to 06
//   X-RateLimit-Remaining: 0 + X-RateLimit-Reset: 5      as services have them, GitHub with seconds since 1970

const { readRetryAfter, readSecondsOrDate } = require('../job/retry-after')

const WITH_RETRY_AFTER = [429, 503, 403] // the last by GitHub
// By the field for what is left: those for how long, the first of which that can be read counts. Some servers mix them.
const RESETS = {
  'ratelimit-remaining': ['ratelimit-reset'],
  'x-ratelimit-remaining': ['x-ratelimit-reset-after', 'x-ratelimit-reset'],
  'x-rate-limit-remaining': ['x-rate-limit-reset']
}
const ALL_RESETS = Object.values(RESETS).flat()

// A number from there on is a time since 1970: in seconds since 2001, in ms since 2001. Nobody has a limit of 31 years.
const FIRST_TIME = 1e9
const FIRST_TIME_MS = 1e12

// What commas and semicolons separate, where they are not in a string (RFC 9651).
const MEMBERS = /(?:"(?:[^"\\]|\\.)*"|[^",])+/g
const PARTS = /(?:"(?:[^"\\]|\\.)*"|[^";])+/g
// They may look for the end of a string from each quote in it, which takes the square of the length: no service is to keep us busy by that.
const LONGEST = 2048
const FIELD = /^\s*(\w+)\s*=\s*(\S+)\s*$/
const NUMBER = /^\s*-?\d+(\.\d+)?\s*$/

module.exports = { holdMsOf }

/**
 * @param {any} response also of what imitates fetch, and may have no headers
 * @returns {number} in ms; 0: now
 */
function holdMsOf (response) {
  const { status, headers } = response ?? {}
  if (typeof headers?.get !== 'function') return 0
  return Math.max(msOfRetryAfter(status, headers), msOfFields(headers), msOfField(headers.get('ratelimit')))
}

/** At least 1 s if there is one: it may say 0, or what nobody can read. */
function msOfRetryAfter (status, headers) {
  const text = WITH_RETRY_AFTER.includes(status) ? headers.get('retry-after') : null
  return typeof text === 'string' ? readRetryAfter(text) : 0
}

/** One field for what is left, and one for how long. */
function msOfFields (headers) {
  const usedUp = Object.keys(RESETS).filter(name => isNothing(headers.get(name)))
  return Math.max(0, ...usedUp.map(name => firstResetMs(headers, [...RESETS[name], ...ALL_RESETS])))
}

function firstResetMs (headers, names) {
  return names.map(name => resetMs(headers.get(name))).find(ms => ms !== undefined) ?? 0
}

/** One field for all: a list of limits with parameters, or a dictionary of one. The longest of those that are used up. */
function msOfField (text) {
  if (typeof text !== 'string' || text.length > LONGEST) return 0
  const members = text.match(MEMBERS) ?? []
  const limits = members.map(member => fieldsOf(member.match(PARTS) ?? [])).map(({ r, t }) => [r, t])
  const { remaining, reset } = fieldsOf(members)
  return Math.max(...[...limits, [remaining, reset]].map(([left, ms]) => isNothing(left) ? resetMs(ms) ?? 0 : 0))
}

/** @param {string[]} parts such as 'r=0' @returns {object} by name */
function fieldsOf (parts) {
  return Object.fromEntries(parts.map(part => FIELD.exec(part)).filter(Boolean).map(([, name, value]) => [name, value]))
}

function isNothing (text) {
  return typeof text === 'string' && NUMBER.test(text) && Number(text) <= 0
}

/** @param {any} text seconds from now, or a time @returns {number | undefined} 0 if it is over; undefined if it cannot be read */
function resetMs (text) {
  const number = Number(text)
  const ms = number >= FIRST_TIME_MS
    ? number - Date.now()
    : number >= FIRST_TIME ? number * 1000 - Date.now() : readSecondsOrDate(text)
  return ms <= Number.MAX_SAFE_INTEGER ? Math.max(ms, 0) : undefined
}
