'use strict'

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { durable, DurableQueue } = require('../../lib/durable')
const { revoked } = require('../support/proxies')
const { captureUncaught } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, EPOCH, holdSyncs } = require('./bench')

const waitingIn = queue => [...queue.jobs()].map(({ payload }) => payload)

describe('a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('is made by durable() only', () => {
    assert.throws(() => new DurableQueue(), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('runs jobs in order, gives their ids, and tells how they ended', async () => {
    const queue = await bench.open({ concurrency: 1 })
    const ids = await Promise.all([queue.push('a'), queue.push({ b: [undefined] }), queue.push(undefined)])
    assert.deepEqual(ids, [1, 2, 3])
    await bench.gate.until(1)
    const [{ context }] = bench.gate.started
    assert.deepEqual([context.id, context.type, context.attempt, context.signal.aborted], [1, undefined, 1, false])
    bench.gate.release()
    await bench.gate.until(2)
    bench.gate.release()
    await bench.gate.until(3)
    bench.gate.release()
    await queue.onIdle()
    assert.deepEqual(bench.gate.payloads, ['a', { b: [undefined] }, undefined])
    assert.deepEqual(bench.events[0], ['done', { id: 1, type: undefined, payload: 'a', attempt: 1, result: 'a' }])
    assert.deepEqual(bench.idsOf('done'), [1, 2, 3])
  })

  it("ignores what a runner returns with settleBy 'callback', and gives no done with 'promise'", async () => {
    let queue = await bench.open({ settleBy: 'callback', runner: async (payload, done) => { setImmediate(done, null, 'called') } })
    await queue.push(1)
    await queue.onIdle()
    const runner = (...args) => [args.length, args[1].attempt]
    queue = await bench.reopen({ settleBy: 'promise', runner })
    await queue.push(2)
    await queue.onIdle()
    assert.deepEqual(bench.events.map(([, { result }]) => result), ['called', [2, 1]])
  })

  it('makes what a runner throws after its end an uncaught exception', async () => {
    const uncaught = captureUncaught()
    try {
      const queue = await bench.open({ runner: (payload, done) => { done(); throw new Error('late') } })
      await queue.push(1)
      await uncaught.until(1)
      assert.equal(uncaught.seen[0].message, 'late')
      assert.deepEqual(bench.idsOf('done'), [1])
    } finally {
      uncaught.release()
    }
  })

  it('starts no job before it is safe', async () => {
    const queue = await bench.open({ ack: 'disk' })
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a')
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    assert.equal(queue.running, 1)
    release()
    await pushed
    await bench.gate.until(1)
  })

  it('limits the time of a job from the call of its runner on, however long it takes until it is safe', async () => {
    const queue = await bench.open({ ack: 'disk', timeoutMs: 50, maxAttempts: 1 })
    const release = holdSyncs(bench.disk)
    queue.push('a')
    await quiet()
    bench.clock.advance(100)
    release()
    await bench.gate.until(1)
    bench.clock.advance(49)
    assert.deepEqual(bench.events, [])
    bench.clock.advance(1)
    assert.deepEqual(bench.events.map(([event, { id, attempt, error }]) => [event, id, attempt, error.code]), [
      ['failed', 1, 1, 'FAIRLANE_ERR_TIMEOUT']
    ])
  })

  it('has unshifted jobs before all others, the last one first, here and after a restart', async () => {
    let queue = await bench.open()
    queue.pause()
    for (const name of ['a', 'b']) queue.push(name)
    for (const name of ['y', 'z']) await queue.unshift(name)
    await queue.push('c')
    assert.deepEqual(waitingIn(queue), ['z', 'y', 'a', 'b', 'c'])
    queue = await bench.reopen({ concurrency: 1 })
    assert.deepEqual(waitingIn(queue), ['z', 'y', 'a', 'b', 'c'])
    assert.equal(queue.recovered.jobs, 5)
  })

  it('keeps types, with a scheduler and without', async () => {
    let queue = await bench.open()
    queue.pause()
    queue.pushType('a', 1)
    await queue.push(2)
    await queue.unshiftType(3, 3)
    assert.deepEqual([...queue.jobs()].map(({ id, type }) => [id, type]), [[3, '3'], [1, 'a'], [2, undefined]])
    queue = await bench.reopen({ scheduler: 'equal', concurrency: 1 })
    assert.throws(() => queue.push(1), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
    assert.throws(() => queue.unshift(1), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
    assert.throws(() => queue.pushType(Symbol('a'), 1), { code: 'FAIRLANE_ERR_TYPE' })
    assert.deepEqual([...queue.jobs('a')].map(({ payload }) => payload), [1])
    assert.deepEqual([...queue.jobs('')].map(({ payload }) => payload), [2])
    assert.equal((await queue.counts('3')).waiting, 1)
  })

  it('retries failed jobs after backoffMs, durably, holding no slot, with one timer', async () => {
    const queue = await bench.open({ concurrency: 1, backoffMs: attempt => attempt * 100 })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('first'))
    assert.deepEqual([queue.running, queue.waiting, queue.stats().delayed], [0, 1, 1])
    assert.deepEqual(bench.events, [['retry', { id: 1, type: undefined, payload: 'a', attempt: 1, error: new Error('first'), delayMs: 100 }]])
    assert.equal(bench.clock.timerCount, 1)
    bench.clock.advance(99)
    await quiet()
    assert.equal(bench.gate.started.length, 1)
    bench.clock.advance(1)
    await bench.gate.until(2)
    assert.equal(bench.gate.started[1].context.attempt, 2)
    assert.equal(bench.clock.timerCount, 0)
    bench.gate.open.shift().done(new Error('second'))
    await turn()
    await bench.reopenAfterKill({ backoffMs: 0 })
    bench.clock.advance(199)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    bench.clock.advance(1)
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.attempt, 3)
  })

  it('starts a delayed job at once if its time came while nobody had the queue open', async () => {
    const queue = await bench.open({ backoffMs: 100 })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    await queue.close({ drain: true })
    assert.equal(bench.clock.timerCount, 0)
    bench.clock.advance(100)
    await bench.open()
    await bench.gate.until(2)
  })

  it('does not start a job whose time has come while it is paused', async () => {
    const queue = await bench.open({ backoffMs: 100 })
    await queue.push('a')
    await bench.gate.until(1)
    queue.pause()
    bench.gate.open.shift().done(new Error('no'))
    bench.clock.advance(100)
    await quiet()
    assert.deepEqual([bench.gate.started.length, queue.waiting, queue.stats().delayed], [1, 1, 0])
    queue.resume()
    await bench.gate.until(2)
  })

  it('waits a second by default, then twice as long each time, a minute at most', async () => {
    const runner = (payload, done) => done(new Error('no'))
    const queue = await bench.open({ runner, maxAttempts: 9 })
    await queue.push('a')
    for (let i = 1; i < 9; i++) {
      await quiet()
      bench.clock.next()
    }
    await queue.onIdle()
    const delays = bench.events.filter(([event]) => event === 'retry').map(([, { delayMs }]) => delayMs / 1000)
    assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 60, 60])
  })

  it('waits as long if backoffMs throws or gives no time, and says so', async () => {
    const uncaught = captureUncaught()
    try {
      const results = [() => NaN, () => { throw new Error('mine') }]
      const queue = await bench.open({ runner: (payload, done) => done(1), backoffMs: () => results.shift()() })
      await queue.push('a')
      await uncaught.until(1)
      bench.clock.next()
      await uncaught.until(2)
      assert.deepEqual(uncaught.seen.map(({ code, message }) => code ?? message), ['FAIRLANE_ERR_OPTION', 'mine'])
      assert.deepEqual(bench.events.map(([, { delayMs }]) => delayMs), [1000, 2000])
    } finally {
      uncaught.release()
    }
  })

  describe('counts a job as delayed while backoffMs is asked', () => {
    let seen
    let startsCount
    let whenAsked

    beforeEach(async () => {
      seen = []
      startsCount = 0
      const backoffMs = (...about) => whenAsked(...about)
      await bench.open({ scheduler: 'equal', concurrency: 1, backoffMs })
    })

    /** Has a job fail, of which backoffMs is asked once its other jobs wait. */
    async function failFirst (ask) {
      whenAsked = ask
      await bench.queue.pushAll(['a', 'b', 'b'].map((type, i) => ({ payload: i, type })))
      await bench.gate.until(++startsCount)
      bench.queue.pause()
      bench.gate.open.shift().done(new Error('no'))
    }

    const see = () => {
      const { queue } = bench
      const { running, waiting, delayed } = queue.stats()
      seen.push({ length: queue.length, running, waiting, delayed, payloads: waitingIn(queue) })
    }

    it('which all that can be asked shows', async () => {
      let found
      await failFirst(() => {
        see()
        found = bench.queue.get(1)
        return 10
      })
      assert.deepEqual(seen, [{ length: 3, running: 0, waiting: 3, delayed: 1, payloads: [1, 2, 0] }])
      const { state, attempts, dueAt, error } = await found
      assert.deepEqual([state, attempts, dueAt, error], ['delayed', 1, undefined, undefined])
      assert.equal((await bench.queue.get(1)).dueAt, EPOCH + 10)
    })

    it('which may be cancelled then', async () => {
      for (const cancel of [
        queue => queue.clear(), queue => queue.clear({ type: 'a' }), queue => queue.remove(({ type }) => type === 'a')
      ]) {
        for (const answer of [10, Infinity]) {
          await failFirst(() => {
            cancel(bench.queue)
            see()
            return answer
          })
          bench.queue.clear()
          bench.queue.resume()
          assert.deepEqual([seen.at(-1).running, seen.at(-1).delayed], [0, 0])
        }
      }
      const { cancelled, failed, retried, dead, delayed } = bench.queue.stats()
      assert.deepEqual({ cancelled, failed, retried, dead, delayed }, { cancelled: 18, failed: 0, retried: 0, dead: 0, delayed: 0 })
      assert.deepEqual(bench.events.filter(([event]) => event !== 'cancelled'), [])
      const { recovered } = await bench.reopenAfterKill()
      assert.equal(recovered.jobs, 0)
    })

    it('so that nobody is told that none is left', async () => {
      const told = []
      bench.queue.on('drain', () => told.push('drain'))
      let idle
      await failFirst(() => {
        bench.queue.remove(({ type }) => type === 'b')
        idle = bench.queue.onIdle().then(() => told.push('idle'))
        return 10
      })
      await quiet()
      assert.deepEqual(told, [])
      bench.queue.resume()
      bench.clock.advance(10)
      await bench.gate.until(2)
      bench.gate.release()
      await idle
      assert.deepEqual(told, ['drain', 'idle'])
    })

    it('which stays on disk, due later, if the queue is closed then', async () => {
      await failFirst(() => {
        bench.queue.close({ timeoutMs: 0 })
        return 10
      })
      await bench.queue.close({ drain: true })
      assert.deepEqual(bench.idsOf('retry'), [1])
      const queue = await bench.open({ concurrency: Infinity })
      assert.deepEqual([queue.recovered.jobs, queue.stats().delayed], [3, 1])
      const { state, attempts, dueAt } = await queue.get(1)
      assert.deepEqual([state, attempts, dueAt], ['delayed', 1, EPOCH + 10])
    })

    it('or is a dead letter then, if there is to be no other attempt', async () => {
      await failFirst(() => {
        bench.queue.close({ timeoutMs: 0 })
        return Infinity
      })
      await bench.queue.close({ drain: true })
      const queue = await bench.open({ concurrency: Infinity })
      assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), [1])
      assert.deepEqual([queue.recovered.jobs, queue.stats().delayed], [3, 0])
    })
  })

  it('makes a dead letter of a job that has failed maxAttempts times, which can be listed, retried and deleted', async () => {
    let queue = await bench.open({
      maxAttempts: 2, backoffMs: 0, runner: (payload, done) => done(Object.assign(new TypeError(payload), { code: 'E' }))
    })
    const failures = []
    queue.on('failed', ({ error, id, payload }) => failures.push([error.message, id, payload]))
    await queue.pushType('t', 'bad')
    await queue.push('worse')
    await quiet()
    bench.clock.advance(0)
    await queue.onIdle()
    assert.deepEqual(failures, [['worse', 2, 'worse'], ['bad', 1, 'bad']])
    assert.deepEqual([queue.length, queue.stats().dead, queue.stats().failed, queue.stats().retried], [0, 2, 2, 2])

    queue = await bench.reopenAfterKill()
    const [first, second] = await queue.deadLetters()
    assert.deepEqual([first.id, first.type, first.payload, first.attempts], [1, 't', 'bad', 2])
    assert.deepEqual([first.error.name, first.error.message, first.error.code], ['TypeError', 'bad', 'E'])
    assert.equal(first.error.stack, 'TypeError: bad')
    assert.equal(await queue.retryDead(1), true)
    assert.equal(await queue.deleteDead(2), true)
    assert.equal(await queue.retryDead(1), false)
    assert.equal(await queue.deleteDead(77), false)
    assert.throws(() => second.payload, { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.retryDead('1'), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.attempt, 1)
    bench.gate.release()
    await queue.onIdle()
    await queue.close({ drain: true })
    await assert.rejects(queue.retryDead(1), { code: 'FAIRLANE_ERR_CLOSED' })
    queue = await bench.reopenAfterKill()
    assert.deepEqual([queue.recovered.jobs, await queue.deadLetters()], [0, []])
  })

  it('tells of cancelled jobs whose records can not be read, and does not retry such a dead letter', async () => {
    const queue = await bench.open({ maxAttempts: 1, capacity: 100 })
    await queue.push('dead')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    await bench.reopen()
    bench.queue.pause()
    await bench.queue.push('x'.repeat(5000))
    await bench.queue.push('x'.repeat(70000))
    bench.disk.fault = kind => kind === 'read' ? new Error('EIO') : undefined
    await assert.rejects(bench.queue.retryDead(1), { code: 'FAIRLANE_ERR_IO' })
    assert.equal(bench.queue.clear(), 2)
    assert.deepEqual(bench.events.slice(1).map(([event, { id, type }]) => [event, id, type]), [
      ['cancelled', 2, undefined], ['cancelled', 3, undefined]
    ])
    bench.disk.fault = () => undefined
    assert.equal((await bench.queue.deadLetters()).length, 1)
  })

  it('fails a job whose record can not be read, and tries it again', async () => {
    const queue = await bench.open({ backoffMs: 10 })
    let failures = 1
    bench.disk.fault = kind => kind === 'read' && failures-- > 0 ? new Error('EIO') : undefined
    await queue.push('a')
    await quiet()
    assert.deepEqual(bench.idsOf('retry'), [1])
    bench.clock.advance(10)
    await bench.gate.until(1)
  })

  it('keeps the type of a job whose record can not be read', async () => {
    const queue = await bench.open({ backoffMs: 10, scheduler: 'equal' })
    let failures = 1
    bench.disk.fault = kind => kind === 'read' && failures-- > 0 ? new Error('EIO') : undefined
    await queue.pushType('tenant', 'a')
    await quiet()
    assert.deepEqual(bench.events.map(([event, { type }]) => [event, type]), [['retry', 'tenant']])
    queue.pauseType('tenant')
    bench.clock.advance(10)
    await quiet()
    assert.equal(bench.gate.open.length, 0)
    assert.deepEqual([...queue.jobs('tenant')].map(({ payload }) => payload), ['a'])
    assert.equal(queue.clear({ type: 'tenant' }), 1)
  })

  for (const how of ['clear', 'remove', 'remove some']) {
    for (const method of ['pushType', 'unshiftType']) {
      it(`cancels the others where a job can not be written that was pushed just now (${how}, ${method})`, async () => {
        const queue = await bench.open({ scheduler: 'equal', concurrency: 1 })
        queue.pause()
        for (const payload of ['a', 'b', 'c']) await queue.pushType('t', payload)
        let failures = 1
        bench.disk.fault = kind => kind === 'write' && failures-- > 0 ? new Error('EIO') : undefined
        const lost = assert.rejects(queue[method]('t', 'd'), { code: 'FAIRLANE_ERR_IO' })
        const count = how === 'clear' ? queue.clear() : queue.remove(({ payload }) => how === 'remove' || payload !== 'b')
        const left = how === 'remove some' ? ['b'] : []
        assert.equal(count, 3 - left.length)
        await lost
        await quiet()
        const { accepted, waiting, cancelled } = queue.stats()
        assert.deepEqual({ accepted, waiting, cancelled }, { accepted: 3, waiting: left.length, cancelled: 3 - left.length })
        assert.equal(bench.idsOf('cancelled').length, 3 - left.length)
        queue.resume()
        const flushed = queue.fflush()
        await quiet()
        bench.gate.release(left.length)
        await flushed
        await bench.reopen()
        assert.equal(bench.queue.recovered.jobs, 0)
      })
    }
  }

  it('refuses payloads that can not be encoded, and writes nothing', async () => {
    const queue = await bench.open()
    const { steps } = bench.disk
    assert.throws(() => queue.push(revoked()), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(
      () => queue.push(() => {}), ({ code, cause }) => code === 'FAIRLANE_ERR_ARGUMENT' && /could not be cloned/.test(cause.message)
    )
    assert.equal(bench.disk.steps, steps)
    for (const encoded of ['text', revoked()]) {
      await bench.reopen({ serialize: { encode: () => encoded, decode: () => {} } })
      assert.throws(() => bench.queue.push(1), { code: 'FAIRLANE_ERR_ARGUMENT' })
      assert.equal(bench.queue.length, 0)
    }
  })

  it('refuses jobs beyond its limits before anything is written', async () => {
    const queue = await bench.open({ scheduler: 'equal', ack: 'disk', maxWaiting: 3, maxWaitingPerType: 2, concurrency: 1 })
    const events = []
    for (const name of ['saturated', 'unsaturated']) queue.on(name, () => events.push(name))
    queue.pause()
    const pushes = [queue.pushType('a', 1), queue.pushType('a', 2)]
    const { steps } = bench.disk
    await assert.rejects(queue.pushType('a', 3), { code: 'FAIRLANE_ERR_TYPE_FULL', waiting: 2, limit: 2 })
    pushes.push(queue.pushType('b', 3))
    await assert.rejects(queue.pushType('c', 4), { code: 'FAIRLANE_ERR_QUEUE_FULL', waiting: 3 })
    assert.equal(queue.stats().rejected, 2)
    await Promise.all(pushes)
    assert.equal(queue.recovered.jobs, 0)
    assert(steps < bench.disk.steps)
    let isReady = false
    queue.ready('c').then(() => { isReady = true })
    await quiet()
    assert.deepEqual([isReady, events], [false, ['saturated']])
    queue.clear({ type: 'a' })
    await quiet()
    assert.deepEqual([isReady, events], [true, ['saturated', 'unsaturated']])
  })

  it('takes jobs that it recovers past its limits', async () => {
    let queue = await bench.open({ scheduler: 'equal' })
    queue.pause()
    for (let i = 0; i < 5; i++) await queue.pushType('a', i)
    queue = await bench.reopen({ scheduler: 'equal', maxWaiting: 1, maxWaitingPerType: 1, capacity: 2, concurrency: 1 })
    assert.equal(queue.waiting, 5)
    await assert.rejects(queue.pushType('b', 1), { code: 'FAIRLANE_ERR_QUEUE_FULL', type: 'b', waiting: 5, limit: 2 })
  })

  it('holds at most capacity jobs and capacityBytes bytes, dead letters too', async () => {
    let queue = await bench.open({ capacity: 2, maxAttempts: 1 })
    await queue.push('a')
    await queue.push('b')
    await assert.rejects(queue.push('c'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    await bench.gate.until(2)
    bench.gate.open.shift().done(new Error('no'))
    await assert.rejects(queue.push('c'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    assert.equal(queue.stats().rejected, 2)
    let isReady = false
    queue.ready().then(() => { isReady = true })
    await quiet()
    assert(!isReady)
    await queue.deleteDead(1)
    await quiet()
    assert(isReady)
    await queue.push('c')
    queue = await bench.reopen({ capacityBytes: 1000 })
    await assert.rejects(queue.push('x'.repeat(1000)), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    assert.equal(queue.length, 2)
    const waiting = assert.rejects((await bench.reopen({ capacity: 1 })).ready(), { code: 'FAIRLANE_ERR_CLOSED' })
    await bench.queue.close({ timeoutMs: 0 })
    await waiting
  })

  it('refuses types that are too long', async () => {
    const queue = await bench.open()
    await assert.rejects(queue.pushType('t'.repeat(70000), 1), { code: 'FAIRLANE_ERR_TOO_LARGE' })
    assert.equal(queue.length, 0)
  })

  it('counts jobs that serialize pushes for its limits', async () => {
    let isNested = false
    const encode = () => {
      if (!isNested) {
        isNested = true
        queue.push('inner')
      }
      return Buffer.from('x')
    }
    const queue = await bench.open({ maxWaiting: 1, concurrency: 1, serialize: { encode, decode: String } })
    queue.pause()
    await assert.rejects(queue.push('outer'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    assert.equal(queue.waiting, 1)
  })

  describe('with more pushes than maxInflightOps', () => {
    let release
    let pushes

    beforeEach(async () => {
      await bench.open({ ack: 'disk', maxInflightOps: 2, maxWaiting: 6, concurrency: 1 })
      bench.queue.pause()
      release = holdSyncs(bench.disk)
      pushes = ['a', 'b', 'c', 'd'].map(payload => bench.queue.push(payload))
    })

    it('writes those beyond later, in order, and counts them at once', async () => {
      const { queue } = bench
      assert.deepEqual([queue.waiting, queue.recovered.jobs], [4, 0])
      assert.deepEqual([...queue.jobs()].map(({ id, type, payload }) => [id, type, payload]),
        [[1, undefined, 'a'], [2, undefined, 'b'], [undefined, undefined, 'c'], [undefined, undefined, 'd']])
      queue.resume(10)
      await quiet()
      assert.equal(bench.gate.started.length, 0)
      release()
      assert.deepEqual(await Promise.all(pushes), [1, 2, 3, 4])
      await bench.gate.until(4)
      assert.deepEqual(bench.gate.payloads, ['a', 'b', 'c', 'd'])
    })

    it('writes as many as were acknowledged', async () => {
      release()
      await Promise.all(pushes)
      release = holdSyncs(bench.disk)
      pushes = [bench.queue.push('e')]
      await turn()
      pushes.push(...['f', 'g', 'h'].map(payload => bench.queue.push(payload).catch(({ code }) => code)))
      release()
      assert.deepEqual(await Promise.all(pushes), [5, 6, 'FAIRLANE_ERR_QUEUE_FULL', 'FAIRLANE_ERR_QUEUE_FULL'])
      bench.queue.clear()
      release = holdSyncs(bench.disk)
      pushes = [bench.queue.push('i')]
      await turn()
      pushes.push(...['j', 'k', 'l'].map(payload => bench.queue.push(payload)))
      release()
      assert.deepEqual(await Promise.all(pushes), [7, 8, 9, 10])
    })

    it('rejects those that have slots already if the log fails', async () => {
      bench.queue.resume(10)
      await quiet()
      assert.equal(bench.queue.running, 4)
      bench.disk.fault = kind => kind === 'sync' ? new Error('EIO') : undefined
      release()
      for (const { reason } of await Promise.allSettled(pushes)) assert.equal(reason.code, 'FAIRLANE_ERR_IO')
      await assert.rejects(bench.queue.close(), { code: 'FAIRLANE_ERR_IO' })
      assert.deepEqual([bench.gate.started.length, bench.queue.running], [0, 0])
      bench.queue = undefined
    })

    it('refuses jobs by all that are accepted', async () => {
      pushes.push(bench.queue.push('e'), bench.queue.push('f'))
      await assert.rejects(bench.queue.push('g'), { code: 'FAIRLANE_ERR_QUEUE_FULL', waiting: 6 })
      release()
      await Promise.all(pushes)
    })

    it('cancels those that are not written without writing them', async () => {
      assert.equal(bench.queue.remove(({ payload }) => payload === 'c'), 1)
      await assert.rejects(pushes[2], { code: 'FAIRLANE_ERR_CLEARED' })
      assert.equal(bench.queue.clear(), 3)
      await assert.rejects(pushes[3], { code: 'FAIRLANE_ERR_CLEARED' })
      release()
      assert.deepEqual(await Promise.all(pushes.slice(0, 2)), [1, 2])
      assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.code]), [
        ['cancelled', undefined, 'FAIRLANE_ERR_CLEARED'], ['cancelled', 1, 'FAIRLANE_ERR_CLEARED'],
        ['cancelled', 2, 'FAIRLANE_ERR_CLEARED'], ['cancelled', undefined, 'FAIRLANE_ERR_CLEARED']
      ])
    })

    it('writes them before it closes', async () => {
      const closing = bench.queue.close({ timeoutMs: 0 })
      release()
      await closing
      assert.deepEqual(await Promise.all(pushes), [1, 2, 3, 4])
      assert.equal((await bench.open()).recovered.jobs, 4)
    })

    it('has fflush wait for them, and for no later one', async () => {
      const order = []
      bench.queue.fflush(() => order.push('flushed'))
      pushes.push(bench.queue.push('e'))
      release()
      await Promise.all(pushes)
      bench.queue.resume(10)
      await bench.gate.until(5)
      bench.gate.release(4)
      await quiet()
      assert.deepEqual(order, ['flushed'])
    })

    it('cancels nothing on disk in the moment when the log has failed', async () => {
      const cleared = pushes[2].catch(() => bench.queue.clear())
      bench.disk.fault = kind => kind === 'sync' ? new Error('EIO') : undefined
      release()
      assert.equal((await Promise.allSettled([...pushes, cleared]))[4].value, 4)
      await assert.rejects(bench.queue.close(), { code: 'FAIRLANE_ERR_IO' })
      assert.equal((await bench.reopenAfterKill()).recovered.jobs, 2)
    })

    it('rejects them if the log fails, and has nobody wait any more', async () => {
      const flushed = bench.queue.fflush()
      bench.disk.fault = kind => kind === 'sync' ? new Error('EIO') : undefined
      release()
      for (const { reason } of await Promise.allSettled(pushes)) assert.equal(reason.code, 'FAIRLANE_ERR_IO')
      await assert.rejects(bench.queue.close(), { code: 'FAIRLANE_ERR_IO' })
      await flushed
      bench.queue = undefined
    })
  })

  it('clears waiting and delayed jobs from the disk', async () => {
    let queue = await bench.open({ scheduler: 'equal', concurrency: 1, maxAttempts: 3 })
    await queue.pushType('a', 1)
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('later'))
    for (const type of ['a', 'b', 'a', 'c']) await queue.pushType(type, 2)
    await bench.gate.until(2)
    assert.equal(queue.waiting, 4)
    assert.deepEqual([...queue.jobs('a')].map(({ id }) => id), [4, 1])
    assert.equal(queue.clear({ type: 'a', reason: 'tired' }), 2)
    assert.deepEqual(bench.events.slice(-2).map(([event, { id, type, error }]) => [event, id, type, error.code, error.cause]),
      [['cancelled', 4, 'a', 'FAIRLANE_ERR_CLEARED', 'tired'], ['cancelled', 1, 'a', 'FAIRLANE_ERR_CLEARED', 'tired']])
    queue = await bench.reopenAfterKill({ scheduler: 'equal', concurrency: 1 })
    assert.deepEqual([...queue.jobs()].map(({ id }) => id), [2, 3, 5])
    queue.pause()
    queue.removeAllListeners('cancelled')
    assert.equal(queue.remove(({ id }) => id === 3), 1)
    assert.equal(queue.clear(), 2)
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })

  it('throws on wrong arguments as a queue in memory does, and changes nothing', async () => {
    const queue = await bench.open()
    queue.pause()
    await queue.push(1)
    const wrong = [
      () => queue.clear({ dead: 1 }), () => queue.clear(5), () => queue.remove('a'), () => queue.types({ limit: 0 }), () => queue.close({ dran: true })
    ]
    for (const call of wrong) assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.remove(() => { throw new Error('mine') }), /mine/)
    assert.throws(() => queue.fflush(1), { code: 'FAIRLANE_ERR_CALLBACK' })
    assert.throws(() => { queue.drain = 1 }, { code: 'FAIRLANE_ERR_CALLBACK' })
    assert.throws(() => queue.pauseType('a'), { code: 'FAIRLANE_ERR_SCHEDULER' })
    assert.throws(() => queue.resume(0), { code: 'FAIRLANE_ERR_CONCURRENCY' })
    assert.deepEqual([queue.waiting, queue.closed, queue.drain], [1, false, null])
  })

  it('cancels jobs that wait longer than maxWaitMs, counted from the push across a restart', async () => {
    let queue = await bench.open({ maxWaitMs: 100, concurrency: 1 })
    queue.pause()
    await queue.push('a')
    bench.clock.advance(60)
    await queue.push('b')
    queue = await bench.reopen({ maxWaitMs: 100 })
    queue.pause()
    bench.clock.advance(40)
    assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.code]), [['cancelled', 1, 'FAIRLANE_ERR_MAX_WAIT']])
    await queue.unshift('c')
    assert.deepEqual(waitingIn(queue), ['c', 'b'])
    assert.equal(queue.stats().cancelled, 1)
    bench.clock.advance(60)
    assert.deepEqual(waitingIn(queue), ['c'])
    await queue.close({ timeoutMs: 0 })
    bench.clock.advance(100)
    queue = await bench.open({ maxWaitMs: 100 })
    queue.pause()
    await turn()
    assert.deepEqual(bench.idsOf('cancelled'), [1, 2, 3])
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })

  it('is opened though a job can not be read to see how long it has waited', async () => {
    await bench.open()
    bench.queue.pause()
    await bench.queue.push('a')
    const onProgress = () => { bench.disk.fault = (kind, path) => kind === 'read' && path.endsWith('.log') ? new Error('EIO') : undefined }
    const queue = await bench.reopen({ maxWaitMs: 100, onProgress })
    bench.disk.fault = () => undefined
    queue.pause()
    bench.clock.advance(99)
    assert.equal(queue.waiting, 1)
    bench.clock.advance(1)
    assert.deepEqual(bench.idsOf('cancelled'), [1])
  })

  it('loses no job by a clock that throws', async () => {
    const uncaught = captureUncaught()
    try {
      const queue = await bench.open({ backoffMs: 10, maxWaitMs: 1000 })
      await queue.push('a')
      await bench.gate.until(1)
      const { setTimeout } = bench.clock
      bench.clock.setTimeout = () => { throw new Error('no time') }
      bench.gate.open.shift().done(new Error('later'))
      await uncaught.until(1)
      await queue.push('b')
      await quiet()
      assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.message]), [
        ['retry', 1, 'later'], ['cancelled', 2, 'no time']
      ])
      bench.clock.setTimeout = setTimeout
      await queue.push('c')
      await bench.gate.until(2)
      bench.clock.advance(10)
      await bench.gate.until(3)
      assert.deepEqual(bench.gate.payloads, ['a', 'c', 'a'])
    } finally {
      uncaught.release()
    }
  })

  it('tries a job again, and closes in time, though its clock can not be read when that is planned', async () => {
    const uncaught = captureUncaught()
    try {
      let isBroken = false
      const now = () => {
        if (isBroken) throw new Error('no time')
        return bench.clock.now()
      }
      const queue = await bench.open({ backoffMs: 10, clock: { ...bench.clock, now } })
      await queue.push('a')
      await bench.gate.until(1)
      isBroken = true
      bench.gate.open.shift().done(new Error('later'))
      await uncaught.until(1)
      isBroken = false
      assert.equal(queue.stats().delayed, 1)
      bench.clock.advance(10)
      await bench.gate.until(2)
      isBroken = true
      const closed = queue.close({ drain: true, timeoutMs: 50 })
      isBroken = false
      bench.clock.advance(50)
      assert.equal(await closed, 1)
      assert.deepEqual(bench.events.map(([event]) => event), ['retry'])
    } finally {
      uncaught.release()
    }
  })

  it('fails an attempt whose time can not be limited, and gives its slot back', async () => {
    const queue = await bench.open({ concurrency: 1, timeoutMs: 100, maxAttempts: 1 })
    const { setTimeout } = bench.clock
    bench.clock.setTimeout = () => { throw new Error('no time') }
    await queue.push('a')
    await quiet()
    assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.message]), [['failed', 1, 'no time']])
    bench.clock.setTimeout = setTimeout
    await queue.push('b')
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.payloads, ['b'])
  })

  it('fails jobs that run longer than timeoutMs, tells their runners, and tries them again', async () => {
    const queue = await bench.open({ timeoutMs: 100, backoffMs: 10, maxAttempts: 2 })
    await queue.push('a')
    await bench.gate.until(1)
    const { signal } = bench.gate.started[0].context
    bench.clock.advance(100)
    assert.equal(signal.reason.code, 'FAIRLANE_ERR_TIMEOUT')
    assert.deepEqual([queue.running, queue.waiting], [1, 1])
    bench.clock.advance(10)
    await bench.gate.until(2)
    bench.gate.release(1)
    assert.equal(queue.running, 1)
    bench.gate.release(1)
    await queue.onIdle()
    assert.deepEqual(bench.events.map(([event]) => event), ['retry', 'done'])
    assert.equal(queue.stats().misuse, 0)
  })

  it('tells drain, onIdle and fflush when jobs have settled for good', async () => {
    const queue = await bench.open({ backoffMs: 10, maxAttempts: 2 })
    const seen = []
    await queue.onIdle()
    await queue.fflush()
    queue.drain = () => seen.push('drain')
    queue.on('drain', () => seen.push('event'))
    await queue.push('a')
    queue.onIdle().then(() => seen.push('idle'))
    assert.equal(queue.fflush(() => seen.push('flushed')), queue)
    queue.fflush(() => seen.push('flushed too'))
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    await quiet()
    assert.deepEqual(seen, [])
    await queue.unshift('b')
    queue.fflush().then(() => seen.push('flushed all'))
    await bench.gate.until(2)
    bench.clock.advance(10)
    await bench.gate.until(3)
    bench.gate.open.pop().done(new Error('no'))
    await quiet()
    assert.deepEqual(seen, ['flushed', 'flushed too'])
    bench.gate.release()
    await quiet()
    assert.deepEqual(seen.slice(2).sort(), ['drain', 'event', 'flushed all', 'idle'])
    queue.drain = undefined
    assert.equal(queue.drain, null)
    await queue.retryDead(1)
    await bench.gate.until(4)
    bench.gate.release()
    await quiet()
    assert.equal(seen.length, 7)
  })

  it('is not idle if the drain function queues a job', async () => {
    const queue = await bench.open()
    queue.drain = () => {
      queue.drain = null
      queue.push('b')
    }
    await queue.push('a')
    let isIdle = false
    queue.onIdle().then(() => { isIdle = true })
    await bench.gate.until(1)
    bench.gate.release()
    await bench.gate.until(2)
    assert(!isIdle)
    bench.gate.release()
    await queue.onIdle()
    assert(isIdle)
  })

  it('clears jobs without a type that wait for their next attempt on a queue with a scheduler', async () => {
    await bench.open()
    await bench.queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('later'))
    const queue = await bench.reopen({ scheduler: 'equal' })
    assert.equal(queue.clear({ type: 'a' }), 0)
    assert.equal(queue.clear({ type: '' }), 1)
  })

  it('does not run a job that was given a slot before it closed', async () => {
    const runner = (payload, done) => {
      bench.queue.close({ timeoutMs: 0 })
      done()
    }
    const queue = await bench.open({ runner })
    await Promise.all([queue.push('a'), queue.push('b')])
    await queue.close({ drain: true })
    await bench.open()
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.started.map(({ payload, context }) => [payload, context.attempt]), [['b', 1]])
  })

  it('leaves a job alone that was given a slot and is not safe yet when it closes', async () => {
    const queue = await bench.open({ ack: 'disk' })
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a')
    await quiet()
    const closing = queue.close({ timeoutMs: 0 })
    await quiet()
    release()
    assert.deepEqual([await pushed, await closing], [1, 0])
    await bench.open()
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.attempt, 1)
  })

  it('has fflush wait for a dead letter that is retried meanwhile', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    await queue.push('a')
    await queue.push('b')
    await bench.gate.until(2)
    bench.gate.open.shift().done(new Error('no'))
    let isFlushed = false
    queue.fflush(() => { isFlushed = true })
    await queue.retryDead(1)
    await bench.gate.until(3)
    bench.gate.release(1)
    await quiet()
    assert(!isFlushed)
    bench.gate.release(1)
    await quiet()
    assert(isFlushed)
  })

  it('has the properties and controls of a queue in memory', async () => {
    const queue = await bench.open({ scheduler: 'equal', concurrency: 2 })
    assert.deepEqual([queue.concurrency, queue.paused, queue.closed, queue.length], [2, false, false, 0])
    assert.equal(typeof queue.scheduler.next, 'function')
    assert.equal(queue.pause().paused, true)
    queue.concurrency = 3
    assert.deepEqual([queue.concurrency, queue.paused], [3, false])
    assert.equal(queue.pauseType('a').pause().resume(), queue)
    assert.deepEqual(['a', 'b'].map(type => queue.isTypePaused(type)), [true, false])
    await queue.pushType('a', 1)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    queue.resumeType('a')
    assert.equal(queue.isTypePaused('a'), false)
    await bench.gate.until(1)
    assert.deepEqual([queue.length, queue.running, queue.waiting], [1, 1, 0])
    assert.equal(queue.stats('a').running, 1)
    assert(queue.diskBytes() > 32)
    await queue.flush()
  })

  it('runs jobs in the context in which it was made, and with asyncContext "push" in that of the push', async () => {
    const storage = new AsyncLocalStorage()
    const seen = []
    const runner = (payload, done) => {
      seen.push([payload, storage.getStore()])
      storage.enterWith('left behind')
      done()
    }
    let queue = await storage.run('made', () => bench.open({ runner, concurrency: 1 }))
    await storage.run('push', () => Promise.all(['a', 'b', 'c'].map(payload => queue.push(payload))))
    await queue.onIdle()
    assert.deepEqual(seen.splice(0), [['a', 'made'], ['b', 'made'], ['c', 'made']])
    await queue.close({ drain: true })
    queue = await bench.open({ runner, asyncContext: 'push' })
    await storage.run('push', () => queue.push('d'))
    await storage.run('other', () => queue.push('e'))
    await queue.onIdle()
    assert.deepEqual(seen, [['d', 'push'], ['e', 'other']])
  })

  it('makes what listeners throw an uncaught exception, and goes on', async () => {
    const uncaught = captureUncaught()
    try {
      const queue = await bench.open()
      queue.on('done', () => { throw new Error('mine') })
      await queue.push(1)
      await bench.gate.until(1)
      bench.gate.release()
      await uncaught.until(1)
      await queue.onIdle()
      assert.equal((await bench.reopen()).recovered.jobs, 0)
    } finally {
      uncaught.release()
    }
  })

  it('can be awaited by events.once', async () => {
    const queue = await bench.open({ runner: async () => 'result' })
    const done = once(queue, 'done')
    await queue.push(1)
    assert.equal((await done)[0].result, 'result')
  })

  it('rejects options that are wrong or unknown, with the nearest name', () => {
    const runner = () => {}
    const wrong = [
      { path: 5 }, {}, null, { path: 'p', maxAttempts: 0 }, { path: 'p', backoffMs: -1 }, { path: 'p', backoffMs: 'x' },
      { path: 'p', serialize: {} },
      { path: 'p', ack: 'no' }, { path: 'p', capacity: 0 }, { path: 'p', maxWaitMs: 'x' }
    ]
    for (const options of wrong) assert.throws(() => durable(runner, options), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => durable(runner, { path: 'p', maxAttempt: 5 }), /did you mean 'maxAttempts'/)
    assert.throws(() => durable(runner, { path: 'p', maxWaitng: 5 }), /did you mean 'maxWaiting'/)
    assert.throws(() => durable('x', { path: 'p' }), { code: 'FAIRLANE_ERR_RUNNER' })
    assert.throws(() => durable(runner), { code: 'FAIRLANE_ERR_OPTION' })
  })
})
