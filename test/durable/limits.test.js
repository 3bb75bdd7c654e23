'use strict'

const assert = require('node:assert')
const { durable } = require('../../lib/durable')
const { seeded, seedFromEnvironment } = require('../support/random')
const { playRounds, rounds } = require('../support/rounds')
const { mostWithin, passingOf } = require('../support/starts')
const { quiet, turn } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')
const { Bench, holdSyncs } = require('./bench')

const NO_PAUSES = { queued () {}, next () {}, started () {}, ended () {} }
const WINDOWS = () => ({ waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 })

const rate = { limit: 1, intervalMs: 100 }
const ONE_AT_A_TIME = [{ rate }, { scheduler: 'equal', ratePerType: rate }]

describe('a durable queue', () => {
  let bench, starts

  /** A queue whose jobs are done at once, and the times at which their runners are called. */
  async function open (options, end = (payload, done) => done()) {
    starts = []
    const runner = (payload, done, context) => {
      starts.push({ payload, type: context.type, attempt: context.attempt, at: bench.clock.now() })
      return end(payload, done, context)
    }
    return bench.open({ runner, ...options })
  }

  /** One with two jobs that are not safe before release(). */
  async function openUnsafe (options) {
    bench = new Bench()
    const queue = await open({ ack: 'disk', ...options })
    const release = holdSyncs(bench.disk)
    push(queue, 't', 't')
    await quiet()
    return { queue, release }
  }

  const times = type => starts.filter(start => type === undefined || start.type === type).map(({ at }) => at)
  const pass = ms => passingOf(bench.clock)(ms)
  const push = (queue, ...types) => Promise.all(types.map(type => queue.pushType(type, type)))

  beforeEach(() => {
    bench = new Bench()
    starts = []
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  describe('with rates', () => {
    it('starts so many jobs of each type in any stretch of time at most, while others go on', async () => {
      const queue = await open({ scheduler: 'equal', ratePerType: { limit: 2, intervalMs: 100 } })
      await push(queue, 'a', 'a', 'a', 'b')
      await pass(10)
      assert.deepEqual([times('a'), times('b')], [[0, 0], [0]])
      assert.deepEqual([queue.waiting, queue.stats().heldTypes, queue.heldMs('a'), queue.heldMs('b')], [1, 1, 90, 0])
      await pass(100)
      assert.deepEqual(times('a'), [0, 0, 100])
      assert.equal(queue.stats().heldTypes, 0)
    })

    it('starts so many in all at most, attempts included', async () => {
      const queue = await open({ rate: { limit: 1, intervalMs: 100 }, backoffMs: 1, maxAttempts: 2 }, (payload, done, { attempt }) => {
        done(attempt === 1 ? new Error('no') : null)
      })
      await queue.push(1)
      await queue.push(2)
      await pass(400)
      assert.deepEqual(starts.map(({ payload, attempt, at }) => [payload, attempt, at]), [[1, 1, 0], [1, 2, 100], [2, 1, 200], [2, 2, 300]])
    })

    it('takes a rate for each type, and asks for it', async () => {
      let queue = await open({ scheduler: 'fair', ratePerType: new Map([['a', { limit: 1, intervalMs: 100 }]]) })
      await push(queue, 'a', 'a', 'b', 'b')
      await pass(50)
      assert.deepEqual([times('a'), times('b')], [[0], [0, 0]])
      await queue.close({ timeoutMs: 0 })
      const ratePerType = type => type === 'b' ? { limit: 1, intervalMs: 200 } : undefined
      queue = await open({ scheduler: 'capped', ratePerType })
      await push(queue, 'a', 'b', 'b')
      await pass(200)
      assert.deepEqual([times('a'), times('b')], [[50, 50], [50, 250]])
    })

    it('takes a place in a rate with a slot, and counts the job when its runner is called, however long that takes', async () => {
      for (const options of ONE_AT_A_TIME) {
        const { queue, release } = await openUnsafe(options)
        assert.equal(queue.running, 1)
        await pass(250)
        assert.deepEqual([times(), queue.running], [[], 1])
        release()
        await pass(150)
        assert.deepEqual(times(), [250, 350])
        await queue.close({ drain: true })
      }
    })

    it('gives back the place of a job that loses its slot', async () => {
      for (const options of ONE_AT_A_TIME) {
        const { queue, release } = await openUnsafe(options)
        queue.pause()
        assert.deepEqual([queue.running, queue.waiting, queue.heldMs()], [0, 2, 0])
        release()
        await quiet()
        queue.resume()
        await pass(100)
        assert.deepEqual(times(), [0, 100])
        await queue.close({ drain: true })
      }
    })

    it('gives back the place of a job that is cancelled before it begins, though no other one of its type is there', async () => {
      const queue = await bench.open({ ack: 'disk', scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 100 } })
      const release = holdSyncs(bench.disk)
      const controller = new AbortController()
      const added = queue.add('a', { type: 't', signal: controller.signal })
      await quiet()
      assert.deepEqual([queue.running, queue.heldMs('t') > 0], [1, true])
      controller.abort()
      await assert.rejects(added, { code: 'FAIRLANE_ERR_ABORTED' })
      release()
      await quiet()
      assert.deepEqual([queue.running, queue.length, queue.heldMs('t')], [0, 0, 0])
      await queue.pushType('t', 'b')
      await bench.gate.until(1)
      assert.deepEqual(bench.gate.payloads, ['b'])
    })

    it('gives back the place of a job that loses its slot to the types that share its lane', async () => {
      const queue = await bench.open({ ack: 'disk', scheduler: 'equal', maxTypes: 1, ratePerType: { limit: 1, intervalMs: 100 } })
      await queue.pushType('own', 'own')
      await bench.gate.until(1)
      const release = holdSyncs(bench.disk)
      queue.pushType('a', 1)
      queue.pushType('b', 2)
      await quiet()
      assert.deepEqual([queue.running, queue.waiting, queue.stats().heldTypes], [2, 1, 1])
      queue.pause()
      assert.deepEqual([queue.running, queue.waiting, queue.stats().heldTypes], [1, 2, 0])
      release()
      await quiet()
      queue.resume()
      await bench.gate.until(2)
      assert.deepEqual([bench.gate.payloads, queue.stats().heldTypes], [['own', 1], 1])
      await pass(100)
      assert.deepEqual(bench.gate.payloads, ['own', 1, 2])
    })

    it('keeps the place of a job that has not begun, however many other types come meanwhile', async () => {
      const queue = await open({ ack: 'disk', scheduler: 'equal', concurrency: 3, ratePerType: { limit: 1, intervalMs: 10 } })
      const release = holdSyncs(bench.disk)
      push(queue, 'a', 'a')
      await quiet()
      for (const type of ['b', 'c', 'd', 'e']) {
        push(queue, type)
        await pass(20)
        queue.remove(job => job.type === type)
        await queue.cancel([...queue.jobs(type)][0]?.id ?? 0)
      }
      release()
      await pass(100)
      assert.deepEqual(times('a').map(at => at - times('a')[0]), [0, 10])
    })

    it('keeps the place of a job that has not begun, also when its type gets a lane of its own meanwhile', async () => {
      const queue = await bench.open({ ack: 'disk', scheduler: 'equal', maxTypes: 1, ratePerType: { limit: 2, intervalMs: 100 } })
      await queue.pushType('own', 'own')
      await bench.gate.until(1)
      const release = holdSyncs(bench.disk)
      queue.pushType('b', 'b')
      queue.pushType('a', 1)
      await quiet()
      assert.equal(queue.running, 3)
      bench.gate.release(1)
      await quiet()
      for (const payload of [2, 3]) queue.pushType('a', payload)
      await quiet()
      assert.deepEqual([queue.running, queue.waiting], [3, 1])
      release()
      await bench.gate.until(4)
      await pass(99)
      assert.deepEqual(bench.gate.payloads.toSorted(), [1, 2, 'b', 'own'])
      await pass(1)
      assert.deepEqual(bench.gate.payloads.at(-1), 3)
    })

    it('counts a job with several rates, whose runner fails to be called', async () => {
      const serialize = {
        encode: payload => Buffer.from([payload]), decode: bytes => { if (bytes[0] === 0) throw new Error('no'); return bytes[0] }
      }
      const rate = [{ limit: 1, intervalMs: 100 }, { limit: 100, intervalMs: 1000 }]
      const queue = await open({ scheduler: 'equal', rate, ratePerType: rate, serialize })
      await queue.pushType('a', 0)
      await queue.pushType('a', 1)
      await pass(1)
      assert.deepEqual([times(), queue.stats().dead], [[0], 1])
    })

    it('may be without a scheduler, or with one that has windows', async () => {
      for (const scheduler of [undefined, WINDOWS()]) {
        bench = new Bench()
        const queue = await open({ scheduler, rate: { limit: 1, intervalMs: 100 } })
        await push(queue, 'a', 'b')
        await pass(100)
        assert.deepEqual(times(), [0, 100])
        await queue.close({ drain: true })
      }
    })

    it('has them checked', () => {
      const opening = options => () => durable(() => {}, { path: 'folder', ...options })
      for (const rate of [1, null, {}, [], { limit: 0, intervalMs: 1 }, { limit: 1, intervalMs: Infinity }]) {
        assert.throws(opening({ rate }), { code: 'FAIRLANE_ERR_OPTION' })
        assert.throws(opening({ scheduler: 'equal', ratePerType: rate }), { code: 'FAIRLANE_ERR_OPTION' })
      }
      for (const scheduler of [undefined, NO_PAUSES, WINDOWS()]) {
        assert.throws(opening({ scheduler, ratePerType: { limit: 1, intervalMs: 1 } }), { code: 'FAIRLANE_ERR_OPTION' })
      }
    })

    it('runs all jobs when it is opened again, by its rates', async () => {
      let queue = await open({ scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 100 } })
      await push(queue, 'a', 'a', 'a')
      await pass(10)
      await queue.close({ timeoutMs: 0 })
      queue = await open({ scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 100 } })
      await pass(300)
      assert.deepEqual([times('a'), queue.length], [[10, 110], 0])
    })
  })

  describe('setRates', () => {
    it('gives rates to a queue that had none, with jobs that wait and types that are paused', async () => {
      const queue = await open({ scheduler: 'equal' })
      queue.pauseType('b').pauseType('idle')
      queue.pause()
      await push(queue, 'a', 'a', 'b')
      assert.equal(queue.setRates({ ratePerType: { limit: 1, intervalMs: 100 } }), queue)
      queue.resume()
      await pass(50)
      assert.deepEqual([times(), queue.isTypePaused('b'), queue.isTypePaused('idle'), queue.isTypePaused('a')], [[0], true, true, false])
      queue.resumeType('b')
      await pass(50)
      assert.deepEqual([times('a'), times('b')], [[0, 100], [50]])
    })

    it('has jobs that have a slot, and not begun, wait for the new rates', async () => {
      const queue = await open({ ack: 'disk' })
      const release = holdSyncs(bench.disk)
      for (const payload of [1, 2, 3]) queue.push(payload)
      await quiet()
      assert.equal(queue.running, 3)
      queue.setRates({ rate: { limit: 1, intervalMs: 100 } })
      await quiet()
      release()
      await pass(200)
      assert.deepEqual(starts.map(({ payload, at }) => [payload, at]), [[1, 0], [2, 100], [3, 200]])
    })

    it('takes rates away, and replaces those of the same interval with what has started', async () => {
      const queue = await open({ scheduler: 'fair', rate: { limit: 1, intervalMs: 100 }, ratePerType: { limit: 1, intervalMs: 200 } })
      await push(queue, 'a', 'a', 'a')
      await pass(10)
      queue.setRates({ rate: null })
      await pass(100)
      assert.deepEqual(times(), [0])
      queue.setRates({ ratePerType: { limit: 2, intervalMs: 200 } })
      await pass(0)
      assert.deepEqual(times(), [0, 110])
      queue.setRates({ ratePerType: null })
      await pass(0)
      assert.deepEqual(times(), [0, 110, 110])
    })

    it('checks what it is given', async () => {
      const queue = await open()
      for (const rates of [
        undefined, 1, { rates: 1 }, { rate: 1 }
      ]) assert.throws(() => queue.setRates(rates), { code: 'FAIRLANE_ERR_ARGUMENT' })
      assert.throws(() => queue.setRates({ ratePerType: { limit: 1, intervalMs: 1 } }), { code: 'FAIRLANE_ERR_SCHEDULER' })
    })
  })

  describe('hold and holdType', () => {
    it('start no job, or none of a type, for so long; they can be made longer, shorter, and ended', async () => {
      const queue = await open({ scheduler: 'equal' })
      assert.deepEqual([queue.heldMs(), queue.heldMs('a'), queue.stats().heldTypes], [0, 0, 0])
      assert.equal(queue.holdType('a', 50), queue)
      assert.equal(queue.hold(20), queue)
      await push(queue, 'a', 'b')
      assert.deepEqual([queue.heldMs(), queue.heldMs('a'), queue.stats().heldTypes], [20, 50, 1])
      await pass(40)
      assert.deepEqual([times('a'), times('b')], [[], [20]])
      queue.holdType('a', 30)
      await pass(100)
      assert.deepEqual(times('a'), [70])
      queue.holdType('a', 100).hold(100)
      await push(queue, 'a')
      queue.holdType('a', 0).hold(0)
      await pass(0)
      assert.deepEqual(times('a'), [70, 140])
    })

    it('take back the slots of jobs that have not begun, and of no others', async () => {
      const queue = await open({ ack: 'disk', scheduler: 'equal' }, () => {})
      await push(queue, 'a')
      await pass(1)
      assert.deepEqual(times(), [0])
      const release = holdSyncs(bench.disk)
      push(queue, 'a', 'b')
      await quiet()
      assert.equal(queue.running, 3)
      queue.holdType('a', 50)
      assert.deepEqual([queue.running, queue.waiting], [2, 1])
      queue.hold(100)
      assert.deepEqual([queue.running, queue.waiting], [1, 2])
      release()
      await pass(200)
      assert.deepEqual([times('a'), times('b')], [[0, 101], [101]])
    })

    it('are independent of pauses', async () => {
      const queue = await open({ scheduler: 'equal' })
      queue.pauseType('a').holdType('a', 10)
      await push(queue, 'a')
      await pass(20)
      assert.deepEqual([times(), queue.isTypePaused('a')], [[], true])
      queue.holdType('a', 10).resumeType('a')
      await pass(20)
      assert.deepEqual(times(), [30])
    })

    it('set no timer for a type without jobs, nor when its jobs are gone', async () => {
      const queue = await open({ scheduler: 'equal' })
      queue.holdType('a', 3600000).hold(3600000)
      assert.equal(bench.clock.timerCount, 0)
      await push(queue, 'a')
      await quiet()
      assert.equal(bench.clock.timerCount, 1)
      queue.clear()
      assert.equal(bench.clock.timerCount, 0)
      queue.hold(0)
      await push(queue, 'a')
      await quiet()
      assert.equal(bench.clock.timerCount, 1)
      queue.clear({ type: 'a' })
      assert.equal(bench.clock.timerCount, 0)
    })

    it('give a type that shares a lane one of its own', async () => {
      const queue = await open({ scheduler: 'equal', maxTypes: 1, concurrency: 1 })
      queue.pause()
      await push(queue, 'own', 'a', 'b')
      queue.holdType('a', 50)
      queue.resume()
      await pass(10)
      assert.deepEqual([times('own'), times('a'), times('b')], [[0], [], [0]])
      await pass(50)
      assert.deepEqual(times('a'), [50])
    })

    it('come in the middle of what looks at jobs', async () => {
      const queue = await open({ scheduler: 'equal' })
      queue.pause()
      await push(queue, 'a', 'b')
      assert.equal(queue.remove(({ type }) => { queue.holdType('a', 50); return type === 'b' }), 1)
      queue.resume()
      await pass(60)
      assert.deepEqual([times('a'), times('b'), queue.length], [[50], [], 0])
    })

    it('are waited for by close()', async () => {
      const queue = await open({ scheduler: 'equal' })
      queue.holdType('a', 50)
      await push(queue, 'a')
      const closed = queue.close({ drain: true })
      await pass(100)
      assert.equal(await closed, 0)
      assert.deepEqual(times(), [50])
    })

    it('leave jobs on disk, and end with the process', async () => {
      let queue = await open({ scheduler: 'equal' })
      queue.holdType('a', 50)
      await push(queue, 'a')
      await queue.close({ timeoutMs: 0 })
      queue = await open({ scheduler: 'equal' })
      await pass(0)
      assert.deepEqual([times(), queue.length], [[0], 0])
    })

    it('check what they are given', async () => {
      const queue = await open({ scheduler: 'equal' })
      for (const ms of [undefined, '1', NaN, -1, Infinity]) {
        for (const call of [() => queue.hold(ms), () => queue.holdType('a', ms)]) assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' })
      }
      assert.throws(() => queue.holdType(Symbol('a'), 1), { code: 'FAIRLANE_ERR_TYPE' })
      await queue.close({ drain: true })
      const without = await open()
      for (const call of [
        () => without.holdType('a', 1), () => without.heldMs('a')
      ]) assert.throws(call, { code: 'FAIRLANE_ERR_SCHEDULER' })
    })

    it('end no process early, and have those that throw when they are asked for a rate told', async () => {
      const uncaught = captureUncaught()
      try {
        const queue = await open({ scheduler: 'equal', ratePerType: () => { throw new Error('mine') } })
        await push(queue, 'a')
        await uncaught.until(1)
        await pass(0)
        assert.deepEqual([uncaught.seen[0].message, times()], ['mine', [0]])
      } finally {
        uncaught.release()
      }
    })
  })

  describe('with rates and holds at random', () => {
    const seed = seedFromEnvironment()

    it(`starts no more than its rates allow, and each job in the end (SEED=${seed})`, async () => {
      await playRounds(rounds(20), seed, seeded, play)
    })

    async function play (random) {
      bench = new Bench()
      const rate = () => ({ limit: 1 + random.below(4), intervalMs: 5 + random.below(30) })
      const rates = { rate: random.chance(0.5) ? rate() : undefined, ratePerType: rate() }
      const isDisk = random.chance(0.7)
      const queue = await open({
        scheduler: random.pick(['equal', 'fair']),
        concurrency: 1 + random.below(4),
        ack: isDisk ? 'disk' : 'os',
        maxTypes: random.pick([1, Infinity]),
        ...rates
      }, (payload, done) => {
        bench.clock.setTimeout(done, random.below(10))
      })
      let release
      let count = 0
      const calls = [
        () => { count++; queue.pushType(random.pick(['a', 'b', 'c']), count) },
        () => { count++; queue.pushType(random.pick(['a', 'b', 'c']), count) },
        () => { release ??= holdSyncs(bench.disk) },
        () => { release?.(); release = undefined },
        () => queue.pause(),
        () => queue.resume(),
        () => queue.holdType(random.pick(['a', 'b']), random.below(20)),
        () => queue.hold(random.below(5)),
        () => queue.pauseType('a'),
        () => queue.resumeType('a')
      ]
      for (let i = 0; i < 60; i++) {
        random.pick(calls)()
        await turn()
        if (random.chance(0.5)) bench.clock.advance(random.below(8))
      }
      release?.()
      queue.resume()
      queue.resumeType('a')
      for (let i = 0; i < 1000 && queue.length > 0; i++) await pass(20)
      assert.equal(starts.length, count)
      if (rates.rate !== undefined) assert(mostWithin(times(), rates.rate.intervalMs) <= rates.rate.limit, 'of the queue')
      const { limit, intervalMs } = rates.ratePerType
      for (const type of ['a', 'b', 'c']) assert(mostWithin(times(type), intervalMs) <= limit, `of ${type}`)
      await queue.close({ drain: true })
    }
  })
})
