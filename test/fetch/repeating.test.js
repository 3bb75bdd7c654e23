'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { FairlaneError, Postponed, Throttled } = require('../..')
const { fairFetch } = require('../../lib/fetch')
const { isNetworkFailure } = require('../../lib/fetch/repeating')
const { fakeClock } = require('../../lib/testing')
const { captureUncaught } = require('../support/uncaught')
const { quiet } = require('../support/turns')
const { answer, imitation } = require('./imitation')

const A = 'http://a.example/'
const failed = () => new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })

/** How often a call is made to which the peer gives these one after the other, the last of them for ever. */
async function madeFor (answers, init, options) {
  let count = 0
  const fetch = fairFetch(async () => {
    const next = answers[Math.min(count++, answers.length - 1)]
    const given = typeof next === 'number' && next > 0 ? answer(next) : next
    if (given instanceof Response) return given
    throw given
  }, { maxAttempts: 3, backoffMs: 0, ...options })
  const outcome = await fetch(A, init).then(({ status }) => status, err => err)
  return { count, outcome, fetch }
}
const countOf = async (...about) => (await madeFor(...about)).count

describe('a call is made again', () => {
  it('up to maxAttempts, which is once by default', async () => {
    assert.equal(await countOf([503], {}, { maxAttempts: undefined }), 1)
    assert.equal(await countOf([503]), 3)
    assert.equal(await countOf([503], { fairlane: { maxAttempts: 5 } }), 5)
    assert.equal(await countOf([503], { fairlane: { maxAttempts: 1 } }), 1)
  })

  it('after some answers, and no others', async () => {
    for (const status of [408, 425, 429, 500, 502, 503, 504]) assert.deepEqual([status, await countOf([status])], [status, 3])
    for (const status of [200, 204, 301, 304, 400, 401, 403, 404, 409, 410, 422, 501, 505]) {
      const response = answer(status, {}, [204, 304].includes(status) ? null : 'body')
      assert.deepEqual([status, await countOf([response])], [status, 1])
    }
  })

  it('until it is answered otherwise', async () => {
    const { count, outcome, fetch } = await madeFor([503, failed(), 200], {}, { maxAttempts: 10 })
    assert.deepEqual([count, outcome], [3, 200])
    const { done, failed: failedCount, retried } = fetch.queue.stats()
    assert.deepEqual([done, failedCount, retried], [1, 0, 2])
  })

  it('if its method is idempotent, or it says so', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'get', 'put']) assert.equal(await countOf([503], { method }), 3, method)
    for (const method of ['POST', 'PATCH', 'post']) {
      assert.equal(await countOf([503], { method }), 1, method)
      assert.equal(await countOf([503], { method, fairlane: { retry: true } }), 3, method)
      assert.equal(await countOf([failed()], { method }), 1, method)
    }
    assert.equal(await countOf([503], { fairlane: { retry: false } }), 1)
  })

  // what the queue allows must not matter: one that is equal to what the call may have is not told of it
  for (const maxAttempts of [undefined, 1, 3, Infinity]) {
    it(`not by its own maxAttempts if it may not be, of a queue with ${maxAttempts}`, async () => {
      const options = { maxAttempts }
      const own = { maxAttempts: 4 }
      const stream = () => ({ method: 'PUT', body: new ReadableStream(), duplex: 'half', fairlane: own })
      for (const fault of [503, failed()]) {
        assert.equal(await countOf([fault], { method: 'POST', body: 'text', fairlane: own }, options), 1)
        assert.equal(await countOf([fault], { method: 'POST', fairlane: { ...own, priority: 3, delayMs: 0, maxWaitMs: 60000, unshift: true } }, options), 1)
        assert.equal(await countOf([fault], { fairlane: { ...own, retry: false } }, options), 1)
        assert.equal(await countOf([fault], stream(), options), 1)
        assert.equal(await countOf([fault], { method: 'POST', fairlane: { ...own, retry: true } }, options), 4)
        assert.equal(await countOf([fault], { fairlane: own }, options), 4)
      }
    })

    it(`not by a time limit if it may not be, of a queue with ${maxAttempts}`, async () => {
      for (const timeoutMs of [{}, { timeoutMs: 100 }]) {
        for (const own of [{}, { maxAttempts: 4 }, { maxAttempts: 4, retry: false }]) {
          const clock = fakeClock()
          const peer = imitation()
          const fetch = fairFetch(peer.fetch, { maxAttempts, backoffMs: 0, timeoutMs: 100, clock })
          const promise = fetch(A, { method: 'POST', body: 'text', fairlane: { ...own, ...timeoutMs } })
          await peer.until(1)
          clock.advance(100)
          await assert.rejects(promise, { code: 'FAIRLANE_ERR_TIMEOUT' })
          clock.advance(0)
          await fetch.queue.onIdle()
          assert.equal(peer.calls.length, 1)
        }
      }
    })
  }

  it('not if the function throws what has other jobs tried again, and whose type is not held by it', async () => {
    for (const thrown of [new Throttled(60000), new Postponed(60000)]) {
      for (const init of [{ method: 'POST' }, { fairlane: { retry: false } }, {}]) {
        for (const maxAttempts of [1, 3]) {
          const { count, outcome, fetch } = await madeFor([thrown], init, { maxAttempts })
          assert.deepEqual([count, outcome, fetch.queue.heldMs(new URL(A).origin)], [1, thrown, 0])
        }
      }
    }
  })

  it('if its body can be sent again', async () => {
    const form = new FormData()
    form.append('a', '1')
    for (const body of ['text', new Uint8Array(3), new ArrayBuffer(3), new Blob(['text']), new URLSearchParams('a=1'), form, null, undefined]) {
      assert.equal(await countOf([503], { method: 'PUT', body }), 3, String(body))
    }
    const sentOnce = () => [new ReadableStream(), Readable.from(['text']), (async function * () {})(), (function * () {})()]
    for (const retry of [undefined, true]) {
      for (const body of sentOnce()) assert.equal(await countOf([503], { method: 'PUT', body, duplex: 'half', fairlane: { retry } }), 1, String(body))
    }
  })

  it('if it is a Request without a body', async () => {
    const made = async (request, init) => {
      let count = 0
      const fetch = fairFetch(async () => answer(count++ > 0 ? 200 : 503), { maxAttempts: 3, backoffMs: 0 })
      await fetch(request, init)
      return count
    }
    assert.equal(await made(new Request(A)), 2)
    assert.equal(await made(new Request(A, { method: 'DELETE' })), 2)
    assert.equal(await made(new Request(A, { method: 'PUT', body: 'text' })), 1)
    assert.equal(await made(new Request(A, { method: 'PUT', body: 'text' }), { body: 'other' }), 2)
    // where a runtime does not say whether a Request has a body
    assert.equal(await made({ url: A, method: 'PUT' }), 1)
    assert.equal(await made({ url: A, method: 'GET' }), 2)
    assert.equal(await made({ url: A, method: 'HEAD' }), 2)
  })

  it('if it failed in the network', async () => {
    assert.equal(await countOf([failed()]), 3)
  })

  it('not if it is wrong, as fetch itself says', async () => {
    for (const [input, init] of [['http://', {}], ['/path', {}], ['unknown://host', {}], [A, { body: 'text' }], [A, { headers: { 'a b': '1' } }], ['http://127.0.0.1:1/', {}]]) {
      let count = 0
      const fetch = fairFetch((...about) => {
        count++
        return globalThis.fetch(...about)
      }, { maxAttempts: 3, backoffMs: 0 })
      await assert.rejects(fetch(input, init), TypeError, input)
      assert.deepEqual([input, count], [input, 1])
    }
  })

  it('not if the function throws what is no failure of the network, also no error', async () => {
    for (const thrown of [new RangeError('wrong'), new DOMException('enough', 'AbortError'), 'text', undefined, null, 0, ['list']]) {
      const { count, outcome } = await madeFor([thrown])
      assert.deepEqual([count, outcome], [1, thrown])
    }
  })

  it('not if it was answered, and what that is cannot be read', async () => {
    const expected = new Error('expected')
    const fail = () => { throw expected }
    const foreign = Object.defineProperty(class { constructor () { fail() } }, 'name', { value: 'Response' })
    const answers = [
      { get status () { return fail() } },
      { status: 503, headers: { get: fail } },
      { status: 200, get body () { return fail() } },
      Object.assign(Object.create(foreign.prototype), { status: 200, headers: new Headers(), body: new ReadableStream() })
    ]
    for (const response of answers) {
      let count = 0
      const fetch = fairFetch(async () => {
        count++
        return response
      }, { until: 'body', maxAttempts: 3, backoffMs: 0 })
      await assert.rejects(fetch(A), err => err === expected)
      assert.equal(count, 1)
      await fetch.queue.onIdle()
    }
  })

  it('after backoffMs, which may say never: then the caller gets the response', async () => {
    const seen = []
    const backoffMs = (attempt, { code, status, message, retryAfterMs }) => {
      seen.push([attempt, code, status, message, retryAfterMs])
      return attempt === 2 ? Infinity : 0
    }
    const limited = answer(429, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '0.001' }, 'limited')
    const { count, outcome } = await madeFor([503, limited], {}, { maxAttempts: 9, backoffMs })
    assert.deepEqual([count, outcome], [2, 429])
    assert.equal(await limited.text(), 'limited')
    assert.deepEqual(seen, [
      [1, 'FAIRLANE_ERR_RESPONSE', 503, 'GET http://a.example was answered 503', undefined],
      [2, 'FAIRLANE_ERR_RESPONSE', 429, 'GET http://a.example was answered 429', 1]
    ])
  })

  it('by the default of a queue if backoffMs throws', async () => {
    const clock = fakeClock()
    const thrown = captureUncaught()
    const bodies = []
    try {
      const peer = imitation()
      const fetch = fairFetch(peer.fetch, { maxAttempts: 2, clock, backoffMs: () => { throw new Error('expected') } })
      const promise = fetch(A)
      ;(await peer.until(1)).resolve(new Response(new ReadableStream({ cancel: () => { bodies.push('cancelled') } }), { status: 503 }))
      await quiet()
      clock.advance(1000)
      const { answer } = await peer.until(2)
      assert.deepEqual(bodies, ['cancelled'])
      answer(200)
      assert.equal((await promise).status, 200)
    } finally {
      thrown.release()
    }
    assert.deepEqual(thrown.seen.map(({ message }) => message), ['expected'])
  })

  it('behind a hold, before those that wait', async () => {
    const clock = fakeClock()
    const peer = imitation()
    const fetch = fairFetch(peer.fetch, { concurrency: 1, maxAttempts: 2, backoffMs: 0, clock })
    const all = [fetch(`${A}1`), fetch(`${A}2`)]
    ;(await peer.until(1)).answer(429, { 'Retry-After': '30' })
    await quiet()
    clock.advance(29999)
    await quiet()
    assert.equal(peer.calls.length, 1)
    clock.advance(1)
    ;(await peer.until(2)).answer(200)
    ;(await peer.until(3)).answer(200)
    await Promise.all(all)
    assert.deepEqual(peer.calls.map(({ input }) => input), [`${A}1`, `${A}1`, `${A}2`])
  })

  it('not once it was aborted or cleared meanwhile', async () => {
    const clock = fakeClock()
    const peer = imitation()
    const fetch = fairFetch(peer.fetch, { maxAttempts: 3, clock })
    const controller = new AbortController()
    const all = [fetch(A, { signal: controller.signal }), fetch(A)]
    ;(await peer.until(1)).reject(failed())
    ;(await peer.until(2)).answer(503)
    await quiet()
    controller.abort('enough')
    await assert.rejects(all[0], err => err === 'enough')
    fetch.queue.clear()
    await assert.rejects(all[1], { code: 'FAIRLANE_ERR_CLEARED' })
    clock.advance(100000)
    await quiet()
    assert.equal(peer.calls.length, 2)
  })

  it('when an attempt takes longer than timeoutMs', async () => {
    const clock = fakeClock()
    const peer = imitation()
    const fetch = fairFetch(peer.fetch, { maxAttempts: 2, backoffMs: 0, timeoutMs: 100, clock })
    const promise = fetch(A)
    const { signal } = await peer.until(1)
    clock.advance(100)
    await quiet()
    assert.equal(signal.aborted, true)
    clock.advance(0)
    ;(await peer.until(2)).answer(200)
    assert.equal((await promise).status, 200)
  })
})

