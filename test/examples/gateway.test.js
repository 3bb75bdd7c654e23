'use strict'

// The gateway, as a process of its own, in front of an API of this one.

const assert = require('node:assert/strict')
const { connect } = require('node:net')
const { gzipSync } = require('node:zlib')
const { startProgram, startServer } = require('../support/programs')

describe('the gateway', function () {
  let api, program, origin, admin
  let seen, respond, whenSeen

  beforeEach(async function () {
    seen = []
    whenSeen = () => {}
    respond = (request, response) => response.end('text')
    api = await startServer(async (request, response) => {
      request.body = ''
      for await (const text of request.setEncoding('utf8')) request.body += text
      seen.push(request)
      respond(request, response)
      whenSeen()
    })
    program = startProgram(['examples/gateway.mjs'], { env: { UPSTREAM: api.origin, RATE: '20' } })
    while (program.lines.length < 2) await program.line()
    ;[origin, admin] = program.lines.map(port => `http://127.0.0.1:${port}`)
  })

  afterEach(async function () {
    await program.end()
    await api.end()
  })

  async function seenSoFar (count) {
    while (seen.length < count) await new Promise(resolve => { whenSeen = resolve })
  }

  it('passes requests and responses on, without what concerns a connection or the gateway alone', async function () {
    respond = (request, response) => {
      response.writeHead(201, { 'Content-Encoding': 'gzip', 'Set-Cookie': ['a=1', 'b=2'] }).end(gzipSync('text'))
    }
    const response = await fetch(`${origin}/path?query`, { method: 'PUT', body: 'sent', headers: { 'X-Api-Key': 'ada', 'X-Other': 'yes' } })
    assert.deepEqual([response.status, response.headers.getSetCookie(), await response.text()], [201, ['a=1', 'b=2'], 'text'])
    const [{ method, url, body, headers }] = seen
    assert.deepEqual([method, url, body, headers['x-other'], headers['x-api-key']], ['PUT', '/path?query', 'sent', 'yes', undefined])
    assert.equal(`http://${headers.host}`, api.origin)
  })

  it('makes calls again, and answers what the API answers', async function () {
    respond = (request, response) => response.writeHead(seen.length < 2 ? 503 : 200).end()
    assert.equal((await fetch(origin)).status, 200)
    assert.equal(seen.length, 2)
    respond = (request, response) => response.writeHead(404).end('nothing')
    const response = await fetch(`${origin}/missing`)
    assert.deepEqual([response.status, await response.text()], [404, 'nothing'])
  })

  it('answers 502 for an API that is not there, and 400 for what is no path', async function () {
    respond = request => request.socket.destroy()
    assert.equal((await fetch(origin, { method: 'POST', body: 'sent' })).status, 502)
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    socket.end('GET http://elsewhere.invalid/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    let text = ''
    for await (const part of socket.setEncoding('utf8')) text += part
    assert.match(text, /^HTTP\/1\.1 400 /)
  })

  it('ends the call of a client that goes away', async function () {
    const closed = new Promise(resolve => { respond = request => request.socket.once('close', resolve) })
    const client = new AbortController()
    const response = fetch(origin, { signal: client.signal })
    await seenSoFar(1)
    client.abort()
    await assert.rejects(response)
    await closed
  })

  it('answers whether it is there, scrapes, and the page', async function () {
    assert.equal((await fetch(`${origin}/healthz`)).status, 200)
    assert.deepEqual(seen, [])
    await (await fetch(origin, { headers: { 'X-Api-Key': 'ada' } })).text()
    assert.match(await (await fetch(`${admin}/metrics/requests`)).text(), /fairlane_jobs_accepted_total\{queue="requests",type="ada"\} 1/)
    assert.match(await (await fetch(`${admin}/metrics/calls`)).text(), /fairlane_jobs_accepted_total\{queue="calls",type="http:\/\/127/)
    const { names } = await (await fetch(`${admin}/state`)).json()
    assert.deepEqual(names, ['requests', 'calls'])
    assert.match(await (await fetch(admin)).text(), /<html/)
  })

  it('ends in order: what it has taken in is answered', async function () {
    let answer
    respond = (request, response) => { answer = () => response.end('late') }
    const response = fetch(origin)
    await seenSoFar(1)
    program.child.kill('SIGTERM')
    while (await takesConnections(Number(new URL(origin).port)));
    answer()
    assert.equal(await (await response).text(), 'late')
    assert.deepEqual(await program.exit, [0, null])
  })
})

function takesConnections (port) {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false)).once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
