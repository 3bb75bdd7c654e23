'use strict'

// Clocks and signals are the caller's objects: what they throw, and what they do to the queue that calls them, costs no other
// job, no count and no settlement.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { captureUncaught } = require('../../support/uncaught')
const { quiet } = require('../../support/turns')

/** A signal of another make. */
function signal (overrides) {
  return { aborted: false, reason: undefined, addEventListener () {}, removeEventListener () {}, ...overrides }
}

function throwing () {
  throw new Error('expected')
}

describe('a signal', function () {
  it('whose addEventListener throws fails its job only', async function () {
    const queue = fairlane(async (n) => n)
    const broken = queue.add(1, { signal: signal({ addEventListener: throwing }), maxWaitMs: 1000 })
    checkInvariants(queue)
    const good = queue.add(2)
    await assert.rejects(broken, { message: 'expected' })
    assert.equal(await good, 2)
    assert.deepEqual([queue.stats().cancelled, queue.stats().done], [1, 1])
    checkInvariants(queue)
  })

  it('is let go as a whole when it aborts, and what it tells after that ends nothing', async function () {
    const listeners = new Set()
    let removals = 0
    const shared = signal({
      addEventListener (name, listener) { listeners.add(listener) },
      removeEventListener () { removals++ } // and goes on
    })
    const queue = fairlane(() => {}, 1)
    const ends = [1, 2, 3].map(n => assert.rejects(queue.add(n, { signal: shared }), { code: 'FAIRLANE_ERR_ABORTED' }))
    const [first] = listeners
    first()
    assert.equal(removals, 1)
    await Promise.all(ends)
    const last = queue.add(4, { signal: shared })
    first()
    await quiet()
    assert.deepEqual([listeners.size, removals, queue.stats().cancelled], [2, 1, 3])
    for (const listener of listeners) listener()
    await assert.rejects(last, { code: 'FAIRLANE_ERR_ABORTED' })
    checkInvariants(queue)
  })

  it('whose listeners are called as they are added aborts', async function () {
    const queue = fairlane(async (n) => n)
    const eager = signal({ addEventListener (name, listener) { listener() } })
    await assert.rejects(queue.add(1, { signal: eager }), { code: 'FAIRLANE_ERR_ABORTED' })
    assert.equal(await queue.add(2), 2)
    checkInvariants(queue)
  })

  it('whose removeEventListener throws lets its job settle', async function () {
    const uncaught = captureUncaught()
    const queue = fairlane(async (n) => n)
    assert.equal(await queue.add(1, { signal: signal({ removeEventListener: throwing }) }), 1)
    await uncaught.until(1)
    uncaught.release()
    checkInvariants(queue)
  })

  it('whose properties call the queue back finds it in order', async function () {
    const queue = fairlane(async (n) => n).pause()
    const busy = signal()
    Object.defineProperty(busy, 'aborted', { get () { queue.clear(); checkInvariants(queue); return false } })
    const promises = [queue.add(1), queue.add(2, { signal: busy })]
    for (const promise of promises) await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLEARED' })
    queue.resume()
    assert.equal(await queue.add(3), 3)
    checkInvariants(queue)
  })
})

