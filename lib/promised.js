'use strict'

// What a runner returned, as a promise.

/**
 * @param {any} returned
 * @returns {Promise<any> | undefined} undefined if it is no promise and no thenable
 * @throws what a getter of `then` throws
 */
function promiseOf (returned) {
  const then = isObject(returned) ? returned.then : undefined
  if (typeof then !== 'function') return undefined
  return returned instanceof Promise ? returned : new Promise((resolve, reject) => then.call(returned, resolve, reject))
}

function isObject (value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

module.exports = { promiseOf }
