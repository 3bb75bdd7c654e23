'use strict'

// Payloads as what BullMQ calls the data of a job, which is JSON: `{ payload }`, or `{ bytes }` in base64; and `inbox`, whom to tell its result.

const { typeError, describe } = require('../errors')
const { hasMethods } = require('../fields')
const { structured, encode, notEncoded } = require('../serializers')

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
    encode: (payload, inbox) => JSON.stringify({ bytes: base64Of(encode(serializer, payload)), inbox }),
    decode: ({ bytes }) => serializer.decode(Buffer.from(bytes, 'base64'))
  }
}

function base64Of (bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
