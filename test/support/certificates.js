'use strict'

// A certificate of the tests' own, signed by itself, for localhost: X.509 as RFC 5280 has it, with no more in it than a client asks for.
//
//   SEQUENCE { what is signed { version, serial, algorithm, issuer, validity, subject, key, extensions }, algorithm, signature }

const { generateKeyPairSync, sign } = require('node:crypto')

const SEQUENCE = 0x30
const SET = 0x31
const BOOLEAN = 0x01
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_ID = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const DNS_NAME = 0x82 // [2] of the names in an extension
const VERSION = 0xa0 // [0], explicit
const EXTENSIONS = 0xa3 // [3], explicit

const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'

module.exports = { selfSigned }

/** @returns {{ key: string, cert: string }} as PEM; valid until the end of 2049 */
function selfSigned () {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = der(SEQUENCE, objectId(ECDSA_WITH_SHA256))
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, objectId(COMMON_NAME), der(UTF8_STRING, 'localhost'))))
  const isAuthority = der(BOOLEAN, Buffer.from([0xff]))
  const signed = der(SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    algorithm,
    name,
    der(SEQUENCE, der(UTC_TIME, '200101000000Z'), der(UTC_TIME, '491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE,
      der(SEQUENCE, objectId(SUBJECT_ALT_NAME), der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, 'localhost')))),
      der(SEQUENCE, objectId(BASIC_CONSTRAINTS), isAuthority, der(OCTET_STRING, der(SEQUENCE, isAuthority)))
    )))
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', signed, privateKey))
  const base64 = der(SEQUENCE, signed, algorithm, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g).join('\n')}\n-----END CERTIFICATE-----\n`
  }
}

function objectId (hex) {
  return der(OBJECT_ID, Buffer.from(hex, 'hex'))
}

/** Tag, length, contents: lengths below 64 KB. */
function der (tag, ...contents) {
  const content = Buffer.concat(contents.map(part => Buffer.from(part)))
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}
