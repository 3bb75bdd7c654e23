'use strict'

// Priorities of jobs on disk: a job stands where it would had it been pushed so many times `priorityMs` earlier, in this process and in
// those that come after it.

const assert = require('node:assert')
const { durable } = require('../../lib/durable')
const { seeded, seedFromEnvironment } = require('../support/random')
const { playRounds, rounds } = require('../support/rounds')
const { quiet, turn } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')
const { Bench, EPOCH } = require('./bench')
const { systemError } = require('../log/disk')
const { LevelsModel } = require('./levels-model')

const OPTION = { code: 'FAIRLANE_ERR_OPTION' }
const ARGUMENT = { code: 'FAIRLANE_ERR_ARGUMENT' }
const WINDOWS = { waiting () {}, start () {}, done () {}, select: () => 0 }
const ERROR = new Error('expected')

for (const scheduler of [undefined, 'equal', 'fair', 'capped']) {
  const type = scheduler && 'a'

  describe(`priorities of jobs on disk (${scheduler ?? 'no scheduler'})`, () => {
    const options = { scheduler, priorityMs: 100, concurrency: 1 }
    let bench

    beforeEach(() => { bench = new Bench() })
    afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

    const push = (payload, said) => type ? bench.queue.pushType(type, payload, said) : bench.queue.push(payload, said)

    /** Opens the queue, paused. */
    async function openPaused (more) {
      const queue = await bench.open({ ...options, ...more })
      return queue.pause()
    }

    /** The payloads of all jobs, in the order in which they start. */
    async function startsOf () {
      const { queue, gate } = bench
      queue.resume(1)
      for (let count = gate.started.length + 1; queue.waiting + gate.open.length > 0; count++) {
        await quiet()
        gate.release()
        await turn()
        if (count > 100) throw new Error('too many')
      }
      return gate.payloads
    }

    /** The first attempt at a job of priority 3, and its only one, fails. The queue is paused then. */
    async function pushDead () {
      await push('dead', { priority: 3 })
      bench.queue.resume(1)
      await bench.gate.until(1)
      bench.gate.open.shift().done(ERROR)
      await turn()
      bench.queue.pause()
    }

    async function pushMixed () {
      await push('at 0')
      bench.clock.advance(150)
      await push('at 150')
      await push('at 150, of 1', { priority: 1 })
      await push('at 150, of 2', { priority: 2 })
      bench.clock.advance(110)
      await push('at 260, of 2', { priority: 2 })
      await push('at 260')
    }

    const MIXED = ['at 150, of 2', 'at 0', 'at 150, of 1', 'at 260, of 2', 'at 150', 'at 260']

    it('have a job start where it would had it been pushed earlier', async () => {
      const queue = await openPaused()
      await pushMixed()
      assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), [
        'at 0', 'at 150', 'at 150, of 1', 'at 150, of 2', 'at 260, of 2', 'at 260'
      ])
      assert.equal(queue.stats().types, scheduler ? 1 : 0)
      assert.deepEqual(await startsOf(), MIXED)
    })

    for (const end of ['reopen', 'reopenAfterKill']) {
      it(`hold when the queue is opened again (${end}), and new jobs stand where they would have before`, async () => {
        await openPaused()
        await pushMixed()
        bench.clock.advance(50)
        await bench[end](options)
        bench.queue.pause()
        await push('at 310, of 3', { priority: 3 })
        await push('at 310', { priority: 0 })
        assert.deepEqual(await startsOf(), ['at 150, of 2', 'at 0', 'at 310, of 3', ...MIXED.slice(2), 'at 310'])
      })
    }

    it('come after what is unshifted, after what comes back, and after what had begun', async () => {
      await openPaused({ backoffMs: 10 })
      await push('failing')
      bench.queue.resume(1)
      await bench.gate.until(1)
      bench.gate.open.shift().done(ERROR)
      await turn()
      bench.queue.pause()
      await push('urgent', { priority: 15 })
      if (type) await bench.queue.unshiftType(type, 'front', { priority: 1 })
      else await bench.queue.unshift('front', { priority: 1 })
      bench.clock.advance(10)
      await quiet()
      await bench.reopenAfterKill(options)
      bench.queue.pause()
      assert.deepEqual(await startsOf(), ['failing', 'front', 'urgent'])
    })

    it('go with delays, from the end of which on they count', async () => {
      await openPaused()
      await push('now')
      await push('later', { delayMs: 50, priority: 1 })
      await push('too late', { delayMs: 150, priority: 1 })
      bench.clock.advance(50)
      await bench.reopenAfterKill(options)
      bench.queue.pause()
      bench.clock.advance(100)
      await push('at 150')
      assert.deepEqual(await startsOf(), ['later', 'now', 'too late', 'at 150'])
    })

    it('go with keys: what shares a job leaves it where it stands', async () => {
      await openPaused()
      await push('low')
      await push('old', { priority: 2, key: 'k' })
      await push('low as well', { key: 'l' })
      await push('new', { priority: 1, key: 'k', onDuplicate: 'replace' })
      await push('not high', { priority: 15, key: 'l', onDuplicate: 'replace' })
      await bench.reopenAfterKill(options)
      bench.queue.pause()
      await push('of 1', { priority: 1 })
      assert.deepEqual(await startsOf(), ['new', 'of 1', 'low', 'not high'])
    })

    it('go with limits of time, batches, add(), dead letters, and pushes that are held', async () => {
      await openPaused({ maxInflightOps: 1, maxAttempts: 1 })
      await pushDead()
      const all = [push('low'), push('of 1', { priority: 1, maxWaitMs: 5000 }), bench.queue.pushAll([
        { type, payload: 'of 2', priority: 2 }, { type, payload: 'of 0' }
      ])]
      const added = bench.queue.add('of 4', { type, priority: 4 })
      const [{ id }] = await bench.queue.deadLetters()
      await Promise.all(all)
      await bench.queue.retryDead(id)
      assert.deepEqual((await startsOf()).slice(1), ['of 4', 'dead', 'of 2', 'of 1', 'low', 'of 0'])
      assert.equal(await added, 'of 4')
    })

    it('hold for a dead letter that waits again and a limited wait when the queue is opened again', async () => {
      await openPaused({ maxAttempts: 1 })
      await pushDead()
      await push('low')
      await push('of 4', { priority: 4, maxWaitMs: 5000 })
      await bench.queue.retryDead(1)
      await bench.reopen(options)
      bench.queue.pause()
      assert.deepEqual(await startsOf(), ['of 4', 'dead', 'low'])
    })

    it('go with rates and holds', async () => {
      await openPaused({ rate: { limit: 1, intervalMs: 10 } })
      await push('low')
      await push('high', { priority: 1 })
      bench.queue.hold(5)
      bench.queue.resume(1)
      await quiet()
      assert.deepEqual(bench.gate.payloads, [])
      bench.clock.advance(5)
      await quiet()
      bench.gate.release()
      bench.clock.advance(10)
      await quiet()
      assert.deepEqual(bench.gate.payloads, ['high', 'low'])
    })

    it('keep to the order of ids within a level, however the clock of the machine was set', async () => {
      await openPaused()
      bench.epoch = EPOCH + 1e9 // too late
      await push('a')
      bench.epoch = EPOCH - 1e9 // too early
      await push('b')
      bench.epoch = EPOCH
      await push('c')
      await push('d', { priority: 15 })
      await bench.reopenAfterKill(options)
      bench.queue.pause()
      bench.clock.advance(1400)
      await push('e', { priority: 15 })
      bench.clock.advance(200)
      await push('f', { priority: 15 })
      assert.deepEqual(await startsOf(), ['d', 'e', 'a', 'b', 'c', 'f'])
    })

    it('hold for jobs that are older than the queue can tell', async () => {
      await openPaused()
      bench.epoch = EPOCH - 10 * 366 * 24 * 3600 * 1000
      await push('ancient')
      bench.epoch = EPOCH - 5 * 366 * 24 * 3600 * 1000
      await push('old')
      bench.epoch = EPOCH
      await push('low')
      await push('high', { priority: 15 })
      await bench.reopenAfterKill(options)
      bench.queue.pause()
      assert.deepEqual(await startsOf(), ['ancient', 'old', 'high', 'low'])
    })

    const seed = seedFromEnvironment()

    it(`hold in random lives, beside a list that is sorted each time (SEED=${seed})`, () => playRounds(
      rounds(8), seed, seeded, random => play(random, scheduler)
    ))
  })
}

