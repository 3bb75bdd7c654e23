'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const { durable, Postponed, Throttled } = require('../../lib/durable')
const { FRAME_BYTES, PUSH_BYTES } = require('../../lib/log/format')
const { STAMP_BYTES } = require('../../lib/durable/push/serialize')
const { temporaryFolder } = require('../support/folders')
const { captureWarnings } = require('../support/uncaught')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { quiet, turn } = require('../support/turns')
const { Bench } = require('./bench')
const { systemError } = require('../log/disk')
const { LevelsModel } = require('./levels-model')
const { Told } = require('./told')

const base = seedFromEnvironment()
const ROUNDS = rounds(20)
const MAX_ATTEMPTS = 3 // of jobs under random crashes
const IO = { code: 'FAIRLANE_ERR_IO' }

describe('a durable queue whose process dies', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('runs the jobs again that were running, with their attempts counted', async () => {
    await bench.open({ concurrency: 2 })
    for (const payload of ['a', 'b', 'c']) await bench.queue.push(payload)
    await bench.gate.until(2)
    await bench.reopenAfterKill({ concurrency: 3 })
    await bench.gate.until(3)
    assert.deepEqual(bench.gate.started.map(({ payload, context }) => [payload, context.attempt]), [['a', 2], ['b', 2], ['c', 1]])
  })

  it('has the attempt with the operating system before the runner is called', async () => {
    const attempts = []
    const queue = await bench.open({
      runner: payload => {
        const copy = new Bench()
        copy.disk = bench.disk.afterKill()
        const opened = copy.open().then(({ recovered: { jobs } }) => [payload, jobs, copy.gate.until(jobs)])
        attempts.push(opened.then(async ([payload, jobs, started]) => {
          await started
          const seen = copy.gate.started.map(({ payload, context }) => [payload, context.attempt])
          await copy.queue.close({ timeoutMs: 0 })
          return [payload, jobs, seen]
        }))
      },
      concurrency: 1,
      settleBy: 'promise'
    })
    await Promise.all(['a', 'b'].map(payload => queue.push(payload)))
    await queue.onIdle()
    assert.deepEqual(await Promise.all(attempts), [['a', 2, [['a', 2], ['b', 1]]], ['b', 1, [['b', 2]]]])
  })

  it('never runs a job again whose end is written', async () => {
    await bench.open()
    await bench.queue.push('a')
    await bench.gate.until(1)
    bench.gate.release()
    await turn()
    await bench.reopenAfterKill()
    assert.equal(bench.queue.recovered.jobs, 0)
  })

  it('makes a dead letter of a job that was running each time, and says so', async () => {
    await bench.open({ maxAttempts: 3 })
    await bench.queue.pushType('t', 'poison')
    for (let i = 0; i < 3; i++) {
      await bench.gate.until(1)
      await bench.reopenAfterKill({ maxAttempts: 3 })
    }
    assert.deepEqual([bench.queue.length, bench.queue.stats().dead], [0, 1])
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    const [[event, { id, type, attempt, error }]] = bench.events
    assert.deepEqual([event, id, type, attempt, error.code], ['failed', 1, 't', 3, 'FAIRLANE_ERR_CRASHED'])
    await bench.reopenAfterKill()
    const [dead] = await bench.queue.deadLetters()
    assert.deepEqual([dead.payload, dead.attempts, dead.error.code], ['poison', 3, 'FAIRLANE_ERR_CRASHED'])
    await bench.queue.retryDead(1)
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.attempt, 1)
  })

  it('tries jobs alone that were running each time and have one attempt left, so that one poison job takes no others with it', async () => {
    const maxAttempts = 3
    const runs = new Map()
    // the process dies when the poison job has started, before any other job that has started can end
    for (let life = 0; life < 20; life++) {
      if (life === 0) await bench.open({ maxAttempts, concurrency: 4 })
      else await bench.reopenAfterKill({ maxAttempts, concurrency: 4 })
      const { queue, gate } = bench
      if (life === 0) for (const payload of ['a', 'poison', 'b', 'c', 'd', 'e']) await queue.push(payload)
      for (let isDying = false; !isDying && queue.length > 0;) {
        await quiet()
        isDying = gate.open.some(({ payload }) => payload === 'poison')
        if (!isDying) gate.release(gate.open.length)
        await turn()
      }
      for (const { payload } of gate.started) runs.set(payload, (runs.get(payload) ?? 0) + 1)
      if (queue.length === 0) break
    }
    assert.deepEqual((await bench.queue.deadLetters()).map(({ payload }) => payload), ['poison'])
    assert.equal(runs.get('poison'), maxAttempts)
    assert.deepEqual(bench.events.filter(([event]) => event === 'done').map(([, { result }]) => result).sort(), ['a', 'b', 'c', 'd', 'e'])
  })

  for (const hold of ['paused', 'capped']) {
    it(`tries those of other types meanwhile if the type of one is ${hold}, and none beside another`, async () => {
      const options = { maxAttempts: 2, scheduler: 'equal' }
      await bench.open(options)
      for (const [type, payload] of [['a', 'a1'], ['b', 'b1'], ['a', 'a2'], ['b', 'b2']]) await bench.queue.pushType(type, payload)
      await bench.gate.until(4)
      await bench.reopenAfterKill({ ...options, schedulerOptions: { typeCaps: { a: hold === 'capped' ? 0 : 9 } } })
      const { queue, gate } = bench
      if (hold === 'paused') queue.pauseType('a')
      for (const payload of ['b1', 'b2']) {
        await quiet()
        assert.deepEqual(gate.open.map(job => job.payload), [payload])
        gate.release()
      }
      await quiet()
      assert.deepEqual([queue.running, queue.waiting], [0, 2])
      if (hold === 'paused') queue.resumeType('a')
      else queue.scheduler.configure({ typeCaps: null })
      for (const payload of ['a1', 'a2']) {
        await quiet()
        assert.deepEqual(gate.open.map(job => job.payload), [payload])
        gate.release()
      }
      await queue.onIdle()
      assert.equal(queue.stats().done, 4)
    })
  }

  it('tries one alone though the queue was closed in order while it was tried before', async () => {
    const options = { maxAttempts: 2, concurrency: 3 }
    await bench.open(options)
    for (const payload of ['innocent', 'poison']) await bench.queue.push(payload)
    await bench.gate.until(2)
    await bench.reopenAfterKill(options)
    await quiet()
    assert.deepEqual(bench.gate.payloads, ['innocent'])
    await bench.reopen(options)
    await quiet()
    assert.deepEqual(bench.gate.payloads, ['innocent'])
    bench.gate.release()
    await quiet()
    assert.deepEqual(bench.gate.payloads, ['innocent', 'poison'])
  })

  it('tries the next one of a type when the one that is held up is cancelled, and only when no other is being tried', async () => {
    const options = { maxAttempts: 2, scheduler: 'equal' }
    await bench.open(options)
    for (const [type, payload] of [['a', 'a1'], ['b', 'b1'], ['b', 'b2']]) await bench.queue.pushType(type, payload)
    await bench.gate.until(3)
    await bench.reopenAfterKill(options)
    const { queue, gate } = bench
    queue.pauseType('b')
    await gate.until(1)
    assert.equal(queue.remove(({ payload }) => payload === 'b1'), 1)
    queue.resumeType('b')
    await quiet()
    assert.deepEqual(gate.payloads, ['a1'])
    gate.release()
    await gate.until(2)
    assert.deepEqual(gate.payloads, ['a1', 'b2'])
  })

  for (const [held, other] of [['a', 'b'], ['b', 'a']]) {
    it(`lets others be tried when the one that had a slot is recalled by a pause of its type: ${held}`, async () => {
      const options = { maxAttempts: 2, scheduler: 'fair', concurrency: 3 }
      await bench.open(options)
      for (const type of ['a', 'b']) await bench.queue.pushType(type, type)
      await bench.gate.until(2)
      const ran = []
      // an ordinary job that starts in the same pass
      const runner = (payload, done) => {
        ran.push(payload)
        if (payload === 'pauses') bench.queue.pauseType(held)
        setImmediate(done)
      }
      const queue = await bench.reopenAfterKill({ ...options, runner })
      await queue.unshiftType('c', 'pauses')
      await quiet()
      assert.deepEqual(ran, ['pauses', other])
      queue.resumeType(held)
      await queue.onIdle()
      assert.deepEqual(ran, ['pauses', other, held])
    })
  }

  it('shows and cancels jobs that wait to be tried alone', async () => {
    await bench.open({ maxAttempts: 2 })
    for (const payload of ['a', 'b', 'c']) await bench.queue.push(payload)
    await bench.gate.until(3)
    await bench.reopenAfterKill({ maxAttempts: 2 })
    await bench.gate.until(1)
    await quiet()
    assert.deepEqual(bench.gate.payloads, ['a'])
    assert.deepEqual([...bench.queue.jobs()].map(({ payload }) => payload), ['b', 'c'])
    assert.equal(bench.queue.remove(({ payload }) => payload === 'b'), 1)
    bench.gate.release()
    await bench.gate.until(2)
    assert.deepEqual(bench.gate.payloads, ['a', 'c'])
  })

  it('gives a job that had failed its next attempt, whatever maxAttempts is now', async () => {
    await bench.open({ backoffMs: 10 })
    await bench.queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    await turn()
    bench.clock.advance(10)
    await bench.reopenAfterKill({ maxAttempts: 1 })
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('last'))
    assert.equal((await bench.queue.deadLetters())[0].error.message, 'last')
  })
})

