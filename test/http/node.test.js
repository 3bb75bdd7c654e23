'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { fakeClock } = require('../../lib/testing')
const { turns } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')
const { assertFree, rawClient, served, until } = require('./served')

describe('an admission in front of a server of Node', function () {
  let site
  const start = async (...args) => { site = await served(...args) }
  afterEach(async () => {
    for (const { response } of site.handled) response.destroy()
    await assertFree(site.admit, assert)
    await site.end()
  })

  /** A slot is held, and the response of the next request, which waits for it, is in the hands of somebody else, too. */
  const startHeld = async options => {
    await start({ concurrency: 1, ...options })
    const about = { held: site.get('/held'), waiting: undefined }
    await site.until(1)
    site.server.prependListener('request', (request, response) => { about.waiting = response })
    return about
  }

  const endAll = async answers => {
    for (let at = 0; at < answers.length; at++) {
      await site.until(at + 1)
      site.handled[at].response.end(site.handled[at].request.url)
    }
    return Promise.all(answers)
  }

  it('lets no more requests through at once than there are slots, and the next when a response has closed', async function () {
    await start({ concurrency: 2 })
    const answers = ['/a', '/b', '/c', '/d'].map(path => site.get(path, 'x'))
    await until(() => site.admit.stats().waiting === 2)
    assert.equal(site.handled.length, 2)
    site.handled[0].response.end('first')
    await site.until(3)
    await turns(5)
    assert.equal(site.handled.length, 3)
    for (const { response } of site.handled.slice(1)) response.end('later')
    await site.until(4)
    site.handled[3].response.end('last')
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [200, 200, 200, 200])
    const { accepted, done, refused, gone, exempt } = site.admit.stats()
    assert.deepEqual({ accepted, done, refused, gone, exempt }, { accepted: 4, done: 4, refused: {}, gone: 0, exempt: 0 })
  })

  it('calls the handler before it returns where a slot is free', async function () {
    let isInside
    await start({ concurrency: 1 }, {
      pass (admit, request, response, next) {
        isInside = true
        admit(request, response, () => { next(); response.end(String(isInside)) })
        isInside = false
      }
    })
    assert.equal((await site.get('/', 'x')).text, 'true')
    assert.equal((await site.get('/', 'x')).text, 'true')
  })

  it('answers a tenant that has too much waiting with 429, and serves another one meanwhile', async function () {
    await start({ concurrency: 2, maxWaitingPerType: 3 })
    const flood = Array.from({ length: 30 }, (_, i) => site.get(`/${i}`, 'greedy'))
    await until(() => site.admit.stats().refused.FAIRLANE_ERR_TYPE_FULL === 25)
    const { status, headers, text } = await Promise.race(flood)
    assert.equal(status, 429)
    assert.match(headers['retry-after'], /^[1-9]\d*$/)
    assert.equal(headers['content-type'], 'application/problem+json')
    assert.deepEqual(JSON.parse(text), {
      type: 'about:blank',
      title: 'Too Many Requests',
      status: 429,
      detail: 'Too many of your requests are waiting already.',
      code: 'FAIRLANE_ERR_TYPE_FULL'
    })
    const quiet = site.get('/quiet', 'quiet')
    await until(() => site.admit.stats().waiting === 4)
    site.handled[0].response.end()
    await site.until(3)
    assert.equal(site.handled[2].request.url, '/quiet')
    const answers = endAll(flood.slice(0, 6)) // five that were accepted, and the quiet one
    assert.equal((await quiet).text, '/quiet')
    await answers
    assert.equal(site.admit.stats().rejected, 25)
  })

  it('answers 503 where all have too much waiting, and where a request has waited for too long', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, maxWaiting: 1, maxWaitMs: 2000, clock })
    const answers = ['a', 'b', 'c'].map(tenant => site.get('/', tenant))
    await until(() => site.admit.stats().rejected === 1)
    clock.advance(2001)
    const refused = await Promise.all(answers.slice(1))
    assert.deepEqual(refused.map(({ status }) => status), [503, 503])
    assert.deepEqual(refused.map(({ text }) => JSON.parse(text).code).sort(), ['FAIRLANE_ERR_MAX_WAIT', 'FAIRLANE_ERR_QUEUE_FULL'])
    for (const { headers, text } of refused) {
      const isLate = text.includes('MAX_WAIT') // of which nothing is known
      assert(isLate ? headers['retry-after'] === '1' : headers['retry-after'] <= 2)
    }
    assert.deepEqual(site.admit.stats().refused, { FAIRLANE_ERR_QUEUE_FULL: 1, FAIRLANE_ERR_MAX_WAIT: 1 })
    site.handled[0].response.end()
    assert.equal((await answers[0]).status, 200)
  })

  it('says in whole seconds when to come back: as the error does, and up to a fifth later', async function () {
    await start({ concurrency: 1, maxWaitingPerType: 1, ratePerType: { limit: 1, intervalMs: 100000 } })
    site.get('/', 'x')
    await site.until(1)
    site.get('/', 'x')
    await until(() => site.admit.stats().waiting === 1)
    const { headers } = await site.get('/', 'x')
    assert(headers['retry-after'] >= 99 && headers['retry-after'] <= 145, headers['retry-after']) // the queue has spread it, too
    assert(Number.isInteger(Number(headers['retry-after'])))
    site.admit.queue.clear()
    await until(() => site.admit.stats().refused.FAIRLANE_ERR_CLEARED === 1)
  })

  it('answers some of those that it refuses in each turn of the event loop, in the context of their requests', async function () {
    const storage = new AsyncLocalStorage()
    const seen = []
    await start({
      concurrency: 1,
      maxWaitingPerType: 0,
      refuse ({ url }, response, { code }) {
        seen.push({ url, context: storage.getStore() })
        response.writeHead(429).end(code)
      }
    }, {
      pass: (admit, request, response, next) => storage.run(request.url, () => {
        admit(request, response, next)
        if (request.url === '/39') response.destroy()
      })
    })
    const client = rawClient(site.port)
    client.ask(Array.from({ length: 40 }, (_, i) => `/${i}`))
    await until(() => site.arrived.length === 40)
    assert(seen.length < 39, `${seen.length} in a turn`)
    await until(() => seen.length === 38)
    assert.deepEqual(seen.map(({ url }) => url), Array.from({ length: 38 }, (_, i) => `/${i + 1}`))
    assert(seen.every(({ url, context }) => context === url))
    assert.equal(site.admit.stats().refused.FAIRLANE_ERR_TYPE_FULL, 39)
    client.end()
  })

  it('refuses nobody while slots are free, however few may wait', async function () {
    await start({ concurrency: 3, maxWaitingPerType: 0 })
    const answers = Array.from({ length: 4 }, () => site.get('/', 'x'))
    const { status } = await Promise.race(answers)
    assert.equal(status, 429)
    await site.until(3)
    for (const { response } of site.handled) response.end()
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status).sort(), [200, 200, 200, 429])
  })

  it('refuses a request that may not wait where slots are free, and the tenant may have none of them', async function () {
    await start({ concurrency: 3, maxWaitingPerType: { x: 0 }, schedulerOptions: { maxTypeCap: 1 } })
    const first = site.get('/', 'x')
    await site.until(1)
    const { status, text } = await site.get('/', 'x')
    assert.deepEqual([status, JSON.parse(text).code], [429, 'FAIRLANE_ERR_TYPE_FULL'])
    const other = site.get('/', 'y')
    await site.until(2)
    for (const { response } of site.handled) response.end()
    assert.deepEqual([(await first).status, (await other).status], [200, 200])
  })

  for (const [title, limits] of [['that may not wait', { maxWaitingPerType: new Map([['x', 0]]) }], ['though too many wait', { maxWaiting: 2 }]]) {
    it(`lets a request in ${title}, where a slot is free that those who wait may not have`, async function () {
      await start({ concurrency: 3, ...limits, schedulerOptions: { maxTypeCap: 1 } })
      const answers = Array.from({ length: 5 }, () => site.get('/y', 'y')) // as many as may wait, and one more
      await until(() => site.admit.stats().waiting === 4)
      answers.push(site.get('/x', 'x'))
      await site.until(2)
      const refused = await site.get('/refused', 'x')
      assert.deepEqual([site.handled[1].request.url, refused.status >= 429, site.handled.length], ['/x', true, 2])
      assert.deepEqual((await endAll(answers)).map(({ status }) => status), Array(6).fill(200))
    })
  }

  for (const limits of [{ maxWaitingPerType: 2 }, { maxWaiting: 1 }]) { // a free slot is room for one more
    it(`counts those that wait for their turn on a connection, of a tenant that has all it may have: ${JSON.stringify(limits)}`, async function () {
      await start({ concurrency: 2, ...limits, schedulerOptions: { maxTypeCap: 1 } })
      const client = rawClient(site.port)
      client.ask(['/1', '/2'], 'tenant: x\r\n')
      await until(() => site.admit.stats().waiting === 1)
      const waits = site.get('/3', 'x')
      await until(() => site.admit.stats().waiting === 2)
      assert((await site.get('/4', 'x')).status >= 429)
      assert.equal(site.admit.stats().accepted, 2)
      for (let at = 0; at < 3; at++) {
        await site.until(at + 1)
        site.handled[at].response.end()
      }
      assert.equal((await waits).status, 200)
      client.end()
    })
  }

  it('has a request of a tenant wait that has all it may have, though slots are free', async function () {
    await start({ concurrency: 3, schedulerOptions: { maxTypeCap: 1 } })
    const answers = [site.get('/1', 'x'), site.get('/2', 'x')]
    await until(() => site.admit.stats().waiting === 1)
    await endAll(answers)
  })

  it('tells a request that has waited for how long, and no other', async function () {
    const clock = fakeClock()
    await start({ concurrency: 1, clock })
    const answers = [site.get('/', 'x'), site.get('/', 'x')]
    await until(() => site.admit.stats().waiting === 1)
    clock.advance(12.34)
    const [first, second] = await endAll(answers)
    assert.equal(first.headers['server-timing'], undefined)
    assert.equal(second.headers['server-timing'], 'queue;dur=12.3')
  })

  it('tells nobody with serverTiming: false', async function () {
    await start({ concurrency: 1, serverTiming: false })
    const answers = await endAll([site.get('/', 'x'), site.get('/', 'x')])
    assert(answers.every(({ headers }) => headers['server-timing'] === undefined))
  })

  it('lets exempt requests pass at once, without a slot', async function () {
    await start({ concurrency: 1, exempt: ({ url }) => url === '/health' || (url === '/later' && Promise.resolve(true)) }, {
      handler: (request, response) => { if (request.url !== '/held') response.end() }
    })
    const held = site.get('/held')
    await site.until(1)
    assert.equal((await site.get('/health')).status, 200)
    assert.equal((await site.get('/later')).status, 200)
    const { running, accepted, exempt } = site.admit.stats()
    assert.deepEqual({ running, accepted, exempt }, { running: 1, accepted: 1, exempt: 2 })
    site.handled[0].response.end()
    await held
  })

  it('puts requests without a tenant together, as anonymous', async function () {
    await start({ concurrency: 1, tenant: ({ url }) => ({ '/null': null, '/promise': Promise.resolve(), '/number': 7 }[url]) })
    const answers = ['/', '/undefined', '/null', '/promise', '/number'].map(path => site.get(path))
    await until(() => site.admit.stats().waiting === 4)
    assert.deepEqual(await site.admit.queue.types(), [
      { type: 'anonymous', waiting: 3, delayed: 0, running: 1, dead: 0 },
      { type: '7', waiting: 1, delayed: 0, running: 0, dead: 0 }
    ])
    await endAll(answers)
  })

  it('needs no tenant, and no scheduler', async function () {
    await start({ concurrency: 1, tenant: undefined })
    await endAll([site.get('/'), site.get('/')])
    await site.end()
    await start({ concurrency: 1, scheduler: null })
    await endAll([site.get('/'), site.get('/')])
    await site.end()
    await start({ concurrency: 1, scheduler: null, tenant: undefined })
    await endAll([site.get('/'), site.get('/')])
  })

  it('gives errors of the functions that it asks to next, and takes no slot', async function () {
    const failing = async () => { throw new Error('no database') }
    const throwing = () => { throw new Error('no tenant') }
    const tenants = { '/throws': throwing, '/object': () => ({}), '/later': failing, '/laterobject': async () => ({}) }
    await start({ tenant: ({ url }) => tenants[url]() })
    for (const path of ['/throws', '/object', '/later', '/laterobject']) assert.equal((await site.get(path)).status, 500)
    assert.deepEqual(site.errors.map(({ code, message }) => code ?? message), ['no tenant', 'FAIRLANE_ERR_TYPE', 'no database', 'FAIRLANE_ERR_TYPE'])
    await site.end()
    await start({ exempt: () => { throw new Error('no idea') } })
    assert.equal((await site.get()).text, 'no idea')
    assert.deepEqual([site.admit.stats().accepted, site.handled.length], [0, 0])
  })

  it('refuses a request of whose tenant nothing is heard, and listens no more', async function () {
    const clock = fakeClock()
    let tell
    await start({ maxWaitMs: 500, clock, tenant: () => new Promise(resolve => { tell = resolve }) })
    const answer = site.get()
    await until(() => tell !== undefined)
    clock.advance(501)
    const { status, text } = await answer
    assert.deepEqual([status, JSON.parse(text).code], [503, 'FAIRLANE_ERR_MAX_WAIT'])
    tell('late')
    await turns(5)
    assert.equal(site.handled.length, 0)
  })

  it('takes one slot for a request that meets it twice, and each admission takes its own', async function () {
    const { admission } = require('../../lib/http')
    const other = admission()
    await start({ concurrency: 1 }, {
      pass (admit, request, response, next) {
        admit(request, response, () => admit(request, response, () => other(request, response, next)))
      }
    })
    const answer = site.get()
    await site.until(1)
    assert.deepEqual([site.admit.stats().running, other.stats().running], [1, 1])
    site.handled[0].response.end()
    assert.equal((await answer).status, 200)
    await assertFree(other, assert)
    assert.equal(site.admit.stats().accepted, 1)
  })

  it('frees a slot early by release(), once', async function () {
    await start({ concurrency: 1 })
    const first = site.get('/events')
    await site.until(1)
    const { request, response } = site.handled[0]
    const second = site.get('/next')
    await until(() => site.admit.stats().waiting === 1)
    assert.equal(site.admit.release(request), true)
    await site.until(2)
    assert.deepEqual([site.admit.release(request), site.admit.release(response), site.admit.release({})], [false, false, false])
    assert.equal(site.admit.release(site.handled[1].response), true)
    for (const { response } of site.handled) response.end()
    await Promise.all([first, second])
    for (const wrong of [undefined, null, 'request']) assert.throws(() => site.admit.release(wrong), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('frees a slot when the headers are sent, with until: \'headers\'', async function () {
    await start({ concurrency: 1, until: 'headers' })
    const first = site.get('/stream')
    await site.until(1)
    const second = site.get('/next')
    await until(() => site.admit.stats().waiting === 1)
    site.handled[0].response.write('a part')
    await site.until(2)
    site.handled[0].response.end(', and the rest')
    site.handled[1].response.writeHead(201, { x: 'y' }).end()
    assert.equal((await first).text, 'a part, and the rest')
    const { status, headers } = await second
    assert.deepEqual([status, headers.x], [201, 'y'])
  })

  it('has refuse() answer', async function () {
    const told = []
    await start({
      concurrency: 1,
      maxWaitingPerType: 0,
      refuse (request, response, error) {
        told.push(error.code)
        if (request.url === '/throws') throw new Error('no answer')
        if (request.url === '/rejects') return Promise.reject(new Error('no answer later'))
        response.writeHead(418).end('a teapot')
        if (request.url === '/promise') return Promise.resolve()
      }
    })
    const held = site.get('/held')
    await site.until(1)
    for (const path of ['/', '/promise']) assert.deepEqual((({ status, text }) => [status, text])(await site.get(path)), [418, 'a teapot'])
    assert.deepEqual([(await site.get('/throws')).text, (await site.get('/rejects')).text], ['no answer', 'no answer later'])
    assert.deepEqual(told, Array(4).fill('FAIRLANE_ERR_TYPE_FULL'))
    site.handled[0].response.end()
    await held
  })

  it('leaves an answer alone that somebody else has given while the request waited', async function () {
    const clock = fakeClock()
    const about = await startHeld({ maxWaitMs: 1000, clock })
    const answer = site.get('/')
    await until(() => site.admit.stats().waiting === 1)
    about.waiting.writeHead(408)
    about.waiting.write('too ')
    clock.advance(1001)
    about.waiting.end('late')
    assert.deepEqual((({ status, text }) => [status, text])(await answer), [408, 'too late'])
    site.handled[0].response.end()
    await about.held
  })

  it('goes on with a request whose answer somebody else has begun while it waited, and adds no header to that', async function () {
    const uncaught = captureUncaught()
    try {
      const about = await startHeld()
      const answer = site.get('/')
      await until(() => site.admit.stats().waiting === 1)
      about.waiting.writeHead(200).write('begun, ')
      site.handled[0].response.end()
      await site.until(2)
      site.handled[1].response.end('ended')
      await about.held
      const { headers, text } = await answer
      assert.deepEqual([headers['server-timing'], text, uncaught.seen], [undefined, 'begun, ended', []])
    } finally {
      uncaught.release()
    }
  })

  it('handles no request that somebody else has answered while it waited, though its client has not read that yet', async function () {
    const about = await startHeld()
    const client = rawClient(site.port)
    client.socket.pause()
    client.ask(['/'])
    await until(() => site.admit.stats().waiting === 1)
    about.waiting.end(Buffer.alloc(2e7))
    site.handled[0].response.end()
    await about.held
    await until(() => site.admit.stats().running === 0)
    assert.deepEqual([site.handled.length, site.admit.stats().gone, about.waiting.closed], [1, 1, false])
    client.end()
  })

  it('handles a request that was answered before it came, as any other', async function () {
    await start({}, {
      pass (admit, request, response, next) {
        response.writeHead(202).end('accepted')
        admit(request, response, next)
      }
    })
    assert.equal((await site.get()).status, 202)
    assert.equal(site.handled.length, 1)
  })

  it('has handlers run in the context of their requests, at once and later', async function () {
    const storage = new AsyncLocalStorage()
    const contexts = []
    await start({ concurrency: 1 }, {
      pass: (admit, request, response, next) => storage.run(request.url, () => admit(request, response, () => {
        contexts.push(storage.getStore())
        return next()
      }))
    })
    const answers = await endAll(['/a', '/b', '/c'].map(path => site.get(path)))
    assert.deepEqual(contexts, answers.map(({ text }) => text))
  })

  it('has handlers that waited run in the context of the queue, with asyncContext: \'queue\'', async function () {
    const storage = new AsyncLocalStorage()
    const contexts = []
    await start({ concurrency: 1, asyncContext: 'queue' }, {
      pass: (admit, request, response, next) => storage.run(request.url, () => admit(request, response, () => {
        contexts.push(storage.getStore())
        return next()
      }))
    })
    const answers = ['/a', '/b'].map(path => site.get(path))
    await until(() => site.admit.stats().waiting === 1)
    await endAll(answers)
    assert.equal(contexts[1], undefined)
  })

  it('refuses a request that its scheduler has cleared away', async function () {
    const scheduler = { queued () { site.admit.queue.clear() }, next () {}, started () {}, ended () {} }
    await start({ scheduler })
    const { status, text } = await site.get()
    assert.deepEqual([status, JSON.parse(text).code], [503, 'FAIRLANE_ERR_CLEARED'])
  })

  it('has hold() and pause() of its queue keep requests waiting, and its jobs are the requests', async function () {
    await start()
    site.admit.queue.pauseType('x')
    const answer = site.get('/held', 'x')
    await until(() => site.admit.stats().waiting === 1)
    assert.deepEqual([...site.admit.queue.jobs('x')].map(({ payload: { url } }) => url), ['/held'])
    site.admit.queue.resumeType('x')
    await endAll([answer])
  })

  it('takes functions beside the requests, and no jobs', async function () {
    await start({ concurrency: 1 })
    const { queue } = site.admit
    assert.throws(() => queue.pushType('x', 'a job'), { code: 'FAIRLANE_ERR_RUNNER' })
    const answer = site.get()
    await site.until(1)
    const result = queue.run(() => 'done', { type: 'x' })
    site.handled[0].response.end()
    assert.deepEqual([await result, (await answer).status], ['done', 200])
  })

  it('starts pipelined requests one at a time, in their order, whoever else waits', async function () {
    await start({ concurrency: 2 })
    const client = rawClient(site.port)
    client.ask(['/1', '/2', '/3'], 'tenant: x\r\n')
    await until(() => site.admit.stats().waiting === 2)
    assert.deepEqual(await site.admit.queue.counts(), { waiting: 2, delayed: 2, running: 1, dead: 0, types: 1 })
    for (const [at, path] of ['/1', '/2', '/3'].entries()) {
      await site.until(at + 1)
      await turns(3)
      assert.equal(site.handled.length, at + 1)
      assert.equal(site.handled[at].request.url, path)
      site.handled[at].response.end(path)
    }
    await until(() => client.statuses().length === 3)
    assert(client.text.indexOf('/1') < client.text.indexOf('/2'))
    client.end()
  })

  it('has a pipelined request wait for its slot with all others, when those before it are over', async function () {
    await start({ concurrency: 1 })
    const client = rawClient(site.port)
    client.ask(['/1', '/2'])
    await until(() => site.admit.stats().waiting === 1)
    const other = site.get('/other')
    await until(() => site.admit.stats().waiting === 2)
    await endAll([other, other, other])
    await until(() => client.statuses().length === 2)
    assert.deepEqual(site.handled.map(({ request }) => request.url), ['/1', '/other', '/2'])
    client.end()
  })

  it('counts pipelined requests among those that wait, and keeps their order though tenants are told in another', async function () {
    const tells = []
    await start({ concurrency: 1, maxWaitingPerType: 2, tenant: () => new Promise(resolve => tells.push(() => resolve('x'))) })
    const client = rawClient(site.port)
    client.ask(['/1', '/2', '/3', '/4'])
    await until(() => tells.length === 4)
    for (const tell of tells.reverse()) {
      tell()
      await turns(2)
    }
    assert.deepEqual([site.handled.length, site.admit.stats().rejected], [1, 1])
    for (let at = 0; at < 3; at++) {
      await site.until(at + 1)
      site.handled[at].response.end(site.handled[at].request.url)
    }
    await until(() => client.statuses().length === 4)
    assert.deepEqual(client.statuses(), [200, 429, 200, 200])
    client.end()
  })
})
