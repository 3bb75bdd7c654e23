'use strict'

// The body of a response: dropped where nobody is to read it, and followed until it has ended where a slot is held for so long.

const { isOf } = require('../arguments/fields')

// What a response says beside its body. It stays as it was: a constructor takes neither all of it, nor every value.
const MEMBERS = ['url', 'redirected', 'type', 'status', 'statusText', 'ok', 'headers']

const ignore = () => {}
const abandoned = new FinalizationRegistry(reader => reader.cancel().catch(ignore))

module.exports = { discard, watch }

/**
 * Nobody reads a body: its connection is free for others, or ends.
 * @param {any} body of a response or a call, as fetch or what imitates it has them
 */
function discard (body, reason) {
  if (body === null || typeof body !== 'object') return
  try {
    if (typeof body.cancel === 'function') Promise.resolve(body.cancel(reason)).catch(ignore)
    else if (typeof body.destroy === 'function') body.destroy()
  } catch {} // it is of another make
}

/**
 * @param {any} response
 * @returns {{ given: any, ended: Promise<void> }} given: what stands for the response, and is told from it by nothing but its identity;
 *   ended: when its body has been read or cancelled, or was collected as garbage. It rejects if that fails. Nothing here refers to `given`
 */
function watch (response) {
  const body = response?.body
  if (body === null || typeof body !== 'object' || response.bodyUsed === true || body.locked === true) {
    return { given: response, ended: Promise.resolve() }
  }
  if (typeof body.getReader === 'function') return watchStream(response, body.getReader())
  return { given: response, ended: typeof body.once === 'function' ? endOf(body) : Promise.resolve() }
}

// private from here on

function watchStream (response, reader) {
  const stream = new ReadableStream({
    async pull (controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: reason => reader.cancel(reason)
  }, { highWaterMark: 0 })
  abandoned.register(stream, reader, reader)
  const ended = reader.closed.finally(() => abandoned.unregister(reader))
  return { given: dressed(new (classOf(response))(stream, { headers: response.headers }), response), ended }
}

/** A body that is a stream of Node. */
function endOf (body) {
  return new Promise((resolve, reject) => body.once('end', resolve).once('close', resolve).once('error', reject))
}

function classOf (response) {
  const Own = response.constructor
  return !isOf(response, Response) && Own.name === 'Response' ? Own : Response
}

/** @param {any} copy @param {any} response what it says */
function dressed (copy, response) {
  for (const name of MEMBERS) Object.defineProperty(copy, name, { value: response[name], configurable: true })
  const { clone } = copy
  return Object.defineProperty(copy, 'clone', { value: () => dressed(clone.call(copy), response), configurable: true, writable: true })
}
