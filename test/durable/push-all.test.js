'use strict'

// pushAll() of a durable queue: all of the jobs or none, whatever refuses them, fails or crashes.

const assert = require('node:assert')
const { History } = require('../../lib/history')
const { seeded, seedFromEnvironment } = require('../support/random')
const { captureWarnings } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const base = seedFromEnvironment()
const code = name => ({ code: `FAIRLANE_ERR_${name}` })
const waitingIn = queue => [...queue.jobs()].map(({ payload }) => payload)
const batchOf = count => Array.from({ length: count }, (_, i) => ({
  payload: `${i}`.padEnd(i * 37 % 300), type: i % 2 === 0 ? 'a' : undefined, maxAttempts: i % 3 === 0 ? 3 : undefined
}))

describe('pushAll() of a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('gives the ids of all jobs when they are safe, and runs them in their order, with what is said of them', async () => {
    const history = new History()
    const queue = await bench.open({ concurrency: 1, observers: history })
    const ids = await queue.pushAll([
      { payload: 'a' }, { payload: 'b', type: 't', delayMs: 10 }, { payload: undefined, type: 'u', maxAttempts: 1 }
    ])
    assert.deepEqual(ids, [1, 2, 3])
    assert.deepEqual([1, 2, 3].map(id => history.get(id).state).slice(1), ['delayed', 'waiting'])
    await bench.gate.until(1)
    assert.deepEqual([...queue.jobs()].map(({ id, type, payload }) => [id, type, payload]), [[3, 'u', undefined], [2, 't', 'b']])
    assert.deepEqual([queue.stats().accepted, await queue.pushAll([])], [3, []])
    await bench.reopenAfterKill({ concurrency: 1 })
    await bench.gate.until(1)
    assert.deepEqual(waitingIn(bench.queue), [undefined, 'b'])
    bench.gate.fail(new Error('no'))
    await bench.gate.until(2)
    bench.gate.fail(new Error('no'))
    assert.deepEqual(bench.idsOf('failed'), [3])
  })

  it(`has all of them or none on disk, wherever the process dies or the power fails (SEED=${base})`, async () => {
    const random = seeded(base)
    const options = { segmentBytes: 1024 }
    for (const ack of ['os', 'disk']) {
      bench = new Bench()
      const queue = await bench.open({ ack, ...options })
      queue.pause()
      await queue.push('before')
      await queue.flush()
      const left = await leftByCrashes(bench, batchOf(9), random, options)
      const counts = new Set(left.map(payloads => payloads.filter(payload => !payload.startsWith('be')).length))
      assert.deepEqual([...counts].sort(), [0, 9])
    }
  })

  it('takes none in if one cannot be encoded, is refused, or is wrong', async () => {
    const queue = await bench.open({ maxWaiting: 3, concurrency: 1, capacity: 5, capacityBytes: 1000 })
    queue.pause()
    assert.throws(() => queue.pushAll([{ payload: 'a' }, { payload: () => {} }]), code('ARGUMENT'))
    for (const jobs of [
      undefined, {}, [1], [null], [{ payload: 1, delay: 1 }], [{ payload: 1, delayMs: -1 }], [{ payload: 1, onDuplicate: 'replace' }]
    ]) {
      assert.throws(() => queue.pushAll(jobs), code('ARGUMENT'))
    }
    assert.throws(() => queue.pushAll([{ payload: 1, type: {} }]), code('TYPE'))
    // eslint-disable-next-line no-sparse-arrays
    for (const holes of [new Array(3), [{ payload: 1 }, , { payload: 2 }]]) assert.throws(() => queue.pushAll(holes), code('ARGUMENT'))
    const jobs = count => Array.from({ length: count }, (_, i) => ({ payload: i }))
    await assert.rejects(queue.pushAll(jobs(4)), code('QUEUE_FULL'))
    await assert.rejects(queue.pushAll([{ payload: 'x'.repeat(600) }, { payload: 'x'.repeat(600) }]), code('QUEUE_FULL'))
    await assert.rejects(queue.pushAll([{ payload: 1 }, { payload: 1, key: 'x'.repeat(2 ** 16) }]), code('TOO_LARGE'))
    await assert.rejects(queue.pushAll([{ payload: 1 }, { payload: 1, type: 'x'.repeat(2 ** 16) }]), code('QUEUE_FULL'))
    assert.deepEqual([queue.waiting, queue.stats().accepted, queue.stats().rejected, queue.recovered.jobs], [0, 0, 10, 0])
    assert.deepEqual(await queue.pushAll(jobs(3)), [1, 2, 3])
    queue.close({ timeoutMs: 0 })
    await assert.rejects(queue.pushAll(jobs(1)), code('CLOSED'))
  })

  it('reads the elements of an array, and calls nothing that it has', async () => {
    const queue = await bench.open()
    queue.pause()
    const jobs = [{ payload: 1 }, { payload: 2 }]
    const fail = () => assert.fail('it was called')
    assert.deepEqual(await queue.pushAll(Object.assign(jobs, { map: fail, slice: fail, [Symbol.iterator]: fail })), [1, 2])
    const cause = new Error('no')
    const unreadable = new Proxy([1], { get () { throw cause } })
    assert.throws(() => queue.pushAll(unreadable), { ...code('ARGUMENT'), cause })
  })

  it('takes payloads as they are at the call, of whatever size, and those that encode gives out twice', async () => {
    const shared = Buffer.alloc(4)
    const serialize = {
      encode (number) {
        if (number > 1000) return Buffer.alloc(number, 7)
        shared.writeUInt32LE(number)
        return shared
      },
      decode: bytes => bytes.length === 4 ? bytes.readUInt32LE() : bytes.length
    }
    const queue = await bench.open({ serialize, segmentBytes: 2 ** 22 })
    queue.pause()
    const numbers = [1, 2, 20000, 3, ...Array(100).fill(15000), 4]
    const jobs = numbers.map(payload => ({ payload }))
    const pushed = queue.pushAll(jobs)
    for (const job of jobs) job.payload = 0
    jobs.length = 0
    await pushed
    assert.deepEqual(waitingIn(queue), numbers)
    await bench.reopenAfterKill({ serialize, segmentBytes: 2 ** 22 })
    bench.queue.pause()
    assert.deepEqual(waitingIn(bench.queue), numbers)
  })

  it('gives their ids in their order, whichever of them share jobs', async () => {
    const queue = await bench.open({ ack: 'disk' })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const first = queue.push('first', { key: 'k' })
    const ids = queue.pushAll([
      { payload: 'a', key: 'k' }, { payload: 'b' }, { payload: 'c', key: 'l' }, { payload: 'd', key: 'k' }, { payload: 'e', key: 'l' },
      { payload: 'f' }
    ])
    const joined = queue.push('joins', { key: 'l' })
    release()
    assert.deepEqual(await Promise.all([first, ids, joined]), [1, [1, 2, 3, 1, 3, 4], 3])
  })

  it('counts each job for those of its type behind it, and asks for types where they are needed', async () => {
    const queue = await bench.open({ scheduler: 'equal', maxWaitingPerType: 2, concurrency: 1 })
    queue.pause()
    assert.throws(() => queue.pushAll([{ payload: 1 }]), code('TYPE_REQUIRED'))
    const jobs = types => types.map(type => ({ payload: 1, type }))
    await assert.rejects(queue.pushAll(jobs(['a', 'b', 'a', 'a'])), { ...code('TYPE_FULL'), type: 'a' })
    assert.deepEqual(await queue.pushAll(jobs(['a', 'b', 'a'])), [1, 2, 3])
    assert.deepEqual([(await queue.counts('a')).waiting, queue.waiting], [2, 3])
  })

  it('takes none in if they cannot be written', async () => {
    const queue = await bench.open()
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.pushAll([{ payload: 'a', delayMs: 5 }, { payload: 'b', key: 'k' }, { payload: 'c' }]), code('IO'))
    bench.disk.fault = () => undefined
    await quiet()
    assert.deepEqual([queue.length, queue.stats().accepted], [0, 0])
    await queue.push('d', { key: 'k' })
    warnings.release()
  })

  it('writes what is held before it', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    queue.pause()
    const release = holdSyncs(bench.disk)
    const pushes = [queue.push('first'), queue.push('held'), queue.pushAll([{ payload: 'a' }, { payload: 'b' }]), queue.push('last')]
    await turn()
    release()
    assert.deepEqual(await Promise.all(pushes), [1, 2, [3, 4], 5])
    assert.deepEqual(waitingIn(queue), ['first', 'held', 'a', 'b', 'last'])
  })

  it('shares jobs by their keys, with those that are there and with each other', async () => {
    const queue = await bench.open()
    queue.pause()
    await queue.push('there', { key: 'k' })
    const ids = await queue.pushAll([
      { payload: 'a', key: 'k' }, { payload: 'b', key: 'l' }, { payload: 'c', key: 'l', delayMs: 5 }, { payload: 'd', key: 'l', type: 't' }
    ])
    assert.deepEqual(ids, [1, 2, 2, 3])
    assert.deepEqual([waitingIn(queue), queue.stats().joined], [['there', 'b', 'd'], 2])
    assert.deepEqual(await queue.pushAll([{ payload: 'e', key: 'k' }]), [1])
  })

  describe('with jobs that replace others, or put them off', () => {
    const KEY = { key: 'k' }
    const replacing = (payload, said) => ({ payload, ...KEY, onDuplicate: 'replace', ...said })
    const postponing = (payload, said) => ({ payload, ...KEY, onDuplicate: 'postpone', ...said })

    it('changes those of the queue, the last one for good, and they keep their places', async () => {
      const queue = await bench.open()
      queue.pause()
      await queue.push('there', KEY)
      await queue.push('behind')
      assert.deepEqual(await queue.pushAll([
        replacing('a'), { payload: 'new' }, { payload: 'joins', ...KEY }, replacing('b')
      ]), [1, 3, 1, 1])
      assert.deepEqual([waitingIn(queue), queue.stats().joined, queue.stats().accepted], [['b', 'behind', 'new'], 3, 3])
      await bench.reopenAfterKill()
      bench.queue.pause()
      assert.deepEqual(waitingIn(bench.queue), ['b', 'behind', 'new'])
      assert.equal(await bench.queue.push('no other', KEY), 1)
    })

    it('changes those of the queue with no new one among them', async () => {
      const queue = await bench.open()
      queue.pause()
      await queue.push('there', KEY)
      assert.deepEqual(await queue.pushAll([replacing('a'), replacing('b')]), [1, 1])
      assert.deepEqual([waitingIn(queue), queue.stats().accepted], [['b'], 1])
    })

    it('changes a new one that comes before, as if they had been pushed one after the other', async () => {
      const queue = await bench.open()
      queue.pause()
      const ids = await queue.pushAll([
        replacing('a', { maxAttempts: 2 }), { payload: 'other' }, replacing('b'), postponing('c', { delayMs: 50 }),
        replacing('other type', { type: 't' })
      ])
      assert.deepEqual(ids, [1, 2, 1, 1, 3])
      assert.deepEqual([waitingIn(queue), queue.stats().joined], [['c', 'other', 'other type'], 2])
    })

    it('leaves jobs that have started as they are', async () => {
      await bench.open({ concurrency: 1 })
      await bench.queue.push('runs', { ...KEY, keyUntil: 'settled' })
      await bench.gate.until(1)
      assert.deepEqual(await bench.queue.pushAll([replacing('a'), { payload: 'b' }]), [1, 2])
      assert.equal((await bench.queue.get(1)).payload, 'runs')
    })

    it('puts off delayed jobs, new ones and those of the queue, by the words of the last, but not for longer than maxDelayMs', async () => {
      const queue = await bench.open()
      queue.pause()
      await queue.push('there', { ...KEY, delayMs: 10 })
      bench.clock.advance(5)
      const ids = await queue.pushAll([
        postponing('a', { delayMs: 100 }), postponing('b'), replacing('c'),
        { payload: 'new', key: 'l', delayMs: 20 },
        postponing('d', { key: 'l' }), postponing('e', { key: 'l', delayMs: 40, maxDelayMs: 30 }),
        { payload: 'to go', key: 'm', delayMs: 20 }, { payload: 'waits' }, postponing('at once', { key: 'm', delayMs: 0 })
      ])
      assert.deepEqual(ids, [1, 1, 1, 2, 2, 2, 3, 4, 3])
      const dueAt = async id => (await queue.get(id)).dueAt - bench.epoch
      assert.deepEqual([await dueAt(1), await dueAt(2)], [15, 35])
      bench.clock.advance(0)
      assert.deepEqual(waitingIn(queue).slice(0, 2), ['waits', 'at once'])
      bench.clock.advance(10)
      assert.deepEqual(waitingIn(queue).slice(0, 3), ['waits', 'at once', 'c'])
      await bench.reopenAfterKill()
      bench.queue.pause()
      assert.deepEqual((await bench.queue.get(2)).payload, 'e')
      bench.clock.advance(20)
      assert.deepEqual(waitingIn(bench.queue), ['c', 'at once', 'waits', 'e'])
    })

    it('changes those that are held, after they were written', async () => {
      const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
      queue.pause()
      const release = holdSyncs(bench.disk)
      const pushes = [queue.push('first'), queue.push('held', KEY), queue.pushAll([{ payload: 'a' }, replacing('b')])]
      await turn()
      release()
      assert.deepEqual(await Promise.all(pushes), [1, 2, [3, 2]])
      assert.deepEqual(waitingIn(queue), ['first', 'b', 'a'])
    })

    it('changes nothing if one is refused, for want of room or since it is too large', async () => {
      const queue = await bench.open({ capacity: 3, capacityBytes: 1000 })
      queue.pause()
      await queue.push('there', KEY)
      await queue.push('beside', { key: 'l', delayMs: 10 })
      const large = 'x'.repeat(400)
      await assert.rejects(queue.pushAll([
        postponing('a', { key: 'l', delayMs: 50 }), replacing('b'), { payload: 1 }, { payload: 2 }
      ]), code('QUEUE_FULL'))
      await assert.rejects(queue.pushAll([replacing(large), replacing(large + large, { key: 'l' })]), code('QUEUE_FULL'))
      await assert.rejects(queue.pushAll([replacing(large), { payload: large + large }]), code('QUEUE_FULL'))
      await assert.rejects(queue.pushAll([replacing('b'), { payload: 1, key: 'x'.repeat(2 ** 16) }]), code('TOO_LARGE'))
      assert.deepEqual(waitingIn(queue), ['there', 'beside'])
      assert.deepEqual([queue.stats().rejected, queue.stats().joined, (await queue.get(2)).dueAt - bench.epoch], [10, 0, 10])
      await queue.pushAll([replacing(large), { payload: 1 }])
      await bench.reopenAfterKill()
      bench.queue.pause()
      assert.deepEqual(waitingIn(bench.queue), [large, 1, 'beside'])
    })

    for (const [fault, errno] of [['read', 'EIO'], ['write', 'EIO'], ['write', 'ENOSPC']]) {
      it(`changes nothing if the disk fails: ${fault}, ${errno}`, async () => {
        const queue = await bench.open()
        queue.pause()
        const warnings = captureWarnings()
        try {
          await queue.push('there', KEY)
          await queue.push('late', { key: 'l', delayMs: 10 })
          await queue.flush()
          bench.disk.fault = kind => kind === fault ? systemError(errno) : undefined
          await assert.rejects(queue.pushAll([
            { payload: 'new', key: 'n' }, replacing('a'), postponing('b', { key: 'l', delayMs: 50 })
          ]), code('IO'))
          bench.disk.fault = () => undefined
          await quiet()
          assert.deepEqual([waitingIn(queue), queue.length, queue.stats().accepted], [['there', 'late'], 2, 2])
          assert.equal((await queue.get(2)).dueAt - bench.epoch, 10)
          bench.clock.advance(10)
          assert.equal((await queue.get(2)).state, 'waiting')
          await bench.reopenAfterKill()
          bench.queue.pause()
          assert.deepEqual(waitingIn(bench.queue), ['there', 'late'])
          assert(await bench.queue.push('b', { key: 'n' }) > 2)
        } finally {
          warnings.release()
        }
      })
    }

    it(`has all of them or none on disk, wherever the process dies or the power fails (SEED=${base})`, async () => {
      const random = seeded(base)
      const options = { segmentBytes: 1024, priorityMs: 10 }
      for (const ack of ['os', 'disk']) {
        bench = new Bench()
        const queue = await bench.open({ ack, ...options })
        queue.pause()
        for (let i = 0; i < 4; i++) await queue.push(`old ${i}`, { key: i, priority: i })
        await queue.flush()
        const jobs = [...batchOf(5), ...[0, 1, 2, 3, 2].map(i => replacing(`new ${i}`.padEnd(random.below(300)), { key: i }))]
        const left = await leftByCrashes(bench, jobs, random, options)
        const seen = new Set(left.map(payloads => {
          const changed = payloads.slice(0, 4).map(payload => payload.trim())
          return [...changed, payloads.filter(payload => /^\d/.test(payload)).length].join()
        }))
        assert.deepEqual([...seen].sort(), ['new 0,new 1,new 2,new 3,5', 'old 0,old 1,old 2,old 3,0'])
      }
    })
  })
})

/**
 * Pushes jobs, beside another one, while the process may die and the power fail before each step of the disk and after the last.
 * @returns {Promise<any[][]>} the payloads that wait in a queue which is opened after each of these
 */
async function leftByCrashes ({ disk, queue }, jobs, random, options) {
  const disks = []
  disk.beforeStep = () => disks.push(disk.afterKill(), disk.afterPowerLoss(random))
  const pushed = queue.pushAll(jobs)
  queue.push('beside').catch(() => {})
  await pushed
  await queue.flush()
  disk.beforeStep = () => {}
  disks.push(disk.afterKill())
  const left = []
  for (const crashed of disks) {
    const other = Object.assign(new Bench(), { disk: crashed })
    await other.open(options)
    other.queue.pause()
    left.push(waitingIn(other.queue))
    await other.queue.close({ timeoutMs: 0 })
  }
  return left
}
