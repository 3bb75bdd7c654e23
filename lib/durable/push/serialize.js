'use strict'

// What of a job is in its record: when it was pushed, and its payload as bytes.
//
//   pushed at f64, ms since 1970 | options, of a job that has any: job-options.js | encoded payload

const STAMP_BYTES = 8
const LENGTH_BYTES = 2 // of the options

module.exports = { sizeOf, stampOf, headLength, decode, pushedAt, STAMP_BYTES, LENGTH_BYTES }

const stamp = Buffer.alloc(STAMP_BYTES)

/** What is to be written before the payload of a job that is pushed now; until the next one is asked for. */
function stampOf (now) {
  stamp.writeDoubleLE(now, 0)
  return stamp
}

/**
 * @param {{ decode: (bytes: Buffer) => any }} serializer
 * @param {Buffer} bytes which nobody else changes
 * @param {boolean} hasOptions
 * @returns {any} the payload; throws what decode throws
 */
function decode (serializer, bytes, hasOptions) {
  return serializer.decode(bytes.subarray(headLength(bytes, hasOptions)))
}

/** How many bytes of a job are its own on disk: its type, its payload and the time of its push. */
function sizeOf (type, length) {
  return length + (type === undefined ? 0 : Buffer.byteLength(type))
}

/** How many bytes of a job come before its encoded payload. */
function headLength (bytes, hasOptions) {
  return STAMP_BYTES + (hasOptions ? LENGTH_BYTES + bytes.readUInt16LE(STAMP_BYTES) : 0)
}

/** @returns {number} ms since 1970 */
function pushedAt (bytes) {
  return bytes.readDoubleLE(0)
}
