'use strict'

// The ways in which a request comes to its end, each of which frees its slot once.

const assert = require('node:assert/strict')
const { ServerResponse } = require('node:http')
const { createServer: createSecureServer, Agent } = require('node:https')
const { AbortController: Controller } = globalThis
const { Throttled } = require('../..')
const { fakeClock } = require('../../lib/testing')
const { selfSigned } = require('../support/certificates')
const { turns } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')
const { assertFree, get, rawClient, served, until } = require('./served')

describe('a request that an admission has let in', function () {
  let site
  const start = async (...args) => { site = await served(...args) }
  afterEach(async () => {
    await assertFree(site.admit, assert)
    await site.end()
  })

  /** The slot is free: another one gets it. */
  const assertNext = async () => {
    const { length } = site.handled
    const answer = site.get('/next')
    await site.until(length + 1)
    site.handled[length].response.end('next')
    assert.equal((await answer).text, 'next')
  }

  it('frees its slot when its client goes away', async function () {
    await start({ concurrency: 1 })
    const answer = site.get('/gone')
    await site.until(1)
    answer.request.destroy()
    await until(() => site.admit.stats().running === 0)
    await assertNext()
    assert.equal(site.admit.stats().gone, 0)
  })

  it('frees its slot when its handler destroys the response, or the socket', async function () {
    await start({ concurrency: 1 }, {
      handler (request, response) {
        if (request.url === '/response') response.destroy()
        if (request.url === '/socket') request.socket.destroy()
      }
    })
    for (const path of ['/response', '/socket']) await assert.rejects(site.get(path))
    await assertNext()
  })

  it('frees its slot when its handler throws, at once or later, which is told as without an admission', async function () {
    const uncaught = captureUncaught()
    const others = process.listeners('unhandledRejection')
    const rejected = []
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', reason => rejected.push(reason))
    try {
      await start({ concurrency: 1 }, {
        handler (request) {
          if (request.url === '/throws') throw new Error('thrown')
          if (request.url === '/throttled') throw new Throttled(1000) // is not tried again
          if (request.url === '/rejects') return Promise.reject(new Error('rejected'))
          return request.url === '/value' ? 7 : undefined
        }
      })
      const answers = ['/throws', '/throttled', '/rejects', '/value'].map(path => site.get(path))
      await site.until(4)
      await until(() => uncaught.seen.length + rejected.length === 3)
      assert.deepEqual(uncaught.seen.map(({ name }) => name).sort(), ['Error', 'Throttled'])
      assert.deepEqual(rejected.map(({ message }) => message), ['rejected'])
      for (const { response } of site.handled) response.end()
      await Promise.all(answers)
      assert.deepEqual([site.admit.stats().failed, site.admit.stats().done], [3, 1])
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const other of others) process.on('unhandledRejection', other)
      uncaught.release()
    }
  })

  it('is answered with 503 when its time is over and nothing was sent; what its handler says then is swallowed', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, timeoutMs: 1000, clock })
    const answer = site.get('/never')
    await site.until(1)
    const { response } = site.handled[0]
    response.setHeader('Content-Type', 'text/html').setHeader('Content-Length', '7').setHeader('ETag', '"x"').setHeader('X-Own', 'stays')
    response.statusMessage = 'Fine'
    clock.advance(1001)
    const { status, headers, text } = await answer
    assert.equal(status, 503)
    assert.equal(JSON.parse(text).code, 'FAIRLANE_ERR_TIMEOUT')
    assert.deepEqual([headers['content-type'], headers.etag, headers['x-own'], headers['retry-after']], ['application/problem+json', undefined, 'stays', '1'])
    const calls = []
    assert.equal(response.writeHead(200, { a: 'b' }), response)
    assert.equal(response.setHeader('a', 'b').appendHeader('a', 'c').setHeaders(new Map()), response)
    response.removeHeader('a')
    response.flushHeaders()
    response.writeContinue()
    response.addTrailers({})
    assert.equal(response.write('late', () => calls.push('write')), true)
    assert.equal(response.write('late', 'utf8'), true)
    assert.equal(response.end('late', () => calls.push('end')), response)
    await turns(5)
    assert.deepEqual(calls, ['write', 'end'])
    await assertNext()
    const { failed, refused } = site.admit.stats()
    assert.deepEqual({ failed, refused }, { failed: 1, refused: {} })
  })

  it('is cut off with an error when its time is over and a part was sent, so that it does not look whole', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, timeoutMs: 1000, clock })
    const client = rawClient(site.port)
    client.ask(['/half'], 'Connection: close\r\n')
    await site.until(1)
    site.handled[0].response.writeHead(200).write('half')
    await until(() => client.text.includes('half'))
    clock.advance(1001)
    await until(() => client.isClosed)
    assert.equal(client.error.code, 'ECONNRESET')
    await assertNext()
  })

  it('is cut off over TLS, too', async function () {
    const clock = fakeClock()
    const pair = selfSigned()
    await start({ concurrency: 1, timeoutMs: 1000, clock }, { make: listener => createSecureServer(pair, listener) })
    const agent = new Agent({ ca: pair.cert, servername: 'localhost' })
    const { request } = require('node:https')
    const cut = new Promise((resolve, reject) => {
      const asked = request({ port: site.port, host: '127.0.0.1', agent }, response => {
        response.resume()
        response.on('error', resolve)
        response.on('end', () => reject(new Error('it looks whole')))
      })
      asked.on('error', resolve)
      asked.end()
    })
    await site.until(1)
    site.handled[0].response.write('half')
    await turns(5)
    clock.advance(1001)
    assert.equal((await cut).code, 'ECONNRESET')
    agent.destroy()
  })

  it('is taken out at once when its client goes away while it waits: nobody handles it, and its place is free', async function () {
    await start({ concurrency: 1, maxWaitingPerType: 1, maxWaiting: 1 })
    const held = site.get('/held')
    await site.until(1)
    for (let i = 0; i < 3; i++) {
      const gone = site.get('/gone')
      await until(() => site.admit.stats().waiting === 1)
      gone.request.destroy()
      await until(() => site.admit.stats().waiting === 0)
    }
    const next = site.get('/next')
    await until(() => site.admit.stats().waiting === 1)
    site.handled[0].response.end()
    await site.until(2)
    site.handled[1].response.end()
    assert.deepEqual([(await held).status, (await next).status], [200, 200])
    const { gone, cancelled, refused } = site.admit.stats()
    assert.deepEqual({ gone, cancelled, refused }, { gone: 3, cancelled: 3, refused: {} })
    assert.deepEqual(site.handled.map(({ request }) => request.url), ['/held', '/next'])
  })

  it('is taken out when its client goes away while its tenant is asked for', async function () {
    let tell
    await start({ tenant: () => new Promise(resolve => { tell = resolve }) })
    const gone = site.get()
    await until(() => tell !== undefined)
    gone.request.destroy()
    await until(() => site.admit.stats().gone === 1)
    tell('x')
    await turns(3)
    assert.equal(site.handled.length, 0)
  })

  it('is not let in if its response has closed before', async function () {
    let later
    await start({}, { pass: (admit, request, response, next) => { later = () => admit(request, response, next) } })
    const gone = site.get()
    await until(() => later !== undefined)
    gone.request.destroy()
    const [request] = site.arrived
    await until(() => request.socket.destroyed)
    await turns(3)
    later()
    assert.deepEqual([site.admit.stats().gone, site.admit.stats().accepted, site.handled.length], [1, 0, 0])
  })

  it('is not let in if its connection has closed, which its response is not told of where others come before it', async function () {
    const later = []
    await start({}, { pass: (admit, request, response, next) => later.push(() => admit(request, response, next)) })
    const client = rawClient(site.port)
    client.ask(['/1', '/2'])
    await until(() => later.length === 2)
    client.end()
    await until(() => site.arrived[1].socket.destroyed)
    await turns(3)
    later[1]()
    assert.deepEqual([site.admit.stats().gone, site.admit.stats().accepted], [1, 0])
  })

  it('leaves with all that were pipelined behind it', async function () {
    await start({ concurrency: 1 })
    const client = rawClient(site.port)
    client.ask(['/1', '/2', '/3'])
    await until(() => site.admit.stats().waiting === 2)
    client.end()
    await until(() => site.admit.stats().gone === 2)
    assert.equal(site.handled.length, 1)
    await assertNext()
  })

  it('lets those that wait behind it on its connection in when it is refused, exempt, or fails', async function () {
    await start({
      concurrency: 1,
      exempt: async ({ url }) => url === '/exempt',
      tenant: async ({ url }) => { if (url === '/fails') throw new Error('no tenant') }
    }, { handler: ({ url }, response) => { if (url === '/exempt') response.end() } })
    const client = rawClient(site.port)
    client.ask(['/1', '/exempt', '/fails', '/2'])
    await site.until(2)
    await until(() => site.admit.stats().waiting === 1)
    site.handled.find(({ request }) => request.url === '/1').response.end()
    await site.until(3)
    assert.equal(site.handled[2].request.url, '/2')
    site.handled[2].response.end()
    await until(() => client.statuses().length === 4)
    assert.deepEqual(client.statuses(), [200, 200, 500, 200])
    client.end()
  })

  it('holds its slot while it streams, and frees it when the stream fails', async function () {
    await start({ concurrency: 1 })
    const answer = site.get()
    await site.until(1)
    const { response } = site.handled[0]
    for (let i = 0; i < 5; i++) {
      response.write('part')
      await turns(2)
      assert.equal(site.admit.stats().running, 1)
    }
    response.destroy(new Error('the source has failed'))
    await assert.rejects(answer)
    await until(() => site.admit.stats().running === 0)
  })

  it('frees its slot when the connection that it was upgraded to has closed', async function () {
    await start({ concurrency: 1 })
    const upgraded = []
    site.server.on('upgrade', (request, socket) => {
      const response = new ServerResponse(request)
      response.assignSocket(socket)
      site.admit(request, response, () => {
        response.detachSocket(socket)
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n')
        upgraded.push(socket)
      })
    })
    const client = rawClient(site.port)
    client.ask(['/'], 'Connection: Upgrade\r\nUpgrade: own\r\n')
    await until(() => client.statuses()[0] === 101)
    assert.equal(site.admit.stats().running, 1)
    upgraded[0].destroy()
    await until(() => client.isClosed)
    await assertNext()
  })

  it('goes on without a connection where there is none to be known', async function () {
    const { EventEmitter } = require('node:events')
    await start({ concurrency: 1 })
    const response = Object.assign(new EventEmitter(), { writeHead () {} })
    let isHandled = false
    site.admit({ headers: {} }, response, () => { isHandled = true })
    assert.equal(isHandled, true)
    response.emit('close')
    await assertNext()
  })

  it('is not given to a request whose connection has ended, whatever its response says', async function () {
    const { EventEmitter } = require('node:events')
    await start({ concurrency: 1 })
    const response = Object.assign(new EventEmitter(), { writeHead () {} })
    const socket = Object.assign(new EventEmitter(), { destroyed: true })
    site.admit({ headers: {}, socket }, response, () => assert.fail('it is handled'))
    const { accepted, running } = site.admit.stats()
    assert.deepEqual([accepted, running], [0, 0])
    await assertNext()
  })

  it('is not wanted without Node\'s request and response, and what goes on', async function () {
    await start()
    const { admit } = site
    const response = Object.assign(new (require('node:events'))(), { writeHead () {} })
    for (const args of [[], [{}, {}, () => {}], [{}, null, () => {}], [{}, response], [{}, response, 'next']]) {
      assert.throws(() => admit(...args), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    for (const args of [[], [{}, () => {}], [{ req: {}, res: response }]]) assert.throws(() => admit.koa(...args), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const args of [[], [{}, {}, () => {}], [{ raw: {} }, { raw: response }]]) {
      assert.throws(() => admit.fastify(...args), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    for (const handler of [undefined, null, {}]) assert.throws(() => admit.fetch(handler), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })
})

describe('an admission that closes', function () {
  let site
  const start = async (...args) => { site = await served(...args) }
  afterEach(async () => {
    await assertFree(site.admit, assert)
    await site.end()
  })

  it('runs what waits, and refuses what comes, and has connections end', async function () {
    await start({ concurrency: 1 })
    const answers = [site.get('/1'), site.get('/2')]
    await until(() => site.admit.stats().waiting === 1)
    const closed = site.admit.close({ timeoutMs: 60000 })
    assert.equal(site.admit.queue.closed, true)
    const refused = await site.get('/3')
    assert.deepEqual([refused.status, JSON.parse(refused.text).code, refused.headers.connection, refused.headers['retry-after']],
      [503, 'FAIRLANE_ERR_CLOSED', 'close', '1'])
    site.handled[0].response.end()
    await site.until(2)
    site.handled[1].response.end()
    assert.deepEqual((await Promise.all(answers)).map(({ status, headers }) => [status, headers.connection]), [[200, 'close'], [200, 'close']])
    assert.equal(await closed, 0)
    assert.equal((await site.get('/4')).status, 503)
    assert.equal(site.admit.stats().refused.FAIRLANE_ERR_CLOSED, 2)
  })

  it('answers all that is there when its time is over', async function () {
    const clock = fakeClock()
    let tell
    await start({ concurrency: 3, clock, tenant: ({ url }) => url === '/asked' ? new Promise(resolve => { tell = resolve }) : 'x' })
    const running = [site.get('/silent'), site.get('/half')]
    const client = rawClient(site.port)
    client.ask(['/1', '/2'])
    await site.until(3)
    site.handled.find(({ request }) => request.url === '/half').response.write('half')
    const asked = site.get('/asked')
    await until(() => tell !== undefined && site.admit.stats().waiting === 2)
    const closed = site.admit.close({ timeoutMs: 1000 })
    clock.advance(1001)
    await closed
    assert.deepEqual([(await running[0]).status, (await asked).status], [503, 503])
    await assert.rejects(running[1])
    await until(() => client.isClosed)
    assert.deepEqual(client.statuses(), [503, 503])
    tell('x')
    await turns(3)
    assert.equal(site.handled.length, 3)
  })

  it('answers each request that was pipelined, of which the last one ends the connection', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, clock })
    const client = rawClient(site.port)
    client.ask(['/1', '/2', '/3'])
    await until(() => site.admit.stats().waiting === 2)
    const closed = site.admit.close({ timeoutMs: 1000 })
    client.ask(['/4'])
    await until(() => site.admit.stats().refused.FAIRLANE_ERR_CLOSED === 1)
    clock.advance(1001)
    await closed
    await until(() => client.isClosed)
    assert.deepEqual(client.statuses(), [503, 503, 503, 503])
    assert.deepEqual(client.text.match(/^connection: .*$/gim), [...Array(3).fill('Connection: keep-alive'), 'Connection: close'])
  })

  it('refuses what waits with drain: false, and by the option signal', async function () {
    const controller = new Controller()
    for (const close of [() => site.admit.close({ drain: false }), () => controller.abort()]) {
      site = await served({ concurrency: 1, signal: controller.signal })
      const answers = [site.get('/1'), site.get('/2')]
      await until(() => site.admit.stats().waiting === 1)
      close()
      assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [503, 503])
      if (!controller.signal.aborted) await site.end()
    }
  })

  it('has answered all that it refuses when it has closed', async function () {
    await start({ concurrency: 1, maxWaitingPerType: 20 })
    const answers = Array.from({ length: 40 }, () => site.get())
    await until(() => site.arrived.length === 40)
    await site.admit.close({ drain: false })
    site.server.close()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 429 || status === 503).length, 40)
    site.server = require('node:http').createServer().listen(0, '127.0.0.1') // which is ended in its place
    site.end = () => new Promise(resolve => site.server.close(resolve))
  })

  it('answers all at once that waits to be refused when it closes', async function () {
    await start({ concurrency: 1, maxWaitingPerType: 0 }, {
      pass (admit, request, response, next) {
        admit(request, response, next)
        if (request.url === '/39') admit.close({ drain: false })
      }
    })
    const client = rawClient(site.port)
    client.ask(Array.from({ length: 40 }, (_, i) => `/${i}`))
    await until(() => client.isClosed)
    assert.equal(site.admit.stats().refused.FAIRLANE_ERR_TYPE_FULL, 39)
  })

  it('answers requests that are parked behind one that was released', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, clock })
    const client = rawClient(site.port)
    client.ask(['/events', '/2'])
    await until(() => site.admit.stats().waiting === 1)
    site.handled[0].response.write('event')
    site.admit.release(site.handled[0].request)
    const closed = site.admit.close({ timeoutMs: 1000 })
    clock.advance(1001)
    await closed
    assert.equal(site.admit.stats().refused.FAIRLANE_ERR_CLOSED, 1)
    client.end()
    await until(() => client.isClosed)
  })

  it('lets no request be asked about any more once it has closed', async function () {
    await start({ tenant: async () => 'x' })
    await site.admit.close()
    assert.equal((await site.get()).status, 503)
    assert.equal(site.handled.length, 0)
  })

  it('knows jobs of its queue that are no requests, and refuses wrong options', async function () {
    await start()
    assert.throws(() => site.admit.close({ timeoutMs: 'soon' }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    const answer = get({ port: site.port })
    await site.until(1)
    const slot = await site.admit.queue.acquire({ type: 'x' })
    const closed = site.admit.close()
    slot.release()
    site.handled[0].response.end()
    assert.equal((await answer).status, 200)
    await closed
  })
})
