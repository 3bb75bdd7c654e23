'use strict'

// What no request gets past: handlers without a slot, slots for clients that are gone, slots that nobody can use.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { ServerResponse } = require('node:http')
const http2 = require('node:http2')
const { admission } = require('../../lib/http')
const { fakeClock } = require('../../lib/testing')
const { turns } = require('../support/turns')
const { assertFree, rawClient, served, until } = require('./served')

describe('an admission', function () {
  let site
  const start = async (...args) => { site = await served(...args) }
  afterEach(async () => {
    await assertFree(site.admit, assert)
    await site.end()
  })

  describe('whose functions fail, before what takes no error', function () {
    let handled, warnings
    const onWarning = warning => warnings.push(warning.code)
    beforeEach(() => {
      handled = []
      warnings = []
      process.on('warning', onWarning)
    })
    afterEach(() => { process.removeListener('warning', onWarning) })

    const startWith = options => start({ concurrency: 1, ...options }, {
      pass: (admit, request, response) => admit(request, response, () => { handled.push({ request, response }) })
    })

    it('answers 500, calls no handler, and warns once', async function () {
      const fail = { '/throws': () => { throw new Error('no store') }, '/rejects': () => Promise.reject(new Error('no store')), '/number': () => ({}) }
      await startWith({ tenant: ({ url }) => fail[url]() })
      const answers = await Promise.all(Object.keys(fail).map(path => site.get(path)))
      assert.deepEqual(answers.map(({ status, headers }) => [status, headers['content-type']]), Array(3).fill([500, 'application/problem+json']))
      assert.deepEqual(answers.map(({ text }) => JSON.parse(text).code), [undefined, undefined, 'FAIRLANE_ERR_TYPE'])
      assert.equal(JSON.parse(answers[0].text).title, 'Internal Server Error')
      await turns(2)
      assert.deepEqual([handled.length, warnings], [0, ['FAIRLANE_WARN_ADMISSION']])
      await site.end()
      await startWith({ exempt: () => Promise.reject() }) // eslint-disable-line prefer-promise-reject-errors
      assert.equal((await site.get()).status, 500)
      assert.equal(handled.length, 0)
    })

    it('answers for refuse(), which may have begun to answer, or have ended', async function () {
      await startWith({
        maxWaiting: 0,
        refuse ({ url }, response) {
          response.setHeader('Content-Length', '100').setHeader('X-Own', 'stays')
          if (url === '/half') response.write('half')
          if (url === '/whole') response.removeHeader('Content-Length')
          if (url === '/whole') response.end('whole')
          if (url === '/gone') response.destroy()
          if (url === '/later') return Promise.reject(new Error('no answer'))
          throw new Error('no answer')
        }
      })
      const held = site.get('/held')
      await until(() => handled.length === 1)
      for (const path of ['/now', '/later']) {
        const { status, headers } = await site.get(path)
        assert.deepEqual([status, headers['x-own']], [500, 'stays'])
      }
      assert.equal((await site.get('/whole')).text, 'whole')
      for (const path of ['/half', '/gone']) await assert.rejects(site.get(path))
      handled[0].response.end()
      await held
      assert.equal(handled.length, 1)
    })
  })

  it('gives what goes on no error that is none: a word of express, or nothing', async function () {
    await start({ tenant: ({ url }) => { throw url === '/nothing' ? undefined : url.slice(1) } })
    for (const path of ['/nothing', '/route', '/router']) assert.equal((await site.get(path)).status, 500)
    assert(site.errors.every(err => err instanceof Error))
    assert.deepEqual(site.errors.slice(1).map(({ message }) => message), ['route', 'router'])
  })

  it('warns of what is no error, too', async function () {
    await start({ exempt: () => { throw 'a word' } }, { pass: (admit, request, response) => admit(request, response, () => {}) }) // eslint-disable-line no-throw-literal
    const warned = once(process, 'warning')
    assert.equal((await site.get()).status, 500)
    assert.match((await warned)[0].message, /a word/)
  })

  it('takes out a request whose response closes before that in front of it', async function () {
    const responses = []
    await start({ concurrency: 1 }, {
      pass (admit, request, response, next) {
        responses.push(response)
        admit(request, response, next)
      }
    })
    const client = rawClient(site.port)
    client.ask(['/1', '/2'])
    await until(() => site.admit.stats().waiting === 1)
    responses[1].emit('close') // as those of others may, that stand in for Node's
    assert.deepEqual([site.admit.stats().gone, site.admit.stats().waiting], [1, 0])
    client.end()
    await assertFree(site.admit, assert)
    assert.deepEqual([site.admit.stats().gone, site.handled.length], [1, 1])
  })

  it('ends a connection that was upgraded when its time is over, or the server closes', async function () {
    for (const close of [false, true]) {
      const clock = fakeClock()
      await start({ concurrency: 1, clock, ...!close && { timeoutMs: 1000 } })
      site.server.on('upgrade', (request, socket) => {
        const response = new ServerResponse(request)
        response.assignSocket(socket)
        site.admit(request, response, () => {
          response.detachSocket(socket)
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n')
        })
      })
      const client = rawClient(site.port)
      client.ask(['/'], 'Connection: Upgrade\r\nUpgrade: own\r\n')
      await until(() => client.statuses()[0] === 101)
      const closed = close ? site.admit.close({ timeoutMs: 1000 }) : undefined
      clock.advance(1001)
      await until(() => client.isClosed)
      await closed
      await assertFree(site.admit, assert)
      if (!close) await site.end()
    }
  })

  it('leaves a connection alone whose response waits for one that no admission knows', async function () {
    const clock = fakeClock()
    let first
    await start({ concurrency: 1, clock, timeoutMs: 1000 }, {
      pass (admit, request, response, next) {
        if (request.url === '/first') first = response
        else admit(request, response, next)
      }
    })
    const client = rawClient(site.port)
    client.ask(['/first', '/second'])
    await site.until(1)
    clock.advance(1001)
    first.end('first')
    await until(() => client.statuses().length === 2)
    assert.deepEqual(client.statuses(), [200, 503])
    client.end()
  })

  it('has a request that was pipelined behind an exempt one wait for that', async function () {
    await start({ concurrency: 1, exempt: ({ url }) => url === '/events' })
    const client = rawClient(site.port)
    client.ask(['/events', '/behind'])
    await until(() => site.admit.stats().waiting === 1)
    const other = site.get('/other')
    await site.until(2)
    site.handled[1].response.end()
    await other
    site.handled[0].response.end()
    await site.until(3)
    assert.equal(site.handled[2].request.url, '/behind')
    site.handled[2].response.end()
    await until(() => client.statuses().length === 2)
    client.end()
  })

  describe('whose clients leave with many requests', function () {
    let session
    const startWith = async (options, how) => {
      await start(options, { make: listener => http2.createServer(listener), ...how })
      session = http2.connect(`http://127.0.0.1:${site.port}`)
      session.on('error', () => {})
      await once(session, 'connect')
      for (let i = 0; i < 20; i++) session.request({ ':path': '/' }).on('error', () => {}).resume()
      await until(() => site.admit.stats().waiting === 19)
    }
    afterEach(() => { session.destroy() })

    it('starts none of the others in HTTP/2', async function () {
      await startWith({ concurrency: 1 })
      site.handled[0].response.stream.session.destroy()
      await until(() => site.admit.stats().running + site.admit.stats().waiting === 0)
      assert.deepEqual([site.handled.length, site.admit.stats().gone], [1, 19])
    })

    it('starts none whose stream has closed, though nobody was told so yet', async function () {
      await startWith({ concurrency: 1 })
      site.handled[0].response.stream.session.destroy()
      assert.equal(site.admit.release(site.handled[0].request), true)
      await until(() => site.admit.stats().running + site.admit.stats().waiting === 0)
      assert.deepEqual([site.handled.length, site.admit.stats().gone], [1, 19])
    })
  })
})

