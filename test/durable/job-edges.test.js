'use strict'

const assert = require('node:assert')
const { fakeClock } = require('../../lib/testing')
const { giveChance } = require('../support/chance')
const { captureUncaught } = require('../support/uncaught')
const { seeded } = require('../support/random')
const { quiet, turn } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')
const { FOLDER, openOn } = require('../log/history')

const waitingIn = queue => [...queue.jobs()].map(({ payload }) => payload)
const plain = { encode: text => Buffer.from(text), decode: String }

describe('a durable queue that closes', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  for (const ack of ['os', 'disk']) {
    it(`has synced what its log says it has, if a runner ends while it syncs (${ack})`, async () => {
      const queue = await bench.open({ ack })
      await queue.push('a')
      await bench.gate.until(1)
      let ending = bench.gate.open.shift()
      bench.disk.beforeStep = kind => {
        if (kind !== 'sync' || ending === undefined) return
        queueMicrotask(ending.done)
        ending = undefined
      }
      await queue.close({ timeoutMs: 0 })
      bench.disk.beforeStep = () => {}
      assert.deepEqual(bench.idsOf('done'), [1])
      const { disk } = bench
      for (let seed = 0; seed < 30; seed++) {
        bench.disk = disk.afterPowerLoss(seeded(seed))
        assert.equal((await bench.open({ ack })).recovered.jobs, 0)
        await bench.queue.close({ timeoutMs: 0 })
      }
    })

    it(`tells of no end that it can not write any more (${ack})`, async () => {
      const queue = await bench.open({ ack, backoffMs: 1000 })
      await queue.push('a')
      await queue.push('b')
      await bench.gate.until(2)
      bench.gate.open.pop().done(new Error('later'))
      const [{ done }] = bench.gate.open
      let cleared
      bench.disk.fault = (kind, path) => {
        if (kind !== 'create' || !path.endsWith('closed')) return
        done()
        cleared = queue.clear()
      }
      assert.equal(await queue.close({ timeoutMs: 0 }), 1)
      bench.disk.fault = () => undefined
      assert.equal(cleared, 0)
      assert.deepEqual(bench.events.map(([event, { id }]) => [event, id]), [['retry', 2]])
      assert.equal((await bench.open({ ack })).recovered.jobs, 2)
    })
  }
})

describe('a durable queue that is paused', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('calls no runner for jobs that have a slot already, and keeps their order and their attempts', async () => {
    for (const [pause, resume] of [
      [queue => queue.pause(), queue => queue.resume()],
      [queue => { queue.concurrency = 0 }, queue => queue.resume(10)]
    ]) {
      const queue = await bench.open({ ack: 'disk', maxInflightOps: 2, maxWaitMs: 1000 })
      const release = holdSyncs(bench.disk)
      const pushes = ['a', 'b', 'c', 'd'].map(payload => queue.push(payload))
      await quiet()
      assert.equal(queue.running, 4)
      pause(queue)
      assert.deepEqual([queue.running, queue.waiting], [0, 4])
      release()
      await Promise.all(pushes)
      await quiet()
      assert.deepEqual([bench.gate.started.length, waitingIn(queue)], [0, ['a', 'b', 'c', 'd']])
      resume(queue)
      await bench.gate.until(4)
      assert.deepEqual(bench.gate.payloads, ['a', 'b', 'c', 'd'])
      assert.deepEqual(bench.gate.started.map(({ context }) => context.attempt), [1, 1, 1, 1])
      bench.gate.release(4)
      await queue.onIdle()
      assert.deepEqual([queue.stats().done, queue.stats().misuse], [4, 0])
      await queue.close({ drain: true })
      bench = new Bench()
    }
  })

  it('calls none in the turn in which the push was acknowledged', async () => {
    const queue = await bench.open({ ack: 'disk' })
    let drainsCount = 0
    queue.drain = () => { drainsCount++ }
    await queue.push('a')
    queue.pause()
    await quiet()
    assert.deepEqual([bench.gate.started.length, waitingIn(queue), drainsCount], [0, ['a'], 0])
    assert.equal(queue.clear(), 1)
    queue.resume()
    await quiet()
    assert.deepEqual([bench.gate.started.length, drainsCount], [0, 1])
    assert.equal((await bench.reopen()).recovered.jobs, 0)
  })

  it('counts the limit of waiting on for them', async () => {
    const queue = await bench.open({ ack: 'disk', maxWaitMs: 100 })
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a')
    await quiet()
    bench.clock.advance(60)
    queue.pause()
    release()
    await pushed
    bench.clock.advance(40)
    assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.code]), [['cancelled', 1, 'FAIRLANE_ERR_MAX_WAIT']])
  })

  it('calls none of a type that is paused, and those of others', async () => {
    const queue = await bench.open({ ack: 'disk', scheduler: 'equal' })
    const release = holdSyncs(bench.disk)
    const pushes = [['7', 'a'], ['y', 'b'], ['7', 'c']].map(([type, payload]) => queue.pushType(type, payload))
    await quiet()
    queue.pauseType(7)
    release()
    await Promise.all(pushes)
    await quiet()
    assert.deepEqual(bench.gate.payloads, ['b'])
    queue.resumeType(7)
    await bench.gate.until(3)
    assert.deepEqual(bench.gate.payloads, ['b', 'a', 'c'])
    bench.gate.release(3)
    const closing = queue.close({ drain: true })
    queue.pauseType(7)
    assert.equal(await closing, 0)
  })
})

