'use strict'

// Readers of options and arguments that come in an object, for rooms that validate more than one of them.

const { typeError, rangeError, describe } = require('./errors')
const { readEach, readOwn } = require('./fields')

module.exports = { readAll, readWhole, readChoice, readText, readFlag, wrong }

/**
 * Reads each field once.
 * @param {object} [options]
 * @param {Object<string, (value: any) => any>} readers by name; they are given undefined for a field that is not there
 * @param {string} code of the error that is thrown for an unknown name, or for what is no object
 */
function readAll (options = {}, readers, code) {
  return readEach(readOwn(options, 'the options', Object.keys(readers), code), readers)
}

/** Whole, 0 or more, or Infinity. */
function readWhole (value, name, code) {
  if (value === Infinity || (Number.isInteger(value) && value >= 0)) return value
  throw wrong(value, 'number', code, `${name} must be a whole number or Infinity`)
}

function readChoice (value, name, choices, code) {
  if (choices.includes(value)) return value
  throw wrong(value, 'string', code, `${name} must be one of ${choices.join(', ')}`)
}

/** Any but ''. */
function readText (value, name, code) {
  if (typeof value === 'string' && value !== '') return value
  throw typeError(code, `${name} must be a string with something in it, not ${describe(value)}`)
}

function readFlag (value, name, code) {
  if (typeof value === 'boolean') return value
  throw wrong(value, 'boolean', code, `${name} must be true or false`)
}

/** @returns {Error} a RangeError for a value of the right type @param {string} type what `typeof` would give */
function wrong (value, type, code, what) {
  const error = typeof value === type ? rangeError : typeError // eslint-disable-line valid-typeof
  return error(code, `${what}, not ${describe(value)}`)
}
