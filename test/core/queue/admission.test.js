'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { internalsOf } = require('../../../lib/core/internals')
const { fakeClock } = require('../../../lib/testing')
const { giveChance, withChance } = require('../../support/chance')
const { captureUncaught } = require('../../support/uncaught')
const { quiet, turn } = require('../../support/turns')

/** Pushes, and says how it was refused, if it was. */
function push (queue, ...args) {
  const told = []
  queue[args.length === 1 ? 'push' : 'pushType'](...args, (error) => told.push(error))
  assert.deepEqual(told, [], 'nothing is called back inside push')
  return Promise.resolve().then(() => {}).then(() => told[0])
}

describe('maxWaiting', function () {
  it('limits what waits beyond the free slots', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 2, maxWaiting: 1 })
    const told = []
    for (let i = 0; i < 4; i++) told.push(await push(queue, i))
    assert.deepEqual(told.slice(0, 3), [undefined, undefined, undefined])
    const { code, type, waiting, limit, retryAfterMs } = told[3]
    assert.deepEqual({ code, type, waiting, limit }, { code: 'FAIRLANE_ERR_QUEUE_FULL', type: undefined, waiting: 3, limit: 3 })
    assert(retryAfterMs >= 1)
    assert.deepEqual([queue.stats().accepted, queue.stats().rejected], [3, 1])
    await gate.until(2)
    assert.equal((await push(queue, 4)).code, 'FAIRLANE_ERR_QUEUE_FULL')
    gate.release()
    assert.equal(await push(queue, 5), undefined)
  })

  it('may be 0, and counts no free slots while paused', async function () {
    const queue = fairlane(() => {}, { concurrency: 1, maxWaiting: 0 })
    assert.equal(await push(queue, 1), undefined)
    assert.equal((await push(queue, 2)).code, 'FAIRLANE_ERR_QUEUE_FULL')
    assert.equal((await push(fairlane(() => {}, { maxWaiting: 0 }).pause(), 1)).code, 'FAIRLANE_ERR_QUEUE_FULL')
  })

  it('refuses in every call, never by a throw: unshift, unshiftType, pushType and add', async function () {
    const queue = fairlane(() => {}, { maxWaiting: 0 }).pause()
    const codes = []
    const callback = ({ code }) => codes.push(code)
    queue.push(1, callback).unshift(1, callback).pushType('a', 1, callback).unshiftType('a', 1, callback).push(1)
    await assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    assert.deepEqual(codes, new Array(4).fill('FAIRLANE_ERR_QUEUE_FULL'))
    assert.equal(queue.stats().rejected, 6)
  })

  it('makes an uncaught exception of what the callback of a refused job throws', async function () {
    const uncaught = captureUncaught()
    const error = new Error('expected')
    fairlane(() => {}, { maxWaiting: 0 }).pause().push(1, () => { throw error })
    await uncaught.until(1)
    uncaught.release()
    assert.deepEqual(uncaught.seen, [error])
  })

  for (const scheduler of ['equal', { waiting () {}, start () {}, done () {}, select: () => 0 }]) {
    it(`leaves room for quiet types when one floods, with ${typeof scheduler === 'string' ? 'lanes' : 'a window'}`, async function () {
      const queue = fairlane(() => {}, { scheduler, maxWaiting: 100 }).pause()
      let error
      let count = -1
      for (; error === undefined; count++) error = await push(queue, 'flood', 1)
      assert.equal(count, 80)
      assert.deepEqual([error.code, error.type, error.waiting, error.limit], ['FAIRLANE_ERR_TYPE_FULL', 'flood', 80, 80])
      assert.equal(queue.stats('flood').rejected, 1)
      assert.equal(await push(queue, 'quiet', 1), undefined)
      assert.equal(queue.stats('quiet').rejected, 0)
      for (let i = 0; i < 19; i++) assert.equal(await push(queue, `other ${i}`, 1), undefined)
      assert.equal((await push(queue, 'late', 1)).code, 'FAIRLANE_ERR_QUEUE_FULL')
    })
  }

  it('must be a non-negative integer or Infinity', function () {
    for (const maxWaiting of [-1, 1.5, NaN, '3', null]) {
      assert.throws(() => fairlane(() => {}, { maxWaiting }), { code: 'FAIRLANE_ERR_OPTION', message: /^maxWaiting must be a non-negative integer or Infinity/ })
    }
    assert.equal(fairlane(() => {}, { maxWaiting: 0 }).length, 0)
    assert.equal(fairlane(() => {}, { maxWaiting: Infinity }).length, 0)
  })
})

