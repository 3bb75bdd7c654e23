'use strict'

// What callers give: objects, as options or numbers by type, and the values in them. Of an object only its own properties count, so that
// nobody else's `Object.prototype.timeoutMs` is obeyed; each is read once; and what cannot be looked at, as a revoked Proxy, is wrong use
// like other. A reader of a value returns it, or throws; what stands for an absent one is said where the options are listed.

const { typeError, rangeError, describe } = require('./errors')

const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, 'size').get
const SIGNAL_METHODS = ['addEventListener', 'removeEventListener']

module.exports = {
  checkObject,
  ownNames,
  readFields,
  readKnown,
  readOwn,
  readEach,
  readAll,
  readByType,
  rejectUnknown,
  rejectName,
  copyOf,
  elementsOf,
  entriesOf,
  readFlag,
  readChoice,
  readText,
  readFunction,
  readPart,
  readSignal,
  readCount,
  readPositiveCount,
  readInteger,
  readWhole,
  readDuration,
  readLimitMs,
  readFiniteMs,
  readNumber,
  wrong,
  hasMethods,
  isObject,
  isArray,
  isBytes,
  isError,
  isMap,
  isOf
}

/** Throws if value is none, or an array. @param {string} what it is */
function checkObject (value, what, code) {
  if (!isObject(value)) throw typeError(code, `${what} must be an object, not ${describe(value)}`)
}

/**
 * @param {object} object
 * @param {string} code
 * @returns {string[]} the names of its own properties
 * @throws of that code if they cannot be listed
 */
function ownNames (object, code) {
  try {
    return Object.getOwnPropertyNames(object)
  } catch (cause) {
    throw unreadable('the options', code, cause)
  }
}

/** @returns {object} without a prototype: those of the names that object has itself, each read once */
function readFields (object, names, code) {
  const fields = Object.create(null)
  for (const name of ownNames(object, code)) {
    if (names.includes(name)) fields[name] = object[name]
  }
  return fields
}

/** The same for an object that may have no others. Arguments and errors as those of rejectUnknown(). */
function readKnown (object, names, code, hints) {
  rejectUnknown(object, names, code, hints)
  return readFields(object, names, code)
}

/** As readKnown(), of what may be no object at all. @param {string} what it is */
function readOwn (value, what, names, code, hints) {
  checkObject(value, what, code)
  return readKnown(value, names, code, hints)
}

/**
 * @param {object} given without a prototype
 * @param {Object<string, (value: any) => any>} readers by name; they are given undefined for a field that is not there
 * @returns {object} what each makes of its field
 */
function readEach (given, readers) {
  return Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(given[name])]))
}

/** The same for options as a caller gives them, which may be left out. @param {string} [what] they are */
function readAll (options = {}, readers, code, what = 'the options') {
  return readEach(readOwn(options, what, Object.keys(readers), code), readers)
}

/**
 * What an object or a Map holds for each type.
 * @param {(value: any, name: string) => any} read given the name of the option with the type
 * @returns {Map<string, any>}
 */
function readByType (value, name, code, read) {
  if (!isObject(value)) throw typeError(code, `${name} must be an object or a Map with types as keys, not ${describe(value)}`)
  return new Map(entriesOf(value, name, code).map(([type, entry]) => [type, read(entry, `${name}[${describe(type)}]`)]))
}

/**
 * Throws, with the nearest known name, if object has an own enumerable property of another name.
 * @param {object} object
 * @param {string[]} names
 * @param {string} code
 * @param {Map<string, string>} [hints] what is said of some names, in place of the nearest known one
 */
function rejectUnknown (object, names, code, hints) {
  for (const name of ownNames(object, code)) {
    if (!names.includes(name)) rejectName(object, name, names, code, hints)
  }
}

/** The same for an own property whose name is known to be another one. */
function rejectName (object, name, names, code, hints) {
  if (!Object.prototype.propertyIsEnumerable.call(object, name)) return
  const { hintOf } = require('./hints')
  throw typeError(code, `unknown option ${describe(name)}${hintOf(name, names, hints)}`)
}

/** @returns {object} with an object's own properties; throws of the code if they cannot be listed */
function copyOf (object, code) {
  return Object.fromEntries(ownNames(object, code).map(name => [name, object[name]]))
}

/**
 * @param {object} value a Map, or an object
 * @returns {[string, any][]} its entries, those of an object if they are its own, with keys as strings
 * @throws of the code if they cannot be read
 */
function entriesOf (value, name, code) {
  try {
    return (isMap(value) ? [...value] : Object.entries(value)).map(([key, entry]) => [String(key), entry])
  } catch (cause) {
    throw unreadable(name, code, cause)
  }
}

/**
 * @returns {any[]} what an array holds, holes as undefined, without a call of its methods
 * @throws of the code if it cannot be read
 */
