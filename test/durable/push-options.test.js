'use strict'

// What is said of single jobs when they are pushed: it is on disk, and holds in this process and in those that come after it.

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const { History } = require('../../lib/history')
const { captureWarnings } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, EPOCH, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const waitingIn = queue => [...queue.jobs()].map(({ payload }) => payload)
const ARGUMENT = { code: 'FAIRLANE_ERR_ARGUMENT' }

describe('a job of a durable queue that is pushed with delayMs', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('starts no earlier, behind those that wait then, and is a delayed one until then', async () => {
    const queue = await bench.open({ concurrency: 1 })
    const id = await queue.push('late', { delayMs: 100 })
    assert.deepEqual(await queue.get(id), {
      id, type: undefined, state: 'delayed', attempts: 0, dueAt: EPOCH + 100, error: undefined, payload: 'late'
    })
    const { waiting, delayed, accepted } = queue.stats()
    assert.deepEqual([waiting, delayed, accepted, queue.waiting, queue.length], [1, 1, 1, 1, 1])
    for (const payload of ['running', 'a', 'b']) await queue.push(payload)
    await bench.gate.until(1)
    bench.clock.advance(99)
    await queue.push('c')
    assert.equal((await queue.get(id)).state, 'delayed')
    bench.clock.advance(1)
    await queue.push('d')
    assert.deepEqual([(await queue.get(id)).state, (await queue.get(id)).dueAt], ['waiting', undefined])
    assert.deepEqual(waitingIn(queue), ['a', 'b', 'c', 'late', 'd'])
    assert.deepEqual([queue.stats().delayed, queue.waiting, queue.length], [0, 5, 6])
  })

  it('goes to the head, when it is due, if it was unshifted, and keeps its type', async () => {
    const queue = await bench.open({ scheduler: 'equal', concurrency: 1 })
    queue.pause()
    await queue.pushType('t', 'a')
    await queue.unshiftType('t', 'late', { delayMs: 10 })
    bench.clock.advance(10)
    assert.deepEqual([...queue.jobs('t')].map(({ type, payload }) => [type, payload]), [['t', 'late'], ['t', 'a']])
    await queue.close({ timeoutMs: 0 })
    const plain = await bench.open()
    plain.pause()
    plain.push('b')
    plain.unshift('c', { delayMs: 5 })
    bench.clock.advance(5)
    assert.equal(waitingIn(plain)[0], 'c')
  })

  it('is never early nor lost, whether the queue is closed meanwhile or killed', async () => {
    await bench.open()
    await bench.queue.pushType('t', 'late', { delayMs: 100 })
    bench.clock.advance(30)
    await bench.reopen()
    bench.clock.advance(30)
    await bench.reopenAfterKill()
    bench.clock.advance(39)
    await quiet()
    assert.deepEqual([bench.gate.started.length, (await bench.queue.get(1)).state], [0, 'delayed'])
    bench.clock.advance(1)
    await bench.gate.until(1)
    const [{ payload, context }] = bench.gate.started
    assert.deepEqual([payload, context.type, context.attempt], ['late', 't', 1])
  })

  it('stands where its id does after a restart that comes later than its time', async () => {
    await bench.open()
    bench.queue.pause()
    await bench.queue.push('a')
    await bench.queue.push('late', { delayMs: 10 })
    await bench.queue.push('b')
    bench.clock.advance(10)
    assert.deepEqual(waitingIn(bench.queue), ['a', 'b', 'late'])
    await bench.reopen()
    assert.deepEqual(waitingIn(bench.queue), ['a', 'late', 'b'])
  })

  it('waits no longer than delayMs from then on if the clock was set back before the queue was opened, also the next time', async () => {
    await bench.open()
    await bench.queue.pushType('t', 'late', { delayMs: 100, maxAttempts: 1 })
    bench.epoch -= 1e9
    await bench.reopenAfterKill()
    assert.equal((await bench.queue.get(1)).dueAt, bench.epoch + 100)
    bench.clock.advance(60)
    await bench.reopenAfterKill()
    bench.clock.advance(39)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    bench.clock.advance(1)
    await bench.gate.until(1)
    assert.deepEqual([bench.gate.started[0].payload, bench.gate.started[0].context.type], ['late', 't'])
    bench.gate.fail(new Error('no'))
    assert.equal(bench.queue.stats().dead, 1)
  })

  it('leaves maxInflightOps as it is when its time is written anew', async () => {
    await bench.open({ ack: 'disk', maxInflightOps: 1 })
    await bench.queue.push('late', { delayMs: 100 })
    bench.epoch -= 1e9
    await bench.reopenAfterKill({ ack: 'disk', maxInflightOps: 1 })
    await bench.queue.flush()
    bench.queue.pause()
    const release = holdSyncs(bench.disk)
    const pushes = [bench.queue.push('written'), bench.queue.push('held')]
    const held = [...bench.queue.jobs()].filter(({ id }) => id === undefined).map(({ payload }) => payload)
    release()
    await Promise.all(pushes)
    assert.deepEqual(held, ['held'])
  })

  it('counts for maxWaiting and maxWaitingPerType, and is not refused when it is due', async () => {
    const queue = await bench.open({ scheduler: 'equal', maxWaiting: 100, maxWaitingPerType: 2, concurrency: 1 })
    queue.pause()
    for (const payload of [1, 2]) await queue.pushType('a', payload, { delayMs: 10 })
    await assert.rejects(queue.pushType('a', 3), { code: 'FAIRLANE_ERR_TYPE_FULL', waiting: 2 })
    let isReady = false
    queue.ready('a').then(() => { isReady = true })
    await turn()
    assert.equal(isReady, false)
    assert.equal(await queue.cancel(1), true)
    await quiet()
    assert.equal(isReady, true)
    bench.clock.advance(10)
    assert.deepEqual([(await queue.counts('a')).waiting, queue.waiting], [1, 1])
    queue.clear()
    await queue.close({ drain: true })
    const small = await bench.open({ maxWaiting: 1, concurrency: 1 })
    small.pause()
    await small.push(4, { delayMs: 10 })
    await assert.rejects(small.push(5), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
  })

  it('is waited for by fflush, onIdle and drain, and not by close(), which leaves it on disk', async () => {
    const queue = await bench.open()
    const told = []
    queue.drain = () => told.push('drain')
    await queue.push('late', { delayMs: 100 })
    queue.fflush(() => told.push('fflush'))
    queue.onIdle().then(() => told.push('onIdle'))
    await quiet()
    bench.clock.advance(100)
    await bench.gate.until(1)
    assert.deepEqual(told, [])
    bench.gate.release()
    await quiet()
    assert.deepEqual(told.sort(), ['drain', 'fflush', 'onIdle'])
    await queue.push('later', { delayMs: 100 })
    await queue.close({ drain: true })
    assert.equal(bench.gate.started.length, 1)
    await bench.open()
    assert.equal((await bench.queue.get(2)).state, 'delayed')
  })

  it('is cleared, removed and cancelled as others', async () => {
    const queue = await bench.open({ scheduler: 'equal' })
    for (const [type, payload] of [['a', 1], ['a', 2], ['b', 3], ['b', 4]]) await queue.pushType(type, payload, { delayMs: 10 })
    assert.equal(queue.remove(({ payload }) => payload === 1), 1)
    assert.equal(queue.clear({ type: 'a' }), 1)
    assert.equal(await queue.cancel(3), true)
    assert.equal(await queue.get(3), undefined)
    assert.deepEqual(bench.idsOf('cancelled'), [1, 2, 3])
    await bench.reopenAfterKill({ scheduler: 'equal' })
    assert.deepEqual([bench.queue.recovered.jobs, waitingIn(bench.queue)], [1, [4]])
    assert.equal(bench.queue.clear(), 1)
    bench.clock.advance(10)
    await quiet()
    assert.deepEqual([bench.gate.started.length, bench.queue.length], [0, 0])
  })

  it('is none if it cannot be written', async () => {
    const queue = await bench.open()
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.push('late', { delayMs: 10 }), { code: 'FAIRLANE_ERR_IO' })
    bench.disk.fault = () => undefined
    await quiet()
    assert.deepEqual([queue.length, queue.stats().delayed, queue.stats().accepted], [0, 0, 0])
    await queue.onIdle()
    warnings.release()
  })

  for (const when of ['before', 'after']) {
    it(`waits as others while it is held, and is written ${when} it is due`, async () => {
      const history = new History()
      const queue = await bench.open({ ack: 'disk', maxInflightOps: 1, observers: history })
      const release = holdSyncs(bench.disk)
      const pushes = [queue.push('first'), queue.push('late', { delayMs: 100 })]
      assert.deepEqual([queue.stats().delayed, queue.waiting, [...queue.jobs()].map(({ id }) => id)], [1, 2, [1, undefined]])
      if (when === 'after') bench.clock.advance(100)
      release()
      await Promise.all(pushes)
      await quiet()
      assert.equal(bench.gate.started.length, when === 'after' ? 2 : 1)
      if (when === 'before') {
        assert.equal(history.get(2).state, 'delayed')
        assert.equal((await queue.get(2)).state, 'delayed')
        bench.clock.advance(100)
        await bench.gate.until(2)
      }
      assert.deepEqual(history.versions(2).map(({ state }) => state), when === 'before'
        ? ['waiting', 'delayed', 'waiting', 'running']
        : ['waiting', 'running'])
    })
  }

  it('can be cancelled while it is held', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    const release = holdSyncs(bench.disk)
    const pushes = [queue.push('first'), assert.rejects(queue.push('late', { delayMs: 100 }), { code: 'FAIRLANE_ERR_CLEARED' })]
    assert.equal(queue.remove(({ payload }) => payload === 'late'), 1)
    release()
    await Promise.all(pushes)
    assert.deepEqual([queue.stats().delayed, queue.stats().cancelled], [0, 1])
  })

  it("runs in the context of its push with asyncContext 'push'", async () => {
    const store = new AsyncLocalStorage()
    const seen = []
    const queue = await bench.open({ asyncContext: 'push', runner: async () => { seen.push(store.getStore()) } })
    await store.run('mine', () => queue.push('late', { delayMs: 10 }))
    bench.clock.advance(10)
    await queue.onIdle()
    assert.deepEqual(seen, ['mine'])
  })

  it('is what observers are told', async () => {
    const history = new History()
    const queue = await bench.open({ observers: history })
    await queue.push('late', { delayMs: 10 })
    assert.equal(history.get(1).state, 'delayed')
    const again = new History()
    await bench.reopen({ observers: again })
    assert.equal(again.get(1).state, 'delayed')
    bench.clock.advance(10)
    await bench.gate.until(1)
    assert.deepEqual(again.versions(1).map(({ state }) => state), ['waiting', 'delayed', 'waiting', 'running'])
  })
})

