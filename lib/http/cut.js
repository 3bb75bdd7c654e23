'use strict'

// Responses whose time is over while their handlers go on.

const INTERNAL_ERROR = 2 // of HTTP/2 (RFC 9113, 7)

// What a handler calls to answer. Properties that it sets, as statusCode, do no harm.
const TELLING = ['write', 'end']
const CHAINED = ['setHeader', 'setHeaders', 'appendHeader', 'writeHead']
const SILENT = ['removeHeader', 'flushHeaders', 'addTrailers', 'writeContinue', 'writeProcessing', 'writeEarlyHints']

module.exports = { silence, resetResponse }

/** A response has been answered: what its handler still says is swallowed, and is no error. */
function silence (response) {
  for (const name of CHAINED) response[name] = () => response
  for (const name of SILENT) response[name] = () => {}
  for (const name of TELLING) {
    response[name] = (...args) => {
      const callback = args.find(arg => typeof arg === 'function')
      if (callback !== undefined) queueMicrotask(callback)
      return name === 'write' ? true : response
    }
  }
}

/** Has the client see that an answer is cut off: it would look whole if its connection ended in order. */
function resetResponse (response) {
  const { socket, stream } = response
  if (stream?.closed) return stream.destroy() // by its client, and it waits for what can no longer be sent
  if (stream !== undefined) return stream.close(INTERNAL_ERROR)
  try {
    socket.resetAndDestroy()
  } catch {
    response.destroy() // of TLS, or on a path; or no socket has its turn yet
  }
}