describe('a durable queue that is paused while pushes are under way', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('gives each slot back once: of jobs that are cleared then', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    const release = holdSyncs(bench.disk)
    const outcomes = [1, 2, 3].map(payload => queue.push(payload).catch(({ code }) => code))
    while (queue.running < 3) await turn() // a pass ends early where the machine is slow
    queue.pause()
    assert.deepEqual([queue.running, queue.waiting, queue.clear()], [0, 3, 3])
    release()
    await quiet()
    assert.deepEqual(await Promise.all(outcomes), [1, 'FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_CLEARED'])
    assert.deepEqual([queue.stats().misuse, queue.stats().cancelled, queue.length], [0, 3, 0])
  })

  it('gives each slot back once: of jobs whose push fails then', async () => {
    const queue = await bench.open({ ack: 'disk', segmentBytes: 1024 })
    const release = holdSyncs(bench.disk)
    const first = queue.push('a'.repeat(800))
    // it needs the next segment, which waits for the sync of this one
    const second = queue.push('b'.repeat(800))
    await turn()
    bench.disk.fault = kind => kind === 'create' ? systemError('EMFILE') : undefined
    queue.pause()
    release()
    await first
    await assert.rejects(second, { code: 'FAIRLANE_ERR_IO' })
    bench.disk.fault = () => undefined
    await quiet()
    assert.deepEqual([queue.stats().misuse, queue.waiting, queue.running], [0, 1, 0])
  })
})

describe('a durable queue with a limit of waiting', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('does not count the time since the push of jobs that have been started, or retried', async () => {
    const options = { maxWaitMs: 100, maxAttempts: 1 }
    let queue = await bench.open(options)
    await queue.push('interrupted')
    await queue.push('dead')
    await bench.gate.until(2)
    bench.gate.open[1].done(new Error('no'))
    await quiet()
    bench.clock.advance(200)
    queue.pause()
    await queue.retryDead(2)
    queue = await bench.reopen(options)
    queue.pause()
    bench.clock.advance(200)
    await turn()
    assert.deepEqual(waitingIn(queue).sort(), ['dead', 'interrupted'])
  })

  it('counts for jobs that had a slot and no runner yet when the queue was paused, over a restart too', async () => {
    let queue = null
    const ran = []
    const runner = async payload => {
      ran.push(payload)
      queue.pause()
    }
    queue = await bench.open({ runner, maxWaitMs: 300, concurrency: 5 })
    await Promise.all([1, 2, 3].map(payload => queue.push(payload)))
    await quiet()
    assert.deepEqual([ran, queue.waiting], [[1], 2])
    bench.clock.advance(299)
    queue = await bench.reopen({ runner, maxWaitMs: 300, concurrency: 5 })
    assert.deepEqual(bench.idsOf('cancelled'), [])
    queue.pause()
    bench.clock.advance(1)
    await quiet()
    assert.deepEqual([ran, bench.idsOf('cancelled'), queue.length], [[1], [2, 3], 0])
  })

  it('does not count for a job that has been started before, when it is recalled', async () => {
    const queue = await bench.open({ maxWaitMs: 300, backoffMs: 1000, concurrency: 1 })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('later'))
    await queue.push('b')
    await bench.gate.until(2)
    bench.clock.advance(1000)
    bench.gate.open.shift().done()
    assert.equal(queue.running, 1)
    queue.pause()
    await quiet()
    assert.deepEqual([queue.running, queue.waiting, bench.gate.started.length], [0, 1, 2])
    bench.clock.advance(1000)
    queue.resume()
    await bench.gate.until(3)
    assert.deepEqual([bench.idsOf('cancelled'), bench.gate.open[0].payload, bench.gate.started[2].context.attempt], [[], 'a', 2])
  })

  it('waits no longer because the clock of the machine was set back', async () => {
    await bench.open({ maxWaitMs: 300 })
    bench.queue.pause()
    await bench.queue.push('a')
    bench.clock = Object.assign(fakeClock(), { now: () => -1e9 })
    await bench.reopen({ maxWaitMs: 300 })
    bench.clock.now = () => 300 - 1e9
    bench.queue.pause()
    bench.clock.advance(300)
    await quiet()
    assert.deepEqual(bench.idsOf('cancelled'), [1])
  })

  it('does not run a job that waited too long while nobody had it open', async () => {
    let queue = await bench.open({ maxWaitMs: 100 })
    queue.pause()
    await queue.push('a')
    await queue.close({ timeoutMs: 0 })
    bench.clock.advance(100)
    queue = await bench.open({ maxWaitMs: 100 })
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    assert.deepEqual(bench.events.map(([event, { id, error }]) => [event, id, error.code]), [['cancelled', 1, 'FAIRLANE_ERR_MAX_WAIT']])
    assert.deepEqual([queue.length, queue.stats().accepted, queue.stats().cancelled], [0, 1, 1])
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })
})

