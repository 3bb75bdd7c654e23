'use strict'

const assert = require('node:assert/strict')
const { PassThrough, Readable } = require('node:stream')
const undici = require('undici')
const { Postponed, Throttled } = require('../..')
const { fairFetch } = require('../../lib/fetch')
const { fakeClock } = require('../../lib/testing')
const { collect } = require('../support/memory')
const { startServer } = require('../support/programs')
const { quiet } = require('../support/turns')
const { imitation } = require('./imitation')

const A = 'http://a.example/'

describe('the slot of a call', () => {
  const bytes = new TextEncoder().encode('chunk')
  let source, cancelled

  /** A fetch of one slot whose response has a body that the test goes on with. */
  function streaming (options) {
    const peer = imitation()
    const body = new ReadableStream({ start: controller => { source = controller }, cancel: reason => { cancelled = reason } })
    const fetch = fairFetch(peer.fetch, { concurrency: 1, until: 'body', ...options })
    const promise = fetch(A)
    const response = peer.until(1).then(call => {
      call.resolve(new Response(body, { headers: { 'Content-Type': 'text/css' } }))
      return promise
    })
    return { fetch, peer, response }
  }

  beforeEach(() => { cancelled = undefined })

  it('is free when the headers are there', async () => {
    const { fetch, response } = streaming({ until: undefined })
    await response
    await fetch.queue.onIdle()
    source.enqueue(bytes)
    source.close()
    assert.equal(await (await response).text(), 'chunk')
  })

  it('is free when the body has been read, with until: body, of all calls or one', async () => {
    for (const options of [{}, { until: 'headers' }]) {
      const peer = imitation()
      const fetch = fairFetch(peer.fetch, { until: 'body', ...options })
      const promise = fetch(A, { fairlane: { until: 'body' } })
      ;(await peer.until(1)).answer()
      const response = await promise
      await quiet()
      assert.equal(fetch.queue.running, 1)
      assert.equal(await response.text(), 'body')
      await fetch.queue.onIdle()
      assert.equal(fetch.queue.stats().done, 1)
    }
  })

  it('is held while any part of the body is to be read', async () => {
    const { fetch, response } = streaming()
    const reader = (await response).body.getReader()
    source.enqueue(bytes)
    assert.deepEqual((await reader.read()).value, bytes)
    source.close()
    await quiet()
    assert.equal(fetch.queue.running, 0) // there is nothing left, though nobody has asked
    assert.equal((await reader.read()).done, true)
  })

  it('is held by a clone of the response as by itself', async () => {
    const { fetch, response } = streaming()
    const clone = (await response).clone()
    source.enqueue(bytes)
    await quiet()
    assert.equal(fetch.queue.running, 1)
    source.close()
    assert.deepEqual([await clone.text(), await (await response).text()], ['chunk', 'chunk'])
    await fetch.queue.onIdle()
  })

  it('is free when the body is cancelled', async () => {
    const { fetch, response } = streaming()
    await (await response).body.cancel('enough')
    assert.equal(cancelled, 'enough')
    await fetch.queue.onIdle()
  })

  it('is free when the body fails, read or not, and the call is not made again', async () => {
    for (const isRead of [true, false]) {
      const { fetch, response, peer } = streaming({ maxAttempts: 3, backoffMs: 0 })
      const { body } = await response
      const reading = isRead ? body.getReader().read() : undefined
      source.error(new TypeError('terminated'))
      if (isRead) await assert.rejects(reading, { message: 'terminated' })
      await fetch.queue.onIdle()
      assert.equal(peer.calls.length, 1)
      assert.equal(fetch.queue.stats().failed, 1)
      if (!isRead) await assert.rejects(body.getReader().read(), { message: 'terminated' })
    }
  })

  it('is free when the body fails with what a job cannot fail with, and the call is not made again', async () => {
    for (const reason of ['text', undefined, new Throttled(60000), new Postponed(60000)]) {
      for (const maxAttempts of [1, 3]) {
        const { fetch, response, peer } = streaming({ maxAttempts, backoffMs: 0 })
        const { body } = await response
        source.error(reason)
        await fetch.queue.onIdle()
        assert.equal(fetch.queue.stats().failed, 1)
        assert.equal(peer.calls.length, 1)
        await assert.rejects(body.getReader().read(), err => err === reason)
      }
    }
  })

  it('is free when the body was collected as garbage, which cancels it', async () => {
    const stream = new ReadableStream({ cancel: () => { cancelled = true } })
    const fetch = fairFetch(async () => new Response(stream), { until: 'body' })
    let response = await fetch(A)
    await collect()
    assert.deepEqual([fetch.queue.running, cancelled, response.status], [1, undefined, 200])
    response = undefined
    for (let i = 0; i < 100 && fetch.queue.running > 0; i++) await collect()
    assert.deepEqual([fetch.queue.running, cancelled], [0, true])
  })

  it('is free at once where there is no body', async () => {
    const fetch = fairFetch(async () => new Response(null, { status: 204 }), { until: 'body' })
    assert.equal((await fetch(A)).status, 204)
    await fetch.queue.onIdle()
    const used = fairFetch(async () => {
      const response = new Response('text')
      await response.text()
      return response
    }, { until: 'body' })
    assert.equal((await used(A)).bodyUsed, true)
    await used.queue.onIdle()
    const locked = fairFetch(async () => {
      const response = new Response('text')
      response.body.getReader()
      return response
    }, { until: 'body' })
    assert.equal((await locked(A)).body.locked, true)
    await locked.queue.onIdle()
  })

  it('is free when a body ends that is a stream of Node', async () => {
    const ends = [body => body.resume().end(), body => body.destroy(), body => body.destroy(new Error('expected'))]
    for (const end of ends) {
      const body = new PassThrough()
      const fetch = fairFetch(async () => ({ status: 200, body }), { until: 'body' })
      assert.equal((await fetch(A)).body, body)
      await quiet()
      assert.equal(fetch.queue.running, 1)
      end(body)
      await fetch.queue.onIdle()
    }
  })

  it('is free when the body has ended, and the call is not made again, though the time of its job is up before that is told', async () => {
    for (let hops = 0; hops < 12; hops++) {
      const clock = fakeClock()
      const { fetch, peer, response } = streaming({ timeoutMs: 1000, maxAttempts: 3, backoffMs: 0, clock })
      const reading = (await response).text()
      source.close()
      for (let hop = 0; hop < hops; hop++) await null
      clock.advance(1000)
      await reading
      await quiet()
      assert.deepEqual([peer.calls.length, fetch.queue.running], [1, 0], `after ${hops} steps`)
    }
  })

  for (const title of ['timeoutMs', 'close']) {
    it(`is free after ${title}, which ends the body, and the call is not made again`, async () => {
      const clock = fakeClock()
      const peer = imitation()
      const fetch = fairFetch(peer.fetch, { until: 'body', timeoutMs: 1000, maxAttempts: 3, backoffMs: 0, clock })
      const promise = fetch(A)
      const call = await peer.until(1)
      call.resolve(new Response(new ReadableStream({
        start: controller => call.signal.addEventListener('abort', () => controller.error(call.signal.reason))
      })))
      const reading = (await promise).text()
      if (title === 'close') fetch.queue.close({ drain: false })
      else clock.advance(1000)
      await assert.rejects(reading, { code: title === 'close' ? 'FAIRLANE_ERR_CLOSED' : 'FAIRLANE_ERR_TIMEOUT' })
      await fetch.queue.onIdle()
      assert.equal(peer.calls.length, 1)
      assert.equal(fetch.queue.stats().retried, 0)
    })
  }
})

