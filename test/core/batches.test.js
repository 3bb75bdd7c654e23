'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { batches } = require('../..')
const { checkInvariants } = require('../../lib/testing')
const { NO_KEYS } = require('../shared/keys')
const { startsOf } = require('../support/starts')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')

const ERROR = new Error('expected')

/** A queue of batches whose jobs are doubled. */
function made (options, batchOptions, run = async payloads => payloads.map(n => 2 * n)) {
  const made = startsOf(fairlane, options, run)
  const sizes = () => made.starts.map(({ payload }) => payload.length)
  return { ...made, batches: batches(made.queue, { maxSize: 3, ...batchOptions }), sizes }
}

describe('batches', function () {
  it('start at once while the queue is idle, and fill while it is busy', async function () {
    const runner = (payloads, done) => setImmediate(() => done(null, payloads.map(n => 2 * n)))
    const { queue, pass, starts, batches } = made({ concurrency: 1 }, {}, runner)
    const results = [batches.add(0)]
    await new Promise(resolve => setImmediate(resolve))
    while (queue.running === 0) await new Promise(resolve => setImmediate(resolve))
    for (let n = 1; n < 6; n++) results.push(batches.add(n))
    checkInvariants(queue)
    assert.equal(queue.waiting, 2)
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), [[0], [1, 2, 3], [4, 5]])
    assert.deepEqual(await Promise.all(results), [0, 2, 4, 6, 8, 10])
  })

  it('are of one type, and count as one job each', async function () {
    const { queue, pass, starts, batches } = made({ scheduler: 'equal', maxWaiting: 3, concurrency: 1, ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pause()
    const results = []
    for (let n = 0; n < 4; n++) for (const type of ['a', 'b']) results.push(batches.add(n, { type }))
    await assert.rejects(results.at(-1), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    queue.resume(1)
    await pass(50)
    assert.deepEqual(starts.map(({ type, payload }) => [type, ...payload]), [['a', 0, 1, 2], ['b', 0, 1, 2]])
    await pass(50)
    assert.deepEqual(starts.slice(2).map(({ type, payload, at }) => [type, ...payload, at]), [['a', 3, 100]])
    assert.deepEqual(await Promise.all(results.slice(0, -1)), [0, 0, 2, 2, 4, 4, 6])
  })

  it('begin anew after one was refused or cleared', async function () {
    const { queue, pass, batches, sizes } = made({ maxWaiting: 0, concurrency: 1 })
    queue.push([1])
    await assert.rejects(batches.add(1), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    await pass(0)
    const cleared = [batches.add(1), batches.add(2)]
    const again = batches.add(3)
    queue.clear()
    const last = batches.add(4)
    for (const result of [...cleared, again]) await assert.rejects(result, { code: 'FAIRLANE_ERR_CLEARED' })
    await pass(0)
    assert.equal(await last, 8)
    assert.deepEqual(sizes(), [1, 1])
  })

  it('give each job its own result or error', async function () {
    const { pass, batches } = made({}, {}, async payloads => payloads.map(n => n === 1 ? ERROR : n))
    const results = [0, 1, 2].map(n => batches.add(n))
    const settled = Promise.allSettled(results)
    await pass(0)
    assert.deepEqual((await settled).map(({ value, reason }) => reason ?? value), [0, ERROR, 2])
  })

  it('fail as a whole where the runner does, or gives no array of as many results', async function () {
    for (const [run, expected] of [
      [async () => { throw ERROR }, ERROR],
      [async () => [1], { code: 'FAIRLANE_ERR_RUNNER' }],
      [async () => 'ab', { code: 'FAIRLANE_ERR_RUNNER' }],
      [async () => {}, { code: 'FAIRLANE_ERR_RUNNER' }]
    ]) {
      const { pass, batches } = made({}, {}, run)
      const ends = [0, 1].map(n => assert.rejects(batches.add(n), expected))
      await pass(0)
      await Promise.all(ends)
    }
  })

  it('are tried again as they are', async function () {
    const { pass, starts, batches } = made({ maxAttempts: 2, backoffMs: 10 }, {}, async (payloads, _, { attempt }) => {
      if (attempt === 1) throw ERROR
      return payloads
    })
    const results = [batches.add(1), batches.add(2)]
    await pass(5)
    results.push(batches.add(3))
    await pass(50)
    assert.deepEqual(await Promise.all(results), [1, 2, 3])
    assert.deepEqual(starts.map(({ payload }) => payload), [[1, 2], [3], [1, 2], [3]])
  })

  it('wait for delayMs, unless they are full before', async function () {
    const { queue, clock, pass, starts, batches } = made({}, { delayMs: 100 })
    const add = n => batches.add(n)
    const results = [add(1)]
    await pass(60)
    results.push(add(2))
    await pass(39)
    assert.deepEqual([starts.length, queue.stats().delayed], [0, 1])
    await pass(1)
    assert.deepEqual(starts.map(({ payload, at }) => [at, ...payload]), [[100, 1, 2]])
    results.push(add(3), add(4), add(5), add(6))
    await pass(0)
    assert.deepEqual(starts.slice(1).map(({ payload, at }) => [at, ...payload]), [[100, 3, 4, 5]])
    await pass(100)
    assert.deepEqual(starts.slice(2).map(({ payload, at }) => [at, ...payload]), [[200, 6]])
    await Promise.all(results)
    assert.equal(clock.timerCount, 0)
  })

  it('of one have no delay', async function () {
    const { pass, batches, sizes } = made({}, { maxSize: 1, delayMs: 1000 })
    const results = [batches.add(1), batches.add(2)]
    await pass(0)
    assert.deepEqual([await Promise.all(results), sizes()], [[2, 4], [1, 1]])
  })

  it('are kept apart by a key', async function () {
    const { pass, starts, batches } = made({}, { key: n => n % 2, maxSize: 10 })
    const results = [0, 1, 2, 3, 4].map(n => batches.add(n))
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), [[0, 2, 4], [1, 3]])
    await Promise.all(results)
  })

  it('throw FAIRLANE_ERR_ARGUMENT for what is no key of a job, and gather nothing', function () {
    const { queue, batches } = made({}, { key: key => key, maxSize: 10 })
    for (const key of [undefined, ...NO_KEYS]) assert.throws(() => batches.add(key), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.equal(queue.length, 0)
  })

  it('meet neither those of another gatherer nor keys of users', async function () {
    const { queue, pass, starts, batches: one } = made({})
    const other = batches(queue, { maxSize: 5 })
    const results = [one.add(1), other.add(2), queue.add([3], { key: 'batch 1' }), one.add(4), other.add(5)]
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), [[1, 4], [2, 5], [3]])
    await Promise.all(results)
  })

  it('take options that are checked', function () {
    const queue = fairlane(() => {}, { scheduler: 'equal' })
    const wrong = { code: 'FAIRLANE_ERR_ARGUMENT' }
    for (const other of [undefined, {}, fairlane]) assert.throws(() => batches(other, { maxSize: 1 }), wrong)
    for (const options of [undefined, null, 5, {}, { maxSize: 0 }, { maxSize: '1' }, { maxSize: 2, delayMs: -1 }, { maxSize: 2, key: 'k' }, { maxsize: 2 }]) assert.throws(() => batches(queue, options), wrong)
    const gatherer = batches(queue, { maxSize: 2 })
    for (const options of [null, 5, { typ: 1 }]) assert.throws(() => gatherer.add(1, options), wrong)
    assert.throws(() => gatherer.add(1), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
    assert.throws(() => gatherer.add(1, { type: Symbol('a') }), { code: 'FAIRLANE_ERR_TYPE' })
  })

  const seed = seedFromEnvironment()

  it(`hold each job once, in order, with none begun before the one before it is full or has started (SEED=${seed})`, () => playRounds(rounds(20), seed, seeded, play))
})

