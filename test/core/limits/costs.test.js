'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { Throttled } = require('../../..')
const { internalsOf } = require('../../../lib/core/internals')
const { CostWindow, nextMark } = require('../../../lib/core/limits/cost-window')
const { Window } = require('../../../lib/core/limits/windows')
const { Costs } = require('../../../lib/core/limits/costs')
const { checkInvariants } = require('../../../lib/testing')
const { startsOf } = require('../../support/starts')
const { captureUncaught, captureWarnings } = require('../../support/uncaught')

const NO_COSTS = [-1, 0.5, NaN, Infinity, 2 ** 60, 2 ** 53, '1', '', null, true, {}, [], 1n, () => 1]
const WINDOWS = () => ({ waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 })

/** A queue whose jobs run until they are ended by hand. */
function heldOf (options) {
  const runs = []
  const made = startsOf(fairlane, { scheduler: 'equal', ...options }, (payload, done, context) => runs.push({ payload, done, context }))
  const started = () => runs.map(({ payload }) => payload)
  const { queue } = made
  const add = (payload, cost, options) => { queue.add(payload, { type: 'a', cost, ...options }).catch(() => {}) }
  return { ...made, runs, started, add }
}

const perType = (limit, intervalMs = 100) => ({ ratePerType: { limit, intervalMs, of: 'cost' } })
const ofQueue = (limit, intervalMs = 100) => ({ rate: { limit, intervalMs, of: 'cost' } })

