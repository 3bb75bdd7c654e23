'use strict'

// Payloads as what BullMQ calls the data of a job, which is JSON: `{ payload }`, or `{ bytes }` in base64; and `inbox`, the process
// that waits for its result.

const serializers = require('../job/serializers')

module.exports = { readSerialize, encodeResult }

/**
 * @param {unknown} value 'json', 'structured', or an object with encode and decode
 * @returns {{ name: string, encode: (payload: any, inbox: string | undefined) => string, decode: (data: object) => any }} of the data of
 *   jobs; name: as the broker remembers it
 * @throws FAIRLANE_ERR_OPTION
 */
function readSerialize (value) {
  const serializer = serializers.readSerializer(value, 'json')
  return serializer === serializers.json ? json : bytesBy(serializer)
}

/** @returns {string} @throws what JSON.stringify throws */
function encodeResult (result) {
  return JSON.stringify(result) ?? 'null'
}

const json = {
  name: 'json',
  encode (payload, inbox) {
    try {
      serializers.checkJson(payload)
      return JSON.stringify({ payload, inbox })
    } catch (cause) {
      throw serializers.notEncoded(cause)
    }
  },
  decode: ({ payload }) => payload
}

function bytesBy (serializer) {
  return {
    name: serializers.nameOf(serializer),
    encode: (payload, inbox) => JSON.stringify({ bytes: base64Of(serializers.encode(serializer, payload)), inbox }),
    decode: ({ bytes }) => serializer.decode(Buffer.from(bytes, 'base64'))
  }
}

function base64Of (bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