describe('maxWaitingPerType', function () {
  it('is a number for each type', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType: 1 }).pause()
    assert.equal(await push(queue, 'a', 1), undefined)
    assert.equal((await push(queue, 'a', 1)).code, 'FAIRLANE_ERR_TYPE_FULL')
    assert.equal(await push(queue, 'b', 1), undefined)
  })

  it('is numbers by type, in an object or a Map; those types are kept apart', async function () {
    for (const maxWaitingPerType of [{ a: 1, b: 0, c: undefined }, new Map([['a', 1], ['b', 0]])]) {
      const queue = fairlane(() => {}, { scheduler: 'equal', maxTypes: 1, maxWaitingPerType }).pause()
      for (const type of ['c', 'd', 'e', 'a']) assert.equal(await push(queue, type, 1), undefined)
      assert.equal((await push(queue, 'a', 1)).code, 'FAIRLANE_ERR_TYPE_FULL')
      assert.equal((await push(queue, 'b', 1)).limit, 0)
      assert.equal(await push(queue, 'c', 1), undefined)
      assert.equal(queue.stats('a').waiting, 1)
    }
  })

  it('must be numbers, and needs a scheduler', function () {
    for (const maxWaitingPerType of [null, 'x', -1, [], { a: -1 }, new Map([['a', 1.5]])]) {
      assert.throws(() => fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType }), { code: 'FAIRLANE_ERR_OPTION' })
    }
    assert.throws(() => fairlane(() => {}, { maxWaitingPerType: 1 }), { code: 'FAIRLANE_ERR_OPTION' })
  })
})

describe('what a refusal says more than its code', function () {
  it('is said by the errors of limits only', async function () {
    const names = ({ code, ...error }) => [code, Object.keys(error)]
    const details = ['type', 'waiting', 'limit', 'retryAfterMs']
    const full = fairlane(() => {}, { maxWaiting: 0 }).pause()
    assert.deepEqual(names(await push(full, 'a', 1)), ['FAIRLANE_ERR_QUEUE_FULL', details])
    const ofType = fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType: 0 })
    assert.deepEqual(names(await push(ofType, 'a', 1)), ['FAIRLANE_ERR_TYPE_FULL', details])
    const aborted = await full.add(1, { signal: AbortSignal.abort() }).catch((error) => error)
    assert.deepEqual(names(aborted), ['FAIRLANE_ERR_ABORTED', []])
    full.close()
    assert.deepEqual(names(await push(full, 1)), ['FAIRLANE_ERR_CLOSED', []])
  })

  it('is said in their messages, too', async function () {
    const full = fairlane(() => {}, { maxWaiting: 0 }).pause()
    assert.equal((await push(full, 'a', 1)).message, 'The queue is full: 0 jobs are waiting (limit: 0)')
    const ofType = fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType: 1 }).pause()
    ofType.pushType('a', 1)
    assert.equal((await push(ofType, 'a', 1)).message, 'The queue is full for this type: 1 of its jobs are waiting (limit: 1)')
    const rejected = assert.rejects(full.ready(), { code: 'FAIRLANE_ERR_CLOSED', message: 'The queue is closed' })
    full.close()
    await rejected
  })
})

