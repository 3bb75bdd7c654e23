'use strict'

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const { checkInvariants } = require('../../../lib/testing')
const { startsOf } = require('../../support/starts')

describe('a queue without an option of limits', function () {
  it('removes and clears as a plain one does', function () {
    const queue = fairlane(() => {}, { scheduler: 'fair' })
    const told = []
    queue.pause()
    for (const type of ['a', 'b', 'c']) for (const n of [1, 2, 3]) queue.pushType(type, n, ({ code }) => told.push([type, n, code]))
    assert.equal(queue.remove(({ payload }) => payload === 2), 3)
    assert.equal(queue.clear({ type: 'a' }), 2)
    assert.deepEqual([queue.stats('b').waiting, queue.stats('b').delayed], [2, 0])
    assert.equal(queue.clear(), 4)
    assert.deepEqual(told.map(([type, n]) => type + n), ['a2', 'b2', 'c2', 'a1', 'a3', 'b1', 'b3', 'c1', 'c3'])
    assert(told.every(([, , code]) => code === 'FAIRLANE_ERR_CLEARED' || code === 'FAIRLANE_ERR_REMOVED'), told)
    checkInvariants(queue)
  })
})

describe('a job that is not tried again after all', function () {
  for (const isFlushed of [false, true]) {
    it(isFlushed ? 'is over for the flush that waits for it' : 'is over where no flush waits', async function () {
      const { queue, pass } = startsOf(fairlane, { maxAttempts: 2, backoffMs: () => Infinity }, (payload, done) => done(new Error('no')))
      const told = []
      queue.push(1, ({ message }) => told.push(message))
      if (isFlushed) queue.fflush(() => told.push('flushed'))
      await pass(1)
      assert.deepEqual(told, isFlushed ? ['no', 'flushed'] : ['no'])
      checkInvariants(queue)
    })
  }

  it('counts for its type, while that has others', async function () {
    const { queue, pass } = startsOf(fairlane, { scheduler: 'fair', maxAttempts: 2, backoffMs: () => Infinity }, (n, done) => n === 1 ? done(new Error('no')) : undefined)
    for (const n of [1, 2]) queue.pushType('a', n)
    await pass(1)
    const { failed, running, waiting } = queue.stats('a')
    assert.deepEqual([failed, running, waiting], [1, 1, 0])
    checkInvariants(queue)
  })
})

describe('a type whose last jobs are delayed', function () {
  const WINDOW = { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }
  const runner = (payload, done) => done(payload === 'bad' && new Error('no'))

  for (const [kind, scheduler] of [['lanes', 'fair'], ['lanes that are kept', 'equal'], ['a window', WINDOW]]) {
    it(`keeps what was counted of it (${kind})`, async function () {
      const { queue, pass } = startsOf(fairlane, { scheduler, maxWaiting: 5, concurrency: 2 }, runner)
      const countsOf = () => {
        const { accepted, waiting, delayed, done, failed, cancelled, rejected, types } = queue.stats('a')
        assert.deepEqual([accepted, types], [waiting + done + failed + cancelled, 1])
        return { waiting, delayed, done, failed, cancelled, rejected }
      }
      const leaving = new AbortController()
      queue.pushType('a', 'good').pushType('a', 'bad', () => {})
      for (const delayMs of [10, 20, 30]) queue.add('late', { type: 'a', delayMs })
      queue.add('left', { type: 'a', delayMs: 10, signal: leaving.signal }).catch(() => {})
      await pass(1)
      assert.deepEqual(countsOf(), { waiting: 4, delayed: 4, done: 1, failed: 1, cancelled: 0, rejected: 0 })
      leaving.abort()
      queue.pause()
      for (let i = 0; i < 4; i++) queue.pushType('b', i)
      queue.pushType('a', 'too many', () => {})
      assert.deepEqual(countsOf(), { waiting: 3, delayed: 3, done: 1, failed: 1, cancelled: 1, rejected: 1 })
      queue.resume()
      await pass(10)
      assert.deepEqual(countsOf(), { waiting: 2, delayed: 2, done: 2, failed: 1, cancelled: 1, rejected: 1 })
      assert.equal(queue.remove(({ payload }) => payload === 'late'), 2)
      assert.equal(queue.stats('a').done, 0, 'one without jobs begins anew')
      checkInvariants(queue)
    })
  }

  it('has its counts with the jobs in the list, though its delayed ones are cancelled', async function () {
    const { queue, pass } = startsOf(fairlane, { scheduler: 'fair' }, runner)
    queue.pushType('a', 1)
    queue.add(2, { type: 'a', delayMs: 50 }).catch(() => {})
    await pass(1)
    queue.pause().pushType('a', 3)
    queue.remove(({ payload }) => payload === 2)
    const { accepted, waiting, delayed, done, cancelled } = queue.stats('a')
    assert.deepEqual([accepted, waiting, delayed, done, cancelled], [3, 1, 0, 1, 1])
    checkInvariants(queue)
  })
})

describe('a signal of who shares a job', function () {
  it('comes too late when the job has settled, though that was not told yet', async function () {
    const leaving = new AbortController()
    const { queue, pass } = startsOf(fairlane, { timeoutMs: 10, concurrency: 2 }, () => {})
    queue.push('first', () => leaving.abort())
    const shared = assert.rejects(queue.add('second', { key: 'k', keyUntil: 'settled', signal: leaving.signal }), { code: 'FAIRLANE_ERR_TIMEOUT' })
    await pass(20)
    await shared
    checkInvariants(queue)
  })
})

describe('the context of what a queue calls between attempts', function () {
  const storage = new AsyncLocalStorage()

  for (const [asyncContext, contexts] of [['queue', ['maker', 'maker', 'maker']], ['push', ['pusher', 'pusher', 'pusher']]]) {
    it(`is that of the ${asyncContext} with asyncContext: '${asyncContext}', for each attempt and what is asked between them`, async function () {
      const seen = []
      const see = () => seen.push(storage.getStore())
      const backoffMs = () => {
        see()
        return 10
      }
      const runner = (payload, done) => {
        see()
        done(seen.length < 3 ? new Error('no') : null)
      }
      const { queue, pass } = storage.run('maker', () => startsOf(fairlane, { asyncContext, maxAttempts: 2, backoffMs }, runner))
      const result = storage.run('pusher', () => queue.add(1, { delayMs: 5 }))
      await storage.run('elsewhere', () => pass(50))
      await result
      assert.deepEqual(seen, contexts)
    })
  }
})