describe('limits of a job of a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('are its own: maxAttempts', async () => {
    const queue = await bench.open({ maxAttempts: 3, backoffMs: 0 })
    await queue.push('once', { maxAttempts: 1 })
    await bench.gate.until(1)
    bench.gate.fail(new Error('no'))
    assert.deepEqual(bench.idsOf('failed'), [1])
    await queue.push('for ever', { maxAttempts: Infinity })
    for (let attempt = 1; attempt <= 7; attempt++) {
      await bench.gate.until(attempt + 1)
      bench.gate.fail(new Error('no'))
      await turn()
      bench.clock.advance(0)
    }
    assert.equal(queue.stats().dead, 1)
    await queue.push('twice', { maxAttempts: 2 })
  })

  it('hold for crashes too', async () => {
    const options = { maxAttempts: 3, concurrency: 3 }
    await bench.open(options)
    await bench.queue.push('once', { maxAttempts: 1 })
    await bench.queue.push('often', { maxAttempts: 9 })
    await bench.queue.push('twice', { maxAttempts: 2 })
    await bench.gate.until(3)
    await bench.reopenAfterKill(options)
    await quiet()
    assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.code]), [['failed', 1, 'FAIRLANE_ERR_CRASHED']])
    // of these, one has one attempt left
    assert.deepEqual(bench.gate.payloads.sort(), ['often', 'twice'])
    await bench.reopenAfterKill(options)
    await quiet()
    assert.deepEqual([bench.gate.payloads, bench.idsOf('failed')], [['often'], [1, 3]])
  })

  it('are its own: timeoutMs, of each attempt, and after a restart', async () => {
    const queue = await bench.open({ maxAttempts: 2, backoffMs: 0, timeoutMs: 1000 })
    await queue.push('a', { timeoutMs: 50 })
    await queue.push('b', { timeoutMs: Infinity })
    await bench.gate.until(2)
    bench.clock.advance(50)
    assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.message]), [
      ['retry', 1, 'The job ran longer than 50 ms']
    ])
    bench.clock.advance(1e6)
    assert.deepEqual(bench.idsOf('retry'), [1])
    await bench.reopen({ maxAttempts: 5 })
    await bench.gate.until(2)
    bench.events = []
    bench.clock.advance(50)
    assert.deepEqual(bench.idsOf('retry').concat(bench.idsOf('failed')), [1])
  })

  it('are its own: maxWaitMs, counted from its push, or from the end of its delay, across restarts', async () => {
    await bench.open({ concurrency: 1 })
    bench.queue.pause()
    await bench.queue.push('a', { maxWaitMs: 100 })
    await bench.queue.push('b', { maxWaitMs: 100, delayMs: 50 })
    await bench.queue.push('c', { maxWaitMs: Infinity })
    bench.clock.advance(60)
    await bench.reopen({ maxWaitMs: 500 })
    bench.queue.pause()
    bench.clock.advance(39)
    assert.deepEqual(bench.idsOf('cancelled'), [])
    bench.clock.advance(1)
    assert.deepEqual(bench.idsOf('cancelled'), [1])
    bench.clock.advance(50)
    assert.deepEqual(bench.idsOf('cancelled'), [1, 2])
    await bench.reopen({ maxWaitMs: 500 })
    bench.queue.pause()
    bench.clock.advance(1e6)
    assert.deepEqual(waitingIn(bench.queue), ['c'])
  })

  it('that have passed while nobody had the queue open are told when it is opened', async () => {
    await bench.open()
    bench.queue.pause()
    await bench.queue.push('a', { maxWaitMs: 100 })
    await bench.queue.push('b', { maxWaitMs: 100, delayMs: 60 })
    await bench.queue.close({ timeoutMs: 0 })
    bench.clock.advance(120)
    await bench.open()
    bench.queue.pause()
    await turn()
    assert.deepEqual([bench.idsOf('cancelled'), waitingIn(bench.queue)], [[1], ['b']])
    bench.clock.advance(39)
    assert.deepEqual(bench.idsOf('cancelled'), [1])
    bench.clock.advance(1)
    assert.deepEqual(bench.idsOf('cancelled'), [1, 2])
  })

  it('hold for a job whose slot was taken back before its first start', async () => {
    const queue = await bench.open({ ack: 'disk' })
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a', { maxWaitMs: 100 })
    await quiet()
    bench.clock.advance(60)
    assert.equal(queue.running, 1)
    queue.pause()
    release()
    await pushed
    assert.equal(queue.running, 0)
    bench.clock.advance(39)
    assert.deepEqual(bench.idsOf('cancelled'), [])
    bench.clock.advance(1)
    assert.deepEqual(bench.idsOf('cancelled'), [1])
  })

  it('are moved with the job when its segment goes', async () => {
    const queue = await bench.open({ segmentBytes: 1024, concurrency: 1, maxAttempts: 5 })
    queue.pause()
    await queue.push('once', { maxAttempts: 1, timeoutMs: 77, delayMs: 5 })
    for (let i = 0; i < 30; i++) {
      const id = await queue.push('x'.repeat(500))
      queue.remove(job => job.id === id)
      await queue.flush()
      await quiet()
    }
    assert(!bench.disk.list('/queue').includes('0000000001.log'))
    await bench.reopenAfterKill({ maxAttempts: 5 })
    assert.equal((await bench.queue.get(1)).state, 'delayed')
    bench.clock.advance(5)
    await bench.gate.until(1)
    bench.clock.advance(77)
    assert.deepEqual(bench.events.map(([event, { error }]) => [event, error.message]).at(-1), ['failed', 'The job ran longer than 77 ms'])
  })

  it('cost a job nothing that has none, nor the disk', async () => {
    const queue = await bench.open({ serialize: { encode: text => Buffer.from(text), decode: String } })
    queue.pause()
    const before = queue.diskBytes()
    await queue.pushType('t', 'a', {})
    const plain = queue.diskBytes() - before
    await queue.pushType('t', 'a', { maxAttempts: undefined })
    assert.equal(queue.diskBytes() - before, 2 * plain)
    await queue.pushType('t', 'a', { delayMs: 0 })
    assert.equal(queue.diskBytes() - before, 3 * plain + 2)
  })

  it('are refused if they are wrong', async () => {
    const queue = await bench.open()
    const wrong = [
      1, null, [], 'x', { delayMs: -1 }, { delayMs: Infinity }, { delayMs: 'x' }, { maxAttempts: 0 }, { maxAttempts: 1.5 },
      { timeoutMs: -1 }, { maxWaitMs: 'x' },
      { delay: 5 }, { type: 't' }, { signal: undefined }, { priority: 1 }, { onDuplicate: 'join' }, { keyUntil: 'settled' },
      { maxDelayMs: 5 }
    ]
    for (const options of wrong) {
      for (const push of [
        () => queue.push(1, options), () => queue.unshift(1, options), () => queue.pushType('t', 1, options),
        () => queue.unshiftType('t', 1, options)
      ]) {
        assert.throws(push, ARGUMENT, JSON.stringify(options))
      }
    }
    assert.throws(() => queue.push(1, { delaysMs: 5 }), /did you mean 'delayMs'/)
    assert.equal(queue.stats().accepted, 0)
  })
})
