'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const diagnostics = require('node:diagnostics_channel')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { internalsOf } = require('../../../lib/core/internals')
const { captureUncaught } = require('../../support/uncaught')
const { turn } = require('../../support/turns')

describe('events of jobs', function () {
  const ERROR = new Error('expected')
  const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }
  const EVENTS = ['done', 'failed', 'retry', 'cancelled', 'progress']
  const of = (type, payload, attempt, more) => ({ id: undefined, type, payload, attempt, ...more })
  const listen = (queue, events = EVENTS) => {
    const told = []
    for (const event of events) queue.on(event, about => told.push([event, about]))
    return told
  }

  for (const [kind, options] of [['no scheduler', {}], ['equal', { scheduler: 'equal' }], ['shared lanes', { scheduler: 'fair', maxTypes: 1 }], ['a window', { scheduler: WINDOW }], ['priorities', { scheduler: 'fair', priorityMs: 10 }]]) {
    const typed = options.scheduler !== undefined
    const [a, b] = typed ? ['a', 'b'] : []

    it(`tell how jobs end, after their callbacks, with ${kind}`, async function () {
      const queue = fairlane(async payload => { if (payload === 'bad') throw ERROR; return payload.length }, { concurrency: 1, ...options })
      const told = listen(queue)
      const push = (type, payload) => queue[typed ? 'pushType' : 'push'](...(typed ? [type] : []), payload, () => told.push(payload))
      push(a, 'good')
      push(b, 'bad')
      await queue.onIdle()
      const { error, ...failed } = told[3][1]
      assert.equal(error, ERROR)
      assert.deepEqual([...told.slice(0, 3), failed], ['good', ['done', of(a, 'good', 1, { result: 4 })], 'bad', of(b, 'bad', 1)])
    })

    it(`tell of jobs that are cancelled while they wait, with ${kind}`, async function () {
      const clock = fakeClock()
      const queue = fairlane(async () => {}, { clock, ...options }).pause()
      const told = listen(queue)
      const ended = []
      const add = (payload, type, more) => queue.add(payload, { type, ...more }).catch(({ code }) => ended.push(code))
      const [cleared, aborted] = [new AbortController(), new AbortController()]
      add('plain', a)
      add('delayed', b, { delayMs: 1000 })
      add('with a signal', b, { signal: cleared.signal })
      add('aborted', b, { signal: aborted.signal })
      add('aborted while delayed', a, { delayMs: 10, signal: aborted.signal })
      add('late', a, { maxWaitMs: 50 })
      add('delayed, with a signal', a, { delayMs: 1000, signal: cleared.signal })
      aborted.abort()
      clock.advance(50)
      await turn()
      queue.clear()
      checkInvariants(queue)
      const codes = { aborted: 'ABORTED', 'aborted while delayed': 'ABORTED', late: 'MAX_WAIT' }
      const types = [['aborted', b], ['aborted while delayed', a], ['late', a], ['plain', a], ['with a signal', b], ['delayed', b], ['delayed, with a signal', a]]
      assert.deepEqual(told.map(([event, { error: { code }, ...about }]) => [event, about, code]), types.map(([payload, type]) => (
        ['cancelled', of(type, payload, 0), `FAIRLANE_ERR_${codes[payload] ?? 'CLEARED'}`]
      )))
      await turn()
      assert.equal(ended.length, 7)
    })
  }

  it('tell of timeouts and aborts of jobs that were started while somebody listened', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock, timeoutMs: 50 })
    queue.push('before')
    await gate.until(1)
    const told = listen(queue)
    const controller = new AbortController()
    queue.push('late')
    const aborted = queue.add('aborted', { signal: controller.signal, timeoutMs: Infinity })
    const closed = queue.add('closed', { timeoutMs: Infinity })
    await gate.until(4)
    clock.advance(50)
    controller.abort()
    await assert.rejects(aborted)
    queue.close({ drain: false })
    await assert.rejects(closed)
    assert.deepEqual(told.map(([event, { error: { code }, ...about }]) => [event, about, code]), [
      ['failed', of(undefined, 'late', 1), 'FAIRLANE_ERR_TIMEOUT'],
      ['cancelled', of(undefined, 'aborted', 1), 'FAIRLANE_ERR_ABORTED'],
      ['cancelled', of(undefined, 'closed', 1), 'FAIRLANE_ERR_CLOSED']
    ])
  })

  it('tell of each attempt, and of a job that is cancelled between two how many it has had', async function () {
    const queue = fairlane(async () => { throw ERROR }, { maxAttempts: 3, backoffMs: attempt => attempt === 2 ? 1e9 : 0, scheduler: 'equal' })
    const told = listen(queue)
    queue.pushType('a', 1)
    await new Promise(resolve => queue.on('retry', ({ delayMs }) => { if (delayMs > 0) resolve() }))
    queue.clear()
    assert.deepEqual(told.map(([event, { error, ...about }]) => [event, about]), [
      ['retry', of('a', 1, 1, { delayMs: 0 })], ['retry', of('a', 1, 2, { delayMs: 1e9 })], ['cancelled', of('a', 1, 2)]
    ])
  })

  it('are none of jobs that are refused', async function () {
    const queue = fairlane(async () => {}, { maxWaiting: 1 }).pause()
    const told = listen(queue)
    queue.push(1).push(2).resume()
    await queue.onIdle()
    assert.deepEqual(told, [['done', of(undefined, 1, 1, { result: undefined })]])
  })

  it('of one kind cost nothing of the others', async function () {
    const queue = fairlane(async n => { if (n > 1) throw ERROR }, { concurrency: 1 })
    const failed = listen(queue, ['failed'])
    queue.push(1).push(2)
    await queue.onIdle()
    queue.pause().push(3).add(4, { signal: new AbortController().signal }).catch(() => {})
    queue.clear()
    assert.deepEqual(failed, [['failed', of(undefined, 2, 1, { error: ERROR })]])
    const giving = fairlane(async () => { throw ERROR }, { maxAttempts: 2, backoffMs: () => Infinity })
    const done = listen(giving, ['done'])
    const aborted = new AbortController()
    await assert.rejects(giving.add(1), ERROR)
    giving.pause().add(2, { signal: aborted.signal }).catch(() => {})
    aborted.abort()
    assert.deepEqual(done, [])
  })

  it('come all the same when a callback throws, which is an uncaught exception', async function () {
    const uncaught = captureUncaught()
    const queue = fairlane((payload, done) => done('failed'))
    const told = listen(queue)
    queue.push(1, () => { throw ERROR })
    await uncaught.until(1)
    uncaught.release()
    assert.deepEqual([uncaught.seen, told], [[ERROR], [['failed', of(undefined, 1, 1, { error: 'failed' })]]])
  })

  it('are told to who listens from where the queue is announced', async function () {
    const told = []
    const subscribe = ({ queue }) => queue.on('done', ({ payload }) => told.push(payload))
    diagnostics.subscribe('fairlane:queue', subscribe)
    const queue = fairlane(async () => {})
    diagnostics.unsubscribe('fairlane:queue', subscribe)
    await queue.add(5)
    assert.deepEqual(told, [5])
  })
})

