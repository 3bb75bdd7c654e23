'use strict'

const assert = require('node:assert/strict')
const dns = require('node:dns')
const { once } = require('node:events')
const { rmSync } = require('node:fs')
const { createServer } = require('node:net')
const { join } = require('node:path')
const { Client } = require('undici')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { Metrics } = require('../../lib/metrics')
const { temporaryFolder } = require('../support/folders')

describe('a page that listens by itself', function () {
  let server

  afterEach(async function () {
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    await closed
    server = undefined
  })

  async function listen (...args) {
    const metrics = new Metrics()
    server = board(fairlane(() => {}, { observers: metrics }), { metrics }).listen(...args)
    await once(server, 'listening')
    return server.address()
  }

  /** @returns {Promise<number>} the status of an answer to who calls it by a name */
  async function statusFor (host) {
    const { address, port, family } = server.address()
    const client = new Client(`http://${family === 'IPv6' ? `[${address}]` : address.replace('0.0.0.0', '127.0.0.1')}:${port}`)
    try {
      const { statusCode, body } = await client.request({ path: '/', method: 'GET', headers: { host } })
      await body.dump()
      return statusCode
    } finally {
      await client.close()
    }
  }

  for (const [how, args] of Object.entries({
    'a port': [0],
    'a port as a text': ['0'],
    'a port and how many may wait': [0, 5],
    nothing: [],
    undefined: [undefined],
    options: [{ port: 0 }],
    'options with a host that is none': [{ port: 0, host: undefined }],
    'options with a port that is none': [{ port: undefined }],
    'a host that is null': [0, null],
    'no port': [null]
  })) {
    it(`is for this machine only, told ${how}`, async function () {
      assert.equal((await listen(...args)).address, '127.0.0.1')
    })
  }

  it('calls back as node:http does, wherever the callback stands', async function () {
    for (const args of [[], [0], [0, '127.0.0.1'], [0, undefined], [0, '127.0.0.1', 5], [{ port: 0 }]]) {
      let isTold = false
      const { address } = await listen(...args, () => { isTold = true })
      assert.deepEqual([address, isTold], ['127.0.0.1', true])
      const closed = once(server, 'close')
      server.close()
      await closed
    }
  })

  it('listens where it is told to, and answers to every name where others can reach it', async function () {
    for (const [host, ...more] of [['0.0.0.0'], ['::'], ['0.0.0.0', 5]]) {
      assert.equal((await listen(0, host, ...more)).address, host)
      assert.equal(await statusFor('board.example'), 200)
      const closed = once(server, 'close')
      server.close()
      await closed
    }
    server = undefined
  })

  it('refuses a host that is an empty text, which is every address to node:http', function () {
    const metrics = new Metrics()
    const handler = board(fairlane(() => {}, { observers: metrics }), { metrics })
    for (const args of [[0, ''], [0, '', () => {}], [{ port: 0, host: '' }], [{ port: undefined, host: '' }]]) {
      assert.throws(() => handler.listen(...args), { name: 'RangeError', code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('answers to the names of this machine where it was given a socket that listens', async function () {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    await listen(other)
    assert.deepEqual([await statusFor('localhost'), await statusFor('evil.example')], [200, 403])
    other.close()
  })

  it('listens at a path', async function () {
    const folder = temporaryFolder()
    const path = join(folder, 'socket')
    for (const args of [[path], [{ path }]]) {
      assert.equal(await listen(...args), path)
      const client = new Client('http://board.example', { socketPath: path })
      const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
      await body.dump()
      await client.close()
      assert.equal(statusCode, 200)
      const closed = once(server, 'close')
      server.close()
      await closed
    }
    server = undefined
    rmSync(folder, { recursive: true })
  })

  it('answers to the names of this machine, and not to one that another site had lead here', async function () {
    await listen(0)
    for (const host of ['127.0.0.1:3000', 'localhost', 'LOCALHOST:80', 'board.localhost:3000', '[::1]:3000', '10.0.0.1']) assert.equal(await statusFor(host), 200, host)
    for (const host of ['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example', 'notlocalhost']) {
      assert.equal(await statusFor(host), 403, host)
    }
  })

  for (const host of ['127.0.0.2', '::1']) {
    it(`knows ${host} as an address of this machine only`, async function () {
      assert.equal((await listen(0, host)).address, host)
      assert.deepEqual([await statusFor('localhost'), await statusFor('evil.example')], [200, 403])
    })
  }

  it('answers to a name of its own that leads to this machine, in any case', async function () {
    const { lookup } = dns
    dns.lookup = (name, ...rest) => lookup('127.0.0.1', ...rest)
    try {
      await listen(0, 'Board.Internal')
    } finally {
      dns.lookup = lookup
    }
    assert.deepEqual([await statusFor('board.internal:80'), await statusFor('BOARD.internal'), await statusFor('evil.example')], [200, 200, 403])
  })

  it('answers to the name that it listens at', async function () {
    await listen(0, 'localhost')
    assert.equal(await statusFor('localhost:80'), 200)
    assert.equal(await statusFor('evil.example'), 403)
  })
})
