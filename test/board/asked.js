'use strict'

// Servers of pages, and who asks them. undici sends whatever headers it is told to, as no browser does.

const { request } = require('undici')
const { startServer } = require('../support/programs')

module.exports = { atServers }

/**
 * To be called in describe(): what is started is ended after each test.
 * @returns {{ start: (handler: Function) => Promise<object> }} start: of what it gives, `get(path, headers)`, `state(search)`, `act(body,
 *   headers)` and `ask(options)` resolve with `{ status, headers, text, json }`
 */
function atServers () {
  const servers = []
  afterEach(() => Promise.all(servers.splice(0).map(server => server.end())))

  async function start (handler, mount = '') {
    const server = await startServer(handler)
    servers.push(server)
    return asker(`${server.origin}${mount}`)
  }

  return { start }
}

function asker (origin) {
  async function ask ({ path = '/', ...options } = {}) {
    const { statusCode, headers, body } = await request(`${origin}${path}`, options)
    const text = await body.text()
    return { status: statusCode, headers, text, get json () { return JSON.parse(text) } }
  }

  return {
    origin,
    ask,
    get: (path, headers) => ask({ path, headers }),
    state: async (search = '') => (await ask({ path: `/state${search}` })).json,
    act: (body, headers) => ask({
      path: '/act',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body)
    })
  }
}
