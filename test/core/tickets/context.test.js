'use strict'

// In whose AsyncLocalStorage context limits call the caller's code.

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const { Throttled } = require('../../..')
const { startsOf } = require('../../support/starts')

const ERROR = new Error('expected')

describe('the AsyncLocalStorage context', function () {
  for (const [asyncContext, own] of [['queue', 'queue'], ['push', 'push']]) {
    it(`of attempts, of backoffMs, ratePerType and of callbacks is that of the ${own}, and that of all else the queue's (${asyncContext})`, async function () {
      const storage = new AsyncLocalStorage()
      const seen = []
      const see = what => seen.push(`${what} ${storage.getStore()}`)
      const errors = [ERROR, new Throttled(10)]
      const { queue, pass } = storage.run('queue', () => startsOf(fairlane, {
        asyncContext,
        scheduler: 'equal',
        maxAttempts: 2,
        backoffMs: () => { see('backoffMs'); return 10 },
        ratePerType: () => { see('ratePerType'); return undefined }
      }, (payload, done) => {
        see('runner')
        done(errors.shift())
      }))
      storage.run('listener', () => queue.on('retry', () => see('retry')))
      storage.run('push', () => queue.pushType('a', 1, () => see('callback')))
      await storage.run('clock', () => pass(100))
      assert.deepEqual(seen, [
        `ratePerType ${own}`, `runner ${own}`, `backoffMs ${own}`, 'retry queue',
        `ratePerType ${own}`, `runner ${own}`,
        `ratePerType ${own}`, `runner ${own}`, `callback ${own}`
      ])
    })

    it(`of jobs that were delayed is that of the ${own} (${asyncContext})`, async function () {
      const storage = new AsyncLocalStorage()
      const seen = []
      const { queue, pass } = storage.run('queue', () => startsOf(fairlane, { asyncContext }, (payload, done) => {
        seen.push(`${payload} ${storage.getStore()}`)
        done()
      }))
      storage.run('push', () => queue.add('delayed', { delayMs: 10 }))
      storage.run('push', () => queue.add('shared', { delayMs: 20, key: 'k' }))
      storage.run('another', () => queue.add('shared', { key: 'k' }))
      await storage.run('clock', () => pass(100))
      assert.deepEqual(seen, [`delayed ${own}`, `shared ${own}`])
    })
  }
})
