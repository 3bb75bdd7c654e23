'use strict'

const assert = require('node:assert')
const fairlane = require('../../..')
const { checkInvariants } = require('../../../lib/testing')
const { startsOf } = require('../../support/starts')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { rounds, playRounds } = require('../../support/rounds')

const ERROR = new Error('expected')
const WINDOWS = { waiting () {}, start () {}, done () {}, select: () => 0 }
const payloads = starts => starts.map(({ payload }) => payload)

for (const scheduler of [undefined, 'equal', 'fair', 'capped']) {
  const type = scheduler && 'a'

  describe(`the option priority (${scheduler ?? 'no scheduler'})`, function () {
    const made = (options, run) => startsOf(fairlane, { scheduler, priorityMs: 100, concurrency: 1, ...options }, run)
    const push = (queue, payload, callback) => type ? queue.pushType(type, payload, callback) : queue.push(payload, callback)

    it('has a job start where it would had it been pushed earlier', async function () {
      const { queue, pass, starts } = made()
      queue.pause()
      push(queue, 'at 0')
      await pass(150)
      push(queue, 'at 150')
      queue.add('at 150, of 1', { type, priority: 1 })
      queue.add('at 150, of 2', { type, priority: 2 })
      await pass(110)
      queue.add('at 260, of 2', { type, priority: 2 })
      push(queue, 'at 260')
      checkInvariants(queue)
      assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), ['at 0', 'at 150', 'at 150, of 1', 'at 150, of 2', 'at 260, of 2', 'at 260'])
      queue.resume(1)
      await pass(0)
      checkInvariants(queue)
      assert.deepEqual(payloads(starts), ['at 150, of 2', 'at 0', 'at 150, of 1', 'at 260, of 2', 'at 150', 'at 260'])
      assert.equal(queue.stats().types, 0)
    })

    it('comes after what is unshifted, and after what comes back', async function () {
      const { queue, pass, starts } = made({ maxAttempts: 2, backoffMs: 10 }, (payload, done, { attempt }) => done(payload === 'failing' && attempt === 1 && ERROR))
      push(queue, 'failing')
      await pass(5)
      queue.pause()
      await pass(5)
      queue.add('urgent', { type, priority: 15 })
      queue.add('first', { type, unshift: true })
      queue.add('very first', { type, unshift: true, priority: 1 })
      queue.resume(1)
      await pass(0)
      assert.deepEqual(payloads(starts), ['failing', 'very first', 'first', 'failing', 'urgent'])
    })

    it('goes with delays, from the end of which on it counts, with signals and with keys', async function () {
      const { queue, pass, starts } = made()
      const controller = new AbortController()
      queue.pause()
      push(queue, 'now')
      queue.add('later', { type, delayMs: 50, priority: 1 })
      queue.add('replaced', { type, priority: 2, key: 'k' })
      const aborted = assert.rejects(queue.add('aborted', { type, priority: 3, signal: controller.signal }), { code: 'FAIRLANE_ERR_ABORTED' })
      queue.add('removed', { type, priority: 2 }).catch(() => {})
      await pass(50)
      queue.add('new', { type, key: 'k', onDuplicate: 'replace' })
      controller.abort()
      await aborted
      assert.equal(queue.remove(({ payload }) => payload === 'removed'), 1)
      checkInvariants(queue)
      queue.resume(1)
      await pass(0)
      assert.deepEqual(payloads(starts), ['new', 'later', 'now'])
    })

    it('leaves the flushes before which jobs were pushed', async function () {
      const { queue, pass, starts } = made()
      const flushed = []
      queue.pause()
      push(queue, 1)
      queue.fflush(() => flushed.push(starts.length))
      queue.add(2, { type, priority: 3 })
      queue.fflush(() => flushed.push(starts.length))
      checkInvariants(queue)
      queue.resume(1)
      await pass(0)
      assert.deepEqual([payloads(starts), flushed], [[2, 1], [2, 2]])
    })

    it('gives the memory of removed jobs back', async function () {
      const { queue, pass, starts } = made()
      queue.pause()
      for (let i = 0; i < 300; i++) queue.add(i, { type, priority: i % 3 }).catch(() => {})
      assert.equal(queue.remove(({ payload }) => payload % 10 !== 0), 270)
      checkInvariants(queue)
      queue.resume(1)
      await pass(0)
      assert.equal(starts.length, 30)
      assert.deepEqual(payloads(starts).slice(0, 3), [20, 50, 80])
    })

    const seed = seedFromEnvironment()

    it(`holds for random jobs, beside a list that is sorted each time (SEED=${seed})`, () => playRounds(rounds(10), seed, seeded, random => play(random, scheduler)))
  })
}

