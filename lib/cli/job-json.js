'use strict'

// Jobs as they are printed: fit for JSON. A payload is shown on request only, since it is the tenants' own:
//
//   payload        what JSON holds as it is
//   payloadBytes   bytes in base64: of a serializer of the service's own, or what was pushed as bytes
//   payloadText    all else that structured clone takes, as Node shows it
//   payloadError   why it cannot be read

const { inspect, isDeepStrictEqual } = require('node:util')
const { isBytes } = require('../arguments/fields')
const { errorOf, errorText } = require('../job/error-text')

const ALL = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity }

/** @param {object} job of a queue or a folder @param {boolean} [hasPayload] whether that is wanted */
function jsonOf (job, hasPayload = false) {
  const { id, type, state = 'dead', attempts, pushedAt, dueAt, at: diedAt, error, key, priority, cost, schedule } = job
  return {
    id,
    type,
    state,
    attempts,
    pushedAt,
    dueAt,
    diedAt,
    error: error === undefined ? undefined : { name: error.name, code: error.code, message: error.message },
    key,
    priority,
    cost,
    schedule,
    ...hasPayload ? payloadOf(job) : undefined
  }
}

function payloadOf (job) {
  let payload
  try {
    payload = job.payload
  } catch (err) {
    return { payloadError: errorOf(errorText(err)).message }
  }
  if (isBytes(payload)) return { payloadBytes: Buffer.from(payload).toString('base64') }
  return isJson(payload) ? { payload } : { payloadText: inspect(payload, ALL) }
}

/** Whether JSON has all of it. */
function isJson (payload) {
  try {
    return isDeepStrictEqual(JSON.parse(JSON.stringify(payload)), payload)
  } catch {
    return false
  }
}

module.exports = { jsonOf }
