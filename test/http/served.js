'use strict'

// A server behind an admission, whose handlers go on when the test says so, and clients over real sockets.

const { once } = require('node:events')
const http = require('node:http')
const { connect } = require('node:net')
const { admission } = require('../../lib/http')
const { turn } = require('../support/turns')

const LONGEST_MS = 20000

module.exports = { assertFree, get, rawClient, served, until }

/**
 * @param {object} [options] of admission(); the default tenant is the header `tenant`
 * @param {{ handler?: Function, make?: (listener: Function) => object, pass?: Function }} [how] handler: called for each request that was
 *   let in; make: makes the server; pass: takes a request to the admission
 */
async function served (options, { handler = () => {}, make = listener => http.createServer(listener), pass } = {}) {
  const admit = admission({ tenant: request => request.headers.tenant, ...options })
  const handled = [] // { request, response } of those that were let in, in their order
  const errors = [] // what the admission gave to next()
  const arrived = []
  const server = make((request, response) => {
    arrived.push(request)
    const next = err => {
      if (err !== undefined) {
        errors.push(err)
        response.writeHead(500).end(String(err.code ?? err.message))
        return undefined
      }
      handled.push({ request, response })
      return handler(request, response)
    }
    if (pass !== undefined) pass(admit, request, response, next)
    else admit(request, response, next)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const agent = new http.Agent({ keepAlive: true })
  return {
    admit,
    agent,
    arrived,
    errors,
    handled,
    port,
    server,
    get: (path = '/', tenant = undefined, more = {}) => get({ port, path, agent, ...more, headers: { ...tenant !== undefined && { tenant }, ...more.headers } }),
    /** So many have been let in. */
    until: count => until(() => handled.length >= count),
    async end () {
      agent.destroy()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections?.()
      await closed
    }
  }
}

/** Asks for something, in HTTP/1. @returns {Promise<{ status, headers, text }> & { request }} rejects if the answer is cut off */
function get (options) {
  const request = http.request({ host: '127.0.0.1', ...options })
  const answer = new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', part => { text += part })
      response.on('error', reject)
      response.on('aborted', () => reject(new Error('the answer is cut off')))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
  })
  answer.catch(() => {}) // some are left alone
  request.end()
  return Object.assign(answer, { request })
}

/** A client that says what it is told to, byte for byte. */
function rawClient (port) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  const client = {
    socket,
    text: '',
    error: undefined,
    isClosed: false,
    /** Requests that come in one write. @param {string[]} paths @param {string} [headers] of all of them */
    ask (paths, headers = '') {
      socket.write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`).join(''))
    },
    /** What has come so far: the status of each answer. */
    statuses: () => [...client.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    end: () => socket.destroy()
  }
  socket.on('data', part => { client.text += part })
  socket.on('error', err => { client.error = err })
  socket.on('close', () => { client.isClosed = true })
  return client
}

/** Waits for what comes in a later turn of the event loop. */
async function until (test) {
  const end = performance.now() + LONGEST_MS
  while (!test()) {
    if (performance.now() > end) throw new Error(`it has not come: ${test}`)
    await turn()
  }
}

/** Each slot is free, nobody waits, and all counts add up. */
async function assertFree (admit, assert) {
  await until(() => admit.stats().running + admit.stats().waiting === 0)
  const { accepted, done, failed, cancelled, types, overrun } = admit.stats()
  assert.equal(done + failed + cancelled, accepted)
  assert.deepEqual({ types, overrun }, { types: 0, overrun: 0 })
}
