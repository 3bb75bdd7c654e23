'use strict'

// What waits for settlements (fflush) and what waits for slots (drain, onIdle, close), where these come at different times: a
// running job is settled, and its runner goes on.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { fakeClock } = require('../../../lib/testing')
const { quiet } = require('../../support/turns')

const SETTLED = ['fflush', 'fflush promise', 'told']
const FREE = ['drain', 'onIdle']

/** A queue with a running job, and a function that says what has come since it was last called. */
async function setUp (options) {
  const clock = fakeClock()
  const gate = gates()
  const controller = new AbortController()
  const come = []
  const queue = fairlane(gate.runner, { concurrency: 1, clock, ...options })
  queue.add('job', { type: 'a', signal: controller.signal }).catch(() => come.push('told'))
  await gate.until(1)
  queue.drain = () => come.push('drain')
  queue.fflush(() => come.push('fflush'))
  queue.fflush().then(() => come.push('fflush promise'))
  queue.onIdle().then(() => come.push('onIdle'))
  const seen = async () => {
    await quiet()
    return come.splice(0).sort()
  }
  return { queue, clock, gate, come, seen, abort: () => controller.abort() }
}

for (const [name, scheduler] of [['no scheduler', {}], ['lanes', { scheduler: 'equal' }]]) {
  describe(`a running job that is settled while its runner goes on, with ${name},`, function () {
    it('by a timeout: fflush comes at once, drain and onIdle when the runner ends', async function () {
      const { queue, clock, gate, seen } = await setUp({ ...scheduler, timeoutMs: 50 })
      assert.deepEqual(await seen(), [])
      clock.advance(50)
      assert.deepEqual(await seen(), SETTLED)
      assert.deepEqual([queue.running, queue.length, queue.stats().overrun], [1, 1, 0])
      gate.release()
      assert.deepEqual(await seen(), FREE)
      assert.equal(queue.length, 0)
    })

    it('by a timeout that releases its slot: all come at once, and nothing more when the runner ends', async function () {
      const { queue, clock, gate, seen } = await setUp({ ...scheduler, timeoutMs: 50, onTimeout: 'release' })
      clock.advance(50)
      assert.deepEqual(await seen(), [...FREE, ...SETTLED].sort())
      assert.deepEqual([queue.length, queue.stats().overrun], [0, 1])
      gate.release()
      assert.deepEqual(await seen(), [])
      assert.equal(queue.stats().overrun, 0)
    })

    it('by its signal: fflush comes at once, drain and onIdle when the runner ends', async function () {
      const { queue, gate, abort, seen } = await setUp(scheduler)
      abort()
      assert.deepEqual(await seen(), SETTLED)
      assert.equal(queue.running, 1)
      gate.release()
      assert.deepEqual(await seen(), FREE)
    })

    it('by its signal, on a queue that releases: only timeouts do', async function () {
      const { queue, gate, abort, seen } = await setUp({ ...scheduler, timeoutMs: 50, onTimeout: 'release' })
      abort()
      assert.deepEqual(await seen(), SETTLED)
      assert.deepEqual([queue.running, queue.stats().overrun], [1, 0])
      gate.release()
      assert.deepEqual(await seen(), FREE)
    })

    it('by close: fflush comes at once, close does not wait for the runner, drain and onIdle do', async function () {
      const { queue, gate, come, seen } = await setUp(scheduler)
      queue.close({ drain: false }).then((count) => come.push(`closed ${count}`))
      assert.deepEqual(await seen(), ['closed 1', ...SETTLED])
      gate.release()
      assert.deepEqual(await seen(), FREE)
    })

    it('by the timeout of close: fflush comes then, and close', async function () {
      const { queue, clock, gate, come, seen } = await setUp(scheduler)
      queue.close({ timeoutMs: 100 }).then((count) => come.push(`closed ${count}`))
      clock.advance(99)
      assert.deepEqual(await seen(), [])
      clock.advance(1)
      assert.deepEqual(await seen(), ['closed 1', ...SETTLED])
      gate.release()
      assert.deepEqual(await seen(), FREE)
    })

    it('is waited for by a close that lets jobs finish, which then counts nobody', async function () {
      const { queue, clock, gate, come, seen } = await setUp({ ...scheduler, timeoutMs: 50 })
      queue.close().then((count) => come.push(`closed ${count}`))
      clock.advance(50)
      assert.deepEqual(await seen(), SETTLED)
      gate.release()
      assert.deepEqual(await seen(), ['closed 0', ...FREE])
    })

    it('is not waited for by such a close if its slot was released, but counted', async function () {
      const { queue, clock, gate, come, seen } = await setUp({ ...scheduler, timeoutMs: 50, onTimeout: 'release' })
      queue.close().then((count) => come.push(`closed ${count}`))
      clock.advance(50)
      assert.deepEqual(await seen(), ['closed 1', ...FREE, ...SETTLED].sort())
      gate.release()
      assert.deepEqual(await seen(), [])
    })

    it('does not hold up an fflush that is asked for afterwards, nor is it counted twice by one', async function () {
      const { queue, clock, gate, come, seen } = await setUp({ ...scheduler, timeoutMs: 50 })
      clock.advance(50)
      await seen()
      queue.fflush(() => come.push('nothing before'))
      assert.deepEqual(await seen(), ['nothing before'])
      const waiting = queue.add('next', { type: 'a', maxWaitMs: 10 }).catch(() => {})
      queue.fflush(() => come.push('with the next'))
      assert.deepEqual(await seen(), [])
      clock.advance(10)
      await waiting
      assert.deepEqual(await seen(), ['with the next'])
      gate.release()
      assert.deepEqual(await seen(), FREE)
    })
  })
}
