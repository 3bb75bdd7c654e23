'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const { History } = require('../../../lib/history')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const gates = require('../../support/gates')
const { turns } = require('../../support/turns')

const WAYS = [{}, { settleBy: 'callback' }, { settleBy: 'promise' }, { asyncContext: 'none' }, { asyncContext: 'push' }, { scheduler: 'equal' }]

const reasonOf = promise => promise.then(value => assert.fail(`it gave ${value}`), err => err)

describe('queue.run', function () {
  for (const options of WAYS) {
    for (const runner of [null, () => assert.fail('the runner was called')]) {
      it(`gives what the function comes to, with ${JSON.stringify(options)} and ${runner === null ? 'no' : 'a'} runner`, async function () {
        const queue = fairlane(runner, options)
        const type = 'a'
        assert.equal(await queue.run(() => 1, { type }), 1)
        assert.equal(await queue.run(() => undefined, { type }), undefined)
        assert.equal(await queue.run(async () => 2, { type }), 2)
        assert.equal(await queue.run(() => ({ then: resolve => resolve(3) }), { type }), 3)
        assert.deepEqual(await queue.run(() => ({ then: 4 }), { type }), { then: 4 })
        const err = new Error('expected')
        assert.equal(await reasonOf(queue.run(() => { throw err }, { type })), err)
        assert.equal(await reasonOf(queue.run(() => Promise.reject(err), { type })), err)
        assert.equal(await reasonOf(queue.run(() => ({ get then () { throw err } }), { type })), err)
        const rejecting = () => Promise.reject(null) // eslint-disable-line prefer-promise-reject-errors
        const { code, cause } = await reasonOf(queue.run(rejecting, { type }))
        assert.deepEqual([code, cause], ['FAIRLANE_ERR_RUNNER', null])
        const { done, failed, misuse, running } = queue.stats()
        assert.deepEqual([done, failed, misuse, running], [5, 4, 0, 0])
        checkInvariants(queue)
      })
    }
  }

  it('calls the function with the context of its job, and with nothing else', async function () {
    const queue = fairlane(null, { scheduler: 'equal' })
    const [context, ...others] = await queue.run((...args) => args, { type: '__proto__' })
    assert.deepEqual([context.type, context.attempt, context.id, context.schedule, context.signal.aborted], ['__proto__', 1, undefined, undefined, false])
    assert.deepEqual([others, Object.isFrozen(context)], [[], true])
    assert.equal(await queue.run(({ type }) => type, { type: '' }), '')
  })

  it('throws at once if its arguments are wrong', function () {
    const queue = fairlane(null, { scheduler: 'equal' })
    for (const fn of [undefined, null, 1, 'a', {}, Promise.resolve()]) assert.throws(() => queue.run(fn, { type: 'a' }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.run(() => {}), { code: 'FAIRLANE_ERR_TYPE_REQUIRED', message: /^run: / })
    assert.throws(() => queue.run(() => {}, { type: null }), { code: 'FAIRLANE_ERR_TYPE' })
    assert.throws(() => queue.run(() => {}, 5), { code: 'FAIRLANE_ERR_ARGUMENT', message: /^run: / })
    assert.throws(() => queue.run(() => {}, { type: 'a', timeOutMs: 5 }), { code: 'FAIRLANE_ERR_ARGUMENT', message: /timeOutMs/ })
    assert.throws(() => queue.run(() => {}, { type: 'a', priority: 1 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.equal(queue.stats().accepted, 0)
  })

  it('stands in one line with the jobs of the runner', async function () {
    const order = []
    const queue = fairlane(async n => { order.push(n) }, 1)
    queue.push(1)
    queue.run(() => { order.push(2) })
    queue.push(3)
    queue.run(() => { order.push(0) }, { unshift: true })
    await queue.onIdle()
    assert.deepEqual(order, [0, 1, 2, 3])
  })

  it('shows the function as the payload: to jobs, remove, events and a history', async function () {
    const history = new History()
    const queue = fairlane(null, { observers: history }).pause()
    const [goes, stays] = [() => 'gone', ({ progress }) => { progress(0.5) }]
    const seen = []
    for (const event of ['done', 'cancelled', 'progress']) queue.on(event, ({ payload }) => { seen.push([event, payload]) })
    const removed = reasonOf(queue.run(goes))
    const ran = queue.run(stays)
    assert.deepEqual(Array.from(queue.jobs(), ({ payload }) => payload), [goes, stays])
    assert.equal(queue.remove(({ payload }) => payload === goes), 1)
    assert.equal((await removed).code, 'FAIRLANE_ERR_CLEARED')
    queue.resume()
    await ran
    assert.deepEqual(seen, [['cancelled', goes], ['progress', stays], ['done', stays]])
    assert.deepEqual(Array.from(history.list(), ({ state }) => state).sort(), ['cancelled', 'done'])
  })

  it('runs in the AsyncLocalStorage context of its caller, also when it is tried again, delayed and listened to', async function () {
    const storage = new AsyncLocalStorage()
    const seen = []
    const backoffMs = () => seen.push(['backoff', storage.getStore()]) && 0
    const queue = fairlane(null, { concurrency: 1, backoffMs })
    const run = (name, fn, options) => storage.run(name, () => queue.run(context => {
      seen.push([name, storage.getStore()])
      return fn?.(context)
    }, options))
    const failsOnce = ({ attempt }) => { if (attempt === 1) throw new Error('expected') }
    await Promise.all([run('a'), run('b', failsOnce, { maxAttempts: 2 }), run('c', undefined, { delayMs: 1 })])
    const lazy = { then (resolve) { seen.push(['lazy', storage.getStore()]); resolve() } }
    await run('d', () => lazy)
    const controller = new AbortController()
    const aborted = run('e', ({ signal }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => {
        seen.push(['abort', storage.getStore()])
        reject(signal.reason)
      })
      controller.abort()
    }), { signal: controller.signal })
    assert.equal((await reasonOf(aborted)).code, 'FAIRLANE_ERR_ABORTED')
    const calls = seen.filter(([name]) => name.length === 1)
    assert.deepEqual(calls.map(([name, store]) => name === store), [true, true, true, true, true, true])
    assert.deepEqual(seen.filter(([name]) => name.length > 1), [['backoff', 'b'], ['lazy', 'd'], ['abort', 'e']])
    storage.disable()
  })

  it('enters no context where the queue keeps none', async function () {
    const storage = new AsyncLocalStorage()
    const queue = fairlane(null, { asyncContext: 'none', concurrency: 1 })
    const seen = []
    storage.run('a', () => { queue.run(() => { seen.push(storage.getStore()); storage.enterWith('left') }) })
    await storage.run('b', () => queue.run(() => { seen.push(storage.getStore()) }))
    assert.deepEqual(seen, ['a', 'left'])
    storage.disable()
  })

  it('is limited as other jobs are: by time, by signals, by room, by rates', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, concurrency: 1, maxWaiting: 1, rate: { limit: 2, intervalMs: 1000 } })
    const signals = []
    const controller = new AbortController()
    const never = ({ signal }) => new Promise((resolve, reject) => {
      signals.push(signal)
      signal.addEventListener('abort', () => { reject(signal.reason) })
    })
    const late = reasonOf(queue.run(never, { timeoutMs: 100 }))
    await turns(3)
    const waits = reasonOf(queue.run(never, { maxWaitMs: 50 }))
    const refused = await reasonOf(queue.run(never))
    assert.equal(refused.code, 'FAIRLANE_ERR_QUEUE_FULL')
    clock.advance(100)
    assert.deepEqual([(await late).code, (await waits).code, signals[0].reason.code], ['FAIRLANE_ERR_TIMEOUT', 'FAIRLANE_ERR_MAX_WAIT', 'FAIRLANE_ERR_TIMEOUT'])
    const aborted = reasonOf(queue.run(never, { signal: controller.signal }))
    await turns(3)
    controller.abort('reason')
    assert.deepEqual([(await aborted).cause, signals[1].reason.code], ['reason', 'FAIRLANE_ERR_ABORTED'])
    const third = queue.run(() => 'third')
    await turns(3)
    assert.deepEqual([queue.waiting, queue.heldMs() > 0], [1, true])
    clock.advance(1000)
    assert.equal(await third, 'third')
    assert.equal((await reasonOf(queue.run(never, { signal: AbortSignal.abort() }))).code, 'FAIRLANE_ERR_ABORTED')
  })

  it('is tried again as the queue says, and told to come back later as runners are', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, scheduler: 'equal', maxAttempts: 3, backoffMs: 10, timeoutMs: 1000 })
    const attempts = []
    const fails = queue.run(({ attempt }) => {
      attempts.push(attempt)
      if (attempts.length === 1) throw new fairlane.Throttled(100)
      if (attempts.length === 2) throw new fairlane.Postponed(5)
      throw new Error(`expected ${attempt}`)
    }, { type: 'a' })
    const reason = reasonOf(fails)
    for (const ms of [0, 100, 5, 10, 10]) {
      await turns(3)
      clock.advance(ms)
    }
    assert.equal((await reason).message, 'expected 3')
    assert.deepEqual(attempts, [1, 1, 1, 2, 3])
    const { retried, throttled, failed } = queue.stats()
    assert.deepEqual([retried, throttled, failed], [2, 1, 1])
  })

  it('has keys, which it shares with the jobs of the runner', async function () {
    const storage = new AsyncLocalStorage()
    const queue = fairlane(async payload => `runner got ${payload} in ${storage.getStore()}`).pause()
    const run = (name, options) => storage.run(name, () => queue.run(() => `${name} in ${storage.getStore()}`, options))
    const add = (name, options) => storage.run(name, () => queue.add(name, options))
    const first = run('a', { key: 1 })
    assert.equal(run('b', { key: 1 }), first)
    assert.equal(add('c', { key: 1 }), first)
    const second = add('d', { key: 2 })
    assert.equal(run('e', { key: 2, onDuplicate: 'replace' }), second)
    const third = run('f', { key: 3 })
    assert.equal(add('g', { key: 3, onDuplicate: 'replace' }), third)
    assert.equal(queue.stats().joined, 4)
    queue.resume()
    assert.deepEqual(await Promise.all([first, second, third]), ['a in a', 'e in e', 'runner got g in undefined'])
    storage.disable()
  })

  it('counts its functions among those that close waits for, or gives up', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const code = fn => reasonOf(queue.run(fn)).then(({ code }) => code)
    let signal
    const runs = code(context => { signal = context.signal; return new Promise(() => {}) })
    await turns(3)
    const waits = code(() => assert.fail('it ran'))
    assert.equal(await queue.close({ drain: false }), 1)
    assert.deepEqual([await runs, await waits, signal.reason.code], ['FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_CLOSED'])
    assert.equal(await code(() => {}), 'FAIRLANE_ERR_CLOSED')
  })

  it('warns once of a function that seems to wait for one of its own queue', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, concurrency: 1 })
    const warned = new Promise(resolve => {
      process.on('warning', function listener (warning) {
        if (warning.code !== 'FAIRLANE_WARN_STALLED') return
        process.off('warning', listener)
        resolve()
      })
    })
    const outer = reasonOf(queue.run(() => queue.run(() => assert.fail('it ran'))))
    await turns(3)
    clock.advance(10000)
    await warned
    queue.close({ drain: false })
    assert.equal((await outer).code, 'FAIRLANE_ERR_CLOSED')
  })
})