describe('retryAfterMs', function () {
  withChance(0)

  it('is by what has ended, or failed, since the last second began, or the one before', async function () {
    const clock = fakeClock(5000)
    const gate = gates()
    const runner = (n, done, context) => gate.runner(n, () => done(n % 2 === 0 ? null : new Error('expected')), context)
    const queue = fairlane(runner, { concurrency: 1, maxWaiting: 100, clock })
    for (let i = 0; i < 101; i++) queue.push(i, () => {})
    await gate.until(1)

    async function after (ms, endedCount) {
      for (let i = 0; i < endedCount; i++) {
        gate.release()
        await turn()
      }
      clock.advance(ms)
      for (;;) {
        const error = await push(queue, 'x')
        if (error !== undefined) return error.retryAfterMs
      }
    }

    assert.equal(await after(500, 5), 100)
    assert.equal(await after(100, 0), 120)
    assert.equal(await after(400, 5), 100)
    assert.equal(await after(1000, 20), 50)
    assert.equal(await after(100000, 0), 50)
    assert.equal(await after(0, 1), 50)
    assert.equal(await after(20, 0), 20)
  })

  it('counts those that wait beyond what may', async function () {
    const queue = fairlane(() => {}, { concurrency: 3, maxWaiting: 2, clock: fakeClock() })
    for (let i = 0; i < 5; i++) queue.push(i)
    queue.pause()
    const { waiting, limit, retryAfterMs } = await push(queue, 'x')
    assert.deepEqual([waiting, limit, retryAfterMs], [5, 2, 4000])
  })

  it('follows the recent rate of completions', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, maxWaiting: 1, clock })
    const retryAfterMs = async () => (await push(queue, 'x')).retryAfterMs
    queue.push(1).push(2)
    await gate.until(1)
    assert.equal(await retryAfterMs(), 1000)
    for (let i = 0; i < 10; i++) {
      clock.advance(100)
      gate.release()
      queue.push(i)
      await turn()
    }
    assert.equal(await retryAfterMs(), 100)
    clock.advance(1000)
    assert.equal(await retryAfterMs(), 1000)
    clock.advance(100000)
    assert.equal(await retryAfterMs(), 1000)
  })
})

describe('retryAfterMs of jobs that are refused together', function () {
  const refused = async options => {
    const queue = fairlane(() => {}, { concurrency: 1, clock: fakeClock(), ...options }).pause()
    for (let i = 0; i < 2; i++) queue.pushType('a', i)
    return (await push(queue, 'a', 'x')).retryAfterMs
  }

  for (const [what, options] of Object.entries({ 'the queue': { maxWaiting: 1 }, 'their type': { scheduler: 'equal', maxWaitingPerType: 2 } })) {
    it(`is up to a fifth longer, by chance, and never shorter, where ${what} is full`, async function () {
      for (const [chance, expected] of [[0, 1000], [0.5, 1100], [0.9999, 1199]]) {
        const release = giveChance(chance)
        assert.equal(await refused(options), expected)
        release()
      }
      const times = new Set()
      for (let i = 0; i < 50; i++) times.add(await refused(options))
      assert.ok(times.size > 5 && Math.min(...times) >= 1000 && Math.max(...times) < 1200, [...times].join(' '))
    })
  }
})

describe('retryAfterMs of a type', function () {
  withChance(0)

  it('is as long as the types that have jobs share the rate', async function () {
    for (const [typesCount, expected] of [[1, 100], [5, 500]]) {
      const clock = fakeClock()
      const gate = gates()
      const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, maxWaitingPerType: 1, clock })
      for (let i = 0; i < 11; i++) {
        queue.pushType('a', i)
        await gate.until(i + 1)
        clock.advance(100)
        gate.release()
        await turn()
      }
      queue.pause()
      for (let i = 0; i < typesCount; i++) queue.pushType(`type ${i}`, i)
      const { code, retryAfterMs } = await push(queue, 'type 0', 1)
      assert.deepEqual([code, retryAfterMs], ['FAIRLANE_ERR_TYPE_FULL', expected])
    }
  })
})

describe('retryAfterMs of a queue whose jobs are cancelled', function () {
  it('does not take them for completions', async function () {
    const clock = fakeClock()
    const queue = fairlane(() => {}, { maxWaiting: 0, concurrency: 1, clock })
    queue.push('runs for ever')
    for (let i = 0; i < 100; i++) {
      clock.advance(20)
      const controller = new AbortController()
      queue.resume(2).add(i, { signal: controller.signal, unshift: true }).catch(() => {})
      controller.abort()
      queue.resume(1)
    }
    await turn()
    assert.equal(queue.stats().cancelled, 100)
    assert((await push(queue, 'refused')).retryAfterMs >= 1000)
  })
})