describe('a durable queue with few pushes under way', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('flushes those that are held, too, and beside a close', async () => {
    const queue = await bench.open({ maxInflightOps: 1 })
    queue.pause()
    const pushes = ['a', 'b', 'c'].map(payload => queue.push(payload))
    await queue.flush()
    const lost = bench.disk.afterPowerLoss(seeded(1))
    await Promise.all(pushes)
    await queue.close({ timeoutMs: 0 })
    bench.disk = lost
    assert.equal((await bench.open()).recovered.jobs, 3)
    const late = bench.queue.flush()
    await bench.queue.close({ timeoutMs: 0 })
    await late
  })

  it('counts all that it refuses', async () => {
    const queue = await bench.open({ scheduler: 'fair' })
    await assert.rejects(queue.pushType('x'.repeat(70000), 1), { code: 'FAIRLANE_ERR_TOO_LARGE' })
    bench.disk.fault = kind => kind === 'write' ? systemError('EDQUOT') : undefined
    await assert.rejects(queue.pushType('a', 1), { code: 'FAIRLANE_ERR_IO' })
    await assert.rejects(queue.pushType('a', 2), { code: 'FAIRLANE_ERR_IO' })
    bench.disk.fault = () => undefined
    assert.deepEqual([queue.stats().accepted, queue.stats().rejected], [0, 2])
    assert.throws(() => queue.ready(Symbol('a')), { code: 'FAIRLANE_ERR_TYPE' })
  })

  it('is ready when a held one is removed', async () => {
    const queue = await bench.open({ ack: 'disk', capacity: 2, maxInflightOps: 1 })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const pushes = [queue.push('a'), queue.push('b')]
    let isReady = false
    queue.ready().then(() => { isReady = true })
    await quiet()
    assert.equal(isReady, false)
    assert.equal(queue.remove(({ id }) => id === undefined), 1)
    await quiet()
    assert.equal(isReady, true)
    release()
    await assert.rejects(pushes[1], { code: 'FAIRLANE_ERR_CLEARED' })
    await pushes[0]
  })

  it('keeps the payload of a held one as it was pushed, whoever looks at it', async () => {
    const queue = await bench.open({ maxInflightOps: 1, ack: 'disk', serialize: { encode: bytes => bytes, decode: bytes => bytes } })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const pushes = ['aaa', 'bbb'].map(text => queue.push(Buffer.from(text)))
    for (const { payload } of queue.jobs()) payload.fill('X')
    release()
    await Promise.all(pushes)
    queue.resume()
    await bench.gate.until(2)
    assert.deepEqual(bench.gate.payloads.map(String), ['aaa', 'bbb'])
  })

  it('tells of a held job that is cancelled without an id, and its push rejects', async () => {
    const queue = await bench.open({ maxInflightOps: 1 })
    queue.pause()
    const pushes = [queue.push('a'), queue.unshift('b')]
    const settled = Promise.allSettled(pushes)
    assert.equal(queue.clear(), 2)
    const [first, second] = await settled
    assert.deepEqual([first.value, second.reason.code], [1, 'FAIRLANE_ERR_CLEARED'])
    assert.deepEqual(bench.events.map(([event, { id }]) => [event, id]), [['cancelled', undefined], ['cancelled', 1]])
  })
})

