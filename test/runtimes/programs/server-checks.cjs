'use strict'

// What only runtimes with Node's modules have to do: contexts, queues on disk, and servers, by node:http and by their own way.

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const { createServer } = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { answerFetch } = require('./fetch-server.cjs')

const HALF = Symbol('half') // of an answer whose end never comes
const serveFetch = serverOfFetch()

module.exports = {
  /** Calls fn with the origin of a server for fetch-checks.cjs. @returns {Promise<any>} what it gives */
  async served (fn) {
    const server = createServer(answerFetch).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      return await fn(`http://127.0.0.1:${server.address().port}`)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  },

  async 'jobs run in the context of the queue, whoever pushed' ({ fairlane }) {
    const storage = new AsyncLocalStorage()
    const seen = []
    const queue = storage.run('queue', () => fairlane((payload, done) => {
      seen.push(storage.getStore())
      setTimeout(done, 1)
    }))
    for (const tenant of ['a', 'b', 'c']) storage.run(tenant, () => queue.push(1, () => seen.push(storage.getStore())))
    await queue.onIdle()
    assert.deepEqual(seen, Array(6).fill('queue'))
  },

  async 'http: a server lets requests in, refuses some, and frees what clients leave' ({ admission }) {
    for (const serve of serversOf(admission)) {
      let release
      const held = new Promise(resolve => { release = resolve })
      const { admit, origin, end } = await serve({ concurrency: 1, maxWaitingPerType: 1 }, async path => {
        if (path === '/held') await held
        return path
      })
      const answers = [fetch(`${origin}/held`)]
      await until(() => admit.stats().running === 1)
      for (let i = 1; i <= 3; i++) {
        const client = new AbortController()
        const gone = fetch(`${origin}/gone`, { signal: client.signal }).catch(() => {})
        await until(() => admit.stats().waiting === 1)
        client.abort()
        await gone
        await until(() => admit.stats().gone === i)
      }
      answers.push(fetch(`${origin}/next`))
      await until(() => admit.stats().waiting === 1)
      const refused = await fetch(`${origin}/refused`)
      assert.deepEqual([refused.status, (await refused.json()).code], [429, 'FAIRLANE_ERR_TYPE_FULL'])
      release()
      assert.deepEqual(await Promise.all(answers.map(async answer => (await answer).text())), ['/held', '/next'])
      await until(() => admit.queue.length === 0)
      assert.equal(await admit.close(), 0)
      await end()
    }
  },

  async 'http: a server ends requests whose time is over' ({ admission }) {
    for (const serve of serversOf(admission)) {
      const { admit, origin, end } = await serve({ timeoutMs: 50 }, path => path === '/half' ? HALF : new Promise(() => {}))
      assert.equal((await fetch(`${origin}/silent`)).status, 503)
      await assert.rejects(async () => (await fetch(`${origin}/half`)).text())
      await until(() => admit.queue.length === 0)
      assert.equal(admit.stats().failed, 2)
      await end()
    }
  },

  async 'jobs on disk outlive the queue, and nobody else may open it' ({ durable }) {
    const path = mkdtempSync(join(tmpdir(), 'fairlane-'))
    const seen = []
    const open = () => durable(async payload => { seen.push(payload.number) }, { path, ack: 'disk' })
    try {
      const first = await open()
      first.pause()
      await Promise.all([1, 2, 3].map(number => first.push({ number })))
      await assert.rejects(open(), { code: 'FAIRLANE_ERR_LOCKED' })
      await first.close()
      assert.deepEqual(seen, [])
      const second = await open()
      await second.onIdle()
      await second.close()
      assert.deepEqual(seen, [1, 2, 3])
    } finally {
      rmSync(path, { recursive: true })
    }
  }
}

/** Those of the runtime: each is given the options of an admission, and what answers a path. */
function serversOf (admission) {
  const ofNode = async (options, answer) => {
    const admit = admission(options)
    const server = createServer((request, response) => admit(request, response, async () => {
      const text = await answer(request.url)
      if (text === HALF) response.write('half')
      else response.end(text)
    })).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const end = () => {
      server.close()
      server.closeAllConnections()
    }
    return { admit, origin: `http://127.0.0.1:${server.address().port}`, end }
  }
  const ofFetch = async (options, answer) => {
    const admit = admission(options)
    const fetch = admit.fetch(async ({ url }) => {
      const text = await answer(new URL(url).pathname)
      return new Response(text === HALF ? new ReadableStream({ start: controller => controller.enqueue(Buffer.from('half')) }) : text)
    })
    const { port, end } = serveFetch(fetch)
    return { admit, origin: `http://127.0.0.1:${port}`, end }
  }
  return serveFetch === undefined ? [ofNode] : [ofNode, ofFetch]
}

/** By the server of Bun or Deno. */
function serverOfFetch () {
  const { Bun, Deno } = globalThis
  const where = { port: 0, hostname: '127.0.0.1' }
  if (Bun !== undefined) {
    return fetch => {
      const server = Bun.serve({ ...where, fetch })
      return { port: server.port, end: () => server.stop(true) }
    }
  }
  if (Deno === undefined) return undefined
  return fetch => {
    const server = Deno.serve({ ...where, onListen () {} }, fetch)
    return { port: server.addr.port, end: () => server.shutdown() }
  }
}

async function until (test) {
  for (let i = 0; i < 20000 && !test(); i++) await new Promise(resolve => setTimeout(resolve, 1))
  assert(test(), `it has not come: ${test}`)
}