describe('a clock', function () {
  const methods = ['now', 'setTimeout', 'clearTimeout']

  for (const method of methods) {
    it(`whose ${method} throws once costs no job but its own`, async function () {
      const uncaught = captureUncaught()
      const clock = fakeClock()
      let isBroken = false
      const broken = { ...clock, [method]: (...args) => isBroken ? throwing() : clock[method](...args) }
      const queue = fairlane(async (n) => n, { clock: broken, concurrency: 1 })
      const settled = []
      isBroken = true
      for (const options of [{ maxWaitMs: 5 }, { timeoutMs: 5 }, { maxWaitMs: 5, timeoutMs: 5 }]) {
        queue.add(1, options).then(() => settled.push('done'), ({ message }) => settled.push(message))
      }
      await queue.onIdle()
      isBroken = false
      await quiet()
      uncaught.release()
      assert.equal(settled.length, 3)
      assert(settled.every((end) => end === (method === 'clearTimeout' ? 'done' : 'expected')), settled.join())
      const late = queue.pause().add(2, { maxWaitMs: 5 })
      clock.advance(5)
      await assert.rejects(late, { code: 'FAIRLANE_ERR_MAX_WAIT' })
      checkInvariants(queue)
    })
  }

  it('that calls timers at once ends waiting jobs, and later timers work', async function () {
    const clock = fakeClock()
    let isEager = true
    const eager = { ...clock, setTimeout (fn, ms) { if (!isEager) return clock.setTimeout(fn, ms); clock.advance(ms); fn() } }
    const queue = fairlane(async (n) => n, { clock: eager })
    await assert.rejects(queue.add(1, { maxWaitMs: 5 }), { code: 'FAIRLANE_ERR_MAX_WAIT' })
    await assert.rejects(queue.add(1, { maxWaitMs: 5, signal: new AbortController().signal }), { code: 'FAIRLANE_ERR_MAX_WAIT' })
    isEager = false
    const late = queue.pause().add(2, { maxWaitMs: 5 })
    clock.advance(5)
    await assert.rejects(late, { code: 'FAIRLANE_ERR_MAX_WAIT' })
    checkInvariants(queue)
  })

  it('that throws when it is to be set again has told all that fell due', async function () {
    const clock = fakeClock()
    let isBroken = false
    const broken = { ...clock, setTimeout: (...args) => isBroken ? throwing() : clock.setTimeout(...args) }
    const queue = fairlane(() => {}, { clock: broken }).pause()
    const first = assert.rejects(queue.add(1, { maxWaitMs: 5 }), { code: 'FAIRLANE_ERR_MAX_WAIT' })
    queue.add(2, { maxWaitMs: 10 }).catch(() => {})
    isBroken = true
    assert.throws(() => clock.advance(5), { message: 'expected' })
    await first
    isBroken = false
    const third = queue.add(3, { maxWaitMs: 1 })
    clock.advance(5)
    await assert.rejects(third, { code: 'FAIRLANE_ERR_MAX_WAIT' })
    assert.equal(queue.waiting, 0)
    checkInvariants(queue)
  })

  it('that aborts the signal of the job that it is read for has the job aborted', async function () {
    const controller = new AbortController()
    const foreign = signal({ reason: 'by the clock' })
    const aborts = [[controller.signal, () => controller.abort('by the clock')], [foreign, () => { foreign.aborted = true }]]
    for (const [own, abort] of aborts) {
      let isAborting = false
      const clock = { ...fakeClock(), now () { if (isAborting) abort(); return 0 } }
      const queue = fairlane(() => {}, { clock }).pause()
      isAborting = true
      await assert.rejects(queue.add(1, { signal: own, maxWaitMs: 5 }), { code: 'FAIRLANE_ERR_ABORTED', cause: 'by the clock' })
      assert.deepEqual([queue.stats().accepted, queue.stats().cancelled], [1, 1])
      isAborting = false
      checkInvariants(queue)
    }
  })

  it('whose clearTimeout throws when the queue empties does not keep it from saying so', async function () {
    const uncaught = captureUncaught()
    const gate = gates()
    const clock = { ...fakeClock(), clearTimeout: throwing }
    const queue = fairlane(gate.runner, { concurrency: 1, clock })
    queue.push(1)
    await gate.until(1)
    const second = queue.add(2)
    let drains = 0
    queue.drain = () => { drains++ }
    gate.release()
    await gate.until(2)
    gate.release()
    await second
    await queue.onIdle()
    await uncaught.until(1)
    uncaught.release()
    assert.equal(drains, 1)
  })
})

describe('a scheduler that aborts a job as it is told of its start', function () {
  let lane
  const kinds = {
    lanes: (abort) => ({ queued (l) { lane = l }, next: () => lane.size > 0 ? lane : undefined, started: abort, ended () {} }),
    window: (abort) => ({ waiting () {}, start: abort, done () {}, select: () => 0 })
  }

  for (const [name, makeScheduler] of Object.entries(kinds)) {
    it(`costs no other job; with ${name}`, async function () {
      const controller = new AbortController()
      const gate = gates()
      const queue = fairlane(gate.runner, { concurrency: 1, scheduler: makeScheduler(() => controller.abort('early')) })
      const aborted = [1, 2].map((n) => queue.add(n, { type: 'a', signal: controller.signal }))
      const others = [3, 4].map((n) => queue.add(n, { type: 'a' }))
      for (const promise of aborted) await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED', cause: 'early' })
      checkInvariants(queue)
      assert.equal(gate.started[0].context.signal.aborted, true)
      for (const n of [1, 2, 3]) {
        await gate.until(n)
        gate.release()
      }
      assert.deepEqual(await Promise.all(others), [3, 4])
      assert.deepEqual([queue.length, queue.stats().done, queue.stats().cancelled], [0, 2, 2])
      checkInvariants(queue)
    })
  }
})

describe('a scheduler that clears the queue when a job is queued', function () {
  it('leaves neither timer nor listener of that job', async function () {
    const clock = fakeClock()
    const controller = new AbortController()
    const scheduler = { waiting () { queue.clear() }, start () {}, done () {}, select: () => 0 }
    const queue = fairlane(() => {}, { scheduler, clock }).pause()
    await assert.rejects(queue.add(1, { type: 'a', signal: controller.signal, maxWaitMs: 5 }), { code: 'FAIRLANE_ERR_CLEARED' })
    assert.equal(clock.timerCount, 0)
    checkInvariants(queue)
  })
})
