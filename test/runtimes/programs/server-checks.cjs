'use strict'

// What only runtimes with Node's modules have to do: contexts, and queues on disk.

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const { createServer } = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { answerFetch } = require('./fetch-server.cjs')

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
