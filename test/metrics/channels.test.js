'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const diagnostics = require('node:diagnostics_channel')
const { rmSync } = require('node:fs')
const { join } = require('node:path')
const fairlane = require('../..')
const { durable } = require('../../lib/durable')
const { Postponed } = require('../..')
const { History } = require('../../lib/history')
const { Metrics, channels } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')
const { quiet, turns } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

const JOB_CHANNELS = ['accepted', 'started', 'settled', 'retried', 'refused'].map(name => `fairlane:job:${name}`)

describe('channels()', function () {
  const subscriptions = []

  /** What is published, as [name, message], until the test ends. */
  function listen (names, listener) {
    for (const name of names) {
      const subscriber = message => listener(name.split(':').at(-1), message)
      diagnostics.subscribe(name, subscriber)
      subscriptions.push([name, subscriber])
    }
  }

  afterEach(function () {
    for (const [name, subscriber] of subscriptions.splice(0)) diagnostics.unsubscribe(name, subscriber)
  })

  it('publishes each transition of each job once, in order, with its times', async function () {
    const seen = []
    listen(JOB_CHANNELS, (name, message) => seen.push([name, message]))
    const clock = fakeClock()
    const gate = gates()
    const failure = new Error('no')
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, observers: channels(), clock, maxWaiting: 2 })
    queue.pushType('a', 1).pushType('b', 2).pushType('a', 3).pushType('d', 4)
    assert.deepEqual(seen, []) // in the middle of a change nobody is called
    await gate.until(1)
    clock.advance(10)
    gate.release()
    await gate.until(2)
    clock.advance(5)
    gate.fail(failure)
    await gate.until(3)
    queue.pushType('c', 4)
    clock.advance(7)
    queue.clear()
    await quiet()
    assert(seen.every(([, message]) => message.queue === queue))
    const told = seen.map(([name, { id, type, attempt, state, waitMs, runMs, error }]) => {
      return [name, id, type, attempt, state, waitMs, runMs, error?.code ?? error]
    })
    assert.deepEqual(told, [
      ['accepted', 1, 'a', 0, 'waiting', undefined, undefined, undefined],
      ['accepted', 2, 'b', 0, 'waiting', undefined, undefined, undefined],
      ['accepted', 3, 'a', 0, 'waiting', undefined, undefined, undefined],
      ['refused', undefined, 'd', 0, undefined, undefined, undefined, 'FAIRLANE_ERR_QUEUE_FULL'],
      ['started', 1, 'a', 1, 'running', 0, undefined, undefined],
      ['settled', 1, 'a', 1, 'done', 0, 10, undefined],
      ['started', 2, 'b', 1, 'running', 10, undefined, undefined],
      ['settled', 2, 'b', 1, 'failed', 10, 5, failure],
      ['started', 3, 'a', 1, 'running', 15, undefined, undefined],
      ['accepted', 4, 'c', 0, 'waiting', undefined, undefined, undefined],
      ['settled', 4, 'c', 0, 'cancelled', 7, undefined, 'FAIRLANE_ERR_CLEARED']
    ])
  })

  it('publishes attempts, on queues with limits', async function () {
    const seen = []
    const clock = fakeClock()
    const errors = [new Error('no'), new Postponed(5), undefined]
    const queue = fairlane((payload, done) => { done(errors.shift()) }, { maxAttempts: 3, backoffMs: 20, observers: channels(), clock })
    listen(JOB_CHANNELS, (name, { attempt, state, waitMs, runMs }) => seen.push([name, attempt, state, waitMs, runMs]))
    queue.push(1)
    for (let i = 0; i < 10; i++) {
      await turns(4)
      clock.advance(5)
    }
    assert.deepEqual(seen, [
      ['accepted', 0, 'waiting', undefined, undefined], ['started', 1, 'running', 0, undefined], ['retried', 1, 'delayed', 0, 0],
      ['started', 2, 'running', 0, undefined], ['retried', 2, 'delayed', 0, 0], ['started', 2, 'running', 0, undefined], ['settled', 2, 'done', 0, 0]
    ])
  })

  it('publishes what follows on an attempt that has failed when that is decided, with its times', async function () {
    const seen = []
    const clock = fakeClock()
    const backoffMs = (attempt, error) => {
      if (error.message === 'is cancelled') queue.remove(() => true)
      return error.message === 'is tried again' ? 20 : Infinity
    }
    const runner = (payload, done) => { clock.setTimeout(() => done(new Error(payload)), 5) }
    const queue = fairlane(runner, { maxAttempts: 2, backoffMs, observers: channels(), clock, concurrency: 1 })
    listen(JOB_CHANNELS, (name, { id, attempt, state, waitMs, runMs, error }) => {
      if (name !== 'accepted') seen.push([name, id, attempt, state, waitMs, runMs, error?.message])
    })
    for (const payload of ['is over', 'is tried again']) queue.push(payload)
    for (let i = 0; i < 10; i++) {
      await turns(4)
      clock.advance(5)
    }
    queue.push('is cancelled')
    await turns(4)
    clock.advance(5)
    await turns(4)
    assert.deepEqual(seen, [
      ['started', 1, 1, 'running', 0, undefined, undefined], ['settled', 1, 1, 'failed', 0, 5, 'is over'],
      ['started', 2, 1, 'running', 5, undefined, undefined], ['retried', 2, 1, 'delayed', 5, 5, 'is tried again'],
      ['started', 2, 2, 'running', 0, undefined, undefined], ['settled', 2, 2, 'failed', 0, 5, 'is tried again'],
      ['started', 3, 1, 'running', 0, undefined, undefined], ['settled', 3, 1, 'cancelled', undefined, undefined, 'The job was removed']
    ])
  })

  it('publishes the life of jobs on disk, and what was found there', async function () {
    const folder = temporaryFolder()
    try {
      const seen = []
      const made = []
      listen(['fairlane:queue'], (name, { queue, name: path, observe }) => {
        made.push([queue, path])
        observe(channels())
      })
      listen(JOB_CHANNELS, (name, { queue, id, attempt, state }) => {
        seen.push([made.findIndex(([each]) => each === queue), name, id, attempt, state])
      })
      const path = join(folder, 'queue')
      let fails = true
      const runner = async () => { if (fails) throw new Error('no') }
      const options = { path, maxAttempts: 2, backoffMs: 0 }
      const queue = await durable(runner, options)
      assert.deepEqual(made, [[queue, path]])
      const id = await queue.push(1)
      await queue.onIdle()
      fails = false
      await queue.retryDead(id)
      await queue.onIdle()
      fails = true
      const dead = await queue.push(2)
      await queue.onIdle()
      await queue.deleteDead(dead)
      queue.pause()
      const cancelled = await queue.push(3)
      const left = await queue.push(4)
      await queue.cancel(cancelled)
      await queue.close()
      fails = false
      const again = await durable(runner, options)
      await again.onIdle()
      await again.close()
      await quiet()
      const attempts = id => [[0, 'accepted', id, 0, 'waiting'], [0, 'started', id, 1, 'running'], [0, 'retried', id, 1, 'delayed'], [0, 'started', id, 2, 'running'], [0, 'settled', id, 2, 'failed']]
      assert.deepEqual(seen, [
        ...attempts(id), [0, 'accepted', id, 0, 'waiting'], [0, 'started', id, 1, 'running'], [0, 'settled', id, 1, 'done'],
        ...attempts(dead),
        [0, 'accepted', cancelled, 0, 'waiting'], [0, 'accepted', left, 0, 'waiting'], [0, 'settled', cancelled, 0, 'cancelled'],
        [1, 'accepted', left, 0, 'waiting'], [1, 'started', left, 1, 'running'], [1, 'settled', left, 1, 'done']
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('publishes that a job was cancelled which was not due', async function () {
    const seen = []
    listen(JOB_CHANNELS, (name, { state, waitMs, runMs }) => seen.push([name, state, waitMs, runMs]))
    const queue = fairlane(() => {}, { observers: channels(), clock: fakeClock() })
    const added = assert.rejects(queue.add(1, { delayMs: 50 }), { code: 'FAIRLANE_ERR_CLEARED' })
    queue.clear()
    await added
    await quiet()
    assert.deepEqual(seen, [['accepted', 'waiting', undefined, undefined], ['settled', 'cancelled', undefined, undefined]])
  })

  it('lets subscribers throw, and push', async function () {
    const uncaught = captureUncaught()
    try {
      const seen = []
      const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: channels() })
      listen(JOB_CHANNELS, (name, { id }) => {
        seen.push(`${name} ${id}`)
        if (name === 'accepted' && id < 3) queue.pushType('again', id)
        throw new Error(name)
      })
      queue.pushType('a', 1)
      await queue.onIdle()
      await quiet()
      assert.deepEqual(seen.sort(), [1, 2, 3].flatMap(id => [`accepted ${id}`, `settled ${id}`, `started ${id}`]).sort())
      assert.equal(uncaught.seen.length, 9)
    } finally {
      uncaught.release()
    }
  })

  it('publishes in the context of who made the queue', async function () {
    const storage = new AsyncLocalStorage()
    const seen = new Set()
    const queue = storage.run('maker', () => fairlane((n, done) => done(), { scheduler: 'fair', observers: channels() }))
    listen(JOB_CHANNELS, () => seen.add(storage.getStore()))
    storage.run('tenant', () => queue.pushType('a', 1))
    await storage.run('tenant', () => queue.onIdle())
    await quiet()
    assert.deepEqual([...seen], ['maker'])
  })

  it('publishes what starves, and makes no message that nobody wants', async function () {
    const clock = fakeClock()
    const run = async () => {
      const runner = (n, done) => { clock.setTimeout(done, 10) }
      const queue = fairlane(runner, { concurrency: 1, observers: channels({ starveMs: 300 }), clock, maxWaiting: 150 })
      await assert.rejects(queue.add(0, { signal: AbortSignal.abort() }), { code: 'FAIRLANE_ERR_ABORTED' })
      queue.push(0)
      for (let i = 0; i < 100; i++) queue.pushType('a', i)
      queue.pushType('b', 1)
      for (let i = 0; i < 130; i++) {
        await turns(3)
        clock.advance(10)
      }
    }
    await run()
    const seen = []
    listen(['fairlane:starvation'], (name, { queue, ...message }) => seen.push(message))
    await run()
    assert.deepEqual(seen, [{ event: 'starving', type: 'b', waiting: 1, sinceMs: 300 }, { event: 'fed', type: 'b' }])
  })

  it('says nothing of jobs of which there is no record', async function () {
    const { Publisher } = require('../../lib/metrics/publisher')
    const { Ledger } = require('../../lib/ledger/ledger')
    const seen = []
    listen(JOB_CHANNELS, name => seen.push(name))
    const publisher = new Publisher(new Ledger({ keep: 0, keepMs: -Infinity, isExact: false }), {})
    for (const tell of ['started', 'ended', 'cancelled', 'dead', 'failed', 'unaccepted', 'undecided', 'again', 'postponed', 'uncounted', 'due', 'buried']) publisher[tell](7, true, 'no')
    publisher.accepted(1, 'a')
    publisher.unaccepted(1)
    await quiet()
    assert.deepEqual(seen, ['accepted', 'settled'])
  })

  it('takes the options of its alarms, observes one queue, and stands beside others', async function () {
    for (const options of [null, 1, { maxTypes: 5 }, { starveMs: 0 }, { clock: 'fast' }]) assert.throws(() => channels(options), { code: 'FAIRLANE_ERR_OPTION' })
    const observer = channels()
    const history = new History()
    const metrics = new Metrics()
    const behind = new Metrics()
    const queue = fairlane((n, done) => done(), { observers: [metrics, observer, history, behind] })
    assert.throws(() => fairlane(() => {}, { observers: observer }), { code: 'FAIRLANE_ERR_OPTION' })
    await queue.add(1)
    assert.deepEqual([history.counts().done, metrics.snapshot().types[0].done, behind.snapshot().types[0].done], [1, 1, 1])
  })
})

describe('the channel of queues', function () {
  it('tells of each queue when it is made, and takes observers then', async function () {
    const seen = []
    const histories = []
    const subscriber = ({ queue, name, observe }) => {
      const history = new History()
      assert.throws(() => observe({}), { code: 'FAIRLANE_ERR_OPTION' })
      observe(history)
      assert.throws(() => observe(history), { code: 'FAIRLANE_ERR_OPTION' })
      histories.push(history)
      seen.push([queue, name, observe])
    }
    diagnostics.subscribe('fairlane:queue', subscriber)
    const own = new Metrics()
    const queues = [fairlane((n, done) => done()), fairlane((n, done) => done()), fairlane((n, done) => done(), { scheduler: 'equal', observers: own })]
    diagnostics.unsubscribe('fairlane:queue', subscriber)
    fairlane(() => {})
    assert.deepEqual(seen.map(([queue, name]) => [queues.indexOf(queue), name]), [[0, undefined], [1, undefined], [2, undefined]])
    assert.throws(() => seen[0][2](new History()), { code: 'FAIRLANE_ERR_OPTION', message: /has been made/ })
    for (const queue of queues.slice(0, 2)) await queue.add(1)
    await queues[2].add(1, { type: 'a' })
    assert.deepEqual(histories.map(history => history.counts().done), [1, 1, 1])
    assert.equal(own.snapshot().types[0].done, 1)
  })
})
