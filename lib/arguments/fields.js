'use strict'

// What callers give in objects: options, and numbers by type. Only an object's own properties count, so that nobody else's
// `Object.prototype.timeoutMs` is obeyed; each is read once; and what cannot be looked at, as a revoked Proxy, is wrong use like other.

const { typeError, describe } = require('./errors')

const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, 'size').get

module.exports = { checkObject, ownNames, readFields, readKnown, readOwn, readEach, rejectUnknown, rejectName, copyOf, elementsOf, entriesOf, hasMethods, isArray, isBytes, isError, isMap, isOf }

/** Throws if value is none, or an array. @param {string} what it is */
function checkObject (value, what, code) {
  if (typeof value === 'object' && value !== null && !isArray(value)) return
  throw typeError(code, `${what} must be an object, not ${describe(value)}`)
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

/** @returns {object} what the reader of each name makes of the value that was given, or of undefined @param {object} given without a prototype */
function readEach (given, readers) {
  return Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(given[name])]))
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
  throw typeError(code, `unknown option ${describe(name)}${hint(name, names, hints)}`)
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

/** @returns {any[]} what an array holds, holes as undefined, without a call of its methods; throws of the code if it cannot be read */
function elementsOf (array, name, code) {
  try {
    const { length } = array
    const elements = []
    for (let i = 0; i < length; i++) elements.push(array[i])
    return elements
  } catch (cause) {
    throw unreadable(name, code, cause)
  }
}

/** Whether an object has these methods, itself or by its class. */
function hasMethods (object, names) {
  try {
    return names.every(name => typeof object[name] === 'function')
  } catch {
    return false
  }
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
  return Object.assign(typeError(code, `${what} cannot be read`), { cause })
}

function hint (name, names, hints) {
  if (hints !== undefined && hints.has(name)) return `; ${hints.get(name)}`
  const distances = names.map(known => editDistance(name.toLowerCase(), known.toLowerCase()))
  const least = Math.min(...distances)
  return 3 * least > name.length ? '' : `; did you mean '${names[distances.indexOf(least)]}'?`
}

/**
 * How many letters must be put in, taken out, changed, or swapped with the next one to make a into b
 * (Wagner and Fischer 1974; swaps as by Damerau 1964).
 */
function editDistance (a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = rows[i] = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(row[j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1)
    }
  }
  return rows[a.length][b.length]
}
