'use strict'

const assert = require('node:assert')
const { FRAME_BYTES, PUSH_BYTES } = require('../../lib/log/format')
const { STAMP_BYTES } = require('../../lib/durable/push/serialize')
const { captureWarnings } = require('../support/uncaught')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { quiet, turn } = require('../support/turns')
const { Bench } = require('./bench')
const { systemError } = require('../log/disk')
const { surviveOutages } = require('./outage-rounds')

const base = seedFromEnvironment()
const ROUNDS = rounds(20)
const IO = { code: 'FAIRLANE_ERR_IO' }
const LONGEST_MS = 10000

/** A queue on a disk that can fail, the warnings of the process, and what the queue tells of outages. */
class Trouble extends Bench {
  constructor () {
    super()
    this.warnings = captureWarnings()
    this.told = []
    // so that the reserve is looked for as the clock goes on
    this.now = performance.now
    performance.now = () => this.clock.now()
  }

  async open (options) {
    const queue = await super.open(options)
    queue.on('outage', err => this.told.push(err.cause.code))
    queue.on('outageover', () => this.told.push('over'))
    return queue
  }

  fail (code, ...kinds) {
    this.disk.fault = kind => kinds.includes(kind) ? Object.assign(systemError(code), { syscall: 'open' }) : undefined
  }

  mend () {
    this.disk.fault = () => undefined
    this.disk.capacity = Infinity
  }

  async goOn (ms) {
    this.clock.advance(ms)
    await quiet()
  }

  async end () {
    this.mend()
    await this.queue?.close({ timeoutMs: 0 })
    performance.now = this.now
    this.warnings.release()
  }
}