async function play (random) {
  const maxSize = 1 + random.below(5)
  const { queue, clock, pass, starts, batches } = made({
    scheduler: 'equal',
    concurrency: 1 + random.below(3),
    ratePerType: random.pick([undefined, { limit: 2, intervalMs: 10 }])
  }, { maxSize, delayMs: random.pick([undefined, 5]) }, (payloads, done) => {
    clock.setTimeout(() => done(null, payloads.map(n => n % 7 === 0 ? ERROR : 2 * n)), random.below(8))
  })
  const added = { a: [], b: [] }
  const ends = []
  for (let n = 0; n < 100; n++) {
    const type = random.pick(['a', 'b'])
    added[type].push(n)
    ends.push(batches.add(n, { type }).then(result => assert.equal(result, 2 * n), error => assert(error === ERROR && n % 7 === 0, error)))
    checkInvariants(queue)
    for (const type of ['a', 'b']) {
      const sizes = [...queue.jobs(type)].map(({ payload }) => payload.length).sort((a, b) => a - b)
      assert(sizes.slice(1).every(size => size === maxSize), `${sizes}`)
    }
    if (random.chance(0.3)) await pass(random.below(6))
  }
  await pass(2000)
  await Promise.all(ends)
  for (const type of ['a', 'b']) {
    const ran = starts.filter(start => start.type === type).map(({ payload }) => payload)
    assert(ran.every(({ length }) => length > 0 && length <= maxSize))
    assert.deepEqual(ran.flat().toSorted((a, b) => a - b), added[type])
    for (const payloads of ran) assert.deepEqual(payloads, payloads.toSorted((a, b) => a - b))
  }
  assert.deepEqual([queue.length, clock.timerCount], [0, 0])
}
