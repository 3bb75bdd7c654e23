'use strict'

// The body of a request, as JSON.

const { finished } = require('node:stream')

const MOST_BYTES = 65536

/** What a request is answered with that cannot be done. */
class Refusal extends Error {
  /** @param {number} status of HTTP @param {string} message @param {object} [headers] */
  constructor (status, message, headers = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

module.exports = { readBody, Refusal, MOST_BYTES }

/** @returns {Promise<object>} rejects with a Refusal */
async function readBody (request) {
  if (request.headers['content-length'] > MOST_BYTES) {
    request.resume()
    throw tooLarge()
  }
  // a framework may have read it before
  const wasRead = request.readableDidRead || request.readableEnded
  const body = wasRead ? request.body : parsed(await readText(request))
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Refusal(400, 'The body must be a JSON object.')
  return body
}

/** What is too much is not kept, and what still comes is thrown away: so the client hears of it whatever it is doing. */
function readText (request) {
  return new Promise((resolve, reject) => {
    const parts = []
    let size = 0
    request.on('data', part => {
      size += part.length
      if (size <= MOST_BYTES) return parts.push(part)
      parts.length = 0
      reject(tooLarge())
    })
    finished(request, { writable: false }, err => {
      if (err) reject(new Refusal(400, 'The body is incomplete.')) // which nobody hears any more
      else resolve(Buffer.concat(parts).toString())
    })
  })
}

function parsed (text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function tooLarge () {
  return new Refusal(413, `The body must not be larger than ${MOST_BYTES} bytes.`)
}