describe('a response whose body holds the slot', () => {
  let server
  beforeEach(async () => {
    server = await startServer((request, response) => {
      if (request.url === '/there') return response.writeHead(302, { Location: '/here' }).end()
      response.writeHead(request.url === '/999' ? 999 : 200, 'Fine', { 'Content-Type': 'application/json', 'Set-Cookie': ['a=1', 'b=2'] }).end('{"a":1}')
    })
  })
  afterEach(() => server.end())

  const shown = async response => ({
    all: ['status', 'statusText', 'ok', 'redirected', 'url', 'type'].map(name => response[name]),
    cookies: response.headers.getSetCookie(),
    class: response.constructor,
    kind: (await response.clone().blob()).type,
    json: await response.json()
  })

  for (const [name, fetch] of [['Node.js', globalThis.fetch], ['undici', undici.fetch]]) {
    for (const path of ['/there', '/999']) {
      it(`is what that of ${name} is, also as a clone: ${path}`, async () => {
        const fair = fairFetch(fetch, { until: 'body' })
        const expected = await shown(await fetch(server.origin + path))
        assert.deepEqual(await shown(await fair(server.origin + path)), expected)
        assert.deepEqual(await shown((await fair(server.origin + path)).clone()), expected)
        await fair.queue.onIdle()
      })
    }
  }

  it('is one of the runtime where its own class is none', async () => {
    const fair = fairFetch(async () => ({ status: 200, headers: new Headers(), body: Readable.toWeb(Readable.from([Buffer.from('text')])) }), { until: 'body' })
    const response = await fair(A)
    assert(response instanceof Response)
    assert.equal(await response.text(), 'text')
  })
})