describe('a rate of cost', function () {
  it('lets jobs start that cost so many units in a stretch, one if nothing is said', async function () {
    const { queue, pass, starts, add } = heldOf(perType(5))
    add(1, 3)
    add(2, 2)
    add(3, 4)
    queue.pushType('a', 4)
    queue.pushType('a', 5)
    await pass(250)
    assert.deepEqual(starts.map(({ payload, at }) => [payload, at]), [[1, 0], [2, 0], [3, 100], [4, 100], [5, 200]])
  })

  it('has a job that needs the whole window start within 65/64 of the interval, in its turn, while other types go on', async function () {
    const { queue, pass, starts, add, clock } = heldOf({ ...perType(1000, 640), concurrency: Infinity })
    const timer = () => {
      add('small', 10)
      add('other', 10, { type: 'b' })
      clock.setTimeout(timer, 5)
    }
    timer()
    await pass(300)
    add('large', 1000)
    const askedAt = clock.now()
    await pass(2000)
    const large = starts.find(({ payload }) => payload === 'large')
    assert.ok(large.at - askedAt <= 640 * 65 / 64, `${large.at - askedAt}`)
    const within = starts.filter(({ type, at }) => type === 'b' && at > askedAt && at < large.at)
    assert.ok(within.length > 50, `${within.length}`)
    assert.ok(starts.filter(({ type, at }) => type === 'a' && at > askedAt && at < large.at).length <= 1)
    assert.ok(queue.stats().waiting > 0)
  })

  it('holds beside rates of starts, and in several windows', async function () {
    const { pass, starts, add } = heldOf({
      concurrency: 100,
      ratePerType: [{ limit: 2, intervalMs: 10 }, { limit: 10, intervalMs: 50, of: 'cost' }, { limit: 12, intervalMs: 100, of: 'cost' }]
    })
    for (const cost of [1, 1, 6, 6, 4, 8]) add(cost, cost)
    await pass(300)
    assert.deepEqual(starts.map(({ at }) => at), [0, 0, 10, 100, 110, 200])
  })

  it('lets a job start at once that costs nothing, whatever is left', async function () {
    const { pass, started, add, runs } = heldOf(perType(2))
    add('first', 2)
    await pass(0)
    runs[0].context.spent(50)
    add('free', 0)
    await pass(0)
    assert.deepEqual(started(), ['first', 'free'])
  })

  it('is asked again when another job is the first of its type', async function () {
    const { queue, pass, started, add } = heldOf(perType(5))
    const controller = new AbortController()
    add('first', 3)
    add('large', 4, { signal: controller.signal })
    add('small', 1)
    await pass(0)
    assert.deepEqual([started(), queue.stats().heldTypes], [['first'], 1])
    add('before', 1, { unshift: true })
    await pass(0)
    assert.deepEqual(started(), ['first', 'before'])
    controller.abort()
    await pass(0)
    assert.deepEqual(started(), ['first', 'before', 'small'])
    add('over', 2)
    add('last', 0)
    await pass(0)
    assert.deepEqual([started().length, queue.remove(({ payload }) => payload === 'over')], [3, 1])
    await pass(0)
    assert.deepEqual(started(), ['first', 'before', 'small', 'last'])
  })

  it('has a job wait that comes to the head of its type when the one before it is taken out', async function () {
    const { queue, pass, started, add } = heldOf({ ...perType(5), concurrency: 1 })
    add('runs', 3)
    add('small', 1)
    add('large', 4)
    await pass(0)
    queue.remove(({ payload }) => payload === 'small')
    queue.resume(5)
    await pass(0)
    assert.deepEqual([started(), queue.heldMs('a')], [['runs'], 100])
  })

  it('is shared by types that share a lane, and follows a type into its own', async function () {
    const { queue, pass, runs, started, add } = heldOf({ ...perType(10), maxTypes: 1, scheduler: 'fair' })
    queue.pushType('own', 0)
    await pass(0)
    add('one', 8, { type: 'b' })
    add('two', 4, { type: 'c' })
    await pass(0)
    assert.deepEqual(started(), [0, 'one'])
    runs[1].context.spent(5)
    await pass(0)
    assert.deepEqual(started(), [0, 'one', 'two'])
    queue.holdType('b', 1) // which gives it a lane, and a limit, of its own
    await pass(1)
    add('three', 6, { type: 'b' })
    await pass(0)
    assert.deepEqual(started().length, 3)
    runs[1].context.spent(3)
    await pass(0)
    assert.deepEqual(started().length, 3) // two of a type that has shared the lane count there, too
    runs[1].context.spent(0)
    await pass(0)
    assert.deepEqual(started(), [0, 'one', 'two', 'three'])
    checkInvariants(queue)
  })

  it('gives back to types that share a lane only what they were charged there, when a type has left it', async function () {
    for (const steps of [1, 100]) { // more of them than are told apart
      const { queue, pass, runs, started, add } = heldOf({ ...perType(500), maxTypes: 1, scheduler: 'fair', concurrency: 9 })
      queue.pushType('own', 0)
      await pass(0)
      add('one', 100, { type: 'b' })
      await pass(0)
      const { spent } = runs[1].context
      for (let step = 1; step <= steps; step++) spent(100 + step)
      queue.holdType('b', 1) // which gives it a lane of its own
      await pass(2)
      spent(300)
      add('two', 300, { type: 'c' })
      await pass(0)
      spent(200)
      add('three', 100, { type: 'c' })
      await pass(0)
      assert.deepEqual(started(), [0, 'one', 'two'])
      spent(0)
      await pass(0)
      assert.deepEqual(started(), [0, 'one', 'two', 'three'])
    }
  })

  it('counts what a type has spent in the lane that it gets while its jobs run', async function () {
    const { queue, pass, runs, add } = heldOf({ ...perType(10), maxTypes: 1, scheduler: 'fair' })
    queue.pushType('own', 0)
    await pass(0)
    add('one', 8, { type: 'b' })
    await pass(0)
    queue.holdType('b', 1)
    assert.equal(queue.stats('b').spent, 8)
    runs[1].context.spent(2)
    assert.deepEqual([queue.stats('b').spent, queue.stats().spent], [2, 3])
  })

  it('may be given by a function, also later, and is known once a job has started', async function () {
    const { queue, pass, runs, started, add } = heldOf({ concurrency: 9, ratePerType: type => type === 'a' ? { limit: 4, intervalMs: 100, of: 'cost' } : undefined })
    queue.pushType('b', 0)
    await pass(0)
    assert.equal(internalsOf(queue).list.costs, null)
    queue.pushType('a', 1)
    queue.pushType('a', 2)
    await pass(0)
    assert.equal(queue.stats('a').spent, 2)
    add(3, 3)
    await pass(0)
    assert.deepEqual([started(), queue.stats('a').spent], [[0, 1, 2], 2])
    runs[1].context.spent(0)
    runs[0].context.spent(7) // nobody counted costs when it started
    await pass(0)
    assert.deepEqual([started(), queue.stats().spent], [[0, 1, 2, 3], 4])
    assert.throws(() => queue.add(4, { type: 'a', cost: 5 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    queue.add(5, { type: 'b', cost: 5 })
    await pass(0)
    assert.deepEqual(started(), [0, 1, 2, 3, 5])
  })

  it('is there though what is said comes when the windows of a type were forgotten', async function () {
    const { pass, runs, started, add } = heldOf(perType(5, 10))
    add('first', 5)
    await pass(0)
    for (let i = 0; i < 5; i++) {
      await pass(20)
      add(i, 1, { type: `type ${i}` })
    }
    runs[0].context.spent(9)
    add('second', 2)
    await pass(0)
    assert.deepEqual(started().filter(payload => payload === 'second'), [])
    await pass(10)
    assert.equal(started().at(-1), 'second')
  })

  it('may be changed while the queue runs: windows of the same interval that count the same go on', async function () {
    const { queue, pass, started, add } = heldOf({ concurrency: 100, ...perType(5) })
    add(1, 5)
    add(2, 1)
    await pass(0)
    queue.setRates({ ratePerType: { limit: 6, intervalMs: 100, of: 'cost' } })
    await pass(0)
    assert.deepEqual(started(), [1, 2])
    queue.setRates({ ratePerType: { limit: 6, intervalMs: 100 } })
    for (let i = 3; i < 8; i++) add(i, 9)
    await pass(0)
    assert.equal(started().length, 7)
    queue.setRates({ ratePerType: null })
    for (let i = 8; i < 20; i++) add(i, 9)
    await pass(0)
    assert.deepEqual([started().length, queue.heldMs('a')], [19, 0])
  })

  it('has a job that costs more than a lowered limit start when its window is empty', async function () {
    const { queue, pass, starts, add } = heldOf(perType(10))
    add(1, 1)
    add(2, 10)
    await pass(0)
    queue.setRates({ ratePerType: { limit: 3, intervalMs: 100, of: 'cost' } })
    await pass(300)
    assert.deepEqual(starts.map(({ at }) => at), [0, 100])
  })

  it('shows what it is about, and holds back what heldMs() says', async function () {
    const { queue, pass, add } = heldOf({ ratePerType: [{ limit: 9, intervalMs: 100, of: 'cost' }, { limit: 9, intervalMs: 10, of: 'jobs' }] })
    add(1, 8)
    await pass(0)
    assert.deepEqual([queue.heldMs('a'), queue.heldMs('b')], [0, 0])
    add(2, 2)
    await pass(30)
    assert.equal(queue.heldMs('a'), 70)
    assert.deepEqual((await queue.counts('a')).rate, [{ limit: 9, intervalMs: 100, of: 'cost' }, { limit: 9, intervalMs: 10 }])
  })

  it('counts in retryAfterMs', async function () {
    const { queue, pass, add } = heldOf({ ...perType(10, 60000), maxWaitingPerType: 1, concurrency: 5 })
    add(1, 10)
    await pass(0)
    add(2, 10)
    await assert.rejects(queue.add(3, { type: 'a', cost: 10 }), ({ code, retryAfterMs }) => {
      return code === 'FAIRLANE_ERR_TYPE_FULL' && retryAfterMs >= 60000 && retryAfterMs <= 72000
    })
  })
})

describe('a rate of cost of the whole queue', function () {
  for (const scheduler of [undefined, 'fair', 'capped', 'equal', WINDOWS()]) {
    it(`has the others wait behind the job that was chosen, with the scheduler ${typeof scheduler === 'object' ? 'of windows' : scheduler}`, async function () {
      const { queue, pass, starts, add } = heldOf({ ...ofQueue(10), scheduler, concurrency: 100 })
      add('first', 6)
      add('large', 10, { type: 'b' })
      await pass(0)
      assert.equal(queue.heldMs(), 100)
      for (let i = 0; i < 5; i++) add(i, 1, { type: 'c' })
      await pass(250)
      assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`), ['first 0', 'large 100', '0 200', '1 200', '2 200', '3 200', '4 200'])
      checkInvariants(queue)
    })
  }

  it('has them wait behind that though the scheduler would choose another one by now', async function () {
    const lanes = new Set()
    const newestLane = {
      queued (lane) { lanes.add(lane) },
      next: () => [...lanes].reverse().find(({ size, isPaused }) => size > 0 && !isPaused),
      started () {},
      ended () {},
      paused () {},
      resumed () {}
    }
    for (const scheduler of [newestLane, { ...WINDOWS(), select: types => types.size() - 1 }]) {
      const { pass, starts, add } = heldOf({ ...ofQueue(10), scheduler, concurrency: 100 })
      add('first', 6)
      await pass(0)
      add('large', 10, { type: 'b' })
      await pass(0)
      for (let i = 0; i < 3; i++) {
        add(i, 1, { type: i })
        await pass(10)
      }
      await pass(200)
      assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`).slice(0, 2), ['first 0', 'large 100'])
      assert.equal(starts.length, 5)
    }
  })

  it('lets the next one start at once when the one that waits is taken out, paused or held', async function () {
    for (const leave of [queue => queue.clear({ type: 'b' }), queue => queue.pauseType('b'), queue => queue.holdType('b', 1000)]) {
      const { queue, pass, started, add } = heldOf(ofQueue(10))
      add('first', 6)
      add('large', 10, { type: 'b' })
      add('small', 1, { type: 'c' })
      await pass(0)
      assert.deepEqual(started(), ['first'])
      leave(queue)
      await pass(0)
      assert.deepEqual(started(), ['first', 'small'])
    }
  })

  it('lets a job start when a window of jobs has room, though another one had waited for units for longer', async function () {
    const { pass, starts, add } = heldOf({ rate: [{ limit: 1, intervalMs: 10 }, { limit: 10, intervalMs: 1000, of: 'cost' }], scheduler: undefined, concurrency: 9 })
    add('first', 10)
    add('large', 5)
    await pass(500)
    add('free', 0, { unshift: true })
    await pass(1)
    add('free, too', 0, { unshift: true })
    await pass(500)
    assert.deepEqual(starts.map(({ payload, at }) => `${payload} ${at}`), ['first 0', 'free 500', 'free, too 510', 'large 1000'])
  })

  it('has one that waits without a scheduler leave the same way, with and without extras, and in a window', async function () {
    for (const scheduler of [undefined, WINDOWS()]) {
      const { queue, pass, started, add } = heldOf({ ...ofQueue(2), scheduler })
      add('first', 2)
      if (scheduler === undefined) queue.push('plain')
      else queue.pushType('a', 'plain')
      add('two', 2)
      await pass(0)
      assert.equal(queue.remove(({ payload }) => payload === 'plain'), 1)
      await pass(0)
      const controller = new AbortController()
      add('last', 1, { signal: controller.signal, unshift: true })
      await pass(0)
      controller.abort()
      assert.deepEqual([queue.waiting, started()], [1, ['first']])
      queue.clear()
      assert.deepEqual([queue.waiting, queue.heldMs()], [0, 0 + queue.heldMs()])
      checkInvariants(queue)
    }
  })

  it('starts nothing while a scheduler of windows lets nothing start', async function () {
    let isOpen = false
    const scheduler = { ...WINDOWS(), select: types => isOpen && types.size() > 0 ? 0 : -1, mayStall: true }
    const { queue, pass, started, add } = heldOf({ ...ofQueue(10), scheduler })
    add('first', 6)
    await pass(0)
    assert.deepEqual(started(), [])
    isOpen = true
    queue.resume()
    await pass(0)
    assert.deepEqual(started(), ['first'])
  })

  it('asks the scheduler anew when its options have changed: the one it had chosen may be at a cap', async function () {
    const { queue, pass, runs, started, add } = heldOf({ ...ofQueue(10), scheduler: 'capped', schedulerOptions: { hard: true } })
    add('first', 6, { type: 'b' })
    await pass(0)
    add('large', 10, { type: 'b' })
    add('small', 1, { type: 'c' })
    await pass(0)
    queue.scheduler.configure({ typeCaps: { b: 1 } })
    await pass(0)
    assert.deepEqual(started(), ['first', 'small'])
    await pass(200)
    runs[0].done()
    await pass(0)
    assert.deepEqual(started(), ['first', 'small', 'large'])
  })

  it('says of the job that waits first for how long it waits, also while all slots are taken', async function () {
    for (const options of [{ scheduler: undefined }, { scheduler: undefined, priorityMs: 10 }, { scheduler: 'equal' }, { scheduler: 'equal', maxTypes: 1 }]) {
      const { queue, pass, runs, add } = heldOf({ ...ofQueue(10), concurrency: 2, ...options })
      const type = options.scheduler && 'b'
      const ask = () => [queue.heldMs(type), queue.explain(type).because, queue.explain(type).untilMs]
      add('runs', 6)
      add('runs, too', 0)
      await pass(0)
      assert.equal(queue.heldMs(), 0)
      add('large', 9, { type: 'b' })
      assert.deepEqual(ask(), [100, 'queue-rate', 100])
      queue.clear()
      add('free', 0, { type: 'b' })
      runs[0].context.spent(10)
      assert.deepEqual(ask(), [0, 'slots', undefined])
      queue.clear()
      assert.equal(queue.heldMs(), 100)
    }
  })

  it('says of a job behind the one that was chosen that it waits as long', async function () {
    const { queue, pass, add } = heldOf({ ...ofQueue(10), concurrency: 9 })
    add('runs', 4)
    await pass(50)
    add('runs, too', 4)
    await pass(0)
    add('large', 10, { type: 'b' })
    add('small', 1, { type: 'c' })
    await pass(0)
    assert.deepEqual([queue.heldMs('c'), queue.explain('c').untilMs, queue.heldMs('b')], [100, 100, 100])
    add('larger than what is left', 6, { type: 'd' })
    assert.equal(queue.heldMs('d'), 100)
    add('costs nothing', 0, { type: 'b', unshift: true })
    assert.deepEqual([queue.heldMs('b'), queue.heldMs('c')], [0, 0])
    queue.clear()
    assert.equal(queue.heldMs('c'), 0)
  })

  it('goes on at once by what a runner says', async function () {
    const { pass, runs, started, add } = heldOf(ofQueue(10))
    add('first', 10)
    add('second', 4)
    add('third', 4)
    await pass(0)
    runs[0].context.spent(6)
    await pass(0)
    assert.deepEqual(started(), ['first', 'second'])
    runs[0].context.spent(7)
    runs[1].context.spent(0)
    await pass(0)
    assert.deepEqual(started(), ['first', 'second'])
    runs[0].context.spent(0)
    await pass(0)
    assert.deepEqual(started(), ['first', 'second', 'third'])
  })
})

describe('spent() of a context', function () {
  it('gives back the newest charges first, as far as they count still', async function () {
    const { queue, pass, runs, starts, add } = heldOf(perType(10))
    add('first', 4)
    await pass(60)
    runs[0].context.spent(10) // 4 at 0, 6 at 60
    await pass(0)
    add('second', 4)
    await pass(40)
    assert.equal(starts.at(-1).payload, 'second') // at 100, when the first 4 are too old
    runs[0].context.spent(2) // of which 2 are too old
    add('third', 6)
    await pass(0)
    assert.deepEqual(starts.map(({ payload, at }) => [payload, at]), [['first', 0], ['second', 100], ['third', 100]])
    assert.deepEqual([queue.stats().spent, queue.stats('a').spent], [12, 12])
  })

  it('is charged at once, beyond the limit where that is needed, and however often it is called', async function () {
    const { queue, pass, runs, started, add } = heldOf(perType(10))
    add('first', 1)
    await pass(0)
    const { spent } = runs[0].context
    for (let total = 2; total <= 200; total++) spent(total)
    add('second', 1)
    await pass(50)
    assert.deepEqual([started(), queue.stats('a').spent], [['first'], 200])
    for (let total = 199; total >= 10; total--) spent(total)
    await pass(0)
    assert.deepEqual(started(), ['first'])
    spent(9)
    await pass(0)
    assert.deepEqual(started(), ['first', 'second'])
    const [{ counts }] = internalsOf(queue).list.holds.limits.young.get('a').windows
    assert.ok(counts.length < 140, `${counts.length}`)
  })

  it('does nothing once the job has ended, or its time was up', async function () {
    const { queue, pass, runs, add } = heldOf({ ...perType(10), timeoutMs: 10 })
    add('first', 5)
    await pass(0)
    runs[0].done()
    runs[0].context.spent(9)
    add('second', 5)
    await pass(20)
    runs[1].context.spent(9)
    assert.equal(queue.stats().spent, 10)
    queue.clear()
  })

  it('refuses what is no safe integer from 0, on each context, also of a queue that counts nothing', async function () {
    for (const options of [perType(10), {}, { timeoutMs: 1000 }]) {
      const { queue, pass, runs } = heldOf(options)
      queue.pushType('a', 1)
      queue.on('done', () => {})
      queue.pushType('a', 2)
      await pass(0)
      for (const { context: { spent } } of runs) {
        for (const total of NO_COSTS) assert.throws(() => spent(total), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(total))
        assert.throws(() => spent(), { code: 'FAIRLANE_ERR_ARGUMENT' })
        assert.equal(spent(2), undefined)
      }
      assert.equal(queue.stats().spent, options.ratePerType === undefined ? 0 : 4)
    }
  })

  it('is there for functions, slots and jobs that somebody listens to', async function () {
    const { queue, pass, add, started } = heldOf({ ...perType(10), concurrency: 9 })
    await queue.run(({ spent }) => spent(3), { type: 'a', cost: 6 })
    const slot = await queue.acquire({ type: 'a', cost: 7 })
    const { spent } = slot
    spent(2)
    queue.on('done', () => {}).on('progress', () => {})
    add('job', 5)
    await pass(0)
    assert.deepEqual([started(), queue.stats('a').spent, queue.stats().spent], [['job'], 7, 10])
    slot.release()
    spent(0)
    assert.equal(queue.stats().spent, 10)
    for (const cost of NO_COSTS) {
      for (const call of [() => queue.add(1, { type: 'a', cost }), () => queue.run(() => {}, { type: 'a', cost }), () => queue.acquire({ type: 'a', cost })]) {
        assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' }, String(cost))
      }
    }
  })

  it('tells progress of plain jobs only to those who listened when they started', async function () {
    const { queue, pass, runs } = heldOf(perType(10))
    const told = []
    queue.pushType('a', 1)
    await pass(0)
    queue.on('progress', ({ payload, value }) => told.push([payload, value]))
    queue.pushType('a', 2)
    await pass(0)
    for (const { context } of runs) context.progress('half')
    assert.deepEqual(told, [[2, 'half']])
    assert.equal(runs[0].context.signal, runs[0].context.signal)
    assert.equal(runs[0].context.signal.aborted, false)
  })
})

describe('what a job costs', function () {
  it('is charged for each attempt, a later one with what the runner has said last', async function () {
    const { queue, pass, runs, add } = heldOf({ ...perType(100), maxAttempts: 3, backoffMs: 5 })
    add('job', 20)
    queue.pushType('b', 'plain')
    await pass(0)
    runs[0].context.spent(7)
    runs[0].done(new Error('again'))
    runs[1].done(new Throttled(10))
    await pass(20)
    assert.deepEqual([queue.stats('a').spent, queue.stats('b').spent], [14, 2])
    runs[2].done(new Error('again'))
    await pass(20)
    assert.deepEqual([queue.stats('a').spent, runs[4].payload], [21, 'job'])
  })

  it('is counted while its type has delayed jobs only', async function () {
    const { queue, pass, runs, add } = heldOf({ ...perType(100), maxAttempts: 2, backoffMs: 50 })
    add('job', 20)
    await pass(0)
    runs[0].done(new Error('again'))
    await pass(1)
    assert.equal(queue.stats('a').spent, 20)
    await pass(50)
    assert.equal(queue.stats('a').spent, 40)
  })

  it('is that of the job which replaces another one, or puts it off', async function () {
    const { queue, pass, started, add } = heldOf({ ...perType(10), concurrency: 9 })
    add('runs', 6)
    await pass(0)
    add('large', 9, { key: 1 })
    add('behind', 1)
    await pass(0)
    assert.deepEqual(started(), ['runs'])
    add('small', 3, { key: 1, onDuplicate: 'replace' })
    await pass(0)
    assert.deepEqual([started(), queue.stats('a').spent], [['runs', 'small', 'behind'], 10])
    add('later', 9, { key: 2, delayMs: 10 })
    add('put off', undefined, { key: 2, onDuplicate: 'postpone', delayMs: 200 })
    await pass(250)
    assert.deepEqual([started().at(-1), queue.stats('a').spent], ['put off', 11])
    add('joined', 5, { key: 3, delayMs: 10 })
    add('joins', 9, { key: 3 })
    await pass(20)
    assert.equal(queue.stats('a').spent, 16)
  })

  it('is looked at again without lanes, too, when a job is replaced', async function () {
    const { pass, started, add } = heldOf({ ...ofQueue(10), scheduler: undefined })
    add('runs', 6)
    add('large', 9, { key: 1 })
    await pass(0)
    add('small', 3, { key: 1, onDuplicate: 'replace' })
    await pass(0)
    assert.deepEqual(started(), ['runs', 'small'])
  })

  it('may be no more than a limit that is known', async function () {
    const { queue, pass, add } = heldOf({ rate: [{ limit: 20, intervalMs: 10, of: 'cost' }, { limit: 1, intervalMs: 1 }], ratePerType: new Map([['a', [{ limit: 5, intervalMs: 10, of: 'cost' }]]]) })
    assert.throws(() => add(1, 6), { name: 'RangeError', code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => add(1, 21, { type: 'b' }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    add(2, 5)
    add(3, 20, { type: 'b' })
    await pass(50)
    assert.equal(queue.stats().spent, 25)
    assert.throws(() => startsOf(fairlane, ofQueue(3)).queue.add(1, { cost: 4, key: 1 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.setRates({ rate: { limit: 1, intervalMs: 1, of: 'tokens' } }), { name: 'RangeError', code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const of of [null, 1, {}]) assert.throws(() => fairlane(() => {}, { rate: { limit: 1, intervalMs: 1, of } }), { code: 'FAIRLANE_ERR_OPTION' })
  })

  it('is counted from the first job on that says what it costs, and by a queue that counts none for nothing', async function () {
    const { queue, pass, runs, add } = heldOf({})
    queue.pushType('a', 1)
    queue.pushType('a', 2)
    await pass(0)
    assert.equal(runs[0].context, runs[1].context)
    const { dispatch, list } = internalsOf(queue)
    assert.deepEqual([dispatch.costs, list.costs, list.gate, list.holds, queue.stats().spent], [null, null, null, null, 0])
    add(3, 5)
    queue.pushType('a', 4)
    await pass(0)
    runs[2].context.spent(7)
    for (const { done } of runs) done()
    await pass(0)
    assert.equal(queue.stats().spent, 8)
    checkInvariants(queue)
  })

  it('is not known of a job that had started before costs were counted', async function () {
    for (const scheduler of [undefined, 'fair', WINDOWS()]) {
      const { queue, pass, runs, add } = heldOf({ scheduler })
      add('before', undefined, { timeoutMs: 1000 })
      await pass(0)
      add('after', 2)
      runs[0].context.spent(7)
      await pass(0)
      for (const { done } of runs) done()
      assert.deepEqual([queue.stats().spent, queue.stats().done], [2, 2])
    }
  })

  it('may be said of the jobs of map(), of all or by a function', async function () {
    const queue = fairlane(async n => n, { scheduler: 'equal', ...perType(100, 1e6) })
    for await (const n of queue.map([1, 2, 3], { type: 'a', cost: 2 })) assert.ok(n > 0)
    assert.equal(queue.stats().spent, 6)
    for await (const n of queue.map([1, 2, 3], { type: 'b', cost: n => 10 * n })) assert.ok(n > 0)
    assert.equal(queue.stats().spent, 66)
    for (const cost of NO_COSTS.filter(cost => typeof cost !== 'function')) {
      assert.throws(() => queue.map([1], { type: 'a', cost }), { code: 'FAIRLANE_ERR_ARGUMENT' }, String(cost))
    }
    await assert.rejects(queue.map([1], { type: 'a', cost: () => -1 }).next(), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await assert.rejects(queue.map([1], { type: 'a', cost: () => { throw new Error('mine') } }).next(), /mine/)
  })

  it('waits for its time, too', async function () {
    const { queue, pass, add } = heldOf({})
    add('later', 5, { delayMs: 10 })
    add('one', 1, { delayMs: 10 })
    await pass(10)
    assert.equal(queue.stats().spent, 6)
  })

  it('is counted though a job calls back into the queue from each call', async function () {
    const queue = fairlane((payload, done, { spent }) => {
      spent(payload)
      if (payload > 0) queue.add(payload - 1, { type: 'a', cost: 3 })
      spent(1)
      done()
    }, { scheduler: 'equal', ...perType(1000, 1e6) })
    await queue.add(5, { type: 'a', cost: 9 })
    await queue.onIdle()
    assert.equal(queue.stats().spent, 6)
  })
})

describe('a scheduler that needs costs', function () {
  function recorder (told, needsCost = true) {
    const lanes = new Set()
    return {
      needsCost,
      queued (lane) { lanes.add(lane) },
      next: () => [...lanes].find(({ size, isPaused }) => size > 0 && !isPaused),
      started (lane, now, cost) { told.push(['started', lane.type, now, cost]) },
      ended (lane, startedAt, now, cost) { told.push(['ended', lane.type, startedAt, now, cost]) },
      charged (lane, difference) { told.push(['charged', lane.type, difference]) },
      paused () {},
      resumed () {}
    }
  }

  it('is told what jobs cost, what runners say of that, and what they were charged in the end', async function () {
    const told = []
    const { queue, pass, runs, add } = heldOf({ scheduler: recorder(told) })
    queue.pushType('a', 1)
    add(2, 5)
    await pass(0)
    runs[1].context.spent(7)
    runs[1].context.spent(7)
    runs[0].context.spent(0)
    for (const { done } of runs) done()
    assert.deepEqual(told, [
      ['started', 'a', 0, 1], ['started', 'a', 0, 5], ['charged', 'a', 2], ['charged', 'a', -1], ['ended', 'a', 0, 0, 0], ['ended', 'a', 0, 0, 7]
    ])
  })

  it('is not told where it does not need it', async function () {
    const told = []
    const { pass, runs, add } = heldOf({ scheduler: recorder(told, false) })
    add(1, 5)
    await pass(0)
    runs[0].context.spent(7)
    runs[0].done()
    assert.deepEqual(told.map(([name]) => name), ['started', 'ended'])
  })

  it('is told of jobs whose type gets a lane of its own while they run', async function () {
    const told = []
    const { queue, pass, runs, add } = heldOf({ scheduler: recorder(told), maxTypes: 1 })
    queue.pushType('own', 0)
    add(1, 5, { type: 'b' })
    await pass(0)
    runs[1].context.spent(6)
    queue.pauseType('b')
    runs[1].done()
    assert.deepEqual(told.filter(([, type]) => type !== 'own').map(([name, type, ...rest]) => [name, rest.at(-1)]), [
      ['started', 5], ['charged', 1], ['started', 6], ['ended', 6], ['ended', 6]
    ])
  })

  it('may do without charged(), and may throw', async function () {
    const without = { ...recorder([]), charged: undefined }
    const throwing = { ...recorder([]), charged () { throw new Error('mine') } }
    const warnings = captureWarnings()
    try {
      for (const scheduler of [without, throwing]) {
        const { queue, pass, runs, add } = heldOf({ scheduler })
        add(1, 5)
        await pass(0)
        runs[0].context.spent(7)
        assert.equal(queue.stats().spent, 7)
      }
      await warnings.until(1)
    } finally {
      warnings.release()
    }
    assert.deepEqual(warnings.seen.map(({ code }) => code), ['FAIRLANE_ERR_SCHEDULER'])
  })
})

describe('a function that gives rates of cost', function () {
  it('may call spent() of jobs that run: what they give back later is there', async function () {
    for (const rate of [{ limit: 1000, intervalMs: 100, of: 'cost' }, undefined]) {
      const { pass, runs, started, add } = heldOf({
        ...ofQueue(20),
        concurrency: 9,
        ratePerType: type => {
          if (type === 'b') runs[0].context.spent(9)
          return rate
        }
      })
      add('first', 1)
      await pass(0)
      add('second', 1, { type: 'b' })
      await pass(0)
      runs[0].context.spent(0)
      add('third', 19, { type: 'c' })
      await pass(0)
      assert.deepEqual(started(), ['first', 'second', 'third'])
    }
  })

  it('may set other rates, which hold at once', async function () {
    for (const [ratePerType, times] of [[perType(1).ratePerType, [0, 100]], [null, [0, 0]]]) {
      const { queue, pass, starts, add } = heldOf({
        concurrency: 9,
        ratePerType: () => {
          queue.setRates({ ratePerType })
          return { limit: 10, intervalMs: 100, of: 'cost' }
        }
      })
      add(1, 1)
      add(2, 1)
      await pass(150)
      assert.deepEqual(starts.map(({ at }) => at), times)
    }
  })

  it('may throw: the job starts without a rate, and is charged', async function () {
    const errors = captureUncaught()
    try {
      const { queue, pass, add, started } = heldOf({ ratePerType: () => { throw new Error('mine') } })
      add(1, 5)
      add(2, 5)
      await pass(0)
      assert.deepEqual([started(), queue.stats().spent], [[1, 2], 10])
    } finally {
      errors.release()
    }
    assert.ok(errors.seen.every(({ message }) => message === 'mine'))
  })
})

describe('a window of costs', function () {
  it('gets nothing back of what does not count any more', function () {
    const window = new CostWindow({ limit: 10, intervalMs: 100 })
    const [old, young] = [nextMark(), nextMark()]
    window.add(0, 5, old)
    window.add(60, 5, young)
    assert.equal(window.waitMs(110, 6), 50)
    window.giveBack(110, 5, old)
    assert.equal(window.waitMs(110, 6), 50)
    window.giveBack(110, 5, young)
    assert.equal(window.waitMs(110, 6), 0)
  })

  it('has few entries, however often it is charged and gets back', function () {
    for (const limit of [64, 1000]) {
      const window = new CostWindow({ limit, intervalMs: 100 })
      for (let i = 0; i < 1000; i++) {
        const mark = nextMark()
        window.add(i / 100, 5, mark)
        window.giveBack(i / 100, 5, mark)
      }
      assert.equal(window.count, 0)
      assert.ok(window.times.length <= (limit > 64 ? 66 : 0), `${window.times.length} entries`)
      for (let i = 0; i < 1000; i++) window.add(10 + i / 100, 1, nextMark()) // as a runner says that its job costs more and more
      assert.ok(window.times.length <= 130, `${window.times.length} entries`)
      assert.equal(window.count, 1000)
    }
  })
})

describe('what windows of costs count', function () {
  const open = (limit, intervalMs = 100) => new CostWindow({ limit, intervalMs })

  it('is nothing where a job costs nothing', function () {
    const window = open(10)
    window.add(0, 0, nextMark())
    assert.deepEqual([window.times, window.isEmpty(0)], [[], true])
  })

  it('counts until the last start of a slice is as old as the interval', function () {
    const window = open(100, 6400)
    window.add(0, 50, nextMark())
    window.add(99, 50, nextMark())
    assert.deepEqual([window.waitMs(6400, 1), window.waitMs(6498, 1), window.waitMs(6499, 100)], [99, 1, 0])
  })

  it('is given back from newer charges where the entry has no more', function () {
    const window = open(10)
    const marks = [nextMark(), nextMark(), nextMark()]
    for (const [at, mark] of marks.entries()) window.add(at, 3, mark)
    window.giveBack(50, 8, marks[0])
    assert.deepEqual([window.count, window.times, window.counts], [1, [2], [1]])
    assert.equal(window.waitMs(101, 10), 1)
  })

  it('is without what is reserved in a copy, which leaves the window as it is', function () {
    for (const window of [open(10), new Window({ limit: 10, intervalMs: 100 })]) {
      const mark = nextMark()
      window.add(0, 1, mark)
      window.reserve(1)
      const copy = window.copy()
      assert.deepEqual([window.count, copy.count], [2, 1])
      assert.equal(copy.isEmpty(100), true)
      window.giveBack?.(1, 1, mark)
      assert.equal(window.count, window.of === 'cost' ? 1 : 2)
    }
  })

  it('is exact again beyond 2^53 when all of it is over, but for what is reserved', function () {
    const window = open(10)
    window.add(0, Number.MAX_SAFE_INTEGER, nextMark())
    window.add(0, 2, nextMark())
    window.reserve(4)
    assert.deepEqual([window.isEmpty(100), window.count], [false, 4])
    window.release(4)
    assert.equal(window.isEmpty(100), true)
  })

  it('comes back an interval later at the earliest where all of it is reserved', function () {
    for (const window of [open(1), new Window({ limit: 1, intervalMs: 100 })]) {
      window.reserve(1)
      assert.equal(window.waitMs(0, 1), 100)
    }
  })

  it('has a new entry after the last slice is over, or ends with another limit', function () {
    for (const window of [open(100), new Window({ limit: 100, intervalMs: 100 })]) {
      window.add(50, 1, nextMark())
      assert.equal(window.isEmpty(150), true)
      window.add(50, 1, nextMark()) // by a clock that went back
      assert.deepEqual([window.times, window.count], [[50], 1])
      window.setLimit(2)
      window.add(50.5, 1, nextMark())
      assert.deepEqual(window.times, [50, 50.5])
    }
  })

  it('is told apart in so many parts of a job, and all of it is given back', function () {
    const list = { gate: { correct () {} }, holds: null, recorder: null, needsCost: false }
    const costs = new Costs({ wake () {} }, list, undefined)
    costs.takesPlain(undefined, { cost: 5 }, 'payload')
    const { origin, charge } = list
    for (let units = 6; units < 200; units++) costs.correct({ origin }, units)
    assert.equal(charge.parts.length, 64)
    assert.equal(charge.correct(0).parts.reduce((sum, { units }) => sum + units, 0), 199)
  })
})

describe('what a job costs that has a slot and has not started', function () {
  it('is in no window, from which something could be given back', function () {
    const corrected = []
    const list = { gate: { correct: correction => corrected.push(correction) }, holds: null, recorder: null, needsCost: false }
    const costs = new Costs({ wake () {} }, list, undefined)
    costs.takesPlain(undefined, { cost: 5 }, 'payload')
    const { origin, charge } = list
    charge.isReserved = true
    costs.correct({ origin }, 0)
    assert.deepEqual([costs.spent, corrected], [0, []])
    const { mark } = charge
    const between = nextMark()
    charge.start()
    assert.ok(mark < between && between < charge.mark)
    costs.correct({ origin }, 3)
    assert.deepEqual(corrected.map(({ difference }) => difference), [3])
  })
})

describe('what jobs cost that are kept elsewhere', function () {
  const { SharedCosts } = require('../../../lib/core/limits/costs')
  const costsOf = list => new SharedCosts({}, { gate: null, ...list }, { expectedOf: () => 1, knownOf: cost => cost })

  it('is what their owner knows of the first one, which is next if it has given its slot back', function () {
    const costs = costsOf({ lanes: new Map(), isStartable: lane => lane?.size > 0, find: type => ({ type, size: 1 }) })
    assert.equal(costs.costOfFirst({ head: [5], headAt: 0, isShared: false }), 5)
    assert.equal(costs.costOfFirst({ head: [{ payload: 7 }], headAt: 0, isShared: true }), 7)
    for (const type of ['a', 'b']) {
      costs.chooseAgain(type)
      assert.equal(costs.chosen.type, 'a') // it waited first
    }
    costs.chosen.size = 0
    costs.chooseAgain('b')
    assert.equal(costs.chosen.type, 'b')
  })

  it('has the same said of jobs by their numbers, and of those without types nothing', function () {
    const numbers = [4, 9]
    const costs = costsOf({ scheduler: {}, indexOf: number => numbers.indexOf(number), numberOf: () => numbers[0] })
    costs.chooseAgain('a')
    assert.equal(costs.chosen, 4)
    numbers.unshift(3)
    costs.chooseAgain('a')
    assert.equal(costs.chosen, 4)
    numbers.splice(0, 2)
    costs.chooseAgain('a')
    assert.equal(costs.chosen, 9)
    const plain = costsOf({})
    plain.chooseAgain()
    assert.deepEqual([plain.chosen, plain.mayStart(undefined, 100)], [undefined, true])
  })
})