describe('ready', function () {
  it('resolves at once when a push would be accepted', async function () {
    await fairlane(() => {}).ready()
    await fairlane(() => {}).ready('ignored')
    await fairlane(() => {}, { scheduler: 'equal', maxWaiting: 1 }).ready()
    assert.throws(() => fairlane(() => {}, { scheduler: 'equal' }).ready(Symbol('x')), { code: 'FAIRLANE_ERR_TYPE' })
  })

  it('resolves when the level changes, also in the tick in which it was asked for', async function () {
    const queue = fairlane(() => {}, { maxWaiting: 1 }).pause()
    queue.push(1)
    const ready = queue.ready()
    const another = queue.ready()
    queue.clear()
    queue.push(2)
    await Promise.all([ready, another])
    const last = queue.ready()
    queue.resume()
    await last
  })

  it('resolves for a type when that type may push', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType: 1 }).pause()
    queue.pushType('a', 1).pushType('b', 1)
    let isReady = false
    queue.ready('a').then(() => { isReady = true })
    const b = queue.ready('b')
    queue.clear({ type: 'b' })
    await b
    assert.equal(isReady, false)
    await queue.ready('c')
    queue.clear({ type: 'a' })
    await turn()
    assert.equal(isReady, true)
  })

  it('waits on through changes that make no room', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, maxWaiting: 0 })
    queue.push(1)
    await gate.until(1)
    let isReady = false
    queue.ready().then(() => { isReady = true })
    queue.resume(1)
    await turn()
    assert.equal(isReady, false)
    gate.release()
    await turn()
    assert.equal(isReady, true)
  })

  it('waits on while the queue is full, and rejects when it closes', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaiting: 1 }).pause()
    queue.pushType('a', 1)
    const ready = queue.ready('b')
    queue.pauseType('a').close({ drain: false })
    await assert.rejects(ready, { code: 'FAIRLANE_ERR_CLOSED' })
  })
})

describe('saturated and unsaturated', function () {
  it('do not come while what was refused still is, however often that is looked at', async function () {
    for (const options of [{ maxWaiting: 1 }, { scheduler: 'equal', maxWaitingPerType: 1 }]) {
      const events = []
      const queue = fairlane(() => {}, options).pause()
      for (const event of ['saturated', 'unsaturated']) queue.on(event, () => events.push(event))
      assert.equal(await push(queue, 'a', 1), undefined)
      assert.notEqual(await push(queue, 'a', 2), undefined)
      for (let i = 0; i < 3; i++) queue.remove(() => false)
      await turn()
      assert.deepEqual(events, ['saturated'])
    }
  })

  it('come once for each change, in order, and never inside a push', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType: 1 }).pause()
    const events = []
    queue.on('saturated', () => events.push('saturated')).on('unsaturated', () => events.push('unsaturated'))
    queue.pushType('a', 1).pushType('a', 2).pushType('b', 1).pushType('b', 2)
    assert.deepEqual(events, [])
    await turn()
    assert.deepEqual(events, ['saturated'])
    queue.clear({ type: 'a' })
    await turn()
    assert.deepEqual(events, ['saturated'])
    queue.clear()
    queue.pushType('a', 1).pushType('a', 2)
    await turn()
    assert.deepEqual(events, ['saturated', 'unsaturated', 'saturated'])
    await queue.close({ drain: false })
    assert.equal(events.length, 3)
  })

  it('come from completions too', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 2, maxWaiting: 0 })
    const events = []
    queue.on('unsaturated', () => events.push('unsaturated'))
    queue.push(1).push(2).push(3)
    await gate.until(2)
    gate.release()
    await turn()
    assert.deepEqual(events, ['unsaturated'])
  })

  it('do not grow with the number of invented types that are refused, in shared lanes neither', async function () {
    for (const options of [{ maxWaitingPerType: 0 }, { maxWaitingPerType: 1, maxTypes: 1 }]) {
      const queue = fairlane(() => {}, { scheduler: 'equal', ...options }).pause()
      for (let i = 0; i < 3000; i++) queue.pushType(`invented ${i}`, i)
      assert(queue.stats().rejected > 2900)
      assert(internalsOf(queue).admission.refusedTypes.size <= 1000)
      queue.clear()
      if (options.maxWaitingPerType > 0) assert.equal(internalsOf(queue).admission.refusedTypes.size, 0)
    }
  })

  it('tells unsaturated when each type that was refused is accepted again, whatever it was refused by', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaiting: 10 }).pause()
    const events = []
    for (const event of ['saturated', 'unsaturated']) queue.on(event, () => events.push(event))
    for (let i = 0; i < 8; i++) queue.pushType('a', i)
    queue.pushType('b', 1).pushType('c', 1)
    assert.equal((await push(queue, 'a', 'x')).code, 'FAIRLANE_ERR_QUEUE_FULL')
    queue.clear({ type: 'c' })
    await quiet()
    assert.deepEqual(events, ['saturated'])
    assert.equal((await push(queue, 'a', 'x')).code, 'FAIRLANE_ERR_TYPE_FULL')
    queue.clear({ type: 'b' })
    queue.remove(({ payload }) => payload > 3)
    await quiet()
    assert.deepEqual(events, ['saturated', 'unsaturated'])
    assert.equal(await push(queue, 'a', 'x'), undefined)
  })

  it('keeps nothing of refused types that have no job waiting', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, maxWaiting: 1 })
    const events = []
    for (const event of ['saturated', 'unsaturated']) queue.on(event, () => events.push(event))
    queue.pushType('a', 1)
    await gate.until(1)
    queue.pushType('a', 2)
    for (let i = 0; i < 100; i++) queue.pushType(`invented ${i}`, i)
    assert.equal(queue.stats().rejected, 100)
    gate.release()
    await gate.until(2)
    await queue.ready('b')
    await quiet()
    assert.deepEqual(events, ['saturated', 'unsaturated'])
  })
})