describe('a request whose tenant, or whether it is exempt, a promise tells', function () {
  let admit, asked, handled
  const request = () => new Request('http://here')
  const later = () => new Promise((resolve, reject) => asked.push({ resolve, reject }))

  /** @returns {() => Promise<Response>} */
  function start (options) {
    asked = []
    handled = []
    admit = admission({ concurrency: 1, tenant: later, ...options })
    const served = admit.fetch(() => new Promise(resolve => handled.push(() => resolve(new Response(null)))))
    return () => served(request())
  }
  afterEach(() => assertFree(admit, assert))

  it('counts among those that wait, and is refused where too many do', async function () {
    const ask = start({ maxWaiting: 2 })
    const answers = Array.from({ length: 5 }, ask)
    assert.equal(admit.stats().waiting, 3)
    for (const answer of answers.slice(3)) assert.equal((await (await answer).json()).code, 'FAIRLANE_ERR_QUEUE_FULL')
    asked[4].reject(new Error('late'))
    asked[2].reject(new Error('no tenant'))
    await assert.rejects(answers[2], { message: 'no tenant' })
    for (const { resolve } of asked) resolve('x')
    for (let at = 0; at < 2; at++) {
      await until(() => handled.length === at + 1)
      handled[at]()
    }
    assert.deepEqual((await Promise.all(answers.slice(0, 2))).map(({ status }) => status), [200, 200])
    assert.deepEqual([admit.stats().refused, admit.stats().rejected], [{ FAIRLANE_ERR_QUEUE_FULL: 2 }, 2])
  })

  it('counts so without types, too', async function () {
    const ask = start({ maxWaiting: 0, scheduler: null })
    const [first, second] = [ask(), ask()]
    assert.equal((await second).status, 503)
    asked[0].resolve()
    await until(() => handled.length === 1)
    handled[0]()
    assert.equal((await first).status, 200)
  })

  it('is run when the queue closes meanwhile, and those that come then are refused', async function () {
    const ask = start({ exempt: later })
    const answers = [ask(), ask(), ask()]
    const closed = admit.close({ timeoutMs: 60000 })
    assert.equal((await ask()).status, 503)
    asked[0].resolve(false)
    asked[1].resolve(false)
    asked[2].resolve(true)
    await until(() => asked.length === 6 && handled.length === 1)
    handled[0]()
    assert.equal((await answers[2]).status, 200)
    asked[4].resolve('x')
    asked[5].resolve('x')
    for (let at = 1; at < 3; at++) {
      await until(() => handled.length === at + 1)
      handled[at]()
    }
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [200, 200, 200])
    assert.equal(await closed, 0)
  })

  it('is refused when the time for closing is over', async function () {
    const clock = fakeClock()
    const ask = start({ clock })
    const running = ask()
    asked[0].resolve('x')
    await until(() => handled.length === 1)
    const answer = ask()
    const closed = admit.close({ timeoutMs: 1000 })
    clock.advance(1001)
    asked[1].resolve('x')
    assert.equal((await answer).status, 503)
    assert.equal((await running).status, 503)
    await closed
    assert.equal(handled.length, 1)
  })

  it('has maxWaitMs for all that it waits for, and is told the whole of it', async function () {
    const clock = fakeClock()
    const ask = start({ clock, maxWaitMs: 1000, exempt: later })
    const answers = [ask(), ask(), ask()]
    clock.advance(400)
    for (const { resolve } of asked.slice(0, 3)) resolve(false)
    await until(() => asked.length === 6)
    clock.advance(400)
    asked[3].resolve('x')
    await until(() => handled.length === 1)
    asked[4].resolve('x')
    await turns(3)
    clock.advance(199)
    assert.equal(admit.stats().waiting, 2)
    clock.advance(2)
    for (const answer of answers.slice(1)) assert.equal((await (await answer).json()).code, 'FAIRLANE_ERR_MAX_WAIT')
    handled[0]()
    assert.equal((await answers[0]).headers.get('server-timing'), 'queue;dur=800.0')
  })

  it('is told nothing if it was not to wait', async function () {
    const clock = fakeClock()
    const ask = start({ clock })
    const answer = ask()
    asked[0].resolve('x')
    await until(() => handled.length === 1)
    handled[0]()
    assert.equal((await answer).headers.get('server-timing'), null)
  })
})