function elementsOf (array, name, code) {
  try {
    const { length } = array
    if (length === 1) return [array[0]]
    const elements = []
    for (let i = 0; i < length; i++) elements.push(array[i])
    return elements
  } catch (cause) {
    throw unreadable(name, code, cause)
  }
}

/** True or false. */
function readFlag (value, name, code) {
  if (typeof value === 'boolean') return value
  throw typeError(code, `${name} must be true or false, not ${describe(value)}`)
}

/** One of some words. */
function readChoice (value, name, choices, code) {
  if (choices.includes(value)) return value
  throw wrong(value, 'string', code, `${name} must be one of '${choices.join("', '")}'`)
}

/** Any string but ''. */
function readText (value, name, code) {
  if (typeof value === 'string' && value !== '') return value
  throw typeError(code, `${name} must be a non-empty string, not ${describe(value)}`)
}

function readFunction (value, name, code) {
  if (typeof value === 'function') return value
  throw typeError(code, `${name} must be a function, not ${describe(value)}`)
}

/** An object that is told by its methods. @param {string} what what it must be, with its name */
function readPart (value, methods, what, code) {
  if (hasMethods(value, methods)) return value
  throw typeError(code, `${what}, not ${describe(value)}`)
}

function readSignal (value, code) {
  const isSignal = typeof value === 'object' && value !== null && hasMethods(value, SIGNAL_METHODS) && typeof value.aborted === 'boolean'
  if (isSignal) return value
  throw typeError(code, `signal must be an AbortSignal, not ${describe(value)}`)
}

/** Whole, 0 or more, or Infinity. */
function readCount (value, name, code) {
  if (value === Infinity || (Number.isInteger(value) && value >= 0)) return value
  throw wrong(value, 'number', code, `${name} must be a non-negative integer or Infinity`)
}

/** Whole, 1 or more, or Infinity. */
function readPositiveCount (value, name, code) {
  if (value === Infinity || (Number.isInteger(value) && value >= 1)) return value
  throw wrong(value, 'number', code, `${name} must be a positive integer or Infinity`)
}

function readInteger (value, name, least, most, code) {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw wrong(value, 'number', code, `${name} must be an integer from ${least} to ${most}`)
}

/** As the numbers of jobs and records are; those of unshifted jobs are below 0. */
function readWhole (value, name, code) {
  if (Number.isInteger(value)) return value
  throw typeError(code, `${name} must be an integer, not ${describe(value)}`)
}

/** A time in ms, 0 or more, or Infinity. */
function readDuration (value, name, code) {
  if (typeof value === 'number' && value >= 0) return value
  throw wrong(value, 'number', code, `${name} must be a time in ms, 0 or more, or Infinity`)
}

/** A time in ms above 0, or Infinity. */
function readLimitMs (value, name, code) {
  if (value !== 0) return readDuration(value, name, code)
  throw rangeError(code, `${name} must be above 0; use Infinity for no limit`)
}

/** A time in ms, 0 or more, that comes to its end. */
function readFiniteMs (value, name, code) {
  if (Number.isFinite(value) && value >= 0) return value
  throw wrong(value, 'number', code, `${name} must be a finite time in ms, 0 or more`)
}

function readNumber (value, name, least, most, code) {
  if (typeof value === 'number' && value >= least && value <= most) return value
  throw wrong(value, 'number', code, `${name} must be a number from ${least} to ${most}`)
}

/** @returns {Error} a RangeError for a value of the right type @param {string} type what `typeof` would give */
function wrong (value, type, code, what) {
  const error = typeof value === type ? rangeError : typeError // eslint-disable-line valid-typeof
  return error(code, `${what}, not ${describe(value)}`)
}

/** Whether an object has these methods, itself or by its class. */
function hasMethods (object, names) {
  try {
    return names.every(name => typeof object[name] === 'function')
  } catch {
    return false
  }
}

/** Neither null nor an array. */
function isObject (value) {
  return typeof value === 'object' && value !== null && !isArray(value)
}

/** As Array.isArray(), which throws for a revoked Proxy. */
function isArray (value) {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

function isBytes (value) {
  return isOf(value, Uint8Array)
}

/** As instanceof, which throws for a revoked Proxy. */
function isOf (value, Class) {
  try {
    return value instanceof Class
  } catch {
    return false
  }
}

/** Also of another realm, as a frame or a context of node:vm: what only a Map has answers, or throws. */
function isMap (value) {
  try {
    mapSize.call(value)
    return true
  } catch {
    return isOf(value, Map) // a Proxy, which may not be taken for an object without entries
  }
}

/** Also of another realm. */
function isError (value) {
  return isOf(value, Error) || (typeof value === 'object' && isForeignError(value))
}

/* istanbul ignore next: each version of Node takes one way */
function isForeignError (value) {
  if (typeof Error.isError === 'function') return Error.isError(value)
  try {
    return Object.prototype.toString.call(value) === '[object Error]'
  } catch {
    return false
  }
}

function unreadable (what, code, cause) {
  return typeError(code, `${what} cannot be read`, { cause })
}