describe('a queue that is made with null', function () {
  for (const options of [undefined, { scheduler: 'equal' }, { maxWaiting: 5, timeoutMs: 100, asyncContext: 'push' }]) {
    it(`says that it has no runner to those who give it jobs for one, with ${JSON.stringify(options)}`, async function () {
      const queue = fairlane(null, options)
      const error = { name: 'TypeError', code: 'FAIRLANE_ERR_RUNNER', message: /null instead of a runner.*run\(\).*acquire\(\)/ }
      for (const name of ['push', 'unshift', 'add', 'map']) assert.throws(() => queue[name]([]), error, name)
      for (const name of ['pushType', 'unshiftType']) assert.throws(() => queue[name]('a', 1), error, name)
      for (const name of ['add', 'map']) assert.throws(() => queue[name]([], { type: 'a' }), error, name)
      assert.throws(() => queue.add(1, { type: 'a', key: 1, delayMs: 5 }), error)
      assert.throws(() => queue.add(1, { type: 'a', signal: AbortSignal.abort() }), error)
      assert.throws(() => fairlane.batches(queue, { maxSize: 2 }).add(1, { type: 'a' }), error)
      assert.deepEqual([queue.length, queue.stats().accepted, queue.stats().rejected], [0, 0, 0])
      checkInvariants(queue)
      assert.equal(await queue.run(() => 'it runs', { type: 'a', key: 1 }), 'it runs')
      assert.equal(await queue.close(), 0)
    })
  }

  it('is made in each of the ways in which queues are made, and with null only', function () {
    for (const queue of [fairlane(null), new fairlane(null, 3), new fairlane.Queue(null, { concurrency: '3' })]) { // eslint-disable-line new-cap
      assert(queue instanceof fairlane.Queue)
    }
    for (const runner of [undefined, {}, 'null', 0]) assert.throws(() => fairlane(runner), { code: 'FAIRLANE_ERR_RUNNER' })
  })
})