describe('ready() of thousands of types', function () {
  it('costs a job that ends little, and tells all that have room, without another end', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, maxWaiting: 4000 })
    queue.pushType('busy', 0)
    await gate.until(1)
    const ready = new Set()
    for (let i = 0; i < 900; i++) {
      // while others fill most of the room, each of these is at its limit of 4 × room
      for (let j = 0; j < 4; j++) queue.pushType(`t${i}`, j)
    }
    for (let i = 0; queue.waiting < 3999; i++) queue.pushType(`filler ${i}`, i)
    for (let i = 0; i < 900; i++) queue.ready(`t${i}`).then(() => ready.add(i))
    await quiet()
    assert.equal(ready.size, 0)
    const { admission } = internalsOf(queue)
    let looksCount = 0
    const { accepts } = admission
    admission.accepts = function (type) {
      looksCount++
      return accepts.call(this, type)
    }
    queue.pauseType('filler 0').pauseType('t1')
    assert(looksCount <= 80, `${looksCount} looks`)
    queue.remove(({ type }) => type.startsWith('filler'))
    assert(looksCount <= 120, `${looksCount} looks`)
    for (let i = 0; i < 100 && ready.size < 900; i++) await turn()
    assert.equal(ready.size, 900)
    const before = looksCount
    await quiet()
    assert.equal(looksCount, before, 'nobody waits any more')
  })
})

describe('the limit of types that share a lane', function () {
  it('is told to have room when a pause takes the jobs of a type out of it', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxTypes: 1, maxWaitingPerType: 2 }).pause()
    queue.pushType('own', 1).pushType('shared 1', 1).pushType('shared 1', 2)
    let isReady = false
    queue.ready('shared 2').then(() => { isReady = true })
    await quiet()
    assert.equal(isReady, false)
    queue.pauseType('shared 1')
    await quiet()
    assert.equal(isReady, true)
    assert.equal(await push(queue, 'shared 2', 1), undefined)
  })

  it('counts all of them together, and not a type that would get a lane of its own', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxTypes: 2, maxWaitingPerType: 2 }).pause()
    for (const type of ['own 1', 'own 2', 'shared 1', 'shared 2']) assert.equal(await push(queue, type, 1), undefined)
    const refused = await push(queue, 'shared 3', 1)
    assert.deepEqual([refused.code, refused.waiting, refused.limit], ['FAIRLANE_ERR_TYPE_FULL', 2, 2])
    assert.equal(queue.stats('shared 1').waiting, 2)

    queue.clear({ type: 'own 1' })
    assert.equal((await push(queue, 'shared 1', 1)).code, 'FAIRLANE_ERR_TYPE_FULL', 'a type stays where its jobs wait')
    await queue.ready('fresh')
    assert.equal(await push(queue, 'fresh', 1), undefined)
    assert.deepEqual([queue.stats('fresh').waiting, queue.stats('shared 1').waiting], [1, 2])
    assert.equal((await push(queue, 'another', 1)).code, 'FAIRLANE_ERR_TYPE_FULL')
  })

  it('counts not a type that the scheduler names', async function () {
    const schedulerOptions = { typeCaps: { named: 1 } }
    const queue = fairlane(() => {}, { scheduler: 'equal', schedulerOptions, maxTypes: 1, maxWaitingPerType: 1 }).pause()
    for (const type of ['own', 'shared', 'named']) assert.equal(await push(queue, type, 1), undefined)
    for (const type of ['own', 'shared', 'named', 'other']) assert.equal((await push(queue, type, 1)).code, 'FAIRLANE_ERR_TYPE_FULL')
  })
})
