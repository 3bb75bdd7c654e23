'use strict'

// Payloads as what BullMQ calls the data of a job, which is JSON: `{ payload }`, or `{ bytes }` in base64; and `inbox`, whom to tell its result.

const v8 = require('node:v8')
const { typeError, describe } = require('../errors')
const { hasMethods, isBytes } = require('../fields')

const structured = { encode: payload => v8.serialize(payload), decode: bytes => v8.deserialize(bytes) }

module.exports = { readSerialize, encodeResult }

/**
 * @param {unknown} value 'json', 'structured', or an object with encode and decode
 * @returns {{ encode: (payload: any, inbox: string | undefined) => string, decode: (data: object) => any }} of the data of jobs
 * @throws FAIRLANE_ERR_OPTION
 */
function readSerialize (value = 'json') {
  if (value === 'json') return json
  if (value === 'structured') return bytesBy(structured)
  if (typeof value === 'object' && value !== null && hasMethods(value, ['encode', 'decode'])) return bytesBy(value)
  throw typeError('FAIRLANE_ERR_OPTION',
    `serialize must be 'json', 'structured' or an object with the methods encode and decode, not ${describe(value)}`)
}

/** @returns {string} @throws what JSON.stringify throws */
function encodeResult (result) {
  return JSON.stringify(result) ?? 'null'
}

const json = {
  encode (payload, inbox) {
    if (typeof payload === 'function' || typeof payload === 'symbol') throw notEncoded(new TypeError('JSON has no functions and no symbols'))
    try {
      return JSON.stringify({ payload, inbox })
    } catch (cause) {
      throw notEncoded(cause)
    }
  },
  decode: ({ payload }) => payload
}

function bytesBy (serializer) {
  return {
    encode: (payload, inbox) => JSON.stringify({ bytes: bytesOf(serializer, payload), inbox }),
    decode: ({ bytes }) => serializer.decode(Buffer.from(bytes, 'base64'))
  }
}

function bytesOf (serializer, payload) {
  let encoded
  try {
    encoded = serializer.encode(payload)
  } catch (cause) {
    throw notEncoded(cause)
  }
  if (isBytes(encoded)) return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength).toString('base64')
  throw typeError('FAIRLANE_ERR_ARGUMENT', `serialize.encode must return a Buffer, and it returned ${describe(encoded)}`)
}

function notEncoded (cause) {
  return Object.assign(typeError('FAIRLANE_ERR_ARGUMENT', 'the payload cannot be encoded'), { cause })
}
