'use strict'

// Payloads as bytes, where they leave the process: what the caller's serialize makes of them, or structured clone.

const { deserialize, serialize } = require('node:v8')
const { typeError, describe } = require('./errors')
const { isBytes } = require('./fields')

/** Structured clone: what postMessage can carry, `undefined` too. */
const structured = { encode: payload => serialize(payload), decode: bytes => deserialize(bytes) }

module.exports = { structured, encode, notEncoded }

/**
 * @param {{ encode: (payload: any) => Uint8Array }} serializer
 * @returns {Uint8Array}
 * @throws FAIRLANE_ERR_ARGUMENT, with what encode threw as `cause`
 */
function encode (serializer, payload) {
  let encoded
  try {
    encoded = serializer.encode(payload)
  } catch (cause) {
    throw notEncoded(cause)
  }
  if (isBytes(encoded)) return encoded
  throw typeError('FAIRLANE_ERR_ARGUMENT', `serialize.encode must return a Buffer, and it returned ${describe(encoded)}`)
}

function notEncoded (cause) {
  return Object.assign(typeError('FAIRLANE_ERR_ARGUMENT', 'the payload cannot be encoded'), { cause })
}