describe('the options priority and priorityMs of a queue on disk', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  /** Jobs start one after the other. */
  async function startAll (count) {
    for (let i = 0; i < count; i++) {
      await quiet()
      bench.gate.release()
    }
  }

  it('are checked', async () => {
    for (const priorityMs of [
      0, -1, Infinity, NaN, '1', null, 2 ** 32
    ]) assert.throws(() => durable(() => {}, { path: 'x', priorityMs }), OPTION)
    assert.throws(() => durable(() => {}, { path: 'x', priorityMs: 5, scheduler: WINDOWS }), { ...OPTION, message: /lanes/ })
    const queue = await bench.open({ priorityMs: 5 })
    for (const priority of [-1, 16, 1.5, '1', null, NaN]) {
      assert.throws(() => queue.push(1, { priority }), ARGUMENT)
      assert.throws(() => queue.add(1, { priority }), ARGUMENT)
      assert.throws(() => queue.pushAll([{ payload: 1, priority }]), ARGUMENT)
    }
    assert.equal(queue.length, 0)
  })

  it('belong together', async () => {
    const queue = await bench.open()
    const refused = { ...ARGUMENT, message: /priorityMs/ }
    assert.throws(() => queue.push(1, { priority: 0 }), refused)
    assert.throws(() => queue.unshiftType('t', 1, { priority: 1 }), refused)
    assert.throws(() => queue.add(1, { priority: 0 }), refused)
    assert.throws(() => queue.pushAll([{ payload: 1 }, { payload: 1, priority: 0 }]), refused)
    assert.equal(queue.length, 0)
  })

  it('take nothing from other types', async () => {
    const queue = await bench.open({ scheduler: 'fair', concurrency: 1, priorityMs: 1000 })
    queue.pause()
    for (const payload of ['b1', 'b2']) await queue.pushType('b', payload)
    for (const payload of ['a1', 'a2', 'a3']) await queue.pushType('a', payload, { priority: 15 })
    queue.resume(1)
    await startAll(5)
    assert.deepEqual(bench.gate.payloads.slice(0, 2), ['b1', 'b2'])
  })

  it('leave priorities on disk where a queue is opened without priorityMs: they hold again when it has it', async () => {
    const queue = await bench.open({ concurrency: 1, priorityMs: 100 })
    queue.pause()
    for (const [payload, priority] of [['low', 0], ['high', 2], ['lower', 0], ['higher', 5]]) await queue.push(payload, { priority })
    await bench.reopen({ concurrency: 1 })
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.payloads, ['low'])
    await bench.reopen({ concurrency: 1, priorityMs: 100, maxAttempts: 5 })
    await startAll(4)
    assert.deepEqual(bench.gate.payloads, ['low', 'higher', 'high', 'lower'])
  })

  const seed = seedFromEnvironment()

  for (const ack of ['os', 'disk']) {
    it(`hold for what is there, wherever the process dies or the power fails: ${ack} (SEED=${seed})`, async () => {
      const random = seeded(seed)
      const queue = await bench.open({ ack, priorityMs: 10, segmentBytes: 1024 })
      queue.pause()
      const images = []
      bench.disk.beforeStep = () => images.push(random.chance(0.5) ? bench.disk.afterKill() : bench.disk.afterPowerLoss(random))
      const pushes = []
      for (let i = 0; i < 30; i++) {
        const priority = random.pick([undefined, 0, 1, 2, 15])
        pushes.push({ payload: `${i}`.padEnd(random.below(200)), at: bench.clock.now(), priority: priority ?? 0 })
        const pushed = queue.push(pushes[i].payload, { priority, key: random.chance(0.3) ? i : undefined })
        if (random.chance(0.3)) await pushed
        if (random.chance(0.5)) bench.clock.advance(random.below(30))
      }
      await queue.flush()
      bench.disk.beforeStep = () => {}
      for (const disk of [...images, bench.disk.afterKill()]) {
        const other = new Bench()
        other.disk = disk
        other.clock.advance(bench.clock.now())
        const model = new LevelsModel(10)
        let failure
        const runner = (payload, done) => {
          failure ??= model.start(payload)
          setImmediate(done)
        }
        const opened = await other.open({ priorityMs: 10, concurrency: 1, segmentBytes: 1024, runner })
        const there = new Set([...opened.jobs()].map(({ payload }) => payload))
        for (const { payload, at, priority } of pushes) if (there.has(payload)) model.push(payload, at, priority)
        await opened.onIdle()
        assert.deepEqual([failure, model.waiting], [undefined, []])
        await opened.close({ drain: true })
      }
    })
  }

  for (const code of ['EIO', 'ENOSPC']) {
    it(`hold for the jobs that are there when others cannot be written: ${code}`, async () => {
      const warnings = captureWarnings()
      try {
        const queue = await bench.open({ concurrency: 1, priorityMs: 100 })
        queue.pause()
        await queue.push('low')
        await queue.push('high', { priority: 2 })
        bench.disk.fault = kind => kind === 'write' ? systemError(code) : undefined
        await assert.rejects(queue.push('lost', { priority: 15 }), { code: 'FAIRLANE_ERR_IO' })
        await assert.rejects(queue.pushAll([
          { payload: 'lost as well', priority: 3 }, { payload: 'and this one' }
        ]), { code: 'FAIRLANE_ERR_IO' })
        bench.disk.fault = () => undefined
        for (let i = 0; i < 5; i++) {
          bench.clock.advance(1000)
          await quiet()
        }
        queue.resume(1)
        await startAll(2)
        assert.deepEqual(bench.gate.payloads, ['high', 'low'])
        await queue.onIdle()
      } finally {
        warnings.release()
      }
    })
  }

  it('hold for jobs whose records cannot be read for a while', async () => {
    const warnings = captureWarnings()
    try {
      const queue = await bench.open({ concurrency: 1, priorityMs: 100 })
      queue.pause()
      for (const [payload, priority] of [['low', 0], ['high', 2], ['lower', 0], ['middle', 1]]) await queue.push(payload, { priority })
      await queue.flush()
      bench.disk.fault = kind => kind === 'read' ? systemError('EMFILE') : undefined
      queue.resume(1)
      await quiet()
      assert.deepEqual(bench.gate.payloads, [])
      bench.disk.fault = () => undefined
      for (let i = 0; i < 5; i++) {
        bench.clock.advance(1000)
        await quiet()
      }
      await startAll(4)
      assert.deepEqual(bench.gate.payloads, ['high', 'middle', 'low', 'lower'])
    } finally {
      warnings.release()
    }
  })

  it('are of schedules, too', async () => {
    const schedule = { everyMs: 1000, payload: 'tick', priority: 2 }
    assert.throws(() => durable(() => {}, { path: 'x', schedules: { tick: schedule } }), { ...OPTION, message: /priorityMs/ })
    assert.throws(() => durable(() => {}, { path: 'x', priorityMs: 5, schedules: { tick: { ...schedule, priority: 16 } } }), OPTION)
    const options = { concurrency: 1, priorityMs: 1000, schedules: { tick: schedule } }
    const queue = await bench.open(options)
    queue.pause()
    await queue.push('low')
    bench.clock.advance(1000)
    await quiet()
    await bench.reopenAfterKill(options)
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.payloads, ['tick'])
  })
})