describe('a durable queue that is closed', () => {
  let bench

  beforeEach(() => { bench = new Bench() })

  it('starts nothing that falls due while it waits for those that run', async () => {
    const queue = await bench.open({ backoffMs: 30 })
    await queue.push('fails')
    await queue.push('is long')
    await bench.gate.until(2)
    bench.gate.open.shift().done(new Error('later'))
    await turn()
    const closing = queue.close({ drain: true })
    bench.clock.advance(80)
    await quiet()
    assert.equal(bench.gate.started.length, 2)
    bench.gate.open.pop().done()
    assert.equal(await closing, 0)
    await bench.open()
    assert.deepEqual([bench.queue.recovered.jobs, bench.queue.stats().done], [1, 0])
    await bench.queue.close({ timeoutMs: 0 })
  })

  it('runs what waits, and leaves on disk what is to be tried later', async () => {
    await bench.open({ concurrency: 1 })
    for (const payload of ['a', 'b', 'c']) await bench.queue.push(payload)
    const closed = []
    bench.queue.on('close', (...args) => closed.push(args))
    await bench.gate.until(1)
    bench.queue.pause()
    const closing = bench.queue.close({ drain: true })
    assert.equal(bench.queue.close({ drain: true }), closing)
    await assert.rejects(bench.queue.push('d'), { code: 'FAIRLANE_ERR_CLOSED' })
    bench.gate.open.shift().done(new Error('later'))
    await bench.gate.until(2)
    bench.gate.release()
    await bench.gate.until(3)
    bench.gate.open.shift().done(new Error('later'))
    assert.equal(await closing, 0)
    assert.deepEqual(closed, [[0]])
    assert.deepEqual([bench.queue.closed, bench.queue.length, bench.clock.timerCount], [true, 0, 0])
    await bench.queue.onIdle()
    await bench.queue.fflush()
    await bench.open()
    assert.deepEqual([...bench.queue.jobs()].map(({ payload }) => payload).sort(), ['a', 'c'])
    await bench.queue.close({ drain: true })
  })

  it('without drain leaves all on disk, tells those that run, and does not count their attempts', async () => {
    const queue = await bench.open({ concurrency: 2 })
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    await bench.gate.until(2)
    const { signal } = bench.gate.started[0].context
    const flushed = queue.fflush()
    assert.equal(await queue.close({ timeoutMs: 0 }), 2)
    assert.equal(signal.reason.code, 'FAIRLANE_ERR_CLOSED')
    await flushed
    bench.gate.release(2)
    await bench.open({ concurrency: 3 })
    await bench.gate.until(5)
    assert.deepEqual(bench.gate.started.slice(2).map(({ payload, context }) => [payload, context.attempt]), [['a', 1], ['b', 1], ['c', 1]])
    bench.gate.release(3)
    await bench.queue.close({ drain: true })
  })

  it('finishes jobs that end well in the time that they are given', async () => {
    const queue = await bench.open()
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    await bench.gate.until(3)
    const closing = queue.close({ timeoutMs: 100 })
    bench.gate.release(1)
    bench.gate.open.shift().done(new Error('stopped'))
    assert.deepEqual(bench.events.map(([event, { id, result }]) => [event, id, result]), [['done', 1, 'a'], ['retry', 2, undefined]])
    bench.clock.advance(100)
    assert.equal(await closing, 1)
    bench.gate.release(1)
    await bench.open()
    assert.equal(bench.events.length, 2)
    assert.deepEqual([...bench.queue.jobs()].map(({ payload }) => payload), ['c', 'b'])
    await bench.queue.close({ timeoutMs: 0 })
  })

  for (const maxAttempts of [1, 5]) {
    it(`finishes jobs that end in the call that tells them to, and counts no attempt of those that fail (${maxAttempts})`, async () => {
      const runner = (payload, done, { signal }) => signal.addEventListener(
        'abort', () => done(payload === 'b' && new Error('stopped'), payload)
      )
      const queue = await bench.open({ maxAttempts, runner })
      for (const payload of ['a', 'b']) await queue.push(payload)
      await quiet()
      await queue.close({ timeoutMs: 0 })
      assert.deepEqual(bench.events.map(([event, { id, result }]) => [event, id, result]), [['done', 1, 'a']])
      const attempts = []
      await bench.open({ maxAttempts, runner: (payload, done, { attempt }) => { attempts.push([payload, attempt]); done() } })
      await bench.queue.onIdle()
      assert.deepEqual(attempts, [['b', 1]])
      await bench.queue.close({ drain: true })
    })
  }

  it('ends with a job that kills the process in the time that it is given', async () => {
    const attempts = []
    const runner = (payload, done, { attempt }) => attempts.push(attempt)
    const queue = await bench.open({ maxAttempts: 2, runner })
    await queue.push('poison')
    for (let i = 0; i < 3; i++) {
      await quiet()
      bench.queue.close({ timeoutMs: 100 })
      await quiet()
      await bench.reopenAfterKill({ maxAttempts: 2, runner })
    }
    await quiet()
    assert.deepEqual(attempts, [1, 2])
    assert.equal((await bench.queue.deadLetters()).length, 1)
    await bench.queue.close({ drain: true })
  })

  it('gives up after timeoutMs, and at once if asked again without drain', async () => {
    const queue = await bench.open({ concurrency: 1, ack: 'disk' })
    await queue.push('a')
    const pushed = queue.push('b')
    await bench.gate.until(1)
    const closing = queue.close({ drain: true, timeoutMs: 100 })
    bench.clock.advance(100)
    assert.equal(await closing, 1)
    assert.equal(await pushed, 2)
    assert.equal(await queue.close({ timeoutMs: 0 }), 1)
    await bench.open()
    assert.equal(bench.queue.recovered.jobs, 2)
    await bench.queue.close({ timeoutMs: 0 })
    const again = await bench.open()
    again.close({ drain: true, timeoutMs: 100 })
    await again.close({ timeoutMs: 0 })
    assert.equal(bench.clock.timerCount, 0)
  })

  it('is not read any more', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    const [dead] = await queue.deadLetters()
    await queue.close({ drain: true })
    const CLOSED = { code: 'FAIRLANE_ERR_CLOSED' }
    await assert.rejects(queue.deadLetters(), CLOSED)
    assert.throws(() => dead.payload, CLOSED)
    await queue.flush() // all is on the disk
    assert.deepEqual([...queue.jobs()], [])
    assert.equal(bench.disk.openCount, 0)
  })

  it('says so if the lock can not be given back', async () => {
    const lock = async () => ({ release: () => Promise.reject(new Error('no')) })
    const queue = await durable(() => {}, { path: '/queue' }, { files: bench.disk, lock, now: Date.now })
    await assert.rejects(queue.close(), /no/)
    await queue.onIdle()
  })

  it('can be opened by another, and not before', async () => {
    const path = temporaryFolder()
    try {
      const queue = await durable(async () => {}, { path })
      await assert.rejects(durable(async () => {}, { path }), { code: 'FAIRLANE_ERR_LOCKED' })
      await queue.push(1)
      await queue.close({ drain: true })
      const other = await durable(async () => {}, { path })
      assert.equal(other.recovered.jobs, 0)
      await other.close()
    } finally {
      fs.rmSync(path, { recursive: true })
    }
  })

  it('is closed by its signal, which may have aborted before', async () => {
    const controller = new AbortController()
    const queue = await bench.open({ signal: controller.signal })
    await queue.push('a')
    await bench.gate.until(1)
    const { signal } = bench.gate.started[0].context
    controller.abort('enough')
    assert.deepEqual([queue.closed, signal.aborted], [true, false])
    assert.equal(await queue.close({ timeoutMs: 0 }), 1)
    await bench.open({ signal: controller.signal })
    assert.equal(bench.queue.closed, true)
    await bench.queue.close()
    assert.equal(bench.gate.started.length, 1)
    const other = new AbortController()
    await (await bench.open({ signal: other.signal }))[Symbol.asyncDispose]()
    other.abort()
    assert.equal((await bench.open()).recovered.jobs, 1)
    await bench.gate.until(2)
    bench.gate.release(2)
    await bench.queue.close({ drain: true })
  })
})