describe('the caller gets', () => {
  it('the last response when no attempt is left, with its body', async () => {
    const bodies = []
    let count = 0
    const fetch = fairFetch(async () => {
      const number = ++count
      const source = { cancel: () => { bodies.push(number) }, pull: controller => controller.close() }
      const stream = new ReadableStream(source, { highWaterMark: 0 })
      return new Response(stream, { status: 503, headers: { number: String(number) } })
    }, { maxAttempts: 3, backoffMs: 0 })
    const response = await fetch(A)
    assert.deepEqual([response.status, response.headers.get('number'), response.bodyUsed], [503, '3', false])
    assert.deepEqual(bodies, [1, 2])
    assert.equal(await response.text(), '')
  })

  it('the last error when no attempt is left, as it is', async () => {
    const err = failed()
    assert.equal((await madeFor([503, err])).outcome, err)
  })

  it('its response though the body of the one before cannot be cancelled', async () => {
    const bodies = [{ cancel () { throw new Error('expected') } }, { cancel: () => Promise.reject(new Error('expected')) }, { destroy () {} }, {}, null, 'text']
    for (const body of bodies) {
      const answers = [{ status: 503, body }, { status: 200 }]
      const fetch = fairFetch(async () => answers.shift(), { maxAttempts: 2, backoffMs: 0 })
      assert.equal((await fetch(A)).status, 200)
    }
    await quiet()
  })
})

