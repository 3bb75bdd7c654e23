'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { fakeClock } = require('../../lib/testing')
const { turns } = require('../support/turns')
const { assertFree, served, until } = require('./served')

describe('an admission in front of a server of HTTP/2', function () {
  let site, session
  const start = async options => {
    site = await served(options, { make: listener => http2.createServer(listener) })
    session = http2.connect(`http://127.0.0.1:${site.port}`)
    session.on('error', () => {})
  }
  afterEach(async () => {
    session.destroy()
    await assertFree(site.admit, assert)
    await new Promise(resolve => site.server.close(resolve))
  })

  /** A request: what has come of it. */
  function ask (path, headers = {}) {
    const stream = session.request({ ':path': path, ...headers })
    const seen = { stream, status: undefined, headers: undefined, text: '', error: undefined, isClosed: false }
    stream.setEncoding('utf8')
    stream.on('response', headers => Object.assign(seen, { headers, status: headers[':status'] }))
    stream.on('data', part => { seen.text += part })
    stream.on('error', err => { seen.error = err })
    stream.on('close', () => { seen.isClosed = true })
    return seen
  }

  it('shares the slots among the streams of a connection, and refuses some', async function () {
    await start({ concurrency: 2, maxWaitingPerType: 1 })
    const asked = ['/1', '/2', '/3', '/4'].map(path => ask(path))
    await until(() => asked.some(({ isClosed }) => isClosed))
    const refused = asked.find(({ isClosed }) => isClosed)
    assert.deepEqual([refused.status, JSON.parse(refused.text).code], [429, 'FAIRLANE_ERR_TYPE_FULL'])
    assert.equal(refused.headers.connection, undefined)
    for (let at = 0; at < 3; at++) {
      await site.until(at + 1)
      site.handled[at].response.end('ok')
    }
    await until(() => asked.every(({ isClosed }) => isClosed))
    const served = asked.filter(one => one !== refused)
    assert.deepEqual(served.map(({ status, text }) => [status, text]), Array(3).fill([200, 'ok']))
    assert.equal(served.filter(({ headers }) => /^queue;dur=/.test(headers['server-timing'])).length, 1)
  })

  it('frees the slot of a stream that its client resets, and takes out one that waits', async function () {
    await start({ concurrency: 1 })
    const running = ask('/1')
    await site.until(1)
    const waiting = ask('/2')
    await until(() => site.admit.stats().waiting === 1)
    waiting.stream.close(http2.constants.NGHTTP2_CANCEL)
    await until(() => site.admit.stats().gone === 1)
    running.stream.close(http2.constants.NGHTTP2_CANCEL)
    await until(() => site.admit.stats().running === 0)
    assert.equal(site.handled.length, 1)
  })

  it('frees the slot of a stream that its client closes without an error while the answer is on its way', async function () {
    await start({ concurrency: 1 })
    const stream = session.request({ ':path': '/large' }) // nobody reads it
    await site.until(1)
    site.handled[0].response.end('x'.repeat(1e6))
    await once(stream, 'response')
    stream.close(http2.constants.NGHTTP2_NO_ERROR)
    await until(() => site.admit.stats().running === 0)
    const next = ask('/next')
    await site.until(2)
    site.handled[1].response.end('ok')
    await until(() => next.isClosed)
    assert.equal(next.text, 'ok')
    site.handled[0].response.stream.destroy() // or Node keeps the session, too
  })

  it('holds the slot of a stream whose request has come as a whole, until its answer has', async function () {
    await start({ concurrency: 1 })
    const one = ask('/read', { ':method': 'POST' })
    one.stream.end('body')
    await site.until(1)
    const { request, response } = site.handled[0]
    await once(request.resume(), 'end')
    await turns(5)
    assert.equal(site.admit.stats().running, 1)
    response.end('ok')
    await until(() => one.isClosed)
    assert.equal(one.text, 'ok')
  })

  it('frees by timeoutMs the slot of a stream that is closed, and whose request the handler does not read', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, timeoutMs: 1000, clock })
    const stream = session.request({ ':path': '/large', ':method': 'POST' })
    stream.write('body')
    await site.until(1)
    const { response } = site.handled[0]
    response.stream.pause()
    response.end('x'.repeat(1e6))
    await once(stream, 'response')
    stream.close(http2.constants.NGHTTP2_NO_ERROR)
    await until(() => response.stream.closed)
    assert.equal(site.admit.stats().running, 1)
    clock.advance(1001)
    await until(() => site.admit.stats().running === 0)
  })

  it('resets the stream of an answer whose time is over, and answers 503 where nothing was sent', async function () {
    const clock = fakeClock()
    await start({ timeoutMs: 1000, clock })
    const half = ask('/half')
    const silent = ask('/silent')
    await site.until(2)
    const responseOf = path => site.handled.find(({ request }) => request.url === path).response
    responseOf('/half').write('half')
    await until(() => half.text === 'half')
    clock.advance(1001)
    await until(() => half.isClosed && silent.isClosed)
    assert.equal(half.error.code, 'ERR_HTTP2_STREAM_ERROR')
    assert.match(half.error.message, /INTERNAL_ERROR/)
    assert.deepEqual([silent.status, JSON.parse(silent.text).code], [503, 'FAIRLANE_ERR_TIMEOUT'])
    responseOf('/silent').writeHead(200).end('late')
  })

  it('frees a slot when the headers are sent, with until: \'headers\', however a handler sends them', async function () {
    await start({ concurrency: 1, until: 'headers' })
    const ways = [response => response.write('part'), response => response.writeHead(200), response => response.flushHeaders(), response => response.end('whole')]
    for (const [at, send] of ways.entries()) {
      const asked = ask('/')
      await site.until(at + 1)
      send(site.handled[at].response)
      assert.equal(site.admit.stats().running, 0)
      site.handled[at].response.end()
      await until(() => asked.isClosed)
      assert.equal(asked.status, 200)
    }
  })

  it('does not let in a stream that was reset before', async function () {
    const later = []
    site = await served({}, { make: listener => http2.createServer(listener), pass: (...args) => later.push(args) })
    session = http2.connect(`http://127.0.0.1:${site.port}`)
    const gone = ask('/')
    await until(() => later.length === 1)
    gone.stream.close(http2.constants.NGHTTP2_CANCEL)
    const [[admit, request, response, next]] = later
    await once(response, 'close')
    await turns(2)
    admit(request, response, next)
    assert.deepEqual([admit.stats().gone, site.handled.length], [1, 0])
  })

  it('closes no connection while it closes, which is the server\'s', async function () {
    await start({ concurrency: 1 })
    const running = ask('/1')
    await site.until(1)
    const closed = site.admit.close()
    const refused = ask('/2')
    await until(() => refused.isClosed)
    assert.equal(refused.status, 503)
    site.handled[0].response.end('ok')
    await until(() => running.isClosed)
    assert.deepEqual([running.text, await closed], ['ok', 0])
  })
})
