'use strict'

// Payloads as bytes, where they leave the process: what the caller's serialize makes of them, or structured clone.

const { deserialize, serialize } = require('node:v8')
const { typeError, describe } = require('../arguments/errors')
const { hasMethods, isBytes } = require('../arguments/fields')

/** Structured clone: what postMessage can carry, `undefined` too. */
const structured = { encode: payload => serialize(payload), decode: bytes => deserialize(bytes) }

/** JSON, as text. What is nothing there, such as `undefined`, takes no bytes. */
const json = {
  encode (payload) {
    checkJson(payload)
    return Buffer.from(JSON.stringify(payload) ?? '')
  },
  decode: bytes => bytes.length === 0 ? undefined : JSON.parse(bytes.toString())
}

module.exports = { json, structured, checkJson, readSerializer, nameOf, encode, notEncoded }

/**
 * @param {unknown} value the option `serialize`: 'json', 'structured', or an object with encode and decode
 * @param {'json' | 'structured'} byDefault
 * @returns {{ encode: (payload: any) => Uint8Array, decode: (bytes: Buffer) => any }}
 * @throws FAIRLANE_ERR_OPTION
 */
function readSerializer (value, byDefault) {
  const given = value === undefined ? byDefault : value
  if (given === 'json') return json
  if (given === 'structured') return structured
  if (given !== null && hasMethods(given, ['encode', 'decode'])) return given
  throw typeError('FAIRLANE_ERR_OPTION',
    `serialize must be 'json', 'structured' or an object with the methods encode and decode, not ${describe(value)}`)
}

/** @returns {'json' | 'structured' | 'custom'} of a serializer that was read */
function nameOf (serializer) {
  if (serializer === json) return 'json'
  return serializer === structured ? 'structured' : 'custom'
}

/** Throws for what JSON leaves out without a word. */
function checkJson (payload) {
  if (typeof payload === 'function' || typeof payload === 'symbol') throw new TypeError('JSON cannot hold functions or symbols')
}

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
  throw typeError('FAIRLANE_ERR_ARGUMENT', `serialize.encode must return a Buffer or Uint8Array, not ${describe(encoded)}`)
}

function notEncoded (cause) {
  return typeError('FAIRLANE_ERR_ARGUMENT', 'the payload cannot be encoded', { cause })
}
