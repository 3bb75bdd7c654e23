'use strict'

// Between a client and a server: passes bytes on, or holds them up while both sides believe that they are connected.

const { once } = require('node:events')
const net = require('node:net')
const { dirname, join } = require('node:path')

module.exports = { startProxy }

/** @returns {Promise<{ path: string, block: () => void, pass: () => void, close: () => void }>} */
async function startProxy (target) {
  const path = join(dirname(target), 'proxy.sock')
  const sockets = new Set()
  let isBlocked = false
  const server = net.createServer(client => {
    const upstream = net.connect(target)
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      sockets.add(from)
      from.on('data', data => to.write(data))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isBlocked) from.pause()
    }
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    path,
    block () {
      isBlocked = true
      for (const socket of sockets) socket.pause()
    },
    pass () {
      isBlocked = false
      for (const socket of sockets) socket.resume()
    },
    close () {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
