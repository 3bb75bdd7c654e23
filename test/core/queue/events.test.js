'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { internalsOf } = require('../../../lib/core/internals')
const { captureUncaught } = require('../../support/uncaught')
const { turn } = require('../../support/turns')

describe('the event jobfailed', function () {
  for (const method of ['on', 'once', 'addListener']) {
    it(`tells of failures after the callback, to listeners of ${method}`, async function () {
      const seen = []
      const error = new Error('expected')
      const queue = fairlane(async (payload) => { if (payload > 1) throw error }, { concurrency: 1, scheduler: 'equal' })
      queue[method]('jobfailed', (err, job) => seen.push([err, job]))
      queue.pushType('a', 1).pushType('a', 2, () => seen.push('callback'))
      await queue.onIdle()
      assert.deepEqual(seen, ['callback', [error, { type: 'a', payload: 2 }]])
    })
  }

  it('tells of timeouts, and of no cancellation', async function () {
    const clock = fakeClock()
    const gate = gates()
    const seen = []
    const queue = fairlane(gate.runner, { clock, timeoutMs: 50 })
    queue.on('jobfailed', ({ code }, job) => seen.push([code, job]))
    const controller = new AbortController()
    queue.push(1)
    const aborted = queue.add(2, { signal: controller.signal, timeoutMs: Infinity })
    queue.add(3, { timeoutMs: Infinity }).catch(() => {})
    await gate.until(3)
    clock.advance(50)
    controller.abort()
    await assert.rejects(aborted)
    await queue.close({ drain: false })
    assert.deepEqual(seen, [['FAIRLANE_ERR_TIMEOUT', { type: undefined, payload: 1 }]])
  })

  it('passes on what a callback throws as an uncaught exception, and tells all the same', async function () {
    const uncaught = captureUncaught()
    const error = new Error('expected')
    const queue = fairlane((payload, done) => done('failed'))
    let count = 0
    queue.on('jobfailed', () => { count++ })
    queue.push(1, () => { throw error })
    await uncaught.until(1)
    uncaught.release()
    assert.deepEqual([uncaught.seen, count], [[error], 1])
  })
})

describe('a listener that throws', function () {
  it('keeps the event from those behind it, and nothing else from anybody', async function () {
    const uncaught = captureUncaught()
    const error = new Error('expected')
    const queue = fairlane(async (payload) => payload)
    const seen = []
    queue.drain = () => seen.push('drain')
    queue.on('drain', () => { throw error }).on('drain', () => seen.push('second listener'))
    queue.fflush(() => seen.push('nothing to flush'))
    queue.push(1)
    queue.fflush(() => seen.push('fflush'))
    await queue.onIdle()
    assert.equal(await queue.add(2), 2)
    await uncaught.until(2)
    uncaught.release()
    assert.deepEqual(uncaught.seen, [error, error])
    assert.deepEqual(seen, ['nothing to flush', 'drain', 'fflush', 'drain'])
  })
})

describe('listeners to jobfailed', function () {
  it('cost nothing any more once the last one is gone, however it went', async function () {
    const queue = fairlane(async () => { throw new Error('expected') })
    const listener = () => {}
    const goings = [
      () => queue.off('jobfailed', listener),
      () => queue.removeListener('jobfailed', listener),
      () => queue.removeAllListeners('jobfailed'),
      () => queue.removeAllListeners()
    ]
    for (const go of goings) {
      assert.equal(queue.on('jobfailed', listener).addListener('jobfailed', listener), queue)
      checkInvariants(queue)
      assert.equal(go(), queue)
      checkInvariants(queue)
      assert.equal(internalsOf(queue).dispatch.isObserved, false)
    }
    queue.once('jobfailed', listener)
    checkInvariants(queue)
    queue.push(1)
    await queue.onIdle()
    assert.equal(internalsOf(queue).dispatch.isObserved, false)
    queue.on('jobfailed', listener).once('jobfailed', listener).on('drain', listener).off('drain', listener)
    queue.push(2)
    await queue.onIdle()
    assert.equal(internalsOf(queue).dispatch.isObserved, true)
  })
})

