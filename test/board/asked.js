'use strict'

// Servers of pages, and who asks them. undici sends whatever headers it is told to, as no browser does.

const { request } = require('undici')
const { startServer } = require('../support/programs')

const TOKEN = /<meta name="token" content="([^"]+)">/

module.exports = { atServers }

/**
 * To be called in describe(): what is started is ended after each test.
 * @returns {{ start: (handler: Function) => Promise<object> }} start: of what it gives, `get(path, headers)`, `act(body, headers)` and
 *   `ask(options)` resolve with `{ status, headers, text, json }`, `state(search)` with the JSON, and `token()` with that of the
 *   page, which act() sends if no header says where it comes from
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

  const token = async () => TOKEN.exec((await ask()).text)?.[1]

  return {
    origin,
    ask,
    token,
    get: (path, headers) => ask({ path, headers }),
    state: async (search = '') => (await ask({ path: `/state${search}` })).json,
    act: async (body, headers = {}) => ask({
      path: '/act',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...'origin' in headers ? {} : { 'x-fairlane-token': await token() }, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body)
    })
  }
}
