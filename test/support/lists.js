'use strict'

// Lists (lib/core/lists) as tests look at them.

module.exports = { taken, payloads }

/** Has the list take out a job, if one may start. @returns {any} its payload; undefined for none */
function taken (list) {
  if (!list.take()) return undefined
  const { payload } = list
  list.payload = list.whenSettled = undefined
  return payload
}

/** Those of the jobs that wait, in order. */
function payloads (list) {
  const found = []
  list.forEach(payload => found.push(payload))
  return found
}
