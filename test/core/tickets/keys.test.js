'use strict'

const assert = require('node:assert')
const fairlane = require('../../..')
const { Postponed } = require('../../..')
const { internalsOf } = require('../../../lib/core/internals')
const { checkInvariants } = require('../../../lib/testing')
const { KEYS, NO_KEYS } = require('../../shared/keys')
const { setPace } = require('../../support/pace')
const { startsOf } = require('../../support/starts')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { rounds, playRounds } = require('../../support/rounds')
const { stoppedTime } = require('../../support/time')
const { quiet } = require('../../support/turns')

const ERROR = new Error('expected')
const WINDOWS = { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }
const ABORTED = { code: 'FAIRLANE_ERR_ABORTED' }

const later = (payload, done) => setImmediate(() => done(null, payload))

describe('the option key', function () {
  it('has those who add the same key share a job until that has started', async function () {
    const { queue, pass, starts } = startsOf(fairlane, {}, later)
    const first = queue.add(1, { key: 'k' })
    assert.equal(queue.add(2, { key: 'k' }), first)
    assert.deepEqual([queue.waiting, queue.stats().accepted, queue.stats().joined], [1, 1, 1])
    checkInvariants(queue)
    await pass(0)
    const second = queue.add(3, { key: 'k' })
    assert.notEqual(second, first)
    await pass(0)
    assert.deepEqual([await first, await second], [1, 3])
    assert.deepEqual(starts.map(({ payload }) => payload), [1, 3])
    assert.equal(queue.stats().joined, 1)
  })

  it('belongs to the type', async function () {
    for (const scheduler of ['equal', undefined]) {
      const { queue, pass, starts } = startsOf(fairlane, { scheduler })
      for (const type of ['a', 'b', '1', '11']) for (const key of ['k', '1:k', 'k']) queue.add(`${type} ${key}`, { type, key })
      if (!scheduler) for (const key of ['k', '', '1:ak', '\u00001:ak', '\u0001k', '\u0001\u00001:ak', 'k']) queue.add('none', { key })
      await pass(0)
      assert.equal(starts.length, scheduler ? 8 : 14)
    }
  })

  it('is shared though the queue is full, and is taken by no job that was refused', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { maxWaiting: 1, concurrency: 1 })
    queue.pause()
    const first = queue.add(1, { key: 'a' })
    const refused = { code: 'FAIRLANE_ERR_QUEUE_FULL' }
    queue.add(0).catch(() => {})
    await assert.rejects(queue.add(2, { key: 'b' }), refused)
    await assert.rejects(queue.add(2, { key: 'b', signal: new AbortController().signal }), refused)
    assert.equal(queue.add(3, { key: 'a' }), first)
    queue.clear()
    await assert.rejects(first)
    const again = queue.add(4, { key: 'b' })
    queue.resume()
    await pass(0)
    await again
    assert.deepEqual(starts.map(({ payload }) => payload), [4])
  })

  it('is free when its job was cleared, before anybody is told', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'equal' })
    const cleared = queue.add(1, { type: 'a', key: 'k' })
    let again
    queue.pushType('a', 0, () => { again ??= queue.add(2, { type: 'a', key: 'k' }) })
    queue.clear()
    await assert.rejects(cleared, { code: 'FAIRLANE_ERR_CLEARED' })
    await pass(0)
    await again
    assert.deepEqual(starts.map(({ payload }) => payload), [2])
  })

  it('is shared by a scheduler that adds the same when it is told of the job', async function () {
    for (const isCleared of [false, true]) {
      const lanes = new Set()
      let nested
      const queued = lane => {
        lanes.add(lane)
        nested ??= queue.add(2, { type: 'a', key: 'k' })
        if (isCleared) queue.clear()
      }
      const scheduler = { queued, next: () => [...lanes].find(({ size }) => size > 0), started () {}, ended () {} }
      const { queue, pass, starts } = startsOf(fairlane, { scheduler }, later)
      const promise = queue.add(1, { type: 'a', key: 'k' })
      assert.equal(nested, promise)
      checkInvariants(queue)
      await pass(0)
      if (isCleared) await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLEARED' })
      else assert.equal(await promise, 1)
      assert.deepEqual([starts.length, queue.stats().joined], [isCleared ? 0 : 1, 1])
    }
  })

  it('is a string, or a finite number that is made into one, and nothing else', async function () {
    const { queue, pass, starts } = startsOf(fairlane, {})
    for (const [key, text] of KEYS) assert.equal(queue.add(0, { key }), queue.add(0, { key: text }))
    queue.add(1, { key: undefined })
    queue.add(2, { key: undefined })
    const { length } = queue
    for (const key of NO_KEYS) assert.throws(() => queue.add(3, { key }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.equal(queue.length, length)
    await pass(0)
    assert.equal(starts.length, new Set(KEYS.map(([, text]) => text)).size + 2)
  })

  it('is checked with what goes with it', function () {
    const { queue } = startsOf(fairlane, {})
    const wrong = [{ onDuplicate: 'drop' }, { onDuplicate: 1 }, { keyUntil: 'done' }, { keyUntil: -1 }, { keyUntil: Infinity }, { maxDelayMs: -1 }, { maxDelayMs: '1' }]
    for (const options of wrong) assert.throws(() => queue.add(0, { key: 'k', ...options }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const options of [{ onDuplicate: 'join' }, { keyUntil: 'started' }, { maxDelayMs: 5 }]) assert.throws(() => queue.add(0, options), { code: 'FAIRLANE_ERR_ARGUMENT', message: /needs a key/ })
    const typed = fairlane(() => {}, { scheduler: 'equal' })
    assert.throws(() => typed.add(0, { key: 'k' }), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
    assert.equal(queue.length, 0)
  })

  it('of jobs that are tried again is taken as long as it would be', async function () {
    const runner = (payload, done, { attempt }) => done(attempt < 3 && ERROR, attempt)
    const { queue, pass } = startsOf(fairlane, { maxAttempts: 3, backoffMs: 100 }, runner)
    const one = queue.add(1, { key: 'started' })
    const other = queue.add(1, { key: 'settled', keyUntil: 'settled' })
    await pass(150)
    assert.notEqual(queue.add(2, { key: 'started' }), one)
    assert.equal(queue.add(2, { key: 'settled', onDuplicate: 'replace' }), other)
    await pass(1000)
    assert.deepEqual([await one, await other], [3, 3])
    assert.notEqual(queue.add(3, { key: 'settled' }), other)
    await pass(1000)
    checkInvariants(queue)
  })
})

describe('the option keyUntil', function () {
  it("'settled' has a job that runs shared", async function () {
    const { queue, pass, starts } = startsOf(fairlane, {}, (payload, done) => queue.add('again', { key: 'k' }).then(() => {}) && later(payload, done))
    const first = queue.add(1, { key: 'k', keyUntil: 'settled' })
    await pass(0)
    assert.equal(await first, 1)
    assert.deepEqual(starts.map(({ payload }) => payload), [1])
    queue.add(2, { key: 'k', keyUntil: 'settled' })
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), [1, 2])
  })

  it('of so many ms lets one job in per time, from when it was added, and until it has started', async function () {
    const { queue, pass, starts } = startsOf(fairlane, {}, async payload => payload)
    const add = payload => queue.add(payload, { key: 'k', keyUntil: 100 })
    const results = [add(1)]
    await pass(99)
    results.push(add(2))
    await pass(1)
    results.push(add(3))
    queue.pause()
    await pass(200)
    results.push(add(4))
    queue.resume()
    await pass(0)
    results.push(add(5))
    await pass(0)
    assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`), ['1 0', '3 300', '5 300'])
    assert.deepEqual(await Promise.all(results), [1, 1, 3, 3, 5])
  })

  it('of so many ms is over when a job was cancelled that never started, and lets nobody leave what has settled', async function () {
    const { queue, pass } = startsOf(fairlane, {}, async payload => payload)
    const cleared = assert.rejects(queue.add(1, { key: 'k', keyUntil: 100 }), { code: 'FAIRLANE_ERR_CLEARED' })
    queue.clear()
    await cleared
    const controller = new AbortController()
    const second = queue.add(2, { key: 'k', keyUntil: 100 })
    await pass(50)
    const third = queue.add(3, { key: 'k', signal: controller.signal, onDuplicate: 'replace' })
    controller.abort()
    assert.deepEqual([await second, await third], [2, 2])
  })

  it('of so many ms is forgotten', async function () {
    const { queue, pass } = startsOf(fairlane, {}, async () => {})
    for (let i = 0; i < 100; i++) queue.add(i, { key: i, keyUntil: 100 })
    const { entries } = internalsOf(queue).tickets.planned.keys
    await pass(50)
    assert.equal(entries.size, 100)
    await pass(50)
    for (let i = 100; i < 200; i++) queue.add(i, { key: i, keyUntil: 100 })
    assert(entries.size <= 150, `${entries.size}`)
    await pass(0)
  })
})

describe('the option onDuplicate', function () {
  for (const [name, options] of [['no scheduler', {}], ['equal', { scheduler: 'equal' }], ['a shared lane', { scheduler: 'equal', maxTypes: 1 }], ['windows', { scheduler: WINDOWS }]]) {
    it(`'replace' gives a job that waits another payload, in its place (${name})`, async function () {
      const { queue, pass, starts } = startsOf(fairlane, { ...options, concurrency: 1 })
      const type = options.scheduler && 'a'
      if (options.maxTypes) queue.add('other', { type: 'b' })
      const before = starts.length
      queue.pause()
      queue.add('first', { type })
      const second = queue.add('second', { type, key: 'k' })
      queue.add('third', { type })
      const delayed = queue.add('delayed', { type, key: 'd', delayMs: 10 })
      assert.equal(queue.add('new', { type, key: 'k', onDuplicate: 'replace' }), second)
      assert.equal(queue.add('newest', { type, key: 'k', onDuplicate: 'postpone', delayMs: 1000 }), second)
      assert.equal(queue.add('new delayed', { type, key: 'd', onDuplicate: 'replace', delayMs: 1000 }), delayed)
      assert.deepEqual([...queue.jobs()].map(({ payload }) => payload).filter(payload => payload !== 'other'), ['first', 'newest', 'third', 'new delayed'])
      checkInvariants(queue)
      queue.resume(1)
      await pass(10)
      assert.deepEqual(starts.slice(before).map(({ payload }) => payload).filter(payload => payload !== 'other'), ['first', 'newest', 'third', 'new delayed'])
    })
  }

  it("'replace' changes nothing once the job has started", async function () {
    const runner = (payload, done, { attempt }) => starts.length === 1 ? done(new Postponed(100)) : done(null, payload)
    const { queue, pass, starts } = startsOf(fairlane, {}, runner)
    const first = queue.add(1, { key: 'k', keyUntil: 'settled' })
    await pass(50)
    assert.equal(queue.add(2, { key: 'k', onDuplicate: 'replace' }), first)
    assert.equal(queue.add(2, { key: 'k', onDuplicate: 'postpone', delayMs: 1000 }), first)
    await pass(50)
    assert.equal(await first, 1)
    assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`), ['1 0', '1 100'])
  })

  it("'replace' changes nothing while a scheduler is told of the start", async function () {
    const lanes = new Set()
    let again
    const scheduler = {
      queued: lane => lanes.add(lane),
      next: () => [...lanes].find(({ size }) => size > 0),
      started: ({ isShared }) => { if (isShared) again ??= queue.add('new', { type: 'a', key: 'k', onDuplicate: 'replace' }) },
      ended () {}
    }
    const { queue, pass, starts } = startsOf(fairlane, { scheduler, maxTypes: 1 })
    queue.pushType('b', 'other')
    const first = queue.add('old', { type: 'a', key: 'k' })
    await pass(0)
    assert.deepEqual(starts.map(({ payload }) => payload), ['other', 'old'])
    assert.equal(again, first)
  })

  it('are those of one type, however the names go together', function () {
    const { queue } = startsOf(fairlane, { scheduler: 'equal' })
    queue.pause()
    const jobs = [['a', 'b:c'], ['a:b', 'c'], ['', 'a:b:c'], ['1', ':1:a'], ['1:1', 'a'], ['11', '1:a'], ['1:', '1:1a']]
    for (const [type, key] of jobs) queue.add(key, { type, key }).catch(() => {})
    assert.deepEqual([queue.waiting, queue.stats().joined], [jobs.length, 0])
    queue.clear()
  })

  it('that are taken for a time are forgotten by a timer, where there are many', async function () {
    const { queue, clock } = startsOf(fairlane, { scheduler: 'equal', concurrency: Infinity })
    setPace(queue, 'all at once')
    const { keys } = internalsOf(queue).tickets.planned
    for (let i = 0; i < 3000; i++) queue.add(i, { type: 'a', key: i, keyUntil: 100 })
    for (let i = 0; i < 3000; i++) queue.add(i, { type: 'b', key: i, delayMs: 500 })
    await quiet()
    clock.advance(50)
    await quiet()
    assert.equal(keys.entries.size, 6000)
    for (let i = 0; i < 1500; i++) queue.add(i, { type: 'c', key: i, keyUntil: 100 })
    await quiet()
    clock.advance(50)
    assert.equal(keys.entries.size, 4500)
    clock.advance(100)
    assert.equal(keys.entries.size, 3000)
    clock.advance(500)
    await queue.onIdle()
    assert.deepEqual([keys.entries.size, clock.timerCount, queue.stats().done], [0, 0, 7500])
  })

  it('that are taken for a time have no timer, where there are few', async function () {
    const { queue, clock } = startsOf(fairlane, {})
    for (let i = 0; i < 1000; i++) queue.add(i, { key: i, keyUntil: 100 })
    await queue.onIdle()
    assert.deepEqual([internalsOf(queue).tickets.planned.keys.entries.size, clock.timerCount], [1000, 0])
  })

  it('that are taken for a time are forgotten in slices, however long others are taken', async function () {
    const COUNT = 50000
    const { queue, clock } = startsOf(fairlane, { concurrency: Infinity })
    setPace(queue, 'all at once')
    const { keys } = internalsOf(queue).tickets.planned
    queue.add(0, { key: 'long', keyUntil: 1e9 })
    for (let i = 0; i < COUNT; i++) queue.add(i, { key: i, keyUntil: 1000 })
    await queue.onIdle()
    await quiet()
    const time = stoppedTime()
    try {
      const { now } = performance
      performance.now = () => {
        time.pass(1) // each look at it takes a ms
        return now()
      }
      clock.advance(1000)
      assert(keys.entries.size > COUNT / 4 && keys.entries.size < COUNT, `${keys.entries.size} are left after the first slice`)
      await quiet()
      assert.deepEqual([...keys.entries.values()].map(({ keyUntil }) => keyUntil), [1e9])
      performance.now = now
    } finally {
      time.release()
    }
  })

  it("'postpone' has a delay begin again, up to maxDelayMs", async function () {
    const { queue, clock, pass, starts } = startsOf(fairlane, {})
    const add = (payload, options) => queue.add(payload, { key: 'k', delayMs: 100, onDuplicate: 'postpone', ...options })
    add(1)
    await pass(60)
    add(2)
    await pass(60)
    add(3, { delayMs: undefined })
    assert.deepEqual([starts.length, queue.stats().delayed, clock.timerCount], [0, 1, 1])
    await pass(99)
    assert.equal(starts.length, 0)
    await pass(1)
    assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`), ['3 220'])
    for (let i = 0; i < 5; i++) {
      add(i, { maxDelayMs: 150 })
      await pass(40)
    }
    checkInvariants(queue)
    assert.deepEqual(starts.slice(1).map(({ payload, at }) => `${payload} ${at}`), ['3 370'])
    add(9, { maxDelayMs: 10 })
    await pass(0)
    assert.equal(starts.at(-1).payload, 9)
    assert.equal(clock.timerCount, 0)
  })
})

describe('a signal of one who shares a job', function () {
  it('ends nobody else', async function () {
    for (const isRunning of [false, true]) {
      let end
      const { queue, pass, starts } = startsOf(fairlane, {}, (payload, done) => { end = () => done(null, payload) })
      const first = new AbortController()
      const second = new AbortController()
      queue.pause()
      const promises = [first, second].map(({ signal }) => queue.add(1, { key: 'k', keyUntil: 'settled', signal }))
      if (isRunning) queue.resume()
      await pass(0)
      first.abort(ERROR)
      await assert.rejects(promises[0], { ...ABORTED, cause: ERROR })
      checkInvariants(queue)
      assert.equal(queue.length, 1)
      if (isRunning) {
        end()
        assert.equal(await promises[1], 1)
        continue
      }
      second.abort()
      await assert.rejects(promises[1], ABORTED)
      checkInvariants(queue)
      assert.deepEqual([queue.length, queue.stats().cancelled, starts.length], [0, 1, 0])
    }
  })

  it('ends the job where all have left', async function () {
    const signals = []
    const { queue, pass } = startsOf(fairlane, {}, (payload, done, { signal }) => { signals.push(signal) })
    const controller = new AbortController()
    const add = () => queue.add(1, { key: 'k', keyUntil: 1000, signal: controller.signal })
    const promises = [add(), add(), queue.add(1, { key: 'other', signal: controller.signal })]
    await pass(0)
    controller.abort()
    for (const promise of promises) await assert.rejects(promise, ABORTED)
    assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true])
    assert.equal(queue.stats().cancelled, 2)
    await assert.rejects(add(), ABORTED)
    assert.equal(queue.stats().rejected, 1)
    checkInvariants(queue)
  })

  it('leaves the key taken for its time once the job has started, and those who add it share the cancellation', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { maxAttempts: 2, backoffMs: 10 }, (payload, done) => payload === 'fails' ? done(ERROR) : undefined)
    for (const [payload, reached] of [['runs', 0], ['fails', 5]]) {
      const controller = new AbortController()
      const before = starts.length
      const add = options => queue.add(payload, { key: payload, keyUntil: 100, ...options })
      const left = assert.rejects(add({ signal: controller.signal }), ABORTED)
      await pass(reached)
      controller.abort(ERROR)
      await left
      for (const options of [{}, { onDuplicate: 'replace' }, { signal: new AbortController().signal }]) await assert.rejects(add(options), { ...ABORTED, cause: ERROR })
      await pass(99 - reached)
      await assert.rejects(add(), ABORTED)
      assert.equal(starts.length - before, 1, `${payload}: one job in the time`)
      await pass(1)
      add().catch(() => {})
      await pass(0)
      assert.equal(starts.length - before, 2)
      checkInvariants(queue)
    }
    queue.close({ drain: false })
  })

  it('has the keys of all jobs free that it ends before their start, before a scheduler hears of one', async function () {
    const lanes = new Set()
    const controller = new AbortController()
    let again
    const removed = () => { again ??= [0, 1, 2].map(key => queue.add(`again ${key}`, { type: 'b', key, keyUntil: 'settled' })) }
    const next = () => [...lanes].find(({ size }) => size > 0)
    const scheduler = { queued: lane => lanes.add(lane), next, started () {}, ended () {}, removed }
    const { queue, pass } = startsOf(fairlane, { scheduler }, later)
    queue.pause()
    const left = [0, 1, 2].map(key => assert.rejects(queue.add('left', { type: 'b', key, keyUntil: 'settled', signal: controller.signal }), ABORTED))
    controller.abort()
    queue.resume()
    await pass(0)
    await Promise.all(left)
    assert.deepEqual(await Promise.all(again), ['again 0', 'again 1', 'again 2'])
    checkInvariants(queue)
  })

  it('leaves the key taken for its time though it comes while the job starts, or while its runner is called', async function () {
    for (const method of ['started', 'run']) {
      const controller = new AbortController()
      const lanes = new Set()
      const scheduler = { queued: lane => lanes.add(lane), next: () => [...lanes].find(({ size }) => size > 0), started () { if (method === 'started') controller.abort() }, ended () {} }
      const { queue, pass, starts } = startsOf(fairlane, { scheduler }, () => { if (method === 'run') controller.abort() })
      const left = assert.rejects(queue.add(1, { type: 'a', key: 'k', keyUntil: 100, signal: controller.signal }), ABORTED)
      await pass(0)
      await left
      await assert.rejects(queue.add(2, { type: 'a', key: 'k' }), ABORTED)
      assert.equal(starts.length, 1)
      checkInvariants(queue)
      queue.close({ drain: false })
    }
  })

  it("has the key free at once where the job had not started, or has it until it is 'settled'", async function () {
    const { queue, pass, starts } = startsOf(fairlane, {}, () => {})
    for (const keyUntil of ['started', 'settled', 100]) {
      for (const hasStarted of [false, true]) {
        if (hasStarted && keyUntil === 100) continue
        const controller = new AbortController()
        const add = (payload, signal) => queue.add(payload, { key: 'k', keyUntil, signal })
        queue.pause()
        const left = assert.rejects(add('left', controller.signal), ABORTED)
        if (hasStarted) queue.resume()
        await pass(0)
        controller.abort()
        const before = starts.length
        const end = new AbortController()
        const kept = assert.rejects(add('kept', end.signal), ABORTED)
        queue.resume()
        await pass(0)
        assert.deepEqual(starts.slice(before).map(({ payload }) => payload), ['kept'], `${keyUntil}, ${hasStarted}`)
        end.abort()
        await Promise.all([left, kept])
        await pass(100)
      }
    }
    queue.close({ drain: false })
  })

  it('has the runner get a context of its own, unless somebody without one shares the job', async function () {
    const contexts = []
    const { queue, pass } = startsOf(fairlane, {}, (payload, done, context) => {
      contexts.push(context)
      done()
    })
    const { signal } = new AbortController()
    queue.add(1)
    queue.add(1, { key: 'k' })
    queue.add(1, { key: 'l', signal })
    queue.add(1, { key: 'm', signal })
    queue.add(1, { key: 'm' })
    await pass(0)
    assert.deepEqual(contexts.map(context => context === contexts[0]), [true, true, false, true])
  })

  it('ends no job that somebody without one shares', async function () {
    const { queue, pass } = startsOf(fairlane, {}, later)
    const controller = new AbortController()
    const left = assert.rejects(queue.add(1, { key: 'k', signal: controller.signal }), ABORTED)
    const kept = queue.add(2, { key: 'k' })
    controller.abort()
    await left
    await pass(0)
    assert.equal(await kept, 1)
  })

  it('is let go when the job is told', async function () {
    const { signal } = new AbortController()
    let listenerCount = 0
    const counting = {
      aborted: false,
      addEventListener: (...args) => { listenerCount++; signal.addEventListener(...args) },
      removeEventListener: (...args) => { listenerCount--; signal.removeEventListener(...args) }
    }
    const runner = (payload, done, { attempt }) => done(attempt === 1 && ERROR)
    const { queue, pass } = startsOf(fairlane, { maxAttempts: 2, backoffMs: 10 }, runner)
    const promises = [1, 2].map(() => queue.add(1, { key: 'k', keyUntil: 'settled', signal: counting }))
    await pass(5)
    assert.equal(listenerCount, 1)
    await pass(5)
    await Promise.all(promises)
    assert.equal(listenerCount, 0)
  })

  it('may abort while the job is queued, and may throw', async function () {
    const controller = new AbortController()
    const lanes = new Set()
    const next = () => [...lanes].find(({ size }) => size > 0)
    const scheduler = { queued: lane => { lanes.add(lane); controller.abort() }, next, started () {}, ended () {} }
    const aborting = startsOf(fairlane, { scheduler }).queue
    aborting.pause()
    await assert.rejects(aborting.add(1, { type: 'a', key: 'k', signal: controller.signal }), ABORTED)
    assert.equal(aborting.length, 0)
    const { queue } = startsOf(fairlane, {})
    const signal = { aborted: false, addEventListener () { throw ERROR }, removeEventListener () {} }
    queue.pause()
    await assert.rejects(queue.add(1, { key: 'k', signal }), ERROR)
    await quiet()
    checkInvariants(queue)
    assert.equal(queue.length, 0)
  })
})

describe('random adds with keys', function () {
  const seed = seedFromEnvironment()

  it(`share jobs as the rules say (SEED=${seed})`, () => playRounds(rounds(40), seed, seeded, play))
})

/** One queue beside a model of it: which job has which key, told by nothing but what was added and what has started and settled. */
async function play (random) {
  const scheduler = random.pick([undefined, 'fair', 'equal', WINDOWS])
  const maxTypes = random.pick([1, Infinity])
  const holders = new Map() // by type and key
  const jobs = []
  const adds = [] // { job, controller, end }
  let count = 0
  let joined = 0
  const failures = []
  const { queue, clock, pass } = startsOf(fairlane, {
    scheduler,
    ...(typeof scheduler === 'string' ? { maxTypes } : {}),
    concurrency: 1 + random.below(3),
    maxWaiting: random.pick([5, Infinity]),
    maxAttempts: random.pick([1, 2]),
    backoffMs: 3
  }, (payload, done) => {
    const job = jobs.find(job => job.payload === payload)
    if (!job.hasStarted && clock.now() < job.dueAt) failures.push(`${payload} started early`)
    job.hasStarted = true
    const hasFailed = random.chance(0.2)
    clock.setTimeout(() => done(hasFailed && ERROR, payload), random.below(8))
  })

  function isTaken (job) {
    if (job === undefined || job.isFree) return false
    if (!job.hasStarted) return !job.hasEnded
    if (job.keyUntil === 'started') return false
    return job.keyUntil === 'settled' ? !job.hasEnded : clock.now() < job.addedAt + job.keyUntil
  }

  function add () {
    const options = {
      type: scheduler && random.pick(['a', 'b', 'c']),
      key: random.pick(['x', 'y']),
      keyUntil: random.pick(['started', 'settled', random.below(30)]),
      onDuplicate: random.pick(['join', 'replace', 'postpone']),
      delayMs: random.chance(0.5) ? random.below(10) : undefined,
      maxDelayMs: random.pick([Infinity, 15])
    }
    const controller = random.chance(0.4) ? new AbortController() : undefined
    const payload = count++
    const id = `${options.type} ${options.key}`
    const now = clock.now()
    let job = holders.get(id)
    const isShared = isTaken(job)
    if (isShared) {
      joined++
      if (options.onDuplicate !== 'join' && !job.hasStarted && !job.hasEnded) {
        job.payload = payload
        if (options.onDuplicate === 'postpone' && now < job.dueAt) {
          job.dueAt = Math.max(now, Math.min(now + (options.delayMs ?? job.delayMs), job.addedAt + options.maxDelayMs))
        }
      }
    } else {
      const delayMs = options.delayMs ?? 0
      const flags = { hasStarted: false, hasEnded: false, isAborted: false, isFree: false, isKept: false }
      job = { id, payload, keyUntil: options.keyUntil, delayMs, addedAt: now, dueAt: now + delayMs, ...flags, sharers: new Set() }
    }
    const entry = { job, controller, hasLeft: false, end: undefined }
    const before = queue.stats()
    const promise = queue.add(payload, { ...options, signal: controller?.signal })
    const after = queue.stats()
    assert.equal(after.joined, joined, `joined of ${payload}`)
    assert.equal(after.accepted + after.rejected, before.accepted + before.rejected + (isShared ? 0 : 1))
    if (after.rejected > before.rejected) {
      promise.catch(() => {})
      return
    }
    if (!isShared) {
      holders.set(id, job)
      jobs.push(job)
      if (controller === undefined && job.promise === undefined) job.promise = promise
    }
    if (controller === undefined) {
      if (isShared && job.isKept) assert.equal(promise, job.promise, 'the same promise')
      job.isKept = true
      job.promise = promise
    } else {
      job.sharers.add(entry)
    }
    adds.push(entry)
    promise.then(result => { entry.end = { result } }, error => { entry.end = { error } }).then(() => {
      if (entry.hasLeft) return
      job.hasEnded = true
    })
  }

  function abort () {
    const open = adds.filter(({ controller, job, end, hasLeft }) =>
      controller !== undefined && !hasLeft && !job.hasEnded && end === undefined)
    if (open.length === 0) return
    const one = random.pick(open)
    one.hasLeft = true
    one.job.sharers.delete(one)
    if (!one.job.isKept && one.job.sharers.size === 0) {
      one.job.hasEnded = one.job.isAborted = true
      if (!one.job.hasStarted) one.job.isFree = true
    }
    one.controller.abort()
  }

  function clear () {
    for (const job of jobs) if (!job.hasStarted && !job.hasEnded) job.hasEnded = true
    // jobs that wait for another attempt are cleared, too: then their keys are free as those of others that have ended
    queue.clear()
  }

  for (let step = 0; step < 60; step++) {
    random.pick([add, add, add, add, add, abort, clear, () => queue.pause(), () => queue.resume(1 + random.below(3))])()
    await quiet() // the model learns of ends by promises
    checkInvariants(queue)
    if (random.chance(0.5)) await pass(random.below(6))
    checkInvariants(queue)
    assert.deepEqual(failures, [])
  }
  queue.resume(3)
  await pass(200)
  assert.deepEqual([queue.length, clock.timerCount], [0, 0])
  for (const { job, end, hasLeft } of adds) {
    assert(end !== undefined, `nobody was told of ${job.payload}`)
    if (hasLeft || job.isAborted) assert.equal(end.error.code, 'FAIRLANE_ERR_ABORTED')
    else if (end.error === undefined) assert.equal(end.result, job.payload)
    else assert(end.error === ERROR || end.error.code === 'FAIRLANE_ERR_CLEARED', end.error)
  }
}
