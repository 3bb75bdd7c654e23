'use strict'

// What of a job is in its record: when it was pushed, and its payload as bytes.
//
//   pushed at f64, ms since 1970 | encoded payload

const STAMP_BYTES = 8

module.exports = { stampOf, decode, pushedAt, STAMP_BYTES }

const stamp = Buffer.alloc(STAMP_BYTES)

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
