'use strict'

// Against servers that answer, refuse, cut connections and stall; by the fetch of Node.js, and by that of undici.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const undici = require('undici')
const { fairFetch } = require('../../lib/fetch')
const { fakeClock } = require('../../lib/testing')
const { startServer } = require('../support/programs')
const { quiet } = require('../support/turns')

for (const [name, { fetch: wrapped, FormData, Request }] of Object.entries({ 'Node.js': globalThis, undici })) {
  describe(`with the fetch of ${name}`, () => {
    let server, requests, respond, waiting

    beforeEach(async () => {
      requests = []
      waiting = []
      respond = (request, response) => response.end('text')
      server = await startServer((request, response) => {
        requests.push(request)
        for (const tell of waiting.splice(0)) tell()
        respond(request, response, requests.length)
      })
    })

    afterEach(() => server.end())

    /** Resolves when the server has seen so many requests. */
    async function seen (count) {
      while (requests.length < count) await new Promise(resolve => waiting.push(resolve))
    }

    async function bodyOf (request) {
      let text = ''
      for await (const chunk of request.setEncoding('utf8')) text += chunk
      return text
    }

    for (const [status, headers] of [
      [429, { 'Retry-After': '30' }],
      [503, { 'Retry-After': () => new Date(Date.now() + 31000).toUTCString() }],
      [429, { RateLimit: '"default";r=0;t=30' }],
      [429, { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '30' }],
      [429, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': () => String(Math.ceil(Date.now() / 1000) + 31) }],
      [200, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset-After': '30.5' }]
    ]) {
      it(`a server is left alone that answers ${status} with ${Object.keys(headers)}`, async () => {
        const clock = fakeClock()
        respond = (request, response, count) => {
          const given = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : value()])
          if (count > 1) response.end('text')
          else response.writeHead(status, Object.fromEntries(given)).end('text')
        }
        const fetch = fairFetch(wrapped, { concurrency: 1, maxAttempts: 2, backoffMs: 0, clock })
        const all = [fetch(server.origin), fetch(server.origin)]
        await seen(1)
        while (fetch.queue.running > 0) await quiet()
        const heldMs = fetch.queue.heldMs(server.origin)
        assert(heldMs > 29000 && heldMs <= 32000, `${heldMs} ms`)
        clock.advance(heldMs - 1)
        await quiet()
        assert.equal(requests.length, 1)
        clock.advance(1)
        for (const response of await Promise.all(all)) assert.deepEqual([response.status, await response.text()], [200, 'text'])
        assert.equal(requests.length, status === 200 ? 2 : 3)
      })
    }

    it('a call whose connection is cut is made again', async () => {
      respond = (request, response, count) => count < 3 ? request.socket.destroy() : response.end('text')
      const fetch = fairFetch(wrapped, { maxAttempts: 3, backoffMs: 0 })
      assert.equal(await (await fetch(server.origin, { method: 'PUT', body: 'sent' })).text(), 'text')
      assert.equal(requests.length, 3)
    })

    it('a call whose connection is cut each time fails as it does, a POST at once', async () => {
      respond = request => request.socket.destroy()
      const fetch = fairFetch(wrapped, { maxAttempts: 2, backoffMs: 0 })
      await assert.rejects(fetch(server.origin), { name: 'TypeError', message: 'fetch failed' })
      assert.equal(requests.length, 2)
      await assert.rejects(fetch(server.origin, { method: 'POST', body: 'sent' }), { name: 'TypeError', message: 'fetch failed' })
      assert.equal(requests.length, 3)
    })

    it('a call to a server that is not there is made again', async () => {
      const { origin, end } = await startServer(() => {})
      await end()
      const fetch = fairFetch(wrapped, { maxAttempts: 3, backoffMs: 0 })
      await assert.rejects(fetch(origin), { message: 'fetch failed' })
      assert.deepEqual([fetch.queue.stats().retried, fetch.queue.stats().failed], [2, 1])
    })

    it('a body that is cut fails, and frees the slot', async () => {
      respond = (request, response) => {
        response.writeHead(200, { 'Content-Length': '100' })
        response.write('te', () => request.socket.destroy())
      }
      for (const until of ['headers', 'body']) {
        const fetch = fairFetch(wrapped, { until, maxAttempts: 3, backoffMs: 0 })
        const response = await fetch(server.origin)
        await assert.rejects(response.text(), { message: 'terminated' })
        await fetch.queue.onIdle()
        assert.equal(fetch.queue.stats().failed, until === 'body' ? 1 : 0)
      }
      assert.equal(requests.length, 2)
    })

    it('a call to a server that stalls is ended, and made again', async () => {
      const clock = fakeClock()
      respond = (request, response, count) => { if (count > 1) response.end('text') }
      const fetch = fairFetch(wrapped, { maxAttempts: 2, backoffMs: 0, timeoutMs: 1000, clock })
      const promise = fetch(server.origin)
      await seen(1)
      const closed = once(requests[0].socket, 'close')
      clock.advance(1000)
      await closed
      for (; requests.length < 2; await quiet()) clock.advance(0)
      assert.equal(await (await promise).text(), 'text')
    })

    it('an abort ends the request, and the body', async () => {
      const closed = new Promise(resolve => {
        respond = (request, response, count) => {
          request.socket.on('close', () => { if (count === 2) resolve() })
          if (count === 2) response.writeHead(200).write('te')
        }
      })
      const fetch = fairFetch(wrapped)
      const first = new AbortController()
      const stalled = fetch(server.origin, { signal: first.signal })
      await seen(1)
      first.abort(new Error('enough'))
      await assert.rejects(stalled, { message: 'enough' })
      const second = new AbortController()
      const response = await fetch(server.origin, { signal: second.signal })
      second.abort(new Error('late'))
      await assert.rejects(response.text()) // with the reason, but in Node.js 20
      await closed
    })

    it('a body that nobody gets is cancelled', async () => {
      const closed = new Promise(resolve => {
        respond = (request, response, count) => {
          if (count > 1) return response.end('text')
          request.socket.on('close', resolve)
          response.writeHead(503).write('endless')
        }
      })
      const fetch = fairFetch(wrapped, { maxAttempts: 2, backoffMs: 0 })
      assert.equal((await fetch(server.origin)).status, 200)
      await closed
    })

    it('bodies of all kinds are sent, those again that can be', async () => {
      const texts = []
      respond = async (request, response) => {
        texts.push(await bodyOf(request))
        response.writeHead(texts.length % 2 === 1 ? 503 : 200).end()
      }
      const form = new FormData()
      form.append('a', '1')
      const fetch = fairFetch(wrapped, { maxAttempts: 2, backoffMs: 0 })
      for (const [body, expected] of [['text', 'text'], [new TextEncoder().encode('bytes'), 'bytes'], [new URLSearchParams('a=1'), 'a=1'], [new Blob(['blob']), 'blob']]) {
        texts.length = 0
        assert.equal((await fetch(server.origin, { method: 'PUT', body })).status, 200)
        assert.deepEqual(texts, [expected, expected])
      }
      texts.length = 0
      assert.equal((await fetch(server.origin, { method: 'PUT', body: form })).status, 200)
      assert(texts.length === 2 && texts.every(text => text.includes('name="a"')))
      texts.length = 0
      const stream = new Blob(['stream']).stream()
      assert.equal((await fetch(server.origin, { method: 'PUT', body: stream, duplex: 'half' })).status, 503)
      assert.deepEqual(texts, ['stream'])
      texts.length = 0
      assert.equal((await fetch(new Request(server.origin, { method: 'PUT', body: 'request' }))).status, 503)
      assert.deepEqual(texts, ['request'])
    })

    it('redirects are followed, or not, as the init says', async () => {
      respond = (request, response) => {
        if (request.url === '/') response.writeHead(307, { Location: '/there' })
        request.pipe(response)
      }
      const fetch = fairFetch(wrapped, { maxAttempts: 2, backoffMs: 0 })
      const response = await fetch(server.origin, { method: 'PUT', body: 'text' })
      assert.deepEqual([response.url, response.redirected, await response.text()], [`${server.origin}/there`, true, 'text'])
      const manual = await fetch(server.origin, { redirect: 'manual' })
      assert.equal(manual.status, 307)
      await manual.body.cancel()
      await assert.rejects(fetch(server.origin, { redirect: 'error' }), { message: 'fetch failed' })
      assert.equal(requests.length, 4)
    })

    it('a large body passes through a slot that is held until its end', async () => {
      const size = 5e6
      respond = (request, response) => response.end(Buffer.alloc(size))
      const fetch = fairFetch(wrapped, { until: 'body', concurrency: 1 })
      const responses = [0, 1, 2].map(async () => (await (await fetch(server.origin)).arrayBuffer()).byteLength)
      assert.deepEqual(await Promise.all(responses), [size, size, size])
      await fetch.queue.onIdle()
    })
  })
}
