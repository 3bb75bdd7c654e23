'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { Queue } = require('../..')
const { fairFetch } = require('../../lib/fetch')
const { fakeClock } = require('../../lib/testing')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')
const { imitation } = require('./imitation')

const A = 'http://a.example/'
const B = 'http://b.example/'

describe('fairFetch()', () => {
  let peer
  beforeEach(() => { peer = imitation() })

  it('gives what fetch gives', async () => {
    const fetch = fairFetch(peer.fetch)
    const promise = fetch(A)
    const call = await peer.until(1)
    call.answer(201, { 'X-Test': 'yes' }, 'text')
    const response = await promise
    assert.deepEqual([response.status, response.headers.get('x-test'), await response.text()], [201, 'yes', 'text'])
  })

  it('takes what a call costs, for rates of cost', async () => {
    const fetch = fairFetch(peer.fetch, { ratePerType: { limit: 10, intervalMs: 1000000, of: 'cost' } })
    const first = fetch(A, { fairlane: { cost: 8 } })
    const second = fetch(A, { fairlane: { cost: 3 } }).catch(({ code }) => code)
    const other = fetch(B)
    for (let i = 1; i <= 2; i++) (await peer.until(i)).answer(200)
    assert.deepEqual([(await first).status, (await other).status, fetch.queue.stats().spent], [200, 200, 9])
    fetch.queue.clear()
    assert.equal(await second, 'FAIRLANE_ERR_CLEARED')
    await assert.rejects(fetch(A, { fairlane: { cost: 11 } }), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('hands over what it was given, as it is, and a signal', async () => {
    const fetch = fairFetch(peer.fetch)
    const url = new URL(A)
    const init = { method: 'POST', body: 'text', headers: { a: '1' }, duplex: 'half', redirect: 'manual', dispatcher: {}, fairlane: { type: 'tenant' } }
    const promise = fetch(url, init)
    const { fairlane, ...rest } = init
    const { input, init: { signal, ...given }, answer } = await peer.until(1)
    assert.deepEqual(input, url)
    assert.deepEqual(given, rest)
    assert.equal(given.dispatcher, init.dispatcher)
    assert(signal instanceof AbortSignal)
    answer()
    await promise
  })

  it('makes a call as it was when it was given, whatever is changed while it waits', async () => {
    const fetch = fairFetch(async (input, init) => new Request(input, { method: 'POST', ...init }))
    const url = new URL(A)
    const body = new URLSearchParams()
    const kinds = [new Headers(), {}, Object.create(null), [['n', '']]]
    const asked = []
    for (const n of ['1', '2']) {
      url.searchParams.set('page', n)
      body.set('page', n)
      for (const headers of kinds) {
        if (headers instanceof Headers) headers.set('n', n)
        else if (Array.isArray(headers)) headers[0][1] = n
        else headers.n = n
        asked.push(fetch(url, { headers, body }))
      }
    }
    const texts = []
    for (const request of await Promise.all(asked)) texts.push([request.url, request.headers.get('n'), await request.text()].join())
    assert.deepEqual(texts, ['1', '2'].flatMap(n => kinds.map(() => `${A}?page=${n},${n},page=${n}`)))
  })

  it('leaves headers alone that are of another make', async () => {
    class OtherHeaders extends Map {}
    const fetch = fairFetch(async (input, init) => init.headers)
    for (const headers of [new OtherHeaders([['a', '1']]), null, 'a: 1']) assert.equal(await fetch(A, { headers }), headers)
    const pair = new Set(['a', '1'])
    assert.equal((await fetch(A, { headers: [pair] }))[0], pair)
  })

  it('calls it as a function, as browsers want it', async () => {
    let self
    await fairFetch(async function () { self = this })(A)
    assert.equal(self, undefined)
  })

  it('takes an init that is null, and a Request as init', async () => {
    const fetch = fairFetch(async (input, init) => new Request(input, init))
    assert.equal((await fetch(A, null)).method, 'GET')
    assert.equal((await fetch(A, new Request(B, { method: 'DELETE', headers: { a: '1' } }))).method, 'DELETE')
  })

  it('has a queue, with the defaults of a fetch', () => {
    const { queue } = fairFetch(peer.fetch)
    assert(queue instanceof Queue)
    assert.deepEqual([queue.concurrency, queue.scheduler.constructor.name], [100, 'Equal'])
  })

  it('takes the options of a queue', () => {
    assert.equal(fairFetch(peer.fetch, { concurrency: 7, maxTypes: undefined, signal: undefined }).queue.concurrency, 7)
    assert.equal(fairFetch(peer.fetch, { scheduler: 'fair', schedulerOptions: { maxTypeShare: 0.5 } }).queue.scheduler.constructor.name, 'Fair')
    assert.equal(fairFetch(peer.fetch, { scheduler: null }).queue.scheduler, null)
    const window = { waiting () {}, start () {}, done () {}, select: () => 0 }
    assert.equal(fairFetch(peer.fetch, { scheduler: window }).queue.scheduler, window)
  })

  it('has what its fetch has beside it', () => {
    const preconnect = () => {}
    assert.equal(fairFetch(Object.assign(() => {}, { preconnect })).preconnect, preconnect)
    const named = Object.defineProperty(() => {}, 'name', { value: 'mock', enumerable: true })
    assert.equal(fairFetch(named).name, 'mock')
  })

  it('throws if it is used wrong', () => {
    assert.throws(() => fairFetch(), { name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const options of [null, 5, { typ: () => {} }, { type: 'a' }, { until: 'end' }, { settleBy: 'callback' }, { backoffMs: -1 }, { maxAttempts: 0 }, { maxWaiting: -1 }]) {
      assert.throws(() => fairFetch(peer.fetch, options), { code: 'FAIRLANE_ERR_OPTION' }, JSON.stringify(options))
    }
    assert.throws(() => fairFetch(peer.fetch, { path: '.' }), /fairlane\/durable has it/)
    assert.throws(() => fairFetch(peer.fetch, { concurrency: 0 }), { code: 'FAIRLANE_ERR_CONCURRENCY' })
    assert.throws(() => fairFetch(peer.fetch, { scheduler: 'none' }), { code: 'FAIRLANE_ERR_SCHEDULER' })
  })

  it('rejects, as fetch does, if a call is wrong', async () => {
    const fetch = fairFetch(peer.fetch, { type: ({ url }) => { if (url.endsWith('throw')) throw new Error('no type'); return url.endsWith('null') ? null : undefined } })
    const wrong = [
      { typ: 1 }, { retry: 1 }, { until: 'end' }, { maxAttempts: 0 }, { signal: AbortSignal.abort() }, { key: 1 }, { onDuplicate: 'join' }, { priority: 16 }, 5
    ]
    for (const fairlane of wrong) await assert.rejects(fetch(A, { fairlane }), { code: 'FAIRLANE_ERR_ARGUMENT' }, JSON.stringify(fairlane))
    for (const method of ['GET', 'POST']) {
      for (const maxAttempts of ['x', '3', 0, -1, 1.5, NaN, null]) {
        await assert.rejects(fetch(A, { method, fairlane: { maxAttempts } }), { code: 'FAIRLANE_ERR_ARGUMENT' }, `${method} ${maxAttempts}`)
      }
    }
    await assert.rejects(fetch(A, 5), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await assert.rejects(fetch(A, { signal: {} }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await assert.rejects(fetch(A, { fairlane: { type: Symbol('a') } }), { code: 'FAIRLANE_ERR_TYPE' })
    await assert.rejects(fetch(`${A}null`), { code: 'FAIRLANE_ERR_TYPE' })
    await assert.rejects(fetch(`${A}throw`), { message: 'no type' })
    assert.deepEqual(peer.calls, [])
  })

  it('fails what is put into its queue and is no call', async () => {
    const { queue } = fairFetch(peer.fetch)
    await assert.rejects(queue.add('a', { type: 'a' }), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('shares its slots and its attempts with functions that its queue runs', async () => {
    const fetch = fairFetch(peer.fetch, { concurrency: 1, maxAttempts: 2, backoffMs: 0 })
    const first = fetch(A)
    const seen = []
    const second = fetch.queue.run(async ({ attempt }) => {
      seen.push(attempt)
      if (attempt === 1) throw new Error('expected')
      return 'result'
    }, { type: 'a' })
    const call = await peer.until(1)
    await quiet()
    assert.deepEqual(seen, [])
    call.answer()
    await first
    assert.equal(await second, 'result')
    assert.deepEqual(seen, [1, 2])
  })

  it('calls fetch in the AsyncLocalStorage context of the call', async () => {
    const storage = new AsyncLocalStorage()
    const fetch = fairFetch(async () => storage.getStore())
    assert.deepEqual(await Promise.all(['a', 'b'].map(tenant => storage.run(tenant, () => fetch(A)))), ['a', 'b'])
  })

  it('takes responses of any make', async () => {
    for (const response of [undefined, null, 'text', {}, { status: 429, body: {} }, { status: 503, headers: {} }]) {
      for (const until of ['headers', 'body']) assert.equal(await fairFetch(async () => response, { until })(A), response)
    }
  })
})

describe('the type of a call', () => {
  const typeOf = async (options, ...call) => {
    const fetch = fairFetch(async () => {}, options)
    fetch.queue.pause()
    const promise = fetch(...call)
    const [{ type }] = fetch.queue.jobs()
    fetch.queue.resume()
    await promise
    return type
  }

  it('is what the call says', async () => {
    assert.equal(await typeOf({ type: () => 'option' }, A, { fairlane: { type: 'said' } }), 'said')
    assert.equal(await typeOf({}, A, { fairlane: { type: 5 } }), '5')
  })

  it('or what the option says, which is asked with the URL, the method, the headers', async () => {
    const type = ({ url, method, headers, input, init }) => `${method} ${url} ${headers.get('x-tenant')} ${typeof input} ${init.method}`
    assert.equal(await typeOf({ type }, 'http://a.example', { method: 'post', headers: { 'X-Tenant': 'a' } }), 'POST http://a.example/ a string post')
    const request = new Request(A, { method: 'PUT', headers: { 'X-Tenant': 'b' } })
    assert.equal(await typeOf({ type }, request), 'PUT http://a.example/ b object undefined')
    assert.equal(await typeOf({ type: ({ url }) => url }, '/path'), '/path')
  })

  it('or the origin of its URL, with the port', async () => {
    assert.equal(await typeOf({}, 'https://a.example:8443/path?query'), 'https://a.example:8443')
    assert.equal(await typeOf({ type: () => undefined }, new URL('http://a.example:80/')), 'http://a.example')
    assert.equal(await typeOf({}, new Request('http://b.example/path')), 'http://b.example')
  })

  it("or 'null' if it has none, and that of the page where a path is one of it", async () => {
    assert.equal(await typeOf({}, '/path'), 'null')
    assert.equal(await typeOf({}, 'data:,text'), 'null')
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'location')
    Object.defineProperty(globalThis, 'location', { value: { href: 'https://page.example/a/b' }, configurable: true })
    try {
      assert.equal(await typeOf({}, '/path'), 'https://page.example')
    } finally {
      if (descriptor === undefined) delete globalThis.location
      else Object.defineProperty(globalThis, 'location', descriptor)
    }
  })
})

describe('calls that wait', () => {
  let peer
  beforeEach(() => { peer = imitation() })

  it('take turns by type, and those of a type go out in their order', async () => {
    const fetch = fairFetch(peer.fetch, { concurrency: 1 })
    const all = [1, 2, 3].map(n => fetch(`${A}${n}`, { fairlane: { type: 'a' } })).concat(fetch(`${B}1`, { fairlane: { type: 'b' } }))
    for (let i = 1; i <= 4; i++) (await peer.until(i)).answer()
    await Promise.all(all)
    assert.deepEqual(peer.calls.map(({ input }) => input).filter(url => url.startsWith(A)), [1, 2, 3].map(n => `${A}${n}`))
    assert.notEqual(peer.calls[3].input, `${B}1`)
  })

  it('go out by their priority within a type', async () => {
    const fetch = fairFetch(peer.fetch, { concurrency: 1 })
    fetch.queue.pause()
    const all = [0, 3].map(priority => fetch(`${A}${priority}`, { fairlane: { priority } }))
    fetch.queue.resume()
    for (let i = 1; i <= 2; i++) (await peer.until(i)).answer()
    await Promise.all(all)
    assert.deepEqual(peer.calls.map(({ input }) => input), [`${A}3`, `${A}0`])
  })

  it('are refused with the codes of add', async () => {
    const fetch = fairFetch(peer.fetch, { concurrency: 1, maxWaiting: 2, maxWaitingPerType: 1 })
    const all = [fetch(A)]
    await peer.until(1)
    all.push(fetch(A))
    await assert.rejects(fetch(A), { code: 'FAIRLANE_ERR_TYPE_FULL' })
    all.push(fetch(B))
    await assert.rejects(fetch('http://c.example'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    for (let i = 1; i <= 3; i++) (await peer.until(i)).answer()
    await Promise.all(all)
    await fetch.queue.close()
    await assert.rejects(fetch(A), { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(peer.calls.length, 3)
  })

  it('are cleared with the code of add', async () => {
    const fetch = fairFetch(peer.fetch)
    fetch.queue.pause()
    const promise = fetch(A)
    fetch.queue.clear()
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLEARED' })
  })

  it('wait for no longer than maxWaitMs', async () => {
    const clock = fakeClock()
    const fetch = fairFetch(peer.fetch, { concurrency: 1, maxWaitMs: 20, clock })
    const first = fetch(A)
    const call = await peer.until(1)
    const second = fetch(A)
    clock.advance(20)
    await assert.rejects(second, { code: 'FAIRLANE_ERR_MAX_WAIT' })
    call.answer()
    await first
  })
})

describe('a signal', () => {
  let peer
  beforeEach(() => { peer = imitation() })

  it('that aborts while the call waits rejects with its reason, and the call is never made', async () => {
    const fetch = fairFetch(peer.fetch)
    fetch.queue.pause()
    const controller = new AbortController()
    const { signal } = controller
    let cancelled
    const body = new ReadableStream({ cancel: reason => { cancelled = reason } })
    const promise = fetch(A, { signal, method: 'POST', body, duplex: 'half' })
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(promise, err => err === reason)
    assert.equal(cancelled, reason)
    fetch.queue.resume()
    await quiet()
    assert.deepEqual([peer.calls.length, fetch.queue.length], [0, 0])
  })

  it('that has aborted rejects with its reason', async () => {
    const fetch = fairFetch(peer.fetch)
    await assert.rejects(fetch(A, { signal: AbortSignal.abort() }), { name: 'AbortError' })
    await assert.rejects(fetch(A, { signal: AbortSignal.abort(5) }), err => err === 5)
    assert.equal(fetch.queue.length, 0)
  })

  for (const until of ['headers', 'body']) {
    it(`that aborts while the call is made ends it, and rejects with its reason, until the ${until}`, async () => {
      const fetch = fairFetch(peer.fetch, { until, maxAttempts: 3, backoffMs: 0 })
      const controller = new AbortController()
      const promise = fetch(A, { signal: controller.signal })
      const { signal } = await peer.until(1)
      const reason = new Error('enough')
      controller.abort(reason)
      await assert.rejects(promise, err => err === reason)
      assert.equal(signal.reason, reason)
      await fetch.queue.onIdle()
      assert.equal(peer.calls.length, 1)
    })
  }

  it('of a Request counts, unless the init has another one, or null', async () => {
    const fetch = fairFetch(peer.fetch)
    const [one, other] = [new AbortController(), new AbortController()]
    const request = new Request(A, { signal: one.signal })
    const all = [fetch(request), fetch(request, { signal: other.signal }), fetch(request, { signal: null })]
    await peer.until(3)
    one.abort('one')
    other.abort('other')
    await assert.rejects(all[0], err => err === 'one')
    await assert.rejects(all[1], err => err === 'other')
    peer.calls[2].answer()
    assert.equal((await all[2]).status, 200)
  })

  it('ends the body, too, when the slot is free', async () => {
    const fetch = fairFetch(peer.fetch)
    const controller = new AbortController()
    const promise = fetch(A, { signal: controller.signal })
    const { signal, answer } = await peer.until(1)
    answer()
    await promise
    await fetch.queue.onIdle()
    controller.abort('late')
    assert.equal(signal.reason, 'late')
  })

  it('of another make ends the call, too', async () => {
    const { signal: native } = new AbortController()
    const listeners = new Set()
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: (name, listener) => listeners.add(listener),
      removeEventListener: (name, listener) => listeners.delete(listener)
    }
    assert(native instanceof AbortSignal)
    const promise = fairFetch(peer.fetch)(A, { signal })
    const given = (await peer.until(1)).signal
    Object.assign(signal, { aborted: true, reason: 'foreign' })
    for (const listener of [...listeners]) listener()
    await assert.rejects(promise, err => err === 'foreign')
    assert.equal(given.reason, 'foreign')
  })

  it('that has aborted when the response comes after all has its body cancelled', async () => {
    const bodies = []
    const fetch = fairFetch(() => new Promise(resolve => {
      const body = new ReadableStream({ cancel: () => { bodies.push('cancelled') } })
      setImmediate(() => {
        controller.abort('enough')
        resolve(new Response(body))
      })
    }))
    const controller = new AbortController()
    await assert.rejects(fetch(A, { signal: controller.signal }), err => err === 'enough')
    await fetch.queue.onIdle()
    assert.deepEqual(bodies, ['cancelled'])
  })

  it('of the queue, and its close, end calls with the code of add', async () => {
    const fetch = fairFetch(peer.fetch)
    const promise = fetch(A)
    const { signal } = await peer.until(1)
    fetch.queue.close({ drain: false })
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(signal.reason.code, 'FAIRLANE_ERR_CLOSED')
  })

  for (const options of [{}, { asyncContext: 'queue' }, { asyncContext: 'none' }]) {
    it(`that many calls share, and close, end all of them, and nobody is warned: ${JSON.stringify(options)}`, async () => {
      const warnings = captureWarnings()
      try {
        const fetch = fairFetch(peer.fetch, options)
        const { signal } = new AbortController()
        const all = Array.from({ length: 60 }, (_, i) => fetch(A, i % 2 === 0 ? { signal } : {}))
        await peer.until(all.length)
        fetch.queue.close({ drain: false })
        for (const promise of all) await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLOSED' })
        assert(peer.calls.every(({ signal }) => signal.reason.code === 'FAIRLANE_ERR_CLOSED'))
        await quiet()
        assert.deepEqual(warnings.seen, [])
      } finally {
        warnings.release()
      }
    })
  }

  it('is not needed for timeoutMs to end a call', async () => {
    const clock = fakeClock()
    const fetch = fairFetch(peer.fetch, { timeoutMs: 10, clock })
    const promise = fetch(A)
    const { signal } = await peer.until(1)
    clock.advance(10)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_TIMEOUT' })
    assert.equal(signal.reason.code, 'FAIRLANE_ERR_TIMEOUT')
    await fetch.queue.onIdle()
  })
})