describe('an admission in front of a fetch handler whose requests share a signal', function () {
  it('starts none of those that wait when that aborts, and warns of no leak', async function () {
    const admit = admission({ concurrency: 1 })
    const controller = new AbortController()
    const { signal } = controller
    const warnings = []
    const onWarning = warning => warnings.push(warning.name)
    process.on('warning', onWarning)
    let calls = 0
    const ask = admit.fetch(() => {
      calls++
      return new Promise(resolve => signal.addEventListener('abort', () => resolve(new Response(null))))
    })
    const answers = Array.from({ length: 40 }, () => ask({ signal, method: 'GET' }).then(({ status }) => status, ({ name }) => name))
    controller.abort()
    assert.deepEqual(await Promise.all(answers), [200, ...Array(39).fill('AbortError')])
    await turns(3)
    process.removeListener('warning', onWarning)
    assert.deepEqual([calls, admit.stats().gone, warnings], [1, 39, []])
    await assertFree(admit, assert)
  })

  it('calls no handler, and takes no slot, if it aborts while the tenant is asked for', async function () {
    let calls = 0
    for (const answer of [() => 'x', () => Promise.resolve('x'), () => { throw new Error('no tenant') }]) {
      const controller = new AbortController()
      const admit = admission({
        tenant () {
          controller.abort(new Error('gone'))
          return answer()
        }
      })
      const ask = admit.fetch(() => { calls++ })
      await assert.rejects(ask(new Request('http://here', { signal: controller.signal })), { message: 'gone' })
      await assertFree(admit, assert)
      await turns(2)
      assert.deepEqual([calls, admit.stats().gone], [0, 1])
    }
  })

  it('gives answers that nobody can make again as they are, also to those that have waited', async function () {
    const protocols = Object.defineProperty(new Response(null), 'status', { value: 101 })
    for (const answer of [Response.error(), protocols]) {
      const admit = admission({ concurrency: 1 })
      const ask = admit.fetch(async () => answer)
      assert.deepEqual(await Promise.all([1, 2].map(() => ask(new Request('http://here')))), [answer, answer])
      await assertFree(admit, assert)
    }
  })
})
