'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { retainedCount } = require('../support/memory')
const { quiet, turns } = require('../support/turns')

const COUNT = 50

// How jobs with extras end, each `{ options, runs, end(queue, clock, abort, dones) }`; runs: whether they have started by then.
const WAYS = {
  'are done': { runs: true, end: (queue, clock, abort, dones) => dones.forEach((done) => done(null, { result: 1 })) },
  fail: { runs: true, end: (queue, clock, abort, dones) => dones.forEach((done) => done(new Error('expected'))) },
  'are aborted while they wait': { runs: false, end: (queue, clock, abort) => abort() },
  'are aborted while they run': { runs: true, end: (queue, clock, abort) => abort() },
  'are cleared': { runs: false, end: (queue) => queue.clear({ reason: 'expected' }) },
  'are removed': { runs: false, end: (queue) => queue.remove(() => true) },
  'time out and hold their slots': { runs: true, end: (queue, clock) => clock.advance(1000) },
  'time out and are released': { options: { onTimeout: 'release' }, runs: true, end: (queue, clock) => clock.advance(1000) },
  'wait for too long': { runs: false, end: (queue, clock) => clock.advance(500) },
  'are given up by close': { runs: true, end: (queue) => queue.close({ drain: false }) }
}

const LISTS = { 'no scheduler': {}, lanes: { scheduler: 'equal' } }

describe('the queue retains nothing of jobs with extras that', function () {
  for (const [list, listOptions] of Object.entries(LISTS)) {
    for (const [name, { options, runs, end }] of Object.entries(WAYS)) {
      it(`${name}: payloads, callbacks, results, signals, contexts; with ${list}`, async function () {
        const refs = []
        const clock = fakeClock()
        const storage = new AsyncLocalStorage()
        const dones = [] // kept, as a runner that never ends keeps its own
        const queue = fairlane((payload, done) => { dones.push(done) }, {
          ...listOptions, ...options, clock, asyncContext: 'push', concurrency: COUNT, timeoutMs: 1000, maxWaitMs: 500
        })
        if (!runs) queue.pause()
        const aborts = []
        for (let i = 0; i < COUNT; i++) aborts.push(addOne(queue, storage, refs))
        await turns(2 * COUNT) // a slow machine starts one in each
        assert.equal(dones.length, runs ? COUNT : 0)
        end(queue, clock, () => aborts.forEach((abort) => abort()), dones)
        aborts.length = 0
        await quiet()
        assert.equal(queue.waiting, 0)
        assert.equal(await retainedCount(refs), 0)
        assert.equal(clock.timerCount, 0)
        assert.equal(queue.waiting, 0)
        storage.disable()
      })
    }
  }

  it('are refused', async function () {
    const refs = []
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaiting: 0 }).pause()
    const storage = new AsyncLocalStorage()
    for (let i = 0; i < COUNT; i++) addOne(queue, storage, refs)
    await quiet()
    assert.equal(queue.stats().rejected, COUNT)
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.length, 0)
    storage.disable()
  })
})

describe('the queue retains nothing of', function () {
  it('a map() that is over, nor of its source and results', async function () {
    const refs = []
    const queue = fairlane(async (payload) => ({ payload }), 2)
    for (let i = 0; i < COUNT; i++) await mapOne(queue, refs, i % 2 === 0)
    await quiet()
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.length, 0)
  })

  it('listeners that were removed, and what they heard', async function () {
    const refs = []
    const queue = fairlane(async () => { throw new Error('expected') }, 2)
    const release = listen(queue, refs)
    pushOne(queue, refs)
    await queue.onIdle()
    release()
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.stats().failed, 1)
  })

  it('ready() that resolved or was rejected', async function () {
    const refs = []
    const queue = fairlane(() => {}, { maxWaiting: 0 }).pause()
    for (let i = 0; i < COUNT; i++) wait(queue, refs)
    queue.resume(1)
    await quiet()
    queue.pause()
    for (let i = 0; i < COUNT; i++) wait(queue, refs)
    queue.close({ drain: false })
    await quiet()
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.closed, true)
  })
})

// In functions of their own, so that no local variable of a test keeps anything.

function addOne (queue, storage, refs) {
  const payload = { large: new Array(10).fill(refs.length) }
  const store = { tenant: refs.length }
  const controller = new AbortController()
  const promise = storage.run(store, () => queue.add(payload, { type: 'a', signal: controller.signal }))
  const told = promise.then((result) => refs.push(new WeakRef(result)), (error) => refs.push(new WeakRef(error)))
  refs.push(new WeakRef(payload), new WeakRef(store), new WeakRef(controller.signal), new WeakRef(promise), new WeakRef(told))
  return () => controller.abort()
}

async function mapOne (queue, refs, isBroken) {
  const payloads = [{}, {}, {}, {}]
  const results = queue.map(payloads)
  refs.push(new WeakRef(results), new WeakRef(payloads), ...payloads.map((payload) => new WeakRef(payload)))
  for await (const result of results) {
    refs.push(new WeakRef(result))
    if (isBroken) break
  }
}

function listen (queue, refs) {
  const listener = about => refs.push(new WeakRef(about), new WeakRef(about.error), new WeakRef(about.payload))
  refs.push(new WeakRef(listener))
  queue.on('failed', listener)
  return () => queue.removeAllListeners()
}

function pushOne (queue, refs) {
  const payload = {}
  refs.push(new WeakRef(payload))
  queue.push(payload)
}

function wait (queue, refs) {
  const promise = queue.ready().catch((error) => refs.push(new WeakRef(error)))
  refs.push(new WeakRef(promise))
}