describe('a failure of the network', () => {
  const withCode = (code, Class = TypeError) => Object.assign(new Class('message'), { code })
  const yes = {
    'of Node.js': failed(),
    'of Node.js, while a body comes': new TypeError('terminated', { cause: withCode('UND_ERR_SOCKET', Error) }),
    'of Bun': withCode('ECONNRESET'),
    'of older Bun': withCode('ConnectionRefused', Error),
    'of Deno': new TypeError('fetch failed', { cause: new Error('error sending request for url (http://127.0.0.1:9999/): client error (Connect)') }),
    'of older Deno': new TypeError('error sending request for url (http://127.0.0.1:9999/): client error (Connect)'),
    'of Chromium': new TypeError('Failed to fetch'),
    'of newer Chromium': new TypeError('Failed to fetch (a.example)'),
    'of Firefox': new TypeError('NetworkError when attempting to fetch resource.'),
    'of Safari': new TypeError('Load failed'),
    'of Safari, offline': new TypeError('The Internet connection appears to be offline.'),
    'of React Native': new TypeError('Network request failed'),
    'of workers': new TypeError('Network connection lost'),
    'that an imitation has made up': new TypeError('fetch failed'),
    'of node-fetch': Object.assign(new Error('request failed'), { name: 'FetchError', code: 'ECONNRESET' }),
    'of any make': new Error('socket hang up'),
    'as a DOMException': new DOMException('failed', 'NetworkError'),
    'by a time limit inside': new DOMException('late', 'TimeoutError')
  }
  const no = {
    'by a URL that is wrong, of Node.js': new TypeError('Failed to parse URL', { cause: withCode('ERR_INVALID_URL') }),
    'by a scheme that is unknown, of Node.js': new TypeError('fetch failed', { cause: new Error('unknown scheme') }),
    'by a dispatcher that is wrong': new TypeError('fetch failed', { cause: withCode('UND_ERR_INVALID_ARG', Error) }),
    'by a URL that is wrong, of Bun': withCode('ERR_INVALID_URL'),
    'by a URL that is wrong, of Chromium': new TypeError("Failed to execute 'fetch' on 'Window': Failed to parse URL from http://"),
    'by a port that is blocked, of Deno': new TypeError('Fetch failed: Requests to port 1 are blocked'),
    'by a mistake': new TypeError("Cannot read properties of undefined (reading 'a')"),
    'by another mistake': new ReferenceError('a is not defined'),
    'by an abort inside': new DOMException('aborted', 'AbortError'),
    'by an abort of node-fetch': Object.assign(new Error('aborted'), { name: 'AbortError' }),
    'by a queue that refuses': new FairlaneError('FAIRLANE_ERR_QUEUE_FULL', 'full'),
    'by what is no error': 'text'
  }
  for (const [title, err] of Object.entries(yes)) it(`is told from others: ${title}`, () => assert.equal(isNetworkFailure(err), true))
  for (const [title, err] of Object.entries(no)) it(`is none ${title}`, () => assert.equal(isNetworkFailure(err), false))
})
