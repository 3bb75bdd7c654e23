'use strict'

// The middleware with the server of Node.js alone, which has the shape that frameworks give it: (request, response, next).

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { copyFileSync, mkdirSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { Pool } = require('undici')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { startServer } = require('../support/programs')

describe('the middleware that bounds each tenant', function () {
  const storage = new AsyncLocalStorage()
  let folder, boundTenants, server, pool
  let handled, whenHandled

  // a project that has fairlane installed: a package of that name which is this one
  before(async function () {
    folder = temporaryFolder()
    const installed = join(folder, 'node_modules', 'fairlane')
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'package.json'), '{"exports": "./index.mjs"}')
    writeFileSync(join(installed, 'index.mjs'), `export { default } from ${JSON.stringify(pathToFileURL(join(root, 'index.mjs')).href)}`)
    copyFileSync(join(root, 'examples/middleware/bound-tenants.mjs'), join(folder, 'bound-tenants.mjs'));
    ({ boundTenants } = await import(pathToFileURL(join(folder, 'bound-tenants.mjs'))))
  })
  after(() => rmSync(folder, { recursive: true }))

  beforeEach(async function () {
    handled = []
    whenHandled = () => {}
    const bound = boundTenants(request => request.headers.tenant, { concurrency: 2, maxWaitingPerType: 3, maxWaitMs: 60000 })
    server = await startServer((request, response) => storage.run(request.url, () => bound(request, response, () => {
      handled.push({ url: request.url, context: storage.getStore(), response })
      whenHandled()
    })))
    pool = new Pool(server.origin, { connections: 50 })
  })

  afterEach(async function () {
    await pool.destroy()
    await server.end()
  })

  async function get (tenant, path, options) {
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path, headers: { tenant }, ...options })
    return { status: statusCode, headers, text: await body.text() }
  }

  const until = async count => {
    while (handled.length < count) await new Promise(resolve => { whenHandled = resolve })
  }

  it('lets no more requests through at once than there are slots, and the next when a response has ended', async function () {
    const answers = ['/a', '/b', '/c'].map(path => get('a', path))
    await until(2)
    assert.equal(handled.length, 2)
    handled[0].response.end('first')
    await until(3)
    for (const { response } of handled.slice(1)) response.end('later')
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [200, 200, 200])
  })

  it('answers a tenant that has too much waiting with 429, and serves another one meanwhile', async function () {
    const flood = Array.from({ length: 30 }, (_, i) => get('greedy', `/${i}`))
    await until(2)
    const first = await Promise.race(flood)
    assert.deepEqual([first.status, first.text], [429, 'FAIRLANE_ERR_TYPE_FULL'])
    assert.match(first.headers['retry-after'], /^[1-9]\d*$/)
    const quiet = get('quiet', '/quiet')
    for (let i = 0; i < handled.length || !handled.some(({ url }) => url === '/quiet'); i++) {
      await until(i + 1)
      if (handled[i].url !== '/quiet') handled[i].response.end()
    }
    handled.find(({ url }) => url === '/quiet').response.end('served')
    assert.equal((await quiet).text, 'served')
    whenHandled = () => { handled.at(-1).response.end() }
    for (const { response } of handled) response.end()
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
  })

  it('gives the slot of a client that goes away to the next', async function () {
    const client = new AbortController()
    const gone = [get('a', '/gone', { signal: client.signal }), get('a', '/too', { signal: client.signal })]
    await until(2)
    const waiting = get('a', '/next')
    client.abort()
    await Promise.allSettled(gone)
    await until(3)
    handled[2].response.end('next')
    assert.equal((await waiting).text, 'next')
  })

  it('has what is behind it run in the context of its request', async function () {
    const answers = ['/a', '/b', '/c', '/d'].map(path => get('a', path))
    for (let i = 0; i < 4; i++) {
      await until(i + 1)
      handled[i].response.end()
    }
    await Promise.all(answers)
    assert.deepEqual(handled.map(({ context }) => context), handled.map(({ url }) => url))
  })
})