describe('context.progress()', function () {
  it('tells listeners, of plain jobs that were started while there were some', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal' })
    queue.pushType('a', 'before')
    await gate.until(1)
    const told = []
    queue.on('progress', about => told.push(about))
    queue.pushType('a', 'after')
    await gate.until(2)
    const [{ context: { progress: before, ...shared } }, { context }] = gate.started
    const { progress, id, schedule, type, attempt, signal } = context
    before(1)
    assert.equal(progress({ at: 1 }), undefined)
    assert.deepEqual(told, [{ id: undefined, type: 'a', payload: 'after', attempt: 1, value: { at: 1 } }])
    assert.deepEqual([id, schedule, type, attempt, signal.aborted], [undefined, undefined, 'a', 1, false])
    assert.deepEqual(shared, { type: 'a', attempt: 1 })
    assert.ok(Object.isFrozen(context) && Object.isFrozen(gate.started[0].context))
    gate.release(2)
    progress('late')
    assert.equal(told.length, 1)
  })

  it('tells of jobs with extras, whoever came first, until their attempt has ended', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock, timeoutMs: 50 })
    queue.push('p')
    await gate.until(1)
    const told = []
    const { context } = gate.started[0]
    context.progress('for nobody')
    queue.on('progress', ({ value }) => told.push(value))
    context.progress('while it runs')
    clock.advance(50)
    context.progress('after its timeout')
    gate.release()
    context.progress('after its end')
    assert.deepEqual(told, ['while it runs'])
  })

  it('does nothing once done() was called inside of the runner', async function () {
    const told = []
    const queue = fairlane((payload, done, { progress }) => { progress(1); done(); progress(2) })
    queue.on('progress', ({ value }) => told.push(value))
    queue.push()
    await queue.add(1, { timeoutMs: 1000 })
    assert.deepEqual(told, [1, 1])
  })

  it('tells listeners whose throws are uncaught exceptions, and that may push', async function () {
    const uncaught = captureUncaught()
    const error = new Error('expected')
    const queue = fairlane(async (n, done, { progress }) => { progress(n) }, { concurrency: 1 })
    queue.on('progress', ({ value }) => { if (value < 3) queue.push(value + 1); else throw error })
    queue.push(1)
    await uncaught.until(1)
    uncaught.release()
    await queue.onIdle()
    assert.deepEqual([uncaught.seen, queue.stats().done], [[error], 3])
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

describe('listeners to what becomes of jobs', function () {
  for (const event of ['done', 'failed', 'cancelled', 'progress']) {
    it(`cost nothing any more once the last one is gone, however it went: ${event}`, async function () {
      const queue = fairlane(async () => { throw new Error('expected') })
      const { dispatch } = internalsOf(queue)
      const listener = () => {}
      const goings = [
        () => queue.off(event, listener),
        () => queue.removeListener(event, listener),
        () => queue.removeAllListeners(event),
        () => queue.removeAllListeners()
      ]
      for (const go of goings) {
        assert.equal(queue.on(event, listener).addListener(event, listener), queue)
        checkInvariants(queue)
        assert.notEqual(dispatch.listeners, null)
        assert.equal(go(), queue)
        checkInvariants(queue)
        assert.equal(dispatch.listeners, null)
      }
      queue.once(event, listener)
      checkInvariants(queue)
      queue.emit(event)
      assert.equal(dispatch.listeners, null)
      queue.on(event, listener).once(event, listener).on('drain', listener).off('drain', listener)
      queue.push(2)
      await queue.onIdle()
      assert.notEqual(dispatch.listeners, null)
    })
  }
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
    queue.on('failed', ({ error }) => seen.push(error))
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
