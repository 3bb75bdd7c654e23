'use strict'

const assert = require('node:assert/strict')
const { fairFetch } = require('../../lib/fetch')
const { retainedCount } = require('../support/memory')
const { startServer } = require('../support/programs')
const { quiet } = require('../support/turns')

const COUNT = 50

describe('a fetch retains nothing of calls that', function () {
  let server
  before(async () => {
    server = await startServer((request, response) => {
      if (request.url === '/stall') return
      response.writeHead(request.url === '/503' ? 503 : 200).end('text')
    })
  })
  after(() => server.end())

  // How calls end, each `{ options, path, use(response), abort, isClosed }`.
  const ways = {
    'are answered': { use: response => response.text() },
    'are answered, and never read': { use () {} },
    'are answered, and never read, until the body has ended': { options: { until: 'body' }, use () {} },
    'are read until the body has ended': { options: { until: 'body' }, use: response => response.text() },
    'are made again': { path: '/503', options: { maxAttempts: 2, backoffMs: 0 }, use: response => response.text() },
    'are aborted': { path: '/stall', abort: true },
    'are refused': { isClosed: true }
  }

  for (const [name, { options, path = '/', use, abort, isClosed }] of Object.entries(ways)) {
    it(`${name}: inits, bodies, responses, signals`, async function () {
      const fetch = fairFetch(globalThis.fetch, { concurrency: COUNT, ...options })
      if (isClosed) await fetch.queue.close()
      const shared = new AbortController() // outlives the calls
      const refs = []
      await Promise.all(Array.from({ length: COUNT }, (_, i) => one(i)))
      await quiet()
      // a connection knows the last call that it was used for
      const left = await retainedCount(refs)
      assert(left <= 2 * fetch.queue.concurrency / 10, `${left} of ${refs.length}`)
      assert.equal(fetch.queue.length, 0)
      assert.equal(shared.signal.aborted, false)

      async function one (i) {
        const controller = new AbortController()
        const init = { method: 'PUT', body: new Uint8Array(10), signal: abort || i % 2 === 0 ? controller.signal : shared.signal }
        refs.push(new WeakRef(init), new WeakRef(init.body), new WeakRef(controller))
        const promise = fetch(server.origin + path, init).catch(() => {})
        if (abort) setImmediate(() => controller.abort())
        const response = await promise
        if (response === undefined) return
        refs.push(new WeakRef(response))
        await use(response)
      }
    })
  }
})
