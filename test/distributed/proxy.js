'use strict'

// Between a client and a server: passes bytes on, or holds them up while both sides believe that they are connected.

const { once } = require('node:events')
const net = require('node:net')
const { dirname, join } = require('node:path')

module.exports = { startProxy }

/**
 * @param {string} target path of a server's socket
 * @returns {Promise<object>} `path`; `block()` and `pass()`; `cut()` ends the connections that there are, `lead(path)` has new ones go
 *   to another server; `cutAt(text, count)` ends the next ones that send it, so often; `cutsCount`, how often that was; `close()`
 */
async function startProxy (target) {
  const path = join(dirname(target), 'proxy.sock')
  const sockets = new Set()
  let isBlocked = false
  let moment = ''
  let cutsLeft = 0
  const server = net.createServer(client => {
    const upstream = net.connect(target)
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      sockets.add(from)
      from.on('data', data => {
        if (from === client && cutsLeft > 0 && data.toString('latin1').toLowerCase().includes(moment)) {
          cutsLeft--
          proxy.cutsCount++
          from.destroy()
        } else {
          to.write(data)
        }
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isBlocked) from.pause()
    }
  })
  const proxy = {
    path,
    cutsCount: 0,
    block () {
      isBlocked = true
      for (const socket of sockets) socket.pause()
    },
    pass () {
      isBlocked = false
      for (const socket of sockets) socket.resume()
    },
    cut () {
      for (const socket of sockets) socket.destroy()
    },
    cutAt (text, count) {
      moment = text
      cutsLeft = count
    },
    lead (path) {
      target = path
    },
    close () {
      server.close()
      proxy.cut()
    }
  }
  server.listen(path)
  await once(server, 'listening')
  return proxy
}
