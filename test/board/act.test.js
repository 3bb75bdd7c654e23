'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { connect } = require('node:net')
const { text } = require('node:stream/consumers')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { Metrics } = require('../../lib/metrics')
const gates = require('../support/gates')
const { revoked } = require('../support/proxies')
const { quiet } = require('../support/turns')
const { atServers } = require('./asked')

const MOST_BYTES = 65536

/** A queue in which a request can change much, and a page of it. */
function watched (options) {
  const metrics = new Metrics({ name: 'mails' })
  const gate = gates()
  const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, observers: metrics })
  const handler = board(queue, { metrics, ...options })
  queue.pushType('a', 1).pushType('a', 2).pushType('b', 3)
  const seen = () => [queue.paused, queue.isTypePaused('a'), queue.isTypePaused('b'), queue.stats()]
  return { queue, metrics, gate, handler, seen }
}

describe('a page for a queue, by its buttons,', function () {
  const servers = atServers()

  it('pauses, resumes and clears a type', async function () {
    const { queue, gate, handler } = watched()
    const { act, state } = await servers.start(handler)
    await gate.until(1)
    const pausedTypes = async () => (await state()).queue.types.filter(({ paused }) => paused).map(({ type }) => type)
    assert.deepEqual((await act({ action: 'pauseType', type: 'a' })).json, { result: true })
    assert.deepEqual([queue.isTypePaused('a'), await pausedTypes()], [true, ['a']])
    assert.deepEqual((await act({ action: 'clearType', type: 'a' })).json, { result: 1 })
    assert.equal(queue.stats('a').waiting, 0)
    assert.deepEqual((await act({ action: 'resumeType', type: 'a' })).json, { result: true })
    assert.deepEqual([queue.isTypePaused('a'), await pausedTypes()], [false, []])
  })

  it('holds the queue and a type, and sets its cap and its weight', async function () {
    const { queue, handler } = watched()
    const { act, state } = await servers.start(handler)
    const done = async fields => assert.deepEqual((await act(fields)).json, { result: true })
    await done({ action: 'hold', ms: 60000 })
    assert(queue.heldMs() > 50000)
    await done({ action: 'hold', ms: 0 })
    assert.equal(queue.heldMs(), 0)
    await done({ action: 'holdType', type: 'a', ms: 60000 })
    assert(queue.heldMs('a') > 50000)
    assert.equal(queue.heldMs('b'), 0)
    await done({ action: 'setCap', type: 'a', cap: 0 })
    await done({ action: 'setCap', type: '__proto__', cap: 0 })
    await done({ action: 'setWeight', type: 'a', weight: 2.5 })
    const { cap, weight } = (await state()).queue.types.find(({ type }) => type === 'a')
    assert.deepEqual([cap, weight, queue.scheduler.capOf('__proto__'), queue.scheduler.weightOf('b')], [0, 2.5, 0, 1])
    await done({ action: 'setCap', type: 'a', cap: null })
    assert.equal(queue.scheduler.capOf('a'), queue.concurrency)
  })

  it('sets no weights where a function gives them, and no caps where there are none', async function () {
    for (const [options, actions] of [
      [{ scheduler: 'equal', schedulerOptions: { weights: () => 2 } }, ['setCap']], [{ scheduler: 'capped' }, ['setCap']], [{ scheduler: 'fair' }, []], [{}, []]
    ]) {
      const { state } = await servers.start(board(fairlane(() => {}, options)))
      assert.deepEqual((await state()).queue.actions.filter(name => name.startsWith('set')), actions)
    }
  })

  it('tells of each action before it is done, and does nothing if that is refused', async function () {
    const told = []
    let refuses = false
    const { queue, handler } = watched({
      async onAction ({ request, ...about }) {
        told.push([about, request.headers['x-who'], queue.isTypePaused('a')])
        if (refuses) throw Object.assign(new Error('not you'), { code: 'E_WHO' })
      }
    })
    const { act } = await servers.start(handler)
    assert.equal((await act({ action: 'pauseType', type: 'a', more: 1 }, { 'x-who': 'me' })).status, 200)
    assert.equal((await act({ action: 'pauseType' })).status, 400)
    assert.equal((await act({ action: 'none' })).status, 400)
    refuses = true
    const { status, json } = await act({ action: 'resumeType', type: 'a' })
    assert.deepEqual([status, json.error, queue.isTypePaused('a')], [500, { code: 'E_WHO', message: 'not you' }, true])
    assert.deepEqual(told, [
      [{ action: 'pauseType', queue: 'mails', type: 'a' }, 'me', false], [{ action: 'resumeType', queue: 'mails', type: 'a' }, undefined, true]
    ])
  })

  it('tells nobody of an action that it is given what is not fit for it', async function () {
    const told = []
    const { handler } = watched({ onAction: ({ action }) => { told.push(action) } })
    const { act } = await servers.start(handler)
    for (const fields of [
      { action: 'hold', ms: -1 }, { action: 'hold', ms: '1' }, { action: 'holdType', type: 'a', ms: -1 }, { action: 'setCap', type: 'a', cap: -1 }, { action: 'setCap', type: 'a', cap: '1' },
      { action: 'setWeight', type: 'a', weight: -1 }, { action: 'setWeight', type: 'a', weight: null }
    ]) assert.equal((await act(fields)).status, 400)
    assert.deepEqual(told, [])
  })

  it('shows at once what an action has done before it failed', async function () {
    const { queue, handler } = watched()
    const { act, state } = await servers.start(handler)
    assert.equal((await state()).queue.paused, false)
    queue.pause = function () {
      Object.getPrototypeOf(queue).pause.call(queue)
      throw new Error('too late')
    }
    assert.equal((await act({ action: 'pause' })).status, 500)
    assert.equal((await state()).queue.paused, true)
  })

  it('reads a body that is just as large as it may be, also one of which nobody said how large it is', async function () {
    const { queue, handler } = watched()
    const { act, origin, token } = await servers.start(handler)
    const begin = '{"action":"pauseType","type":"'
    const body = `${begin}${'x'.repeat(MOST_BYTES - begin.length - 2)}"}`
    const type = JSON.parse(body).type
    assert.deepEqual([(await act(body)).status, queue.isTypePaused(type)], [200, true])
    queue.resumeType(type)
    const headers = { 'content-type': 'application/json', 'x-fairlane-token': await token() }
    const { status } = await fetch(`${origin}/act`, { method: 'POST', headers, body: new Blob([body]).stream(), duplex: 'half' })
    assert.deepEqual([status, queue.isTypePaused(type)], [200, true])
  })

  it('pauses and resumes the queue', async function () {
    const { queue, handler } = watched()
    const { act } = await servers.start(handler)
    assert.deepEqual([(await act({ action: 'pause', queue: 'mails' })).status, queue.paused], [200, true])
    assert.deepEqual([(await act({ action: 'resume' })).status, queue.paused, queue.concurrency], [200, false, 1])
  })

  it('acts for its own page, and for programs that have its token', async function () {
    const { queue, handler } = watched()
    const { act, token } = await servers.start(handler)
    const host = 'board.example'
    for (const [type, headers] of Object.entries({
      own: { 'sec-fetch-site': 'same-origin', host, origin: 'http://board.example' },
      'own, with a token of the process before': { 'sec-fetch-site': 'same-origin', host, origin: 'http://board.example', 'x-fairlane-token': 'old' },
      'own, of a browser that names no origin': { 'sec-fetch-site': 'same-origin', 'x-fairlane-token': await token() },
      'own, of a browser that names the origin only': { host: 'board.example', origin: 'http://board.example' },
      'own, at another port': { host: 'board.example:3000', origin: 'http://board.example:3000' },
      'own, at the port that needs no name': { host: 'board.example:443', origin: 'https://board.example' },
      'own, in another case': { host: 'Board.example', origin: 'https://board.example' },
      'own, behind a proxy that says so': { host: 'inside:3000', 'x-forwarded-host': 'board.example, outer', origin: 'https://board.example' },
      'own, behind two proxies': { host: 'inside:3000', 'x-forwarded-host': 'outer, board.example', origin: 'https://board.example' },
      'with a charset': { 'content-type': 'Application/JSON; charset=utf-8' },
      'with a charset behind a space': { 'content-type': 'application/json ; charset=utf-8' },
      program: { 'x-fairlane-token': await token() }
    })) {
      assert.equal((await act({ action: 'pauseType', type }, headers)).status, 200)
      assert(queue.isTypePaused(type))
    }
  })

  it('has a token that nobody guesses, and another one for each page', async function () {
    const { queue, handler } = watched()
    const [one, other] = [await servers.start(handler), await servers.start(board(queue))]
    const tokens = [await one.token(), await other.token()]
    assert.deepEqual([...tokens.map(token => Buffer.from(token, 'base64url').length), new Set(tokens).size], [24, 24, 2])
    assert.equal((await other.act({ action: 'pause' }, { 'x-fairlane-token': tokens[0] })).status, 403)
    assert.equal(queue.paused, false)
  })

  it('acts for its own page by HTTP/2, and for no other one', async function () {
    const { queue, handler } = watched()
    const server = http2.createServer(handler).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const authority = `127.0.0.1:${server.address().port}`
    const client = http2.connect(`http://${authority}`)
    const statusOf = async origin => {
      const asked = client.request({ ':path': '/act', ':method': 'POST', 'content-type': 'application/json', origin })
      asked.end('{"action":"pause"}')
      const [{ ':status': status }] = await once(asked, 'response')
      asked.resume()
      return status
    }
    try {
      assert.deepEqual([await statusOf('http://evil.example'), queue.paused], [403, false])
      assert.deepEqual([await statusOf(`http://${authority}`), queue.paused], [200, true])
    } finally {
      client.close()
      server.close()
    }
  })

  it('acts on the queue of several that is named', async function () {
    const [one, other] = [watched(), watched()]
    const { act } = await servers.start(board({ one: pick(one), other: { ...pick(other), readOnly: true } }))
    assert.equal((await act({ action: 'pause', queue: 'one' })).status, 200)
    assert.equal((await act({ action: 'pause', queue: 'other' })).status, 403)
    for (const queue of [undefined, 'none', 5, '__proto__']) assert.equal((await act({ action: 'pause', queue })).status, 400)
    assert.deepEqual([one.queue.paused, other.queue.paused], [true, false])
  })

  it('takes a body that was read before it, as frameworks do', async function () {
    const { queue, gate, handler, seen } = watched()
    await gate.until(1)
    let read
    const { act: send, origin } = await servers.start(async (request, response) => {
      request.body = read(await text(request))
      handler(request, response)
    })
    const act = body => send(body, { origin })
    read = JSON.parse
    assert.equal((await act({ action: 'pauseType', type: 'a' })).status, 200)
    assert(queue.isTypePaused('a'))
    const before = seen()
    assert.equal((await act({ action: 'pause', more: 'x'.repeat(MOST_BYTES) })).status, 413)
    for (read of [() => undefined, () => 'text', Buffer.from]) {
      assert.equal((await act({ action: 'pause' })).status, 400)
      assert.equal((await act('')).status, 400)
    }
    assert.deepEqual(seen(), before)
  })

  describe('refuses', function () {
    const refusals = {
      'the page of another site': [403, { action: 'pause' }, { 'sec-fetch-site': 'cross-site' }],
      'the page of a neighbour': [403, { action: 'pause' }, { 'sec-fetch-site': 'same-site' }],
      'the page of another site, whatever else a browser says': [403, { action: 'pause' }, { 'sec-fetch-site': 'cross-site', host: 'a.example', origin: 'http://a.example' }],
      'another origin, though the site is said to be its own': [403, { action: 'pause' }, { 'sec-fetch-site': 'same-origin', host: 'a.example', origin: 'http://b.example' }],
      'an origin of no host': [403, { action: 'pause' }, { host: 'a.example', origin: 'http://' }],
      'an empty origin': [403, { action: 'pause' }, { host: 'a.example', origin: '' }],
      'a wrong token': [403, { action: 'pause' }, { 'x-fairlane-token': 'wrong' }],
      'an empty token': [403, { action: 'pause' }, { 'x-fairlane-token': '' }],
      'another token, though the site is said to be its own': [403, { action: 'pause' }, { 'sec-fetch-site': 'same-origin', 'x-fairlane-token': 'wrong' }],
      'another origin, where a browser says no more': [403, { action: 'pause' }, { host: 'a.example', origin: 'http://evil.example' }],
      'another origin, though the page is said to be its own': [403, { action: 'pause' }, { host: 'a.example', origin: 'http://evil.example', referer: 'http://a.example/' }],
      'another port': [403, { action: 'pause' }, { host: 'a.example', origin: 'http://a.example:8080' }],
      'a page without an origin': [403, { action: 'pause' }, { host: 'a.example', origin: 'null' }],
      'the page of a file': [403, { action: 'pause' }, { host: 'a.example', origin: 'file:///home/a.html' }],
      'what a form can send': [403, { action: 'pause' }, { 'content-type': 'text/plain' }],
      'what has no content type': [403, { action: 'pause' }, { 'content-type': '' }],
      'what only looks like JSON': [403, { action: 'pause' }, { 'content-type': 'application/jsonx' }],
      'no JSON': [400, '{ "action": "pause"'],
      'the page of another site, before its body is looked at': [403, '{ "action": "pause"', { 'sec-fetch-site': 'cross-site' }],
      'an empty body': [400, ''],
      'JSON that is no object': [400, '["pause"]'],
      'an unknown action': [400, { action: 'close' }],
      'the name of what every object has': [400, { action: 'constructor' }],
      'no action': [400, { type: 'a' }],
      'an action of queues on disk': [400, { action: 'retryDead', id: 1 }],
      'no type': [400, { action: 'pauseType' }],
      'a type that is no string': [400, { action: 'pauseType', type: ['a'] }],
      'a hold without a time': [400, { action: 'hold' }],
      'a hold of no time': [400, { action: 'hold', ms: -1 }],
      'a hold without an end': [400, { action: 'holdType', type: 'a', ms: 'Infinity' }],
      'a cap that is none': [400, { action: 'setCap', type: 'a', cap: 1.5 }],
      'no cap': [400, { action: 'setCap', type: 'a' }],
      'a weight of nothing': [400, { action: 'setWeight', type: 'a', weight: 0 }],
      'a cancellation of queues on disk': [400, { action: 'cancel', id: 1 }],
      'another queue': [400, { action: 'pause', queue: 'images' }],
      'more than it reads': [413, { action: 'pause', more: 'x'.repeat(MOST_BYTES) }]
    }
    for (const [what, [status, body, headers]] of Object.entries(refusals)) {
      it(`${what}: ${status}, and nothing has changed`, async function () {
        const { gate, handler, seen } = watched()
        const { act } = await servers.start(handler)
        await gate.until(1)
        const before = seen()
        const answer = await act(body, headers)
        assert.equal(answer.status, status)
        assert.equal(typeof answer.json.error.message, 'string')
        assert.deepEqual(seen(), before)
      })
    }

    it('what has no token and no origin, and says in which header it belongs', async function () {
      const { gate, handler, seen } = watched()
      const { ask } = await servers.start(handler)
      await gate.until(1)
      const before = seen()
      const { status, json } = await ask({ path: '/act', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"action":"pause"}' })
      assert.equal(status, 403)
      assert.match(json.error.message, / in the header x-fairlane-token\.$/)
      assert.deepEqual(seen(), before)
    })

    it('another origin, and an empty one, though the token is right', async function () {
      const { gate, handler, seen } = watched()
      const { act, token } = await servers.start(handler)
      await gate.until(1)
      const before = seen()
      for (const origin of ['http://evil.example', 'null', '']) {
        assert.equal((await act({ action: 'pause' }, { host: 'a.example', origin, 'x-fairlane-token': await token() })).status, 403)
      }
      assert.deepEqual(seen(), before)
    })

    it('more than it reads, where nobody said before how much comes', async function () {
      const { gate, handler, seen } = watched()
      const { ask, origin } = await servers.start(handler)
      await gate.until(1)
      const before = seen()
      const body = Buffer.from(JSON.stringify({ action: 'pause', more: 'x'.repeat(3 * MOST_BYTES) }))
      const parts = Array.from({ length: 10 }, (_, i) => body.subarray(i * 20000, (i + 1) * 20000))
      const socket = connect(new URL(origin).port, '127.0.0.1')
      socket.write('POST /act HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
      for (const part of parts) socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]))
      const [head] = await once(socket, 'data')
      assert.match(head.toString(), /^HTTP\/1\.1 413 /)
      socket.destroy()
      assert.deepEqual(seen(), before)
      assert.equal((await ask()).status, 200)
    })

    it('a request that breaks off', async function () {
      const { gate, handler, seen } = watched()
      const ends = []
      const { origin } = await servers.start((request, response) => {
        ends.push(endOf(response))
        handler(request, response)
        socket.destroy()
      })
      await gate.until(1)
      const before = seen()
      const socket = connect(new URL(origin).port, '127.0.0.1')
      socket.write('POST /act HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n{"action":"pause"}')
      await once(socket, 'close')
      assert.deepEqual([await Promise.all(ends), seen()], [['nothing'], before])
    })

    it('a request that broke off before it was looked at', async function () {
      const { gate, handler, seen } = watched()
      await gate.until(1)
      const before = seen()
      let ended
      const { origin } = await servers.start((request, response) => {
        ended = new Promise(resolve => request.once('close', resolve)).then(() => {
          const ended = endOf(response)
          handler(request, response)
          return ended
        })
        socket.destroy()
      })
      const socket = connect(new URL(origin).port, '127.0.0.1')
      socket.write('POST /act HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n{"action":"pause"}')
      await once(socket, 'close')
      assert.deepEqual([await ended, seen()], ['nothing', before])
    })

    it('everything where it is read-only', async function () {
      const { gate, handler, seen } = watched({ readOnly: true })
      const { act, state } = await servers.start(handler)
      await gate.until(1)
      const before = seen()
      for (const body of [{ action: 'pause' }, { action: 'pauseType', type: 'a' }, 'no JSON']) assert.equal((await act(body)).status, 403)
      assert.deepEqual(seen(), before)
      assert.deepEqual((await state()).queue.actions, [])
    })
  })

  it('answers whatever the queue throws', async function () {
    const { queue, handler } = watched()
    const { act } = await servers.start(handler)
    const unreadable = Object.defineProperty(new TypeError('no'), 'code', { get () { throw new Error('a getter') } })
    const endless = Object.assign(new Error('no'), { code: {} })
    endless.code.code = endless
    const cases = [
      [undefined, 'undefined'], [null, 'null'], ['text', 'text'], [5n, '5'], [Symbol('s'), 'Symbol(s)'], [revoked(), 'an error that cannot be shown'],
      [unreadable, 'an error that cannot be shown'], [endless, 'no'], [Object.assign(new Error('no'), { message: 5n }), '5']
    ]
    for (const [reason, message] of cases) {
      for (const clear of [() => { throw reason }, async () => { throw reason }]) {
        queue.clear = clear
        const { status, json } = await act({ action: 'clearType', type: 'a' })
        assert.deepEqual([status, json], [500, { error: { message } }])
      }
    }
    queue.clear = () => 5n // which JSON has not
    assert.equal((await act({ action: 'clearType', type: 'a' })).status, 500)
  })

  it('tells what the queue throws', async function () {
    const { queue, handler } = watched()
    const { act } = await servers.start(handler)
    queue.clear = () => { throw new Error('broken') }
    const { status, json } = await act({ action: 'clearType', type: 'a' })
    assert.deepEqual([status, json], [500, { error: { message: 'broken' } }])
    queue.clear = () => { throw Object.assign(new TypeError('no such type'), { code: 'FAIRLANE_ERR_TYPE' }) }
    const wrong = await act({ action: 'clearType', type: 'a' })
    assert.deepEqual([wrong.status, wrong.json.error.code], [400, 'FAIRLANE_ERR_TYPE'])
    queue.clear = () => { throw new TypeError('a bug') }
    assert.equal((await act({ action: 'clearType', type: 'a' })).status, 500)
  })
})

/** What a handler has written to a response when it comes to its end. */
function endOf (response) {
  let written = 'nothing'
  response.writeHead = () => {
    written = 'an answer'
    return response
  }
  return new Promise(resolve => {
    Object.defineProperty(response, 'headersSent', {
      get () {
        quiet().then(() => resolve(written))
        return false
      }
    })
  })
}

function pick ({ queue, metrics }) {
  return { queue, metrics }
}