/** Lives of a queue, each ended in order or by a crash, with jobs of one type beside a list of them. */
async function play (random, scheduler) {
  const bench = new Bench()
  const type = scheduler && 'a'
  const priorityMs = 1 + random.below(20)
  const model = new LevelsModel(priorityMs)
  let failure
  let count = 0
  let life = 0
  for (; life < 4; life++) {
    const now = life
    let left = 0 // so many jobs may start now
    const runner = (payload, done) => {
      if (now !== life) return
      failure ??= model.start(payload)
      if (--left === 0) queue.pause() // no other has a slot, which would stand before all others afterwards
      setImmediate(done)
    }
    const options = { scheduler, priorityMs, concurrency: 1, runner, ack: 'os' }
    const queue = await bench.open(options)
    queue.pause()
    for (let i = 0; i < 25; i++) {
      if (random.chance(0.7)) {
        const payload = `${count++}`
        const priority = random.pick([0, 0, 1, 2, 15])
        const atHead = random.chance(0.1)
        model.push(payload, bench.clock.now(), priority, atHead)
        const said = priority > 0 || random.chance(0.2) ? { priority } : undefined
        if (type) await queue[atHead ? 'unshiftType' : 'pushType'](type, payload, said)
        else await queue[atHead ? 'unshift' : 'push'](payload, said)
      }
      if (random.chance(0.1) && model.waiting.length > 0) {
        const { payload } = random.pick(model.waiting)
        assert.equal(queue.remove(job => job.payload === payload), 1)
        model.remove(payload)
      }
      if (random.chance(0.5)) bench.clock.advance(random.below(30))
      if (random.chance(0.2)) await start(1 + random.below(4))
    }
    assert.equal(queue.length, model.waiting.length)
    if (life === 3) await start(Infinity)
    if (random.chance(0.5)) await queue.close({ timeoutMs: 0 })
    else bench.disk = bench.disk.afterKill()

    async function start (count) {
      left = count
      queue.resume(1)
      while (!queue.paused && queue.length > 0) await turn()
      queue.pause()
      await quiet()
      if (failure) throw failure
    }
  }
  assert.equal(model.waiting.length, 0)
}