describe('a durable queue whose tests of remove() call it back', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  for (const [name, call] of Object.entries({ clear: queue => queue.clear(), remove: queue => queue.remove(() => true) })) {
    it(`(${name}) cancels jobs once that are to be tried again`, async () => {
      const queue = await bench.open({ backoffMs: 1000, capacity: 2 })
      await queue.push('a')
      await bench.gate.until(1)
      bench.gate.open.shift().done(new Error('later'))
      await quiet()
      let hasCalled = false
      const test = () => {
        if (!hasCalled) {
          hasCalled = true
          call(queue)
        }
        return true
      }
      assert.equal(queue.remove(test), 0)
      assert.deepEqual(bench.idsOf('cancelled'), [1])
      assert.deepEqual([queue.stats().cancelled, queue.length], [1, 0])
      for (const payload of ['b', 'c']) await queue.push(payload)
      await assert.rejects(queue.push('d'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
      await bench.gate.until(3)
      let isFlushed = false
      queue.fflush(() => { isFlushed = true })
      bench.gate.release()
      await quiet()
      assert(!isFlushed)
      bench.gate.release()
      await quiet()
      assert(isFlushed)
    })
  }
})

describe('a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('is idle only when all that clear() cancels has been told', async () => {
    const queue = await bench.open()
    const log = []
    queue.pause()
    await queue.push('a')
    for (const event of ['drain', 'cancelled']) queue.on(event, () => log.push(event))
    queue.onIdle().then(() => log.push('idle'))
    queue.once('cancelled', () => queue.push('b'))
    queue.clear()
    await quiet()
    assert.deepEqual(log, ['cancelled'])
    queue.clear()
    await quiet()
    assert.deepEqual(log, ['cancelled', 'cancelled', 'drain', 'idle'])
    assert.throws(() => { queue.push('c'); queue.remove(() => { throw new Error('mine') }) }, /mine/)
    queue.clear()
    await quiet()
    assert.deepEqual(log.slice(4), ['cancelled', 'drain'])
    queue.push('d')
    queue.push('e')
    queue.once('cancelled', () => queue.clear())
    queue.clear()
    assert.deepEqual(log.slice(6), ['cancelled', 'cancelled', 'drain'])
  })

  it('counts the bytes of payloads and types against capacityBytes, and nothing else', async () => {
    const queue = await bench.open({ capacityBytes: 100, serialize: plain, maxInflightOps: 1 })
    queue.pause()
    await assert.rejects(queue.pushType('t'.repeat(100), 'a'), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    await queue.pushType('t'.repeat(50), 'x'.repeat(40))
    const pushes = [queue.push('12345'), queue.pushType('t', '1234')]
    for (const [chance, ms] of [[0, 1000], [0.5, 1100]]) {
      const release = giveChance(chance)
      await assert.rejects(queue.push('1'), ({ code, type, waiting, limit, retryAfterMs }) => {
        assert.deepEqual([code, type, waiting, limit, retryAfterMs], ['FAIRLANE_ERR_QUEUE_FULL', undefined, 100, 100, ms])
        return true
      })
      release()
    }
    await Promise.all(pushes)
    let isReady = false
    queue.ready().then(() => { isReady = true })
    await quiet()
    assert.equal(isReady, false)
    queue.remove(({ id }) => id === 3)
    await quiet()
    assert.equal(isReady, true)
    await queue.push('12345')
  })

  it('tells listeners to failed of jobs that had killed the process too often', async () => {
    let queue = await bench.open({ maxAttempts: 1 })
    await queue.push('poison')
    await bench.gate.until(1)
    queue = await bench.reopenAfterKill({ maxAttempts: 1 })
    const failures = []
    queue.on('failed', ({ error, id, payload }) => failures.push([error.code, id, payload]))
    await quiet()
    assert.deepEqual(failures, [['FAIRLANE_ERR_CRASHED', 1, 'poison']])
  })

  it('is not opened as a queue of bytes, nor the other way, not for repair either', async () => {
    await bench.open()
    await bench.queue.push('a')
    await bench.queue.close({ timeoutMs: 0 })
    const file = `${FOLDER}/0000000001.log`
    for (const repair of [false, true]) {
      await assert.rejects(openOn(bench.disk, { repair }), {
        code: 'FAIRLANE_ERR_CORRUPT', file, offset: 10, message: /it holds jobs, and was opened as a log of bytes/
      })
    }
    assert.equal((await bench.open()).recovered.jobs, 1)
    await bench.queue.close({ timeoutMs: 0 })
    bench = new Bench()
    await (await openOn(bench.disk)).close()
    await assert.rejects(bench.open({ repair: true }), { code: 'FAIRLANE_ERR_CORRUPT', file, offset: 10 })
  })

  it('takes no type that could not be read back as it is', async () => {
    const queue = await bench.open({ scheduler: 'fair' })
    for (const method of ['pushType', 'unshiftType']) assert.throws(() => queue[method]('\ud800', 1), { code: 'FAIRLANE_ERR_TYPE' })
    await queue.pushType('\u{1f600}', 1)
  })

  it('opens though onProgress throws, which becomes an uncaught exception', async () => {
    const uncaught = captureUncaught()
    try {
      await bench.open()
      await bench.reopen({ onProgress () { throw new Error('mine') } })
      await uncaught.until(1)
      assert.equal(uncaught.seen[0].message, 'mine')
    } finally {
      uncaught.release()
    }
  })
})
