'use strict'

// Keys of jobs on disk: one job for a key, in this process and in those that come after it.

const assert = require('node:assert')
const { NO_KEYS } = require('../shared/keys')
const { openJobStore } = require('../../lib/durable/life/job-store')
const { rounds } = require('../support/rounds')
const { seedFromEnvironment } = require('../support/random')
const { captureWarnings } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, EPOCH, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')
const { FOLDER, unlocked } = require('../log/history')
const { KeyRound } = require('./key-rounds')

const base = seedFromEnvironment()
const ROUNDS = rounds(20)
const waitingIn = queue => [...queue.jobs()].map(({ payload }) => payload)

describe('the key of a job on disk', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const fail = async (queue, count = 1) => {
    for (let i = 0; i < count; i++) bench.gate.fail(new Error('no'))
    await turn()
  }

  it('is that of one job until it starts, within its type', async () => {
    const queue = await bench.open({ concurrency: 1 })
    queue.pause()
    const first = await queue.pushType('t', 'a', { key: 'k' })
    assert.equal(await queue.pushType('t', 'b', { key: 'k' }), first)
    assert.equal(await queue.unshiftType('t', 'c', { key: 'k', delayMs: 5 }), first)
    assert.notEqual(await queue.pushType('u', 'd', { key: 'k' }), first)
    assert.notEqual(await queue.pushType('t', 'e', { key: 'l' }), first)
    const untyped = await queue.push('f', { key: 'k' })
    assert.equal(await queue.pushType('', 'g', { key: 'k' }), untyped)
    assert.deepEqual(waitingIn(queue), ['a', 'd', 'e', 'f'])
    assert.deepEqual([queue.stats().joined, queue.stats().accepted], [3, 4])
    queue.resume()
    await bench.gate.until(1)
    assert.notEqual(await queue.pushType('t', 'h', { key: 'k' }), first)
    assert.equal(await queue.pushType('t', 'i', { key: 'k' }), 5)
  })

  it('is free when its time is over, also before it is forgotten', async () => {
    const queue = await bench.open()
    const first = await queue.push('a', { key: 'k', keyUntil: 10.25 })
    await bench.gate.until(1)
    bench.gate.release(1)
    await turn()
    bench.clock.advance(10)
    assert.equal(await queue.push('b', { key: 'k' }), first)
    bench.clock.advance(0.5) // timers are in whole ms
    assert.notEqual(await queue.push('c', { key: 'k' }), first)
  })

  it('is made into a string, which must be one that can be written and read back', async () => {
    const queue = await bench.open()
    queue.pause()
    await queue.push('a', { key: 5 })
    assert.equal(await queue.push('b', { key: '5' }), 1)
    assert.equal(await queue.push('c', { key: '' }), 2)
    for (const key of ['\ud800', ...NO_KEYS]) assert.throws(() => queue.push(1, { key }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const bytes of [2 ** 15 + 1, 2 ** 17]) {
      await assert.rejects(queue.push(1, { key: 'x'.repeat(bytes) }), { code: 'FAIRLANE_ERR_TOO_LARGE' })
    }
    assert.equal(queue.stats().rejected, 2)
    assert.equal(await queue.push('d', { key: 'ü'.repeat(2 ** 14) }), 3)
    await bench.reopenAfterKill()
    assert.equal(await bench.queue.push('e', { key: 'ü'.repeat(2 ** 14) }), 3)
  })

  for (const [keyUntil, isTaken] of [
    ['started', { waiting: true, recalled: true, running: false, delayed: false, dead: false, done: false }],
    ['settled', { waiting: true, recalled: true, running: true, delayed: true, dead: false, done: false }],
    [1000, { waiting: true, recalled: true, running: true, delayed: true, dead: true, done: true }]
  ]) {
    for (const how of ['now', 'after a restart', 'after a kill']) {
      it(`is taken as long as keyUntil says: ${keyUntil}, ${how}`, async () => {
        const options = { maxAttempts: 2, backoffMs: 100, ack: 'os' }
        let queue = await bench.open(options)
        queue.pause()
        const said = { keyUntil, onDuplicate: 'join' }
        await queue.push('waiting', { key: 'waiting', ...said })
        queue.pause()
        for (const payload of ['running', 'delayed', 'dead', 'done']) {
          await queue.unshift(payload, { key: payload, ...said, maxAttempts: payload === 'dead' ? 1 : undefined })
        }
        queue.concurrency = 4
        queue.resume()
        await bench.gate.until(4)
        queue.pause()
        for (const job of bench.gate.open.splice(0)) {
          if (job.payload === 'running') continue
          if (job.payload === 'done') job.done()
          else job.done(new Error('no'))
        }
        const states = { waiting: 'waiting', running: 'running', delayed: 'delayed', dead: 'dead', done: undefined }
        for (const [i, name] of [
          'waiting', 'running', 'delayed', 'dead', 'done'
        ].entries()) assert.equal((await queue.get(i + 1))?.state, states[name])
        if (how === 'after a restart') queue = await bench.reopen({ ...options, concurrency: 1 })
        if (how === 'after a kill') queue = await bench.reopenAfterKill({ ...options, concurrency: 1 })
        queue.pause()
        assert.equal(queue.recovered.jobs, how === 'now' ? 0 : 4)
        for (const [i, name] of ['waiting', 'running', 'delayed', 'dead', 'done'].entries()) {
          const id = await queue.push('again', { key: name, ...said })
          assert.equal(id === i + 1, isTaken[name], name)
        }
        bench.clock.advance(1000)
        assert.equal(await queue.push('later', { key: 'waiting', ...said }), 1)
        assert.notEqual(await queue.push('later', { key: 'done', ...said }), 5)
      })
    }
  }

  it('is taken though the job was recalled before its first start', async () => {
    const queue = await bench.open({ ack: 'disk' })
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a', { key: 'k' })
    await quiet()
    assert.equal(queue.running, 1)
    const joined = queue.push('b', { key: 'k' })
    queue.pause()
    release()
    assert.deepEqual(await Promise.all([pushed, joined]), [1, 1])
    assert.equal(await queue.push('c', { key: 'k' }), 1)
    await bench.reopenAfterKill({ ack: 'disk' })
    assert.equal(await bench.queue.push('c', { key: 'k' }), 1)
  })

  it('outlives its job by a record, which is no job, and goes when the time is over', async () => {
    const options = { capacity: 1, capacityBytes: 1000 }
    let queue = await bench.open(options)
    await queue.push('a', { key: 'k', keyUntil: 1000 })
    await bench.gate.until(1)
    bench.gate.release()
    await queue.onIdle()
    assert.equal(await queue.push('b', { key: 'k' }), 1)
    assert.deepEqual([
      await queue.get(1), await queue.cancel(1), await queue.retryDead(1), queue.length, waitingIn(queue)
    ], [undefined, false, false, 0, []])
    await queue.fflush()
    bench.clock.advance(400)
    queue = await bench.reopenAfterKill(options)
    assert.deepEqual([queue.recovered.jobs, await queue.push('c', { key: 'k' }), queue.length], [0, 1, 0])
    bench.clock.advance(599)
    assert.equal(await queue.push('d', { key: 'k' }), 1)
    bench.clock.advance(1)
    const id = await queue.push('e', { key: 'k', keyUntil: 'settled' })
    assert.notEqual(id, 1)
    await bench.gate.until(1)
    bench.gate.release()
    await queue.flush()
    await bench.reopenAfterKill(options)
    assert.notEqual(await bench.queue.push('f', { key: 'k' }), id)
  })

  it('that has outlived its job is forgotten when the queue is opened after its time', async () => {
    await bench.open()
    await bench.queue.push('a', { key: 'k', keyUntil: 1000 })
    await bench.gate.until(1)
    bench.gate.release()
    await bench.queue.close({ drain: true })
    bench.clock.advance(1000)
    await bench.open({ segmentBytes: 1024 })
    assert.notEqual(await bench.queue.push('b', { key: 'k' }), 1)
    await bench.queue.flush()
    for (let i = 0; i < 10; i++) await bench.queue.push('x'.repeat(500)).then(id => bench.queue.cancel(id))
    assert.equal(bench.disk.list('/queue').includes('0000000001.log'), false)
  })

  it('that was pushed in the future, since the clock was set back, is taken for no longer than its time', async () => {
    await bench.open()
    await bench.queue.push('a', { key: 'k', keyUntil: 1000 })
    await bench.gate.until(1)
    bench.gate.release()
    await bench.queue.close({ drain: true })
    bench.epoch -= 1e9
    await bench.open()
    bench.clock.advance(999)
    assert.equal(await bench.queue.push('b', { key: 'k' }), 1)
    bench.clock.advance(1)
    assert.notEqual(await bench.queue.push('b', { key: 'k' }), 1)
  })

  it('that two jobs have had one after the other is that of the later one, whatever the clock says when the queue is opened', async () => {
    await bench.open({ backoffMs: 1e6 })
    await bench.queue.push('a', { key: 'k', keyUntil: 1000 })
    await bench.gate.until(1)
    await fail(bench.queue)
    bench.clock.advance(1000)
    const id = await bench.queue.push('b', { key: 'k', keyUntil: 1000 })
    bench.epoch -= 1500
    await bench.reopen()
    assert.equal(await bench.queue.push('c', { key: 'k', keyUntil: 1000 }), id)
    assert.equal(bench.queue.recovered.jobs, 2)
  })

  it('gives room back on disk when its time is over, and others come', async () => {
    const queue = await bench.open({ runner: async () => {}, serialize: 'json', segmentBytes: 1024 })
    const filling = 'x'.repeat(100)
    for (let i = 0; i < 300; i++) {
      await queue.push(filling, { key: i, keyUntil: 10 })
      await queue.onIdle()
      bench.clock.advance(1)
    }
    await quiet()
    assert(queue.diskBytes() < 60 * 300, `${queue.diskBytes()} bytes`)
  })

  describe('whose time is over', () => {
    const taken = { key: 'k', keyUntil: 1000 }

    /** What is on disk when the queue has closed. */
    async function storedCount () {
      await bench.queue.close({ timeoutMs: 0 })
      bench.queue = undefined
      const store = await openJobStore(FOLDER, { ack: 'os', segmentBytes: 4096 }, { files: bench.disk, lock: unlocked })
      const { size } = store.table
      await store.close()
      return size
    }

    it('gives its room back on disk though nothing else comes', async () => {
      const queue = await bench.open({ runner: async () => ({}), settleBy: 'promise', segmentBytes: 1024 })
      for (let i = 0; i < 50; i++) await queue.add('x'.repeat(100), { key: i, keyUntil: 1000 })
      await quiet()
      assert(queue.diskBytes() > 6000, `${queue.diskBytes()} bytes`)
      bench.clock.advance(999)
      await quiet()
      assert(queue.diskBytes() > 6000, `${queue.diskBytes()} bytes`)
      bench.clock.advance(1)
      await quiet()
      assert(queue.diskBytes() < 3000, `${queue.diskBytes()} bytes`)
      assert.equal(bench.clock.timerCount, 0)
      assert.equal(await storedCount(), 0)
    })

    it('does so for keys that are found when the queue is opened', async () => {
      await bench.open()
      await bench.queue.push('a', taken)
      await bench.gate.until(1)
      bench.gate.release()
      bench.clock.advance(400)
      await bench.reopen()
      bench.clock.advance(600)
      await quiet()
      assert.equal(bench.clock.timerCount, 0)
      assert.equal(await storedCount(), 0)
    })

    it('waits for the first start of its job', async () => {
      const queue = await bench.open()
      queue.pause()
      await queue.push('a', taken)
      bench.clock.advance(2000)
      await quiet()
      assert.deepEqual([await queue.push('b', taken), bench.clock.timerCount], [1, 0])
      queue.resume()
      await bench.gate.until(1)
      bench.gate.release()
      bench.clock.advance(1)
      await quiet()
      assert.equal(await storedCount(), 0)
    })

    it('is looked for in slices, between which the event loop turns', async () => {
      const COUNT = 5000
      const queue = await bench.open({
        runner: async () => {}, settleBy: 'promise', concurrency: COUNT, segmentBytes: 2 ** 26, maxInflightOps: Infinity
      })
      for (let i = 0; i < COUNT; i++) queue.push(0, { key: i, keyUntil: 1000 })
      await queue.onIdle()
      // each look at the time takes a ms
      const { now } = performance
      let time = now.call(performance)
      performance.now = () => ++time
      let writes = 0
      bench.disk.fault = kind => { if (kind === 'write') writes++ }
      try {
        bench.clock.advance(1000)
        await quiet()
      } finally {
        performance.now = now
      }
      // what is forgotten in a turn is written in it
      assert(writes > 2, `${writes} writes`)
      assert.equal(await storedCount(), 0)
    })

    it('is left on disk when the queue closes or its log fails, and no timer is', async () => {
      await bench.open()
      await bench.queue.push('a', taken)
      await bench.gate.until(1)
      bench.gate.release()
      await bench.queue.onIdle()
      assert.equal(bench.clock.timerCount, 1)
      await bench.queue.close({ drain: true })
      assert.equal(bench.clock.timerCount, 0)
      await bench.open({ ack: 'disk' })
      assert.equal(bench.clock.timerCount, 1)
      const warnings = captureWarnings()
      bench.disk.fault = kind => kind === 'sync' ? systemError('EIO') : undefined
      await assert.rejects(bench.queue.push('b'), { code: 'FAIRLANE_ERR_IO' })
      assert.equal(bench.clock.timerCount, 0)
      bench.disk.fault = () => undefined
      await assert.rejects(bench.queue.close(), { code: 'FAIRLANE_ERR_IO' })
      warnings.release()
      bench.queue = undefined
    })
  })

  it('is free when its job is cancelled, removed, waited too long, or could not be written', async () => {
    const queue = await bench.open()
    queue.pause()
    await queue.push('a', { key: 'a', keyUntil: 1000 })
    assert.equal(await queue.cancel(1), true)
    assert.equal(await queue.push('a', { key: 'a', keyUntil: 1000 }), 2)
    queue.clear()
    assert.equal(await queue.push('a', { key: 'a', maxWaitMs: 10 }), 3)
    bench.clock.advance(10)
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    const pushes = [queue.push('b', { key: 'a' }), queue.push('c', { key: 'a' })]
    for (const push of pushes) {
      await assert.rejects(push, { code: 'FAIRLANE_ERR_IO' })
    }
    bench.disk.fault = () => undefined
    await quiet()
    assert.equal(queue.waiting, 0)
    await queue.push('d', { key: 'a' })
    assert.deepEqual(waitingIn(queue), ['d'])
    warnings.release()
  })

  it('is shared while its job is held, and free if that is taken back', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    const release = holdSyncs(bench.disk)
    const pushes = [queue.push('first'), queue.push('a', { key: 'k' }), queue.push('b', { key: 'k' })]
    const taken = assert.rejects(queue.push('c', { key: 'l' }), { code: 'FAIRLANE_ERR_CLEARED' })
    queue.remove(({ payload }) => payload === 'c')
    pushes.push(queue.push('d', { key: 'l' }), queue.push('e', { key: 'l' }))
    release()
    await taken
    const [, a, b, d, e] = await Promise.all(pushes)
    assert.deepEqual([a, b, d, e], [2, 2, 3, 3])
  })

  it('is joined in a full queue, and not in one that is closed', async () => {
    const queue = await bench.open({ maxWaiting: 1, concurrency: 1 })
    queue.pause()
    await queue.push('a', { key: 'k' })
    await assert.rejects(queue.push('c'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    assert.equal(await queue.push('d', { key: 'k' }), 1)
    assert.equal(await queue.push('e', { key: 'k', onDuplicate: 'replace' }), 1)
    assert.deepEqual([waitingIn(queue), queue.stats().rejected], [['e'], 1])
    queue.close({ timeoutMs: 0 })
    await assert.rejects(queue.push('f', { key: 'k' }), { code: 'FAIRLANE_ERR_CLOSED' })
  })

  it("with 'replace' gives the job another payload, which keeps its place, here and after a kill", async () => {
    const queue = await bench.open({ concurrency: 1 })
    queue.pause()
    await queue.pushType('t', 'a', { key: 'k', maxAttempts: 1, keyUntil: 'settled' })
    await queue.push('b')
    assert.equal(await queue.pushType('t', 'c', { key: 'k', onDuplicate: 'replace' }), 1)
    assert.deepEqual(waitingIn(queue), ['c', 'b'])
    await bench.reopenAfterKill({ concurrency: 1 })
    assert.deepEqual(waitingIn(bench.queue), ['c', 'b'])
    await bench.gate.until(1)
    // it runs
    assert.equal(await bench.queue.pushType('t', 'd', { key: 'k', onDuplicate: 'replace' }), 1)
    assert.equal((await bench.queue.get(1)).payload, 'c')
    await fail(bench.queue)
    assert.deepEqual(bench.idsOf('failed'), [1])
    bench.queue.pause()
    const id = await bench.queue.pushType('t', 'e', { key: 'k' })
    assert.notEqual(id, 1)
  })

  it("with 'replace' loses no update of a job that has a slot and has not begun", async () => {
    const queue = await bench.open({ ack: 'disk' })
    const release = holdSyncs(bench.disk)
    const pushes = [queue.push('a', { key: 'k' })]
    await quiet()
    pushes.push(queue.push('b', { key: 'k', onDuplicate: 'replace' }))
    release()
    assert.deepEqual(await Promise.all(pushes), [1, 1])
    await bench.gate.until(1)
    assert.deepEqual([bench.gate.payloads, bench.gate.started[0].context.attempt], [['b'], 1])
    await bench.reopenAfterKill({ ack: 'disk' })
    await bench.gate.until(1)
    assert.deepEqual([bench.gate.payloads, bench.gate.started[0].context.attempt], [['b'], 2])
  })

  it("with 'replace' writes a job that is held first, and gives it the other payload", async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const pushes = [
      queue.push('first'), queue.push('a', { key: 'k' }), queue.push('b', { key: 'k', onDuplicate: 'replace' }), queue.push('last')
    ]
    assert.deepEqual(waitingIn(queue), ['first', 'b', 'last'])
    release()
    assert.deepEqual(await Promise.all(pushes), [1, 2, 2, 3])
  })

  it("with 'replace' is told when it cannot be written, and the job is as it was", async () => {
    const queue = await bench.open({ capacityBytes: 200, serialize: { encode: text => Buffer.from(text), decode: String } })
    const late = { key: 'k', delayMs: 100 }
    await queue.push('a', late)
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.push('b', { ...late, onDuplicate: 'postpone', delayMs: 500 }), { code: 'FAIRLANE_ERR_IO' })
    await assert.rejects(queue.push('c', { ...late, onDuplicate: 'replace' }), { code: 'FAIRLANE_ERR_IO' })
    bench.disk.fault = () => undefined
    await quiet()
    await assert.rejects(queue.push('x'.repeat(300), { ...late, onDuplicate: 'replace' }), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    const { payload, dueAt } = await queue.get(1)
    assert.deepEqual([payload, dueAt], ['a', EPOCH + 100])
    bench.clock.advance(100)
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.payloads, ['a'])
    warnings.release()
  })

  it('is that of a job which cannot be written when its turn comes: whoever replaces it is told, too', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    const release = holdSyncs(bench.disk)
    const first = queue.push('first')
    const pushes = [queue.push('a', { key: 'k' })]
    await quiet()
    const warnings = captureWarnings()
    bench.disk.fault = kind => ['write', 'create', 'syncFolder'].includes(kind) ? systemError('EIO') : undefined
    pushes.push(queue.push('b', { key: 'k', onDuplicate: 'replace' }))
    release()
    await first
    const ends = await Promise.allSettled(pushes)
    bench.disk.fault = () => undefined
    assert.deepEqual(ends.map(({ status }) => status), ['rejected', 'rejected'])
    await quiet()
    warnings.release()
    await queue.push('c', { key: 'k' })
  })

  it('is free again if its job was held, and could not be written then', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const first = queue.push('first')
    const held = [queue.push('a', { key: 'k' }), queue.push('late', { key: 'l', delayMs: 100, cost: 5 })]
    await quiet()
    const warnings = captureWarnings()
    bench.disk.fault = kind => ['write', 'create', 'syncFolder'].includes(kind) ? systemError('EIO') : undefined
    release()
    await first
    const ends = await Promise.allSettled(held)
    bench.disk.fault = () => undefined
    assert.deepEqual(ends.map(({ status }) => status), ['rejected', 'rejected'])
    await quiet()
    warnings.release()
    const { waiting, delayed } = await queue.counts()
    assert.deepEqual([waiting, delayed, queue.stats().accepted], [1, 0, 1])
    await Promise.all([queue.push('b', { key: 'k' }), queue.push('c', { key: 'l' })])
    assert.deepEqual(waitingIn(queue), ['first', 'b', 'c'])
  })

  it('is that of a job which is refused when its turn comes: whoever replaces it is told, too', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    queue.pause()
    await queue.push('z')
    const release = holdSyncs(bench.disk)
    const pushes = [queue.push('first'), queue.push('a', { key: 'k' })]
    await quiet()
    bench.disk.capacity = bench.disk.usedBytes
    // from now on the reserve is made use of
    assert.equal(queue.remove(({ payload }) => payload === 'z'), 1)
    pushes.push(queue.push('b', { key: 'k', onDuplicate: 'replace' }))
    release()
    assert.deepEqual((await Promise.allSettled(pushes)).map(({ status }) => status), ['fulfilled', 'rejected', 'rejected'])
    bench.disk.capacity = Infinity
    assert.deepEqual(waitingIn(queue), ['first'])
  })

  it("with 'postpone' begins the delay again, up to maxDelayMs from the first push, here and after a kill", async () => {
    await bench.open()
    const said = { key: 'k', delayMs: 100, onDuplicate: 'postpone', maxDelayMs: 250 }
    await bench.queue.push('a', said)
    bench.clock.advance(80)
    assert.equal(await bench.queue.push('b', { ...said, delayMs: undefined }), 1)
    assert.equal((await bench.queue.get(1)).dueAt, EPOCH + 180)
    bench.clock.advance(20)
    await bench.reopenAfterKill()
    assert.deepEqual([(await bench.queue.get(1)).dueAt, waitingIn(bench.queue)], [EPOCH + 180, ['b']])
    bench.clock.advance(70)
    await bench.queue.push('c', said)
    assert.equal((await bench.queue.get(1)).dueAt, EPOCH + 250)
    bench.clock.advance(79)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    bench.clock.advance(1)
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.payloads, ['c'])
  })

  it("with 'postpone' that cannot be written makes no job due earlier, nor one that has gone", async () => {
    const queue = await bench.open()
    for (const key of ['k', 'l']) await queue.push('a', { key, delayMs: 100 })
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    const said = { onDuplicate: 'postpone' }
    const pushes = [queue.push('b', { ...said, key: 'k', delayMs: 0 }), queue.push('b', { ...said, key: 'l', delayMs: 200 })]
    bench.clock.advance(0)
    const ends = pushes.map(push => assert.rejects(push, { code: 'FAIRLANE_ERR_IO' }))
    queue.clear()
    await Promise.all(ends)
    bench.disk.fault = () => undefined
    bench.clock.advance(1000)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    warnings.release()
  })

  it("with 'postpone' only replaces what is due, and is due at once if maxDelayMs has passed", async () => {
    const queue = await bench.open({ concurrency: 1 })
    queue.pause()
    await queue.push('a', { key: 'k', delayMs: 10 })
    bench.clock.advance(10)
    await queue.push('b', { key: 'k', delayMs: 100, onDuplicate: 'postpone' })
    assert.deepEqual([(await queue.get(1)).state, waitingIn(queue)], ['waiting', ['b']])
    await queue.push('c', { key: 'l', delayMs: 100 })
    bench.clock.advance(50)
    const due = queue.push('d', { key: 'l', onDuplicate: 'postpone', maxDelayMs: 50 })
    bench.clock.advance(0)
    assert.deepEqual(waitingIn(queue), ['b', 'd'])
    assert.equal((await queue.get(2)).state, 'delayed')
    await due
    bench.clock.advance(0)
    assert.equal((await queue.get(2)).state, 'waiting')
    assert.deepEqual(waitingIn(queue), ['b', 'd'])
    await bench.reopenAfterKill()
    bench.queue.pause()
    assert.deepEqual(waitingIn(bench.queue), ['b', 'd'])
  })

  it('is looked for again when the payload was encoded, since that may push', async () => {
    const pushes = []
    const encode = payload => {
      const { queue } = bench
      if (payload === 'outer') pushes.push(queue.push('inner', { key: 'k' }))
      if (payload === 'other') pushes.push(queue.push('in other', { key: 'l' }))
      return Buffer.from(payload)
    }
    const queue = await bench.open({ serialize: { encode, decode: String } })
    queue.pause()
    pushes.push(queue.push('outer', { key: 'k' }), queue.push('other', { key: 'l', onDuplicate: 'replace' }))
    assert.deepEqual((await Promise.all(pushes)).sort(), [1, 1, 2, 2])
    assert.deepEqual(waitingIn(queue), ['inner', 'other'])
  })

  it(`never lets two in, and no update is lost, whatever is killed or loses power (SEED=${base})`, async () => {
    for (let i = 0; i < ROUNDS; i++) await new KeyRound(base + i).play()
  })
})
