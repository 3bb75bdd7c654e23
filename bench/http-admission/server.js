'use strict'

// The server of the case http-admission, a process of its own: tells its parent the port, and ends with it.
// argv[2] is { group, contender, serviceMs } as JSON; a serviceMs of 0 answers at once.

const { createServer } = require('node:http')
const { groups } = require('./middleware')

const { group, contender, serviceMs } = JSON.parse(process.argv[2])
const middleware = groups[group][contender].make({ isFlood: serviceMs > 0 })

function handle (request, response) {
  if (serviceMs === 0) response.end('hello')
  else setTimeout(() => response.end('hello'), serviceMs)
}

let listener
if (group === 'express') {
  const app = require('express')()
  app.use(middleware)
  app.get('/', handle)
  listener = app
} else {
  listener = (request, response) => middleware(request, response, () => handle(request, response))
}
const server = createServer(listener)
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
