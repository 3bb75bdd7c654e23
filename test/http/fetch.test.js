'use strict'

const assert = require('node:assert/strict')
const { admission } = require('../../lib/http')
const { fakeClock } = require('../../lib/testing')
const { turns } = require('../support/turns')
const { assertFree, until } = require('./served')

describe('an admission in front of a fetch handler', function () {
  let admit, handled
  afterEach(() => assertFree(admit, assert))

  /** @returns {(path: string, init?: object) => Promise<Response>} */
  function start (options, handler = ({ answer }) => answer) {
    handled = []
    admit = admission({ tenant: request => request.headers.get('tenant'), ...options })
    const served = admit.fetch((request, ...rest) => {
      const one = { request, rest }
      one.answer = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }))
      handled.push(one)
      return handler(one)
    })
    return (path = '/', init = undefined, ...rest) => served(new Request(`http://here${path}`, init), ...rest)
  }

  it('gives the handler what the host gives, and holds the slot until the body has been read', async function () {
    const ask = start({ concurrency: 1 })
    const answers = [ask('/1', {}, 'env', 7), ask('/2')]
    assert.equal(handled.length, 1)
    assert.deepEqual(handled[0].rest, ['env', 7])
    handled[0].resolve(new Response('first', { status: 201, headers: { x: 'y' } }))
    const first = await answers[0]
    await turns(3)
    assert.equal(handled.length, 1)
    assert.deepEqual([first.status, first.headers.get('x'), first.headers.get('server-timing')], [201, 'y', null])
    assert.equal(await first.text(), 'first')
    await until(() => handled.length === 2)
    handled[1].resolve(new Response('second'))
    const second = await answers[1]
    assert.match(second.headers.get('server-timing'), /^queue;dur=\d+\.\d$/)
    assert.equal(await second.text(), 'second')
  })

  it('calls the handler with the same this', async function () {
    admit = admission()
    const host = { fetch: admit.fetch(function () { return this === host ? new Response(null) : undefined }) }
    assert.equal((await host.fetch(new Request('http://here'))).status, 200)
  })

  it('frees the slot at once where there is no body, or nobody is going to read it', async function () {
    const ask = start({ concurrency: 1 })
    const held = ask('/held')
    const answers = [ask('/null'), ask('/undefined'), ask('/head', { method: 'HEAD' }), ask('/last')]
    const responses = [new Response('x'), new Response(null, { status: 204 }), undefined, new Response('unread'), new Response(null)]
    for (let at = 0; at < 5; at++) {
      await until(() => handled.length === at + 1)
      handled[at].resolve(responses[at])
      if (at === 0) (await held).text()
    }
    const [empty, nothing, head] = await Promise.all(answers)
    assert.equal(empty.status, 204)
    assert.match(empty.headers.get('server-timing'), /^queue/)
    assert.equal(nothing, undefined)
    assert.match(head.headers.get('server-timing'), /^queue/)
  })

  it('frees the slot when the headers are there, with until: \'headers\', and by release()', async function () {
    const ask = start({ concurrency: 1, until: 'headers' })
    const first = ask()
    const response = new Response('stream')
    handled[0].resolve(response)
    assert.equal(await first, response)
    const second = ask()
    assert.equal(admit.release(handled[1].request), true)
    const third = ask()
    assert.equal(handled.length, 3)
    for (const { resolve } of handled) resolve(new Response(null))
    await Promise.all([second, third])
  })

  it('frees the slot when the body is cancelled, or fails', async function () {
    const ask = start({ concurrency: 1 })
    let reason
    const first = ask()
    handled[0].resolve(new Response(new ReadableStream({ cancel (why) { reason = why } })))
    await (await first).body.cancel('enough')
    assert.equal(reason, 'enough')
    const second = ask()
    handled[1].resolve(new Response(new ReadableStream({ pull (controller) { controller.error(new Error('no more')) } })))
    await assert.rejects((await second).text(), { message: 'no more' })
    assert.deepEqual([admit.stats().done, admit.stats().failed], [1, 1])
  })

  it('frees the slot when the handler throws or rejects, with what that was', async function () {
    const ask = start({ concurrency: 1 }, ({ request, answer }) => {
      if (request.url.endsWith('/throws')) throw new Error('thrown')
      return answer
    })
    await assert.rejects(ask('/throws'), { message: 'thrown' })
    const answer = ask()
    handled[1].reject(new Error('rejected'))
    await assert.rejects(answer, { message: 'rejected' })
    const wrong = ask()
    handled[2].resolve({ body: new ReadableStream(), status: 99, headers: {} }) // is no Response
    await assert.rejects(wrong, RangeError)
    assert.equal(admit.stats().failed, 3)
  })

  it('takes out a request whose client goes away while it waits, and frees the slot of one that is handled', async function () {
    const ask = start({ concurrency: 1 })
    const [gone, waiting, aborted] = [new AbortController(), new AbortController(), new AbortController()]
    const first = ask('/1', { signal: gone.signal })
    const second = ask('/2', { signal: waiting.signal })
    const third = ask('/3')
    waiting.abort(new Error('gone'))
    await assert.rejects(second, { message: 'gone' })
    gone.abort()
    await until(() => handled.length === 2)
    assert.match(handled[1].request.url, /3$/)
    for (const { resolve } of handled) resolve(new Response(null))
    await Promise.all([first, third])
    aborted.abort(new Error('never came'))
    await assert.rejects(ask('/4', { signal: aborted.signal }), { message: 'never came' })
    assert.deepEqual([admit.stats().gone, admit.stats().cancelled], [2, 1])
  })

  it('answers those that it refuses with problem details, or as refuse() does', async function () {
    const told = []
    const ask = start({
      concurrency: 1,
      maxWaitingPerType: 0,
      refuse (request, response, error) {
        told.push([response, error.code])
        const path = new URL(request.url).pathname
        if (path === '/throws') throw new Error('no answer')
        const own = () => new Response('a teapot', { status: 418 })
        return { '/own': own(), '/promise': Promise.resolve(own()), '/nothing': Promise.resolve() }[path]
      }
    })
    const held = ask()
    assert.equal((await ask('/own')).status, 418)
    assert.equal((await ask('/promise')).status, 418)
    await assert.rejects(ask('/throws'), { message: 'no answer' })
    for (const path of ['/', '/nothing']) {
      const refused = await ask(path)
      assert.deepEqual([refused.status, refused.headers.get('content-type')], [429, 'application/problem+json'])
      assert.match(refused.headers.get('retry-after'), /^[12]$/)
      assert.equal((await refused.json()).code, 'FAIRLANE_ERR_TYPE_FULL')
    }
    assert.deepEqual(told[0], [undefined, 'FAIRLANE_ERR_TYPE_FULL'])
    handled[0].resolve(new Response(null))
    await held
    assert.equal(admit.stats().refused.FAIRLANE_ERR_TYPE_FULL, 5)
    await admit.close()
    const ask2 = start()
    await admit.close()
    const refused = await ask2()
    assert.deepEqual([refused.status, (await refused.json()).code], [503, 'FAIRLANE_ERR_CLOSED'])
  })

  it('runs those that wait when it closes', async function () {
    const ask = start({ concurrency: 1 })
    const answers = [ask(), ask()]
    const closed = admit.close()
    for (let at = 0; at < 2; at++) {
      await until(() => handled.length === at + 1)
      handled[at].resolve(new Response(null))
    }
    await Promise.all(answers)
    assert.equal(await closed, 0)
  })

  it('rejects with what its functions throw, and lets exempt requests and those it knows pass', async function () {
    const ask = start({
      tenant: ({ url }) => { if (url.endsWith('/throws')) throw new Error('no tenant') },
      exempt: ({ url }) => url.endsWith('/health')
    }, () => new Response('ok'))
    await assert.rejects(ask('/throws', { signal: new AbortController().signal }), { message: 'no tenant' })
    assert.equal(await (await ask('/health')).text(), 'ok')
    const twice = admit.fetch(admit.fetch(() => new Response(null)))
    assert.equal((await twice(new Request('http://here'))).status, 200)
    assert.equal((await twice({ method: 'GET', headers: new Headers(), url: '' })).status, 200) // has no signal
    assert.deepEqual([admit.stats().accepted, admit.stats().exempt], [2, 1])
  })

  it('answers 503 when its time is over, and what the handler says then is swallowed', async function () {
    const clock = fakeClock()
    const ask = start({ concurrency: 1, timeoutMs: 1000, clock })
    let isCancelled = false
    const late = [
      ({ reject }) => reject(new Error('late')),
      ({ resolve }) => resolve(new Response(new ReadableStream({ cancel () { isCancelled = true } }))),
      ({ resolve }) => resolve(new Response(new ReadableStream({ cancel () { throw new Error('cannot') } }))),
      ({ resolve }) => resolve()
    ]
    for (const [at, answerLate] of late.entries()) {
      const answer = ask()
      assert.equal(handled.length, at + 1)
      clock.advance(1001)
      const response = await answer
      assert.deepEqual([response.status, (await response.json()).code], [503, 'FAIRLANE_ERR_TIMEOUT'])
      answerLate(handled[at])
    }
    await until(() => isCancelled)
    assert.equal(admit.stats().failed, 4)
  })

  it('has a body fail whose time is over, so that it does not look whole', async function () {
    const clock = fakeClock()
    const ask = start({ concurrency: 1, timeoutMs: 1000, clock })
    for (const cancel of [() => {}, () => { throw new Error('cannot') }]) {
      let isPulled = false
      const answer = ask()
      handled.at(-1).resolve(new Response(new ReadableStream({
        start (controller) { controller.enqueue(new Uint8Array([1])) },
        pull () {
          isPulled = true
          return new Promise(() => {})
        },
        cancel
      })))
      const reader = (await answer).body.getReader()
      assert.deepEqual((await reader.read()).value, new Uint8Array([1]))
      const rest = reader.read()
      await until(() => isPulled)
      clock.advance(1001)
      await assert.rejects(rest, { code: 'FAIRLANE_ERR_TIMEOUT' })
      await turns(3)
    }
  })
})