describe('a durable queue whose log fails', () => {
  let bench
  let warnings

  beforeEach(() => {
    bench = new Bench()
    warnings = captureWarnings()
  })
  afterEach(() => warnings.release())

  const failAlways = kind => {
    bench.disk.fault = actual => actual === kind ? systemError('EIO') : undefined
  }
  const isClosed = async () => {
    await assert.rejects(bench.queue.close(), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'EIO')
    await warnings.until(1)
    assert.equal(warnings.seen[0].code, 'FAIRLANE_ERR_IO')
    bench.disk.fault = () => undefined
  }

  it('at a sync closes with the error; jobs that end from then on are there again', async () => {
    const queue = await bench.open({ concurrency: 2 })
    const closed = []
    queue.on('close', (...args) => closed.push(args))
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    await bench.gate.until(2)
    failAlways('sync')
    await assert.rejects(queue.flush(), IO)
    bench.gate.release(1)
    await isClosed()
    bench.gate.release(1)
    assert.equal(closed[0][1].code, 'FAIRLANE_ERR_IO')
    await assert.rejects(queue.push('d'), IO)
    await assert.rejects(queue.retryDead(1), IO)
    assert.equal(queue.clear(), 0)
    await bench.reopenAfterKill()
    assert.equal(bench.queue.recovered.jobs, 3)
    await bench.queue.close({ timeoutMs: 0 })
  })

  it('at a sync closes: what was not safe is rejected', async () => {
    const queue = await bench.open({ ack: 'disk' })
    failAlways('sync')
    const pushed = queue.push('a')
    await assert.rejects(pushed, IO)
    await isClosed()
    assert.equal(bench.gate.started.length, 0)
  })

  it('at a push only refuses that push', async () => {
    const queue = await bench.open()
    await queue.push('a')
    await bench.gate.until(1)
    failAlways('write')
    const flushed = queue.fflush()
    for (const { reason } of await Promise.allSettled([queue.push('b'), queue.push('c')])) assert.equal(reason.code, 'FAIRLANE_ERR_IO')
    await quiet()
    bench.disk.fault = () => undefined
    assert.deepEqual([queue.waiting, queue.stats().accepted], [0, 1])
    await queue.push('d')
    await bench.gate.until(2)
    bench.gate.release(2)
    await flushed
    await queue.onIdle()
    assert.deepEqual(bench.gate.payloads, ['a', 'd'])
    await queue.close({ drain: true })
  })

  it('at a push whose job has a slot already gives the slot back', async () => {
    const queue = await bench.open({ ack: 'disk' })
    await queue.push('x'.repeat(4000))
    await bench.gate.until(1)
    await queue.flush()
    const { sync } = bench.disk
    let release
    bench.disk.sync = (fd, callback) => { release = () => sync.call(bench.disk, fd, callback) }
    const pushes = [queue.push('a'), queue.push('x'.repeat(4000))]
    await quiet()
    assert.equal(queue.running, 3)
    bench.disk.sync = sync
    failAlways('create')
    release()
    const results = await Promise.allSettled(pushes)
    assert.deepEqual(results.map(({ status }) => status).slice(1), ['rejected'])
    bench.disk.fault = () => undefined
    await quiet()
    assert.equal(queue.running, bench.gate.started.length)
    await queue.close({ timeoutMs: 0 })
  })

  it('at a change cancels nothing on disk from then on', async () => {
    const serialize = { encode: text => Buffer.from(text), decode: String }
    const queue = await bench.open({ serialize })
    queue.pause()
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    // the next record needs another segment, and this one must be synced before
    await queue.push('d'.repeat(4096 - queue.diskBytes() - FRAME_BYTES - PUSH_BYTES - STAMP_BYTES))
    assert.equal(queue.diskBytes(), 4096)
    failAlways('sync')
    assert.equal(queue.remove(({ payload }) => payload === 'a'), 1)
    assert.equal(queue.clear(), 3)
    await isClosed()
    assert.equal((await bench.reopenAfterKill({ serialize })).recovered.jobs, 4)
    await bench.queue.close({ timeoutMs: 0 })
  })

  it('while it is repaired is not opened, whichever sync it is', async () => {
    for (let failing = 1; ; failing++) {
      bench = new Bench()
      await bench.open()
      bench.queue.pause()
      await Promise.all([bench.queue.push('a'), bench.queue.push('b')])
      await bench.queue.push('c')
      await bench.queue.close({ timeoutMs: 0 })
      bench.disk.folders.get('/queue').names.get('0000000001.log').bytes[60] ^= 1
      let syncsCount = 0
      bench.disk.fault = kind => kind === 'sync' && ++syncsCount === failing ? systemError('EIO') : undefined
      const opened = await bench.open({ repair: true }).catch(err => err)
      bench.disk.fault = () => undefined
      if (opened === bench.queue) break
      assert.equal(opened.code, IO.code)
      assert.equal(bench.disk.openCount, 0)
    }
    assert.deepEqual([...bench.queue.jobs()].map(({ payload }) => payload), ['c'])
    await bench.queue.close({ timeoutMs: 0 })
  })

  it('while it is opened is not opened', async () => {
    bench.disk.makeFolder('/queue')
    failAlways('create')
    await assert.rejects(bench.open(), IO)
    assert.equal(bench.disk.openCount, 0)
  })
})

