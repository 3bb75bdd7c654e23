'use strict'

// Options, read once when a queue is made: validated, completed, never kept by reference.

const { typeError, rangeError } = require('./errors')

const SETTLE_BY = ['either', 'callback', 'promise']

// name → how its value is read, given the value or undefined; what it returns is the normal form
const readers = {
  concurrency: value => value === undefined ? 10 : readConcurrency(value),
  settleBy: readSettleBy
}

module.exports = { readOptions, readConcurrency, rejectUnknown }

/**
 * @param {object | number | string | undefined} options an options object, or the concurrency alone
 * @returns {{ concurrency: number, settleBy: string }}
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY
 */
function readOptions (options) {
  if (typeof options === 'number' || typeof options === 'string') options = { concurrency: options }
  if (options === undefined) options = {}
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw typeError('FAIRLANE_ERR_OPTION', `options must be an object or the concurrency, not ${describe(options)}`)
  }
  rejectUnknown(options, Object.keys(readers), 'FAIRLANE_ERR_OPTION')
  return Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(options[name])]))
}

/**
 * @param {unknown} value a positive integer, Infinity, or a string of one
 * @returns {number}
 * @throws FAIRLANE_ERR_CONCURRENCY
 */
function readConcurrency (value) {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (number === Infinity || (Number.isInteger(number) && number > 0)) return number
  const error = typeof value === 'number' || typeof value === 'string' ? rangeError : typeError
  throw error('FAIRLANE_ERR_CONCURRENCY', `concurrency must be a positive integer or Infinity, not ${describe(value)}`)
}

function readSettleBy (value = 'either') {
  if (SETTLE_BY.includes(value)) return value
  const error = typeof value === 'string' ? rangeError : typeError
  throw error('FAIRLANE_ERR_OPTION', `settleBy must be one of ${SETTLE_BY.join(', ')}, not ${describe(value)}`)
}

/** Throws, with the nearest known name, if object has an own enumerable property of another name. */
function rejectUnknown (object, names, code) {
  for (const name of Object.keys(object)) {
    if (!names.includes(name)) {
      throw typeError(code, `unknown option ${describe(name)}; did you mean '${nearest(name, names)}'?`)
    }
  }
}

function nearest (name, names) {
  const distances = names.map(known => editDistance(name.toLowerCase(), known.toLowerCase()))
  return names[distances.indexOf(Math.min(...distances))]
}

/** How many letters must be put in, taken out or changed to make a into b (Wagner and Fischer 1974). */
function editDistance (a, b) {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(row[j - 1] + 1, previous[j] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    previous = row
  }
  return previous[b.length]
}

/** A value as error messages show it; short, and safe with values that can not be converted. */
function describe (value) {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}
