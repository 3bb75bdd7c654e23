'use strict'

// Requests to the server of server.js, which runs in a process of its own.

const http = require('node:http')
const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')

/** @returns {Promise<{ get: (number: number, callback: (err: Error | null, status?: number) => void) => void, end: () => void }>} */
async function openServer () {
  const server = fork(path.join(__dirname, 'server.js'))
  const [port] = await once(server, 'message')
  const agent = new http.Agent({ keepAlive: true })
  return {
    get: (number, callback) => get({ host: '127.0.0.1', port, path: `/${number}`, agent }, callback),
    end () {
      agent.destroy()
      server.kill()
    }
  }
}

/** One request; calls back once, with an error or the status, when the answer has been read. */
function get (options, callback) {
  let ended = false
  http.get(options, (response) => {
    response.on('error', end)
    response.on('end', () => end(null, response.statusCode))
    response.resume()
  }).on('error', end)

  function end (err, status) {
    if (ended) return
    ended = true
    callback(err, status)
  }
}

module.exports = { openServer }