describe('the options priority and priorityMs', function () {
  it('are checked', function () {
    for (const priorityMs of [0, -1, Infinity, NaN, '1', null, 2 ** 32]) assert.throws(() => fairlane(() => {}, { priorityMs }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => fairlane(() => {}, { priorityMs: 5, scheduler: WINDOWS }), { code: 'FAIRLANE_ERR_OPTION' })
    const queue = fairlane(() => {}, { priorityMs: 5 })
    for (const priority of [-1, 16, 1.5, '1', null, NaN]) assert.throws(() => queue.add(1, { priority }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => fairlane(() => {}).add(1, { priority: 0 }), { code: 'FAIRLANE_ERR_ARGUMENT', message: /priorityMs/ })
    assert.equal(queue.length, 0)
  })

  it('take nothing from other types', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'fair', concurrency: 1, priorityMs: 1000 })
    queue.pause()
    queue.pushType('b', 'b').pushType('b', 'b')
    for (let i = 0; i < 3; i++) queue.add('a', { type: 'a', priority: 15 })
    queue.resume(1)
    await pass(0)
    assert.deepEqual(payloads(starts), ['b', 'b', 'a', 'a', 'a'])
  })

  it('do not count in a lane that types share, and count again in a lane of their own', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1, priorityMs: 1000, maxTypes: 1 })
    queue.pause()
    queue.pushType('own', 'own')
    queue.add('low', { type: 'a' })
    queue.add('front', { type: 'a', unshift: true })
    queue.add('high', { type: 'a', priority: 5 })
    queue.pauseType('a')
    checkInvariants(queue)
    queue.resumeType('a')
    queue.pushType('b', 'b low')
    queue.add('b high', { type: 'b', priority: 5 })
    checkInvariants(queue)
    queue.resume(1)
    await pass(0)
    assert.deepEqual(payloads(starts).filter(payload => /low|high|front/.test(payload) && !payload.startsWith('b')), ['front', 'high', 'low'])
    assert.deepEqual(payloads(starts).filter(payload => payload.startsWith('b')), ['b low', 'b high'])
  })

  it('go with a scheduler that fails', async function () {
    const lanes = new Set()
    const scheduler = { queued: lane => lanes.add(lane), next () { throw ERROR }, started () {}, ended () {} }
    const { captureWarnings } = require('../../support/uncaught')
    const warnings = captureWarnings()
    try {
      const { queue, pass, starts } = startsOf(fairlane, { scheduler, concurrency: 1, priorityMs: 10 })
      queue.pause()
      for (let i = 0; i < 20; i++) queue.add(i, { type: 'a', priority: i % 2 })
      queue.resume(1)
      await pass(0)
      assert.deepEqual(payloads(starts).map(payload => payload % 2), [...Array(10).fill(1), ...Array(10).fill(0)])
      assert.equal(warnings.seen.length, 1)
    } finally {
      warnings.release()
    }
  })
})

/** One type of a queue beside a list of its jobs. */
async function play (random, scheduler) {
  const priorityMs = 1 + random.below(20)
  const waiting = [] // { id, at, priority, key }, key: when it might have been pushed
  let last = -1
  let front = 0
  let count = 0
  const { queue, clock, pass } = startsOf(fairlane, { scheduler, concurrency: 1, priorityMs, maxAttempts: 1 }, (id, done) => {
    const sorted = waiting.toSorted((a, b) => a.key - b.key || b.priority - a.priority)
    if (sorted[0].id !== id) failure ??= new Error(`${id} started, not ${sorted[0].id}`)
    waiting.splice(waiting.findIndex(job => job.id === id), 1)
    const started = sorted.find(job => job.id === id)
    if (started.key > -1e14 && waiting.some(({ at }) => at < started.at - 15 * priorityMs)) failure ??= new Error(`${id} started before one that waited longer than it may`)
    clock.setTimeout(done, random.below(4))
  })
  let failure
  const type = scheduler && 'a'
  const controllers = new Map()

  /** A number for each job, which rises with the time. */
  const tick = () => (last = Math.max(last + 1, Math.floor(clock.now() * 65536)))

  const calls = [
    () => {
      const id = count++
      const priority = random.pick([0, 0, 1, 2, 15])
      waiting.push({ id, at: clock.now(), priority, key: tick() - priority * priorityMs * 65536 })
      const controller = random.chance(0.3) ? new AbortController() : undefined
      if (priority === 0 && random.chance(0.5)) {
        type ? queue.pushType(type, id) : queue.push(id)
        return
      }
      if (controller) controllers.set(id, controller)
      queue.add(id, { type, priority, signal: controller?.signal }).catch(() => {})
    },
    () => {
      const id = count++
      waiting.push({ id, at: clock.now(), priority: 15, key: -1e15 - front++ })
      queue.add(id, { type, unshift: true }).catch(() => {})
    },
    () => {
      const with_ = waiting.filter(({ id }) => controllers.has(id))
      if (with_.length === 0) return
      const job = random.pick(with_)
      waiting.splice(waiting.indexOf(job), 1)
      controllers.get(job.id).abort()
    },
    () => {
      const rest = random.below(5)
      const removed = waiting.filter(({ id }) => id % 5 === rest)
      for (const job of removed) waiting.splice(waiting.indexOf(job), 1)
      assert.equal(queue.remove(({ payload }) => payload % 5 === rest), removed.length)
    }
  ]

  for (let step = 0; step < 80; step++) {
    random.pick([...Array(12).fill(calls[0]), ...calls])()
    checkInvariants(queue)
    assert.equal(queue.waiting, waiting.length)
    if (random.chance(0.6)) await pass(random.below(4))
    if (failure) throw failure
  }
  await pass(2000)
  checkInvariants(queue)
  if (failure) throw failure
  assert.equal(waiting.length, 0)
}