describe('asyncContext', function () {
  it('push: runs job and callback in the context of the push, and mixes none', async function () {
    const als = new AsyncLocalStorage()
    const gate = gates()
    const seen = []
    const clock = fakeClock()
    const queue = als.run('maker', () => fairlane((payload, done, context) => {
      seen.push(['runner', payload, als.getStore()])
      gate.runner(payload, done, context)
      context.signal.addEventListener('abort', () => seen.push(['signal', payload, als.getStore()]))
    }, { asyncContext: 'push', concurrency: 2, clock }))
    for (const tenant of ['a', 'b', 'c']) {
      als.run(tenant, () => queue.push(tenant, () => seen.push(['callback', tenant, als.getStore()])))
    }
    als.run('d', () => queue.add('d', { timeoutMs: 50 }).catch(() => seen.push(['callback', 'd', als.getStore()])))
    await gate.until(2)
    als.run('other', () => gate.release())
    await gate.until(3)
    gate.release(2)
    await gate.until(4)
    als.run('other', () => clock.advance(50))
    await turn()
    assert.equal(seen.length, 9)
    for (const [, payload, store] of seen) assert.equal(store, payload)
    queue.close({ drain: false })
    als.run('late', () => queue.push('late', () => seen.push(['refused', 'late', als.getStore()])))
    await turn()
    assert.deepEqual(seen.at(-1), ['refused', 'late', 'late'])
  })

  it('push: listens to a thenable that a runner returned in the context of the push, and to none that is to be ignored', async function () {
    const als = new AsyncLocalStorage()
    const seen = []
    const lazyQuery = { then (resolve) { seen.push(als.getStore()); resolve('rows') } }
    const queue = fairlane(() => lazyQuery, { asyncContext: 'push' })
    assert.equal(await als.run('tenant', () => queue.add(1)), 'rows')
    assert.deepEqual(seen, ['tenant'])
    const ignoring = fairlane((payload, done) => { done(); return lazyQuery }, { asyncContext: 'push', settleBy: 'callback' })
    als.run('tenant', () => ignoring.push(1))
    await ignoring.onIdle()
    assert.deepEqual(seen, ['tenant'])
  })

  it('queue, the default: timers and refusals run in the context of the queue', async function () {
    const als = new AsyncLocalStorage()
    const seen = []
    const queue = als.run('maker', () => fairlane(() => {}, { maxWaiting: 1, maxWaitMs: 1 })).pause()
    await als.run('tenant', () => new Promise((resolve) => {
      queue.push(1, () => { seen.push(als.getStore()); resolve() })
      queue.push(2, () => seen.push(als.getStore()))
    }))
    assert.deepEqual(seen, ['maker', 'maker'])
  })

  it('none: callbacks, and the starts that follow, run where done was called, as what has leaked shows', async function () {
    const als = new AsyncLocalStorage()
    const seen = []
    const gate = gates()
    const queue = als.run('maker', () => fairlane((payload, done) => {
      seen.push(['runner', payload, als.getStore()])
      gate.runner(payload, done)
    }, { asyncContext: 'none', concurrency: 1 }))
    als.run('tenant a', () => queue.push('a', () => seen.push(['callback', 'a', als.getStore()])))
    als.run('tenant b', () => queue.push('b'))
    await gate.until(1)
    als.run('elsewhere', () => gate.release())
    assert.deepEqual(seen, [['runner', 'a', 'tenant a'], ['callback', 'a', 'elsewhere'], ['runner', 'b', 'elsewhere']])
    gate.release()
  })

  it('none: events, promises and refusals come all the same', async function () {
    const seen = []
    const queue = fairlane((payload, done) => setImmediate(done, payload), { asyncContext: 'none', maxWaiting: 1, concurrency: 1 })
    queue.on('jobfailed', err => seen.push(err))
    queue.on('drain', () => seen.push('drain'))
    queue.push('failed')
    queue.add('second', { timeoutMs: 1000 }).catch(err => seen.push(`add: ${err}`))
    queue.push('refused', err => seen.push(err.code))
    queue.fflush(() => seen.push('fflush'))
    await queue.onIdle()
    await turn()
    assert.deepEqual(seen, ['FAIRLANE_ERR_QUEUE_FULL', 'failed', 'second', 'drain', 'fflush', 'add: second'])
    assert.equal(await queue.close(), 0)
  })

  it('must be one of the three, and says what has become of keepContext', function () {
    assert.throws(() => fairlane(() => {}, { asyncContext: 'jobs' }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => fairlane(() => {}, { keepContext: true }), {
      code: 'FAIRLANE_ERR_OPTION', message: "unknown option 'keepContext'; use asyncContext: 'push' instead of true"
    })
  })
})