describe('jobs under random crashes', function () {
  const ratePerType = { limit: 3, intervalMs: 20 }
  for (const options of [
    {}, { scheduler: 'equal' }, { scheduler: 'fair', ack: 'disk' }, { ack: 'disk' }, { scheduler: 'equal', ratePerType, ack: 'disk' },
    { priorityMs: 4, concurrency: 1 }, { scheduler: 'equal', priorityMs: 4, concurrency: 1, ack: 'disk' }
  ]) {
    const how = JSON.stringify(options)
    it(`are run at least once, in order, those of a batch all or none, until they are done or dead: ${how}`, async () => {
      for (let round = 0; round < ROUNDS; round++) await survive(base + round, options)
    })
  }
})

/** Several lives of a queue, each ended by a crash; then one in which all can finish. */
async function survive (seed, options) {
  const random = seeded(seed)
  const bench = new Bench()
  const told = new Told(`SEED=${seed}`)
  const safe = new Map() // id → name
  const done = new Map() // id → how often
  const dead = new Set()
  const gone = new Set() // removed, and handed over
  const unsure = new Set() // removed, and perhaps not written
  const firsts = new Map() // id → name, in the order of their first attempts
  const started = new Set() // ids, whatever their attempt was: the first one may have been written by a process that died before it ran
  const dueAt = new Map() // name → when a delayed job may start
  const pushes = new Map() // name → { at, priority }
  const batches = [] // arrays of names that were pushed together
  const seen = new Set() // names of jobs that are on disk, or were
  const removed = new Set() // names
  let found // type → LevelsModel, of the jobs that were found waiting in this life, and have never been started
  let count = 0
  let isOrdered = true // how the last life ended
  const isLossy = options.ack === 'disk'
  let failure // of the runner, whose throws are failed attempts
  const runner = (payload, finish, context) => {
    try {
      checkStart(payload, context)
    } catch (err) {
      failure ??= err
    }
    const error = random.pick([undefined, undefined, undefined, undefined, new Error('no'), new Throttled(10), new Postponed(15)])
    setImmediate(finish, error)
  }
  const checkStart = (payload, { id, attempt }) => {
    const name = payload.trim()
    told.note(id, payload)
    if (attempt === 1 && !firsts.has(id) && found[name[0]].has(name)) {
      const wrong = found[name[0]].start(name)
      assert(wrong === undefined, `SEED=${seed}: ${wrong?.message}`)
    }
    found[name[0]].remove(name)
    seen.add(name)
    assert(bench.clock.now() >= (dueAt.get(name) ?? 0), `SEED=${seed}: job ${id} is early`)
    if (attempt === 1 && !firsts.has(id)) firsts.set(id, payload)
    started.add(id)
    assert(!done.get(id)?.isWritten, `SEED=${seed}: job ${id} is back`)
  }
  for (let life = 0; life < 4; life++) {
    const disk = isOrdered ? bench.disk : isLossy ? bench.disk.afterPowerLoss(random) : bench.disk.afterKill()
    bench.disk = disk
    let isAlive = true
    const queue = await bench.open({
      runner: (...args) => isAlive && runner(...args), concurrency: 3, maxAttempts: MAX_ATTEMPTS, backoffMs: 5, ...options
    })
    await checkAll(queue, `SEED=${seed}, life ${life}`)
    await find(queue, `SEED=${seed}, life ${life}`)
    const doneNow = []
    queue.on('done', ({ id }) => doneNow.push(id))
    const isLast = life === 3
    if (options.priorityMs !== undefined && !isLast && random.chance(0.7)) queue.pause() // for that many are found in the next life
    for (let i = 0; i < (isLast ? 400 : 15 + random.below(30)); i++) {
      if (!isLast && random.chance(0.5)) {
        const jobs = Array.from({ length: random.pick([1, 1, 1, 2, 4]) }, makeJob)
        const [{ type, payload, ...said }] = jobs
        const pushed = jobs.length > 1
          ? queue.pushAll(jobs)
          : (type ? queue.pushType(type, payload, said) : queue.push(payload, said)).then(id => [id])
        if (jobs.length > 1) batches.push(jobs.map(({ payload }) => payload.trim()))
        pushed.then(ids => {
          if (!isAlive) return
          ids.forEach((id, i) => {
            safe.set(id, jobs[i].payload.trim())
            told.note(id, jobs[i].payload)
          })
        }, () => {})
      }
      if (!isLast && random.chance(0.03)) {
        const jobs = [...queue.jobs()].filter(({ id }) => id !== undefined)
        if (jobs.length > 0) {
          const { id, payload } = random.pick(jobs)
          queue.remove(job => job.id === id)
          found[payload[0]].remove(payload.trim())
          removed.add(payload.trim())
          if (isLossy) unsure.add(id)
          else gone.add(id)
        }
      }
      if (random.chance(0.1)) await changeDead(queue, () => isAlive)
      if (random.chance(0.5)) await turn()
      if (random.chance(0.2)) bench.clock.advance(5)
      if (random.chance(0.1)) {
        const before = [...doneNow]
        await queue.flush()
        for (const id of before) done.set(id, { isWritten: true })
      }
    }
    if (isLast) await finishAll(queue, bench)
    await turn()
    isOrdered = isLast || random.chance(0.3)
    if (isOrdered && !isLast) await queue.close({ timeoutMs: 0 })
    if (isOrdered) for (const id of doneNow) done.set(id, { isWritten: true })
    for (const id of doneNow) if (!done.has(id)) done.set(id, { isWritten: false })
    isAlive = isLast
    if (!isLast) continue
    for (const { id } of await queue.deadLetters()) dead.add(id)
    await queue.close({ drain: true })
  }
  if (failure !== undefined) throw failure
  told.check()
  for (const [id, name] of safe) {
    assert(done.has(id) || dead.has(id) || gone.has(id) || unsure.has(id), `SEED=${seed}: job ${id} (${name}) is lost`)
  }
  // a power failure may undo that a job was removed, and then it comes late
  for (const id of unsure) firsts.delete(id)
  if (options.priorityMs === undefined) checkOrder([...firsts.values()].filter(name => !dueAt.has(name.trim())), `SEED=${seed}`)

  function makeJob () {
    const name = `${random.pick(['a', 'b'])}${count++}`
    const delayMs = random.chance(0.3) ? random.pick([0, 1, 10, 30]) : 0
    const priority = options.priorityMs === undefined ? undefined : random.pick([undefined, undefined, 1, 2, 15])
    if (delayMs > 0) dueAt.set(name, bench.clock.now() + delayMs)
    pushes.set(name, { at: bench.clock.now(), priority: priority ?? 0 })
    return { type: options.scheduler && name[0], payload: name.padEnd(random.below(900)), delayMs: delayMs || undefined, priority }
  }

  /** What is there when the queue is opened. */
  async function find (queue, message) {
    const a = new LevelsModel(options.priorityMs)
    found = { a, b: options.scheduler ? new LevelsModel(options.priorityMs) : a }
    for (const { payload } of await queue.deadLetters()) seen.add(payload.trim())
    // crashes may have come between the write of an attempt and its runner: one that is taken for the cause is tried alone, later
    const jobs = await Promise.all([...queue.jobs()].map(({ id }) => queue.get(id)))
    const suspects = new Set(jobs.filter(job => job?.attempts >= MAX_ATTEMPTS - 1).map(({ id }) => id))
    for (const { id, payload } of [...queue.jobs()].sort((a, b) => a.id - b.id)) {
      const name = payload.trim()
      seen.add(name)
      const { at, priority } = pushes.get(name)
      if (!started.has(id) && !suspects.has(id) && !dueAt.has(name)) found[name[0]].push(name, at, priority)
    }
    // what was not there before comes no more
    for (const batch of batches.splice(0)) {
      const names = batch.filter(name => !removed.has(name))
      const count = names.filter(name => seen.has(name)).length
      assert([0, names.length].includes(count), `${message}: ${count} of ${batch}`)
    }
  }

  async function changeDead (queue, isStillAlive) {
    const letters = await queue.deadLetters()
    if (letters.length === 0) return
    const { id } = random.pick(letters)
    if (random.chance(0.5)) queue.retryDead(id)
    else queue.deleteDead(id).then(() => { if (isStillAlive()) gone.add(id) }, () => {})
    unsure.add(id)
  }

  async function checkAll (queue, message) {
    const there = new Set([...queue.jobs(), ...await queue.deadLetters()].map(({ id }) => id))
    for (const id of safe.keys()) {
      const isThere = there.has(id)
      if (done.get(id)?.isWritten || gone.has(id)) assert(!isThere, `${message}: job ${id} is back`)
      else if (!done.has(id) && !unsure.has(id)) assert(isThere, `${message}: job ${id} is lost`)
    }
  }
}

async function finishAll (queue, bench) {
  for (let i = 0; i < 2000 && queue.length > 0; i++) {
    bench.clock.advance(5)
    await turn()
  }
  assert.equal(queue.length, 0)
}

/** Names of each type were started in the order of their numbers. */
function checkOrder (names, message) {
  for (const type of ['a', 'b']) {
    const numbers = names.filter(name => name[0] === type).map(name => parseInt(name.slice(1)))
    assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b), message)
  }
}
