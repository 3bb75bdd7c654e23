'use strict'

// What of a job is in its record: when it was pushed, and its payload as the caller's serialize, or v8's, makes bytes of it.
//
//   pushed at f64, ms since 1970 | encoded payload

const { deserialize, serialize } = require('node:v8')
const { typeError, describe } = require('../errors')
const { isBytes } = require('../fields')

const STAMP_BYTES = 8

/** Structured clone: what postMessage can carry, `undefined` too. */
const structured = { encode: payload => serialize(payload), decode: bytes => deserialize(bytes) }

module.exports = { structured, encode, stampOf, decode, pushedAt, STAMP_BYTES }

const stamp = Buffer.alloc(STAMP_BYTES)

/**
 * @param {{ encode: (payload: any) => Uint8Array }} serializer
 * @returns {Uint8Array} what is to be written behind the stamp
 * @throws FAIRLANE_ERR_ARGUMENT, with what encode threw as `cause`
 */
function encode (serializer, payload) {
  let encoded
  try {
    encoded = serializer.encode(payload)
  } catch (cause) {
    throw Object.assign(typeError('FAIRLANE_ERR_ARGUMENT', 'the payload cannot be encoded'), { cause })
  }
  if (!isBytes(encoded)) {
    throw typeError('FAIRLANE_ERR_ARGUMENT', `serialize.encode must return a Buffer, and it returned ${describe(encoded)}`)
  }
  return encoded
}

/** What is to be written before the payload of a job that is pushed now; until the next one is asked for. */
function stampOf (now) {
  stamp.writeDoubleLE(now, 0)
  return stamp
}

/**
 * @param {{ decode: (bytes: Buffer) => any }} serializer
 * @param {Buffer} bytes which nobody else changes
 * @returns {any} the payload; throws what decode throws
 */
function decode (serializer, bytes) {
  return serializer.decode(bytes.subarray(STAMP_BYTES))
}

/** @returns {number} ms since 1970 */
function pushedAt (bytes) {
  return bytes.readDoubleLE(0)
}
