'use strict'

const assert = require('node:assert')
const { Postponed, Throttled } = require('../../lib/durable')
const { passingOf } = require('../support/starts')
const { quiet } = require('../support/turns')
const { Bench, EPOCH, holdSyncs } = require('./bench')

describe('a durable queue whose runner fails with', () => {
  let bench, starts, answers

  /** A queue whose runner fails with what is in `answers`, one after the other, and then is done. */
  async function open (options) {
    const runner = (payload, done, { type, attempt }) => {
      starts.push([type ?? payload, attempt, bench.clock.now()])
      done(answers.shift())
    }
    return bench.open({ runner, concurrency: 1, ...options })
  }

  const pass = ms => passingOf(bench.clock)(ms)

  /** As a new process after kill -9. */
  async function die (options) {
    const left = bench.disk.afterKill()
    await bench.queue.close({ timeoutMs: 0 })
    bench.disk = left
    return open(options)
  }

  async function push (queue, ...types) {
    for (const type of types) await queue.pushType(type, type)
  }

  beforeEach(() => {
    bench = new Bench()
    starts = []
    answers = []
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('what cannot be looked at is tried again, as after any error', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const queue = await open({ scheduler: 'equal', maxAttempts: 2, backoffMs: 10 })
    await push(queue, 'a')
    answers = [proxy, proxy]
    await pass(50)
    assert.deepEqual(starts, [['a', 1, 0], ['a', 2, 10]])
    assert.deepEqual([bench.idsOf('failed'), queue.stats().running, (await queue.deadLetters()).length], [[1], 0, 1])
  })

  describe('Throttled', () => {
    it('holds the type for as long as is said, be it for a month', async () => {
      const monthMs = 30 * 24 * 3600 * 1000
      const queue = await open({ scheduler: 'equal' })
      answers = [Throttled.after(String(monthMs / 1000))]
      await push(queue, 'a')
      await pass(10)
      assert.equal(queue.heldMs('a'), monthMs - 10)
      await pass(monthMs - 11)
      assert.equal(starts.length, 1)
      await pass(1)
      assert.equal(starts.length, 2)
    })

    for (const [name, scheduler, rates, none] of [
      ['its type', 'equal', { ratePerType: { limit: 1, intervalMs: 1000 } }, { ratePerType: null }],
      ['the queue', undefined, { rate: { limit: 1, intervalMs: 1000 } }, { rate: null }]
    ]) {
      it(`holds ${name} also where a rate takes longer, which may end before`, async () => {
        const queue = await open({ scheduler, ...rates })
        answers = [new Throttled(500)]
        await (scheduler ? push(queue, 'a') : queue.push('a'))
        await pass(10)
        assert.equal(queue.heldMs(scheduler && 'a'), 990)
        queue.setRates(none)
        assert.equal(queue.heldMs(scheduler && 'a'), 490)
        await pass(1000)
        assert.deepEqual(starts.map(([, , at]) => at), [0, 500])
      })
    }

    it('holds the type for so long; the job is the first of it again, and its attempt does not count', async () => {
      const queue = await open({ scheduler: 'equal', maxAttempts: 1 })
      queue.pause()
      await push(queue, 'a', 'a', 'b')
      answers = [new Throttled(100)]
      queue.resume()
      await pass(50)
      assert.deepEqual(starts, [['a', 1, 0], ['b', 1, 0]])
      assert.deepEqual([...queue.jobs()].map(({ id }) => id), [1, 2])
      const { throttled, retried, heldTypes, delayed, waiting } = queue.stats()
      assert.deepEqual({ throttled, retried, heldTypes, delayed, waiting }, {
        throttled: 1, retried: 0, heldTypes: 1, delayed: 0, waiting: 2
      })
      assert.deepEqual({ ...await queue.get(1) }, {
        id: 1, type: 'a', state: 'waiting', attempts: 0, dueAt: undefined, error: undefined, payload: 'a'
      })
      await pass(60)
      assert.deepEqual(starts.slice(2), [['a', 1, 100], ['a', 1, 100]])
      assert.deepEqual([bench.idsOf('done'), bench.idsOf('retry'), bench.idsOf('failed')], [[3, 1, 2], [], []])
    })

    it('may come again and again, with the attempts before it as they were', async () => {
      const queue = await open({ scheduler: 'fair', maxAttempts: 2, backoffMs: 10 })
      answers = [new Error('first'), new Throttled(10), Throttled.after('1'), new Error('last')]
      await push(queue, 'a')
      await pass(1)
      assert.deepEqual(starts, [['a', 1, 0]])
      await pass(10)
      const { state, attempts, error } = await queue.get(1)
      assert.deepEqual([state, attempts, error.message], ['waiting', 1, 'first'])
      await pass(2000)
      assert.deepEqual(starts.slice(1), [['a', 2, 10], ['a', 2, 20], ['a', 2, 1020]])
      assert.deepEqual([bench.idsOf('failed'), queue.stats().throttled], [[1], 2])
    })

    it('keeps what is held for longer as it is', async () => {
      for (const scheduler of ['equal', undefined]) {
        bench = new Bench()
        const queue = await bench.open({ scheduler })
        await push(queue, 'a')
        await bench.gate.until(1)
        if (scheduler === undefined) queue.hold(50)
        else queue.holdType('a', 50)
        bench.gate.open.shift().done(new Throttled(10))
        await pass(49)
        assert.equal(bench.gate.started.length, 1)
        await pass(1)
        assert.equal(bench.gate.started.length, 2)
        await queue.close({ timeoutMs: 0 })
      }
    })

    it('holds the queue if types cannot be held', async () => {
      for (const scheduler of [undefined, lanesThatCannotPause()]) {
        bench = new Bench()
        starts = []
        const queue = await open({ scheduler })
        answers = [new Throttled(100)]
        await push(queue, 'a', 'b')
        await pass(50)
        assert.deepEqual([starts, queue.heldMs(), queue.stats().heldTypes], [[['a', 1, 0]], 50, 0])
        await pass(60)
        assert.deepEqual(starts.slice(1).sort(), [['a', 1, 100], ['b', 1, 100]])
        await queue.close({ drain: true })
      }
    })

    it('takes back the slots of other jobs of the type that have not begun', async () => {
      const queue = await bench.open({ ack: 'disk', scheduler: 'equal', concurrency: 4 })
      await push(queue, 'a')
      await bench.gate.until(1)
      const release = holdSyncs(bench.disk)
      queue.pushType('a', 'second')
      queue.pushType('b', 'other')
      await quiet()
      assert.equal(queue.running, 3)
      bench.gate.open.shift().done(new Throttled(100))
      release()
      await bench.gate.until(2)
      assert.deepEqual([bench.gate.payloads, queue.running, queue.waiting], [['a', 'other'], 1, 2])
      assert.deepEqual([...queue.jobs('a')].map(({ payload }) => payload), ['a', 'second'])
      await pass(100)
      assert.deepEqual(bench.gate.payloads, ['a', 'other', 'a', 'second'])
    })

    it('counts no attempt across a crash, and the job is the first of its type', async () => {
      let queue = await open({ scheduler: 'equal', maxAttempts: 1 })
      answers = [new Throttled(100)]
      await push(queue, 'a', 'a')
      await pass(1)
      queue = await die({ scheduler: 'equal', maxAttempts: 1 })
      assert.deepEqual([queue.stats().dead, [...queue.jobs()].map(({ id }) => id)], [0, [1, 2]])
      await pass(1)
      assert.deepEqual(starts.slice(1).map(([, attempt]) => attempt), [1, 1])
    })

    it('leaves the job on disk when the queue closes, and close() waits for it otherwise', async () => {
      let queue = await open({ scheduler: 'equal' })
      answers = [new Throttled(100)]
      await push(queue, 'a')
      await pass(1)
      await queue.close({ timeoutMs: 0 })
      queue = await open({ scheduler: 'equal' })
      answers = [new Throttled(100)]
      const closed = queue.close({ drain: true })
      await pass(200)
      assert.equal(await closed, 0)
      assert.deepEqual(starts, [['a', 1, 0], ['a', 1, 1], ['a', 1, 101]])
    })

    it('is nothing from a runner whose job is cancelled or has timed out', async () => {
      const queue = await bench.open({ scheduler: 'equal', timeoutMs: 10, maxAttempts: 1 })
      await push(queue, 'a', 'a')
      await bench.gate.until(2)
      assert.equal(await queue.cancel(1), true)
      bench.clock.advance(10)
      for (const { done } of bench.gate.open.splice(0)) done(new Throttled(100))
      await queue.onIdle()
      assert.deepEqual([queue.heldMs('a'), queue.stats().throttled, bench.idsOf('failed')], [0, 0, [2]])
    })

    it('has its job taken out by a scheduler that clears the queue when it is told', async () => {
      for (const leave of [queue => queue.clear(), queue => { queue.close({ timeoutMs: 0 }) }]) {
        bench = new Bench()
        starts = []
        answers = [new Throttled(100)]
        let bufferedCount = 0
        const paused = () => { if (bufferedCount++ === 0) leave(queue) }
        const queue = await open({ scheduler: { ...lanesThatCannotPause(), paused, resumed () {} } })
        queue.pause()
        await push(queue, 'a', 'a')
        queue.resume()
        await pass(200)
        assert.deepEqual([starts.length, bufferedCount, queue.length, queue.stats().delayed, bench.clock.timerCount], [1, 1, 0, 0, 0])
        const { recovered } = await die()
        assert.equal(recovered.jobs, queue.stats().cancelled === 2 ? 0 : 2)
        await bench.queue.close({ timeoutMs: 0 })
      }
    })

    it('leaves a job alone that is tried alone after crashes', async () => {
      let queue = await open({ maxAttempts: 2, concurrency: 2, runner: () => {} })
      await push(queue, 'a', 'b')
      await quiet()
      queue = await die({ maxAttempts: 2, concurrency: 2, scheduler: 'equal' })
      answers = [new Throttled(50)]
      await pass(1)
      assert.deepEqual(starts, [['b', 2, 0], ['a', 2, 0]])
      await pass(100)
      assert.deepEqual([starts.slice(2), queue.length], [[['b', 2, 50]], 0])
    })
  })

  describe('Postponed', () => {
    it('tries the job later without counting the attempt, while others of its type go on', async () => {
      const queue = await open({ scheduler: 'equal', maxAttempts: 1 })
      answers = [new Postponed(100)]
      await push(queue, 'a', 'a')
      await pass(50)
      assert.deepEqual(starts, [['a', 1, 0], ['a', 1, 0]])
      const { throttled, retried, delayed, heldTypes } = queue.stats()
      assert.deepEqual({ throttled, retried, delayed, heldTypes }, { throttled: 0, retried: 0, delayed: 1, heldTypes: 0 })
      const { state, attempts, dueAt, error } = await queue.get(1)
      assert.deepEqual({ state, attempts, dueAt, error }, { state: 'delayed', attempts: 0, dueAt: EPOCH + 100, error: undefined })
      await pass(50)
      assert.deepEqual(starts.slice(2), [['a', 1, 100]])
      assert.deepEqual([bench.idsOf('done'), bench.idsOf('retry')], [[2, 1], []])
    })

    it('is kept across a crash, with the attempts before it and what the last one failed with', async () => {
      for (const [before, attempts] of [[[], 0], [[new Error('first')], 1]]) {
        bench = new Bench()
        starts = []
        answers = [...before, new Postponed(1000)]
        let queue = await open({ maxAttempts: 2, backoffMs: 10 })
        await push(queue, 'a')
        await pass(500)
        queue = await die({ maxAttempts: 2, backoffMs: 10 })
        const found = await queue.get(1)
        assert.deepEqual([found.state, found.attempts, found.error?.message], ['delayed', attempts, before[0]?.message])
        starts = []
        await pass(400)
        assert.deepEqual(starts, [])
        answers = [new Error('last'), new Error('last')].slice(attempts)
        await pass(200)
        assert.deepEqual([starts[0], bench.idsOf('failed')], [['a', attempts + 1, 1000 + 10 * attempts], [1]])
        await queue.close({ drain: true })
      }
    })

    it('waits no longer than it says when the clock of the machine was set back', async () => {
      let queue = await open()
      answers = [new Postponed(100)]
      await push(queue, 'a')
      await pass(1)
      bench.epoch -= 3600000
      queue = await die()
      await pass(100)
      assert.deepEqual([starts.length, queue.length], [2, 0])
    })

    it('leaves the job on disk when the queue closes, which does not wait for it', async () => {
      let queue = await open()
      answers = [new Postponed(100)]
      await push(queue, 'a')
      await pass(1)
      await queue.close({ drain: true })
      queue = await open()
      assert.deepEqual([queue.waiting, starts.length], [1, 1])
    })

    it('may take no time', async () => {
      const queue = await open({ maxAttempts: 1 })
      answers = [new Postponed(0), new Postponed(0)]
      await push(queue, 'a')
      await pass(1)
      assert.deepEqual([starts.length, queue.length], [3, 0])
    })

    it('ends that a job is tried alone after crashes', async () => {
      let queue = await open({ maxAttempts: 2, concurrency: 2, runner: () => {} })
      await push(queue, 'a', 'b')
      await quiet()
      queue = await die({ maxAttempts: 2, concurrency: 2 })
      answers = [new Postponed(50)]
      await pass(100)
      assert.deepEqual([starts, queue.length], [[['a', 2, 0], ['b', 2, 0], ['a', 2, 50]], 0])
    })
  })

  /** As 'fair', but that its types cannot be paused. */
  function lanesThatCannotPause () {
    const lanes = []
    return {
      queued: lane => { if (!lanes.includes(lane)) lanes.push(lane) },
      next: () => lanes.find(({ size }) => size > 0),
      started () {},
      ended () {}
    }
  }
})
