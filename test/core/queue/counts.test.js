'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { Throttled } = fairlane
const { fakeClock } = require('../../../lib/testing')
const gates = require('../../support/gates')
const { quiet } = require('../../support/turns')

const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }

describe('counts and types', function () {
  const LISTS = [['equal', { scheduler: 'equal' }], ['shared lanes', { scheduler: 'fair', maxTypes: 1 }], ['a window', { scheduler: WINDOW }]]
  for (const [kind, options] of LISTS) {
    it(`say what waits, is delayed and runs, in all and by type, with ${kind}`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, { ...options, concurrency: 2, clock: fakeClock() })
      queue.pushType('a', 1).pushType('b', 2)
      await gate.until(2)
      queue.pushType('a', 3).pushType('a', 4).pushType('c', 5)
      queue.add(6, { type: 'a', delayMs: 10 }).catch(() => {})
      queue.add(7, { type: 'd', delayMs: 10, key: 'k' }).catch(() => {})
      assert.deepEqual(await queue.counts(), { waiting: 5, delayed: 2, running: 2, dead: 0, types: 4 })
      const a = { waiting: 3, delayed: 1, running: 1, dead: 0 }
      const [most, ...others] = await queue.types()
      assert.deepEqual([most, ...others.sort((one, other) => one.type < other.type ? -1 : 1)], [
        { type: 'a', ...a },
        ...['b', 'c', 'd'].map(type => ({ type, waiting: type === 'b' ? 0 : 1, delayed: type === 'd' ? 1 : 0, running: type === 'b' ? 1 : 0, dead: 0 }))
      ])
      assert.deepEqual(await queue.types({ limit: 1 }), [{ type: 'a', ...a }])
      assert.deepEqual(await queue.counts('a'), { ...a, cap: Infinity, rate: null, paused: false, heldMs: 0 })
      assert.deepEqual((await queue.counts('nobody')).waiting, 0)
      queue.clear()
      gate.release(2)
      await queue.onIdle()
      assert.deepEqual([await queue.counts(), await queue.types()], [{ waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 }, []])
    })
  }

  it('say what limits a type', async function () {
    const clock = fakeClock()
    const rate = { limit: 5, intervalMs: 1000 }
    const schedulerOptions = { typeCaps: { capped: 2 } }
    const queue = fairlane(() => {}, { clock, scheduler: 'equal', schedulerOptions, ratePerType: new Map([['rated', rate], ['both', [rate, { limit: 9, intervalMs: 5 }]]]) })
    queue.holdType('held', 500).pauseType('paused')
    clock.advance(100)
    const limitsOf = async type => {
      const { cap, rate, paused, heldMs } = await queue.counts(type)
      return [cap, rate, paused, heldMs]
    }
    assert.deepEqual(await limitsOf('capped'), [2, null, false, 0])
    assert.deepEqual(await limitsOf('rated'), [Infinity, rate, false, 0])
    assert.deepEqual(await limitsOf('both'), [Infinity, [rate, { limit: 9, intervalMs: 5 }], false, 0])
    assert.deepEqual(await limitsOf('paused'), [Infinity, null, true, 0])
    assert.deepEqual(await limitsOf('held'), [Infinity, null, false, 400])
    queue.hold(600)
    assert.deepEqual(await limitsOf('held'), [Infinity, null, false, 600])
  })

  for (const [scheduler, schedulerOptions, ...caps] of [
    ['fair', { maxTypeShare: 0.3, hard: true }, 3, 1, 6],
    ['fair', { maxTypeShare: 0.3 }, Infinity, Infinity, Infinity],
    ['capped', { maxTypeShare: 0.3, hard: true }, 3, 1, 6],
    ['capped', { maxTypeShare: 1, typeCaps: { a: 3 }, hard: true }, 3, Infinity, 3],
    ['capped', { maxTypeCap: 3 }, Infinity, Infinity, Infinity],
    ['equal', { maxTypeShare: 0.3 }, 3, 1, 6],
    ['equal', { maxTypeCap: 3 }, 3, Infinity, 3],
    ['equal', {}, Infinity, Infinity, Infinity]
  ]) {
    it(`say the cap of a type as the concurrency has it: ${scheduler}, ${JSON.stringify(schedulerOptions)}`, async function () {
      const queue = fairlane(() => {}, { concurrency: 10, scheduler, schedulerOptions })
      const said = []
      for (const concurrency of [10, 2, 20]) {
        queue.concurrency = concurrency
        said.push((await queue.counts('a')).cap)
      }
      assert.deepEqual(said, caps)
      queue.pause()
      assert.equal((await queue.counts('a')).cap, caps[2])
    })
  }

  it('say of a type that can be neither held nor rated what holds the queue', async function () {
    const queue = fairlane(() => {}, { scheduler: WINDOW, clock: fakeClock(), rate: { limit: 1, intervalMs: 1000 } }).hold(50)
    const { cap, rate, paused, heldMs } = await queue.counts('a')
    assert.deepEqual([cap, rate, paused, heldMs], [Infinity, null, false, 50])
  })

  it('know no types without a scheduler, also where jobs have priorities', async function () {
    for (const options of [{}, { priorityMs: 10 }]) {
      const queue = fairlane(() => {}, options).pause().pushType('a', 1)
      assert.deepEqual([await queue.counts(), await queue.types()], [{ waiting: 1, delayed: 0, running: 0, dead: 0, types: 0 }, []])
      assert.throws(() => queue.counts('a'), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('refuse what is wrong', function () {
    const queue = fairlane(() => {}, { scheduler: 'fair' })
    for (const options of [{ limit: 0 }, { limit: 'x' }, { most: 5 }, 5]) assert.throws(() => queue.types(options), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.counts(null), { code: 'FAIRLANE_ERR_TYPE' })
  })
})

describe('stats of a type', function () {
  const of = ({ retried, throttled, joined }) => [retried, throttled, joined]

  it('count attempts that come again, and jobs that are shared, also while all its jobs are delayed', async function () {
    const clock = fakeClock()
    const errors = [new Error('expected'), new Throttled(20), undefined]
    let end
    const queue = fairlane((payload, done) => {
      if (payload === 'runs long') end = done
      else done(payload === 'is tried again' ? errors.shift() : null)
    }, { clock, scheduler: 'fair', maxAttempts: 2, backoffMs: 10 })
    queue.add('is tried again', { type: 'a' }).catch(() => {})
    await quiet()
    assert.deepEqual([of(queue.stats('a')), queue.stats('a').delayed], [[1, 0, 0], 1])
    for (let i = 0; i < 2; i++) queue.add('is shared', { type: 'a', delayMs: 1000, key: 'k' })
    queue.add('bare', { type: 'b', delayMs: 1000 })
    assert.deepEqual([of(queue.stats('a')), of(queue.stats('b')), queue.stats('a').accepted], [[1, 0, 1], [0, 0, 0], 2])
    queue.pushType('a', 'runs long') // so the type has a job in the list all the time
    await quiet()
    clock.advance(10)
    await quiet()
    assert.deepEqual(of(queue.stats('a')), [1, 1, 1])
    queue.add('is shared', { type: 'a', key: 'k' })
    assert.deepEqual(of(queue.stats('a')), [1, 1, 2])
    const { retried, throttled, joined } = queue.stats()
    assert.deepEqual([retried, throttled, joined], [1, 1, 2])
    clock.advance(2000)
    await quiet()
    end()
    await queue.onIdle()
    assert.deepEqual(of(queue.stats('a')), [0, 0, 0], 'it was forgotten')
  })

  it('go over to the list with the next delayed job, though a bare one', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock, scheduler: 'equal' })
    queue.add(1, { type: 'a', delayMs: 10 })
    for (let i = 0; i < 2; i++) queue.add(2, { type: 'a', delayMs: 1000, key: 'k' })
    assert.equal(queue.stats('a').joined, 1)
    clock.advance(10)
    await gate.until(1)
    assert.deepEqual([queue.stats('a').joined, queue.stats('a').running], [1, 1])
    gate.release()
    await queue.close({ drain: false, timeoutMs: 0 }).catch(() => {})
  })

  it('count no key of a job that has ended, where there are no others of its type', async function () {
    const queue = fairlane(async () => {}, { scheduler: 'fair' })
    for (let i = 0; i < 2; i++) await queue.add(1, { type: 'a', key: 'k', keyUntil: 60000 })
    assert.deepEqual([queue.stats().joined, queue.stats('a').joined], [1, 0])
  })

  it('are gone if the scheduler clears the queue when it is told of a job whose time has come', async function () {
    const clock = fakeClock()
    const scheduler = { queued () { queue.clear() }, next () {}, started () {}, ended () {}, removed () {}, mayStall: true }
    const queue = fairlane(() => {}, { clock, scheduler })
    for (let i = 0; i < 2; i++) queue.add(1, { type: 'a', delayMs: 10, key: 'k' }).catch(() => {})
    clock.advance(10)
    await quiet()
    assert.deepEqual([queue.stats().joined, queue.stats('a').joined, queue.waiting], [1, 0, 0])
  })

  it('are none of a queue without a scheduler', async function () {
    const clock = fakeClock()
    const queue = fairlane((payload, done) => done(new Error('expected')), { clock, maxAttempts: 2, backoffMs: 10, priorityMs: 10 })
    queue.add(1).catch(() => {})
    await quiet()
    assert.equal(queue.stats().retried, 1)
    assert.throws(() => queue.stats('a'), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })
})

describe('flush', function () {
  it('resolves at once', async function () {
    assert.equal(await fairlane(() => {}).pause().push(1).flush(), undefined)
  })
})

describe('clear', function () {
  it('takes dead: true, and has none', function () {
    const queue = fairlane(() => {}).pause().push(1)
    assert.equal(queue.clear({ dead: true }), 1)
    assert.throws(() => queue.clear({ dead: 1 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })
})
