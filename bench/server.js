'use strict'

// The server of the http case: fast while at most 50 requests are in flight, slower above that, refusing at 500.
// Runs in a process of its own, tells its parent the port, and ends with it.

const http = require('node:http')

const SERVICE_MS = 4
const COMFORTABLE = 50
const MOST = 500

let inFlight = 0

const server = http.createServer((request, response) => {
  if (inFlight >= MOST) {
    response.statusCode = 503
    return response.end()
  }
  inFlight++
  const load = Math.max(1, inFlight / COMFORTABLE)
  setTimeout(() => {
    inFlight--
    response.end('ok')
  }, SERVICE_MS * load * load)
})

// idle connections must outlive the slowest contender: a connection closed under a request is not what is measured
server.keepAliveTimeout = 60000
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
