'use strict'

// Ports of this machine.

const { once } = require('node:events')
const net = require('node:net')

module.exports = { freePort }

/** @returns {Promise<number>} a port of localhost that nobody has by now */
async function freePort () {
  const server = net.createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