describe('a durable queue that can not write for a while', () => {
  let bench

  beforeEach(() => { bench = new Trouble() })
  afterEach(() => bench.end())

  it('gives back the slots of jobs whose attempts it can not write, and starts them when it can', async () => {
    const queue = await bench.open({ concurrency: 2 })
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    bench.fail('EIO', 'write')
    await quiet()
    assert.deepEqual([queue.running, queue.waiting, queue.length, queue.closed], [0, 3, 3, false])
    for (let i = 0; i < 5; i++) await bench.goOn(LONGEST_MS)
    assert.deepEqual([queue.running, bench.gate.started.length], [0, 0])
    bench.mend()
    await bench.goOn(LONGEST_MS)
    assert.deepEqual(bench.gate.started.map(({ payload, context }) => [payload, context.attempt]), [['a', 1], ['b', 1]])
    bench.gate.release(2)
    await bench.gate.until(3)
    bench.gate.release(1)
    await queue.onIdle()
    assert.deepEqual(bench.idsOf('done'), [1, 2, 3])
  })

  it('does not queue a job again whose slot it takes back and that could not be written itself', async () => {
    const queue = await bench.open({ concurrency: 1 })
    await queue.push('a')
    await bench.gate.until(1)
    const seen = []
    queue.on('outage', () => seen.push([queue.running, queue.waiting]))
    bench.fail('EIO', 'write')
    const pushed = queue.push('b')
    bench.gate.release(1)
    assert.deepEqual([queue.running, queue.waiting], [1, 0])
    await assert.rejects(pushed, IO)
    await quiet()
    assert.deepEqual([seen, queue.length], [[[0, 0]], 0])
    bench.mend()
    await bench.goOn(LONGEST_MS)
    await queue.push('c')
    await bench.gate.until(2)
    assert.deepEqual(bench.gate.payloads, ['a', 'c'])
  })

  it('tells of it by events, and by one warning for the queue', async () => {
    const queue = await bench.open()
    for (const code of ['EIO', 'EDQUOT']) {
      const pushed = bench.told.length
      await queue.push('a')
      bench.fail(code, 'write')
      await quiet()
      await bench.goOn(LONGEST_MS)
      assert.deepEqual(bench.told.slice(pushed), [code])
      bench.mend()
      await bench.goOn(LONGEST_MS)
      assert.deepEqual(bench.told.slice(pushed), [code, 'over'])
      await quiet()
      bench.gate.release(1)
      await queue.onIdle()
    }
    assert.deepEqual(bench.warnings.seen.map(({ code }) => code), ['FAIRLANE_WARN_OUTAGE'])
  })

  it('says nothing of a write that can be done at once when it is tried again', async () => {
    const queue = await bench.open()
    await queue.push('a')
    let failures = 1
    bench.disk.fault = kind => kind === 'write' && failures-- > 0 ? systemError('EIO') : undefined
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.attempt, 1)
    failures = 1
    bench.gate.release(1)
    await queue.onIdle()
    await quiet()
    assert.deepEqual([bench.told, bench.warnings.seen], [[], []])
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })

  it('tries again after 100 ms, then after twice as long each time, 10 s at most, and a little earlier at random', async () => {
    const queue = await bench.open()
    await queue.push('a')
    bench.fail('EIO', 'write')
    await quiet()
    const tries = []
    bench.disk.fault = kind => {
      if (kind !== 'write') return undefined
      tries.push(bench.clock.now())
      return systemError('EIO')
    }
    for (const expected of [100, 200, 400, 800, 1600, 3200, 6400, LONGEST_MS, LONGEST_MS]) {
      const from = bench.clock.now()
      while (tries.length === 0) bench.clock.advance(expected / 100)
      const ms = tries.pop() - from
      // the clock moves in steps of a hundredth, in which the try before came at any time
      assert(ms >= 0.74 * expected && ms <= 1.02 * expected, `after ${ms} of ${expected} ms`)
      tries.length = 0
    }
  })

  it('keeps what became of jobs, and writes it later: none runs again', async () => {
    const queue = await bench.open({ concurrency: 3, maxAttempts: 2, backoffMs: 60000 })
    for (const payload of ['done', 'tried again', 'failed before', 'failed later']) await queue.push(payload)
    await bench.gate.until(3)
    bench.gate.started[2].done(new Error('first'))
    await quiet()
    await bench.goOn(60000)
    await bench.gate.until(4)
    bench.fail('EIO', 'write')
    const [done, again, , last] = bench.gate.started
    done.done()
    again.done(new Error('no'))
    await quiet()
    assert.deepEqual(bench.idsOf('done'), [1])
    assert.deepEqual([queue.stats().delayed, queue.waiting], [1, 2])
    await assert.rejects(queue.flush(), ({ code, cause }) => code === IO.code && cause.code === 'EIO')
    last.done(new Error('no'))
    for (let i = 0; i < 3; i++) await bench.goOn(LONGEST_MS)
    const killed = new Bench()
    killed.disk = bench.disk.afterKill()
    killed.disk.fault = () => undefined
    // as before the outage: it is not written
    assert.equal((await killed.open()).recovered.jobs, 4)
    await killed.queue.close({ timeoutMs: 0 })
    bench.mend()
    await bench.goOn(LONGEST_MS)
    await queue.flush()
    const { recovered } = await bench.reopenAfterKill({ maxAttempts: 2, backoffMs: 60000 })
    assert.equal(recovered.jobs, 3)
    assert.equal(bench.queue.stats().delayed, 2)
  })

  it('makes dead letters, deletes them, and tells when that is safe', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    for (const payload of ['a', 'b']) await queue.push(payload)
    await bench.gate.until(2)
    bench.gate.started[0].done(new Error('early'))
    await quiet()
    bench.fail('EIO', 'write')
    bench.gate.started[1].done(new Error('late'))
    await quiet()
    assert.deepEqual((await queue.deadLetters()).map(({ error }) => error.message), ['early', 'late'])
    await assert.rejects(queue.retryDead(1), IO)
    const order = []
    const deleted = queue.deleteDead(1).then(isDeleted => order.push(isDeleted))
    await bench.goOn(LONGEST_MS)
    order.push('mended')
    bench.mend()
    await bench.goOn(LONGEST_MS)
    await deleted
    assert.deepEqual(order, ['mended', true])
    await bench.reopenAfterKill({ maxAttempts: 1 })
    assert.deepEqual((await bench.queue.deadLetters()).map(({ id, error }) => [id, error.message]), [[2, 'late']])
    assert.equal(bench.queue.recovered.jobs, 1)
  })

  it('changes a dead letter whose change it could not write at once, and tells when that is safe', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    for (const payload of ['a', 'b']) await queue.push(payload)
    await bench.gate.until(2)
    for (const { done } of bench.gate.started) done(new Error('no'))
    await quiet()
    bench.fail('EIO', 'write')
    const changes = [queue.retryDead(1), queue.deleteDead(2)]
    await quiet()
    assert.deepEqual(bench.told, ['EIO'])
    bench.mend()
    await bench.goOn(LONGEST_MS)
    assert.deepEqual(await Promise.all(changes), [true, true])
    await bench.gate.until(3)
    assert.equal(bench.gate.payloads[2], 'a')
  })

  it('rejects what waits for it if the log fails meanwhile', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.started[0].done(new Error('no'))
    await quiet()
    bench.fail('EIO', 'write', 'sync')
    const deleted = assert.rejects(queue.deleteDead(1), IO)
    await quiet()
    await assert.rejects(queue.flush(), IO)
    await deleted
    await assert.rejects(queue.close(), IO)
    bench.queue = undefined
  })

  it('rejects a change whose sync fails', async () => {
    const queue = await bench.open({ maxAttempts: 1, ack: 'disk' })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.started[0].done(new Error('no'))
    await quiet()
    bench.fail('EIO', 'sync')
    await assert.rejects(queue.deleteDead(1), IO)
    await assert.rejects(queue.close(), IO)
    bench.queue = undefined
  })

  it('deletes a dead letter while ends of jobs wait to be written', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    for (const payload of ['a', 'b']) await queue.push(payload)
    await bench.gate.until(2)
    bench.gate.started[0].done(new Error('no'))
    await quiet()
    bench.fail('EIO', 'write')
    bench.gate.started[1].done()
    await quiet()
    const deleted = queue.deleteDead(1)
    bench.mend()
    await bench.goOn(LONGEST_MS)
    assert.equal(await deleted, true)
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })

  it('closes if the log fails while it tries again', async () => {
    const queue = await bench.open({ concurrency: 1, serialize: { encode: text => Buffer.from(text), decode: String } })
    await queue.push('a')
    await bench.gate.until(1)
    await quiet()
    // its end needs another segment, and this one must be synced before
    await queue.push('b'.repeat(4096 - queue.diskBytes() - FRAME_BYTES - PUSH_BYTES - STAMP_BYTES))
    assert.equal(queue.diskBytes(), 4096)
    bench.fail('EMFILE', 'create')
    bench.gate.release(1)
    await bench.goOn(0)
    assert.deepEqual(bench.told, ['EMFILE'])
    bench.fail('EIO', 'sync')
    await bench.goOn(LONGEST_MS)
    await assert.rejects(queue.close(), IO)
    bench.queue = undefined
  })

  it('cancels jobs, and has them off the disk later', async () => {
    const queue = await bench.open()
    queue.pause()
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    bench.fail('EIO', 'write')
    assert.equal(queue.remove(({ payload }) => payload === 'a'), 1)
    assert.equal(queue.clear(), 2)
    await quiet()
    assert.deepEqual([bench.idsOf('cancelled'), queue.length], [[1, 2, 3], 0])
    bench.mend()
    await bench.goOn(LONGEST_MS)
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })

  it('takes and refuses pauses and slots as ever, and starts nothing', async () => {
    const queue = await bench.open({ concurrency: 1 })
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    bench.fail('EIO', 'write')
    await quiet()
    assert.deepEqual([queue.paused, queue.concurrency], [false, 1])
    queue.pause()
    assert.deepEqual([queue.paused, queue.concurrency], [true, -1])
    queue.resume()
    assert.deepEqual([queue.paused, queue.concurrency], [false, 1])
    queue.concurrency = 2
    assert.throws(() => { queue.concurrency = 'many' }, { code: 'FAIRLANE_ERR_CONCURRENCY' })
    assert.deepEqual([queue.paused, queue.concurrency], [false, 2])
    bench.mend()
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    await bench.goOn(LONGEST_MS)
    assert.deepEqual(bench.gate.payloads, ['a', 'b'])
  })

  it('tells who waits for room when it starts jobs again', async () => {
    const queue = await bench.open({ concurrency: 1, maxWaiting: 0 })
    const ready = async () => {
      let isReady = false
      queue.ready().then(() => { isReady = true })
      await quiet()
      return isReady
    }
    await queue.push('a')
    bench.fail('EIO', 'write')
    await quiet()
    assert.equal(queue.running, 0)
    assert.equal(queue.clear(), 1)
    assert.equal(await ready(), false)
    const becomesReady = queue.ready()
    bench.mend()
    await bench.goOn(LONGEST_MS)
    await becomesReady
  })

  for (const code of ['EMFILE', 'ENFILE']) {
    it(`counts no attempt of a job that it can not read for want of descriptors (${code})`, async () => {
      const queue = await bench.open({ maxAttempts: 1 })
      await queue.push('a')
      bench.fail(code, 'open')
      await quiet()
      assert.deepEqual([queue.waiting, queue.running, queue.stats().failed], [1, 0, 0])
      for (let i = 0; i < 3; i++) await bench.goOn(LONGEST_MS)
      assert.deepEqual(bench.told, [code])
      bench.mend()
      await bench.goOn(LONGEST_MS)
      assert.deepEqual(bench.told, [code, 'over'])
      await quiet()
      assert.deepEqual(bench.gate.started.map(({ context }) => context.attempt), [1])
    })
  }

  it('goes on when the record that it could not read is not there any more', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    await queue.push('a')
    bench.fail('EMFILE', 'open')
    await quiet()
    assert.equal(queue.clear(), 1)
    await bench.goOn(LONGEST_MS)
    assert.deepEqual(bench.told, ['EMFILE', 'over'])
  })

  it('goes on to the end of a segment without descriptors, and behind it when there are some', async () => {
    const queue = await bench.open({ concurrency: 1, runner: async () => {} })
    await queue.push('the first is read')
    await queue.onIdle()
    bench.fail('EMFILE', 'create', 'syncFolder')
    const pushes = []
    for (let i = 0; i < 20; i++) pushes.push(...await Promise.allSettled([queue.push('x'.repeat(300))]))
    await quiet()
    assert.equal(queue.running, 0)
    const ids = pushes.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
    assert(ids.length > 0 && ids.length < 20, `${ids.length}`)
    bench.mend()
    await bench.goOn(LONGEST_MS)
    await queue.onIdle()
    assert.deepEqual(bench.idsOf('done'), [1, ...ids])
  })

  describe('and is closed meanwhile', () => {
    it('without drain tries once more, and rejects if it can not: jobs that were over run again', async () => {
      const queue = await bench.open({ concurrency: 1 })
      const closed = []
      queue.on('close', (...args) => closed.push(args))
      for (const payload of ['a', 'b']) await queue.push(payload)
      await bench.gate.until(1)
      bench.fail('EIO', 'write')
      bench.gate.release(1)
      await quiet()
      await assert.rejects(queue.close({ timeoutMs: 0 }), ({ code, cause }) => code === IO.code && cause.code === 'EIO')
      assert.equal(closed[0][1].cause.code, 'EIO')
      bench.mend()
      await bench.open({ concurrency: 1 })
      assert.equal(bench.queue.recovered.jobs, 2)
      await bench.gate.until(2)
      assert.deepEqual([bench.gate.payloads[1], bench.gate.started[1].context.attempt], ['a', 2])
    })

    it('without drain writes what it can by then', async () => {
      const queue = await bench.open({ concurrency: 1 })
      for (const payload of ['a', 'b']) await queue.push(payload)
      await bench.gate.until(1)
      bench.fail('EIO', 'write')
      bench.gate.release(1)
      await quiet()
      bench.mend()
      await queue.close({ timeoutMs: 0 })
      assert.equal((await bench.open()).recovered.jobs, 1)
    })

    it('waits with drain until it can write, and runs what waits', async () => {
      const queue = await bench.open({ concurrency: 1 })
      for (const payload of ['a', 'b']) await queue.push(payload)
      await bench.gate.until(1)
      bench.fail('EIO', 'write')
      bench.gate.release(1)
      await quiet()
      let isClosed = false
      const closing = queue.close({ drain: true }).then(() => { isClosed = true })
      for (let i = 0; i < 3; i++) await bench.goOn(LONGEST_MS)
      assert.equal(isClosed, false)
      bench.mend()
      await bench.goOn(LONGEST_MS)
      await bench.gate.until(2)
      bench.gate.release(1)
      await closing
      assert.equal((await bench.open()).recovered.jobs, 0)
    })

    it('waits with drain for what became of the last job too, as long as it may', async () => {
      const queue = await bench.open()
      await queue.push('a')
      await bench.gate.until(1)
      bench.fail('EIO', 'write')
      bench.gate.release(1)
      await quiet()
      const closing = assert.rejects(queue.close({ drain: true, timeoutMs: 60000 }), IO)
      let isClosed = false
      closing.then(() => { isClosed = true })
      await bench.goOn(59000)
      assert.equal(isClosed, false)
      await bench.goOn(1000)
      await closing
      bench.mend()
      assert.equal((await bench.open()).recovered.jobs, 1)
    })

    it('waits no longer if the log fails', async () => {
      const queue = await bench.open()
      await queue.push('a')
      await bench.gate.until(1)
      bench.fail('EIO', 'write', 'sync')
      bench.gate.release(1)
      await quiet()
      const closing = assert.rejects(queue.close(), IO)
      await quiet()
      await assert.rejects(queue.flush(), IO)
      await closing
      bench.queue = undefined
    })

    it('gives back slots that it had given when the write failed', async () => {
      const queue = await bench.open()
      await queue.push('a')
      let closing
      bench.disk.fault = kind => {
        if (kind !== 'write') return undefined
        // before the queue meets the failure
        closing ??= new Promise(resolve => queueMicrotask(() => resolve(queue.close({ timeoutMs: 60000 }))))
        return systemError('EIO')
      }
      await turn()
      await turn()
      // that it waits as before needs no record
      assert.equal(await closing, 0)
      bench.mend()
      assert.equal(bench.gate.started.length, 0)
      assert.equal((await bench.open()).recovered.jobs, 1)
    })
  })
})

describe('a durable queue under random outages', function () {
  this.timeout(120000 + ROUNDS * 1000)

  let warnings

  before(() => { warnings = captureWarnings() })
  after(() => warnings.release())

  it('resolves deleteDead() though another write fails while it waits', () => surviveOutages(1732201686, {}))

  for (const options of [{}, { scheduler: 'equal' }, { ack: 'disk' }, { scheduler: 'fair', ack: 'disk', maxInflightOps: 2 }]) {
    it(`settles each job once, starts none again that was over, and has all of it on disk: ${JSON.stringify(options)}`, async () => {
      for (let round = 0; round < ROUNDS; round++) await surviveOutages(base + round, options)
    })
  }
})
