'use strict'

// A server of the page's own. It has no login, so it is for this machine unless it is told another address; and it answers only who calls
// it by a name of this machine: a site that has its own name lead here, to be taken for the page itself (DNS rebinding), gets nothing.

const { createServer } = require('node:http')
const { BlockList, isIP } = require('node:net')
const { rangeError } = require('../arguments/errors')

const LOCAL = '127.0.0.1'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

module.exports = { listen }

/**
 * @param {(request: object, response: object) => void} handler
 * @param {any[]} args those of listen() of node:http
 * @returns {import('node:http').Server}
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function listen (handler, args) {
  const { host, address } = withHost(args)
  if (host === '') {
    const message = "listen: the host must not be empty, which would mean every address: write '::' or '0.0.0.0' for that"
    throw rangeError('FAIRLANE_ERR_ARGUMENT', message)
  }
  let isLocal = false
  const server = createServer((request, response) => {
    if (!isLocal || isOwnName(request.headers.host, host)) return handler(request, response)
    response.writeHead(403, { 'content-type': 'text/plain' }).end('There is no page under this host name.\n')
  })
  server.once('listening', () => { isLocal = isLoopback(server.address()) })
  return server.listen(...address)
}

/** @returns {{ host: string | undefined, address: any[] }} the arguments with a host, if they say where to listen by a port */
function withHost (args) {
  const [first, second, ...rest] = args
  if (typeof first === 'object' && first !== null) {
    if (!('port' in first)) return { host: undefined, address: args } // a path, or what listens already
    const host = first.host ?? LOCAL
    return { host, address: [{ ...first, host }, second, ...rest] }
  }
  if (typeof first === 'string' && !(Number(first) >= 0)) return { host: undefined, address: args } // a path
  if (typeof second === 'string') return { host: second, address: args }
  const port = typeof first === 'function' ? [0, LOCAL, first] : [first, LOCAL]
  return { host: LOCAL, address: [...port, ...args.slice(1)] }
}

/** At another address than this machine's own we cannot know our names. @param {object | string} address a string if it is a path */
function isLoopback (address) {
  return typeof address === 'object' && loopback.check(address.address, address.family.toLowerCase())
}

function isOwnName (called, host) {
  const name = String(called).replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || name === host?.toLowerCase()
}
