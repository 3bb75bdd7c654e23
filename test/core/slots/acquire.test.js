'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const { History } = require('../../../lib/history')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { turns } = require('../../support/turns')

const WAYS = [{}, { settleBy: 'callback' }, { settleBy: 'promise' }, { asyncContext: 'none' }, { asyncContext: 'push' }, { scheduler: 'equal' }]

const reasonOf = promise => promise.then(() => assert.fail('it gave a slot'), err => err)

describe('queue.acquire', function () {
  for (const options of WAYS) {
    for (const runner of [null, (payload, done) => typeof done === 'function' ? done(null, payload) : payload]) {
      it(`gives slots that are held until they are released, with ${JSON.stringify(options)} and ${runner === null ? 'no' : 'a'} runner`, async function () {
        const queue = fairlane(runner, { concurrency: 2, ...options })
        const type = 'a'
        const [first, second] = await Promise.all([queue.acquire({ type }), queue.acquire({ type })])
        let third
        const waits = queue.acquire({ type }).then(slot => { third = slot })
        await turns(5)
        assert.deepEqual([queue.running, queue.waiting, third], [2, 1, undefined])
        checkInvariants(queue)
        assert.equal(first.release(), undefined)
        await waits
        second[Symbol.dispose]()
        third.release(new Error('expected'))
        for (const slot of [first, second, third]) {
          slot.release()
          slot.release(new Error('too late'))
          slot[Symbol.dispose]()
        }
        const { accepted, done, failed, misuse, running, waiting } = queue.stats()
        assert.deepEqual([accepted, done, failed, misuse, running, waiting], [3, 2, 1, 0, 0, 0])
        checkInvariants(queue)
        if (runner !== null) assert.equal(await queue.add(7, { type }), 7)
        assert.equal(await queue.close(), 0)
      })
    }
  }

  it('gives slots that say for whom they are and how long that took', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, scheduler: 'equal', concurrency: 1 })
    const slot = await queue.acquire({ type: '__proto__' })
    const next = queue.acquire({ type: '' })
    clock.advance(50)
    slot.release()
    const { type, waitedMs, release } = await next
    assert.deepEqual([slot.type, slot.waitedMs, type, waitedMs], ['__proto__', 0, '', 50])
    release()
    assert.deepEqual(Object.keys(slot), ['type', 'waitedMs'])
    const untyped = await fairlane(null).acquire({ type: 'a' })
    assert.equal(untyped.type, undefined)
    untyped.release()
  })

  it('has a release that may be taken off the slot', async function () {
    const queue = fairlane(null, 1)
    const { release } = await queue.acquire()
    release()
    release()
    ;[undefined].forEach((await queue.acquire()).release)
    assert.deepEqual([queue.running, queue.stats().done, queue.stats().failed], [0, 2, 0])
  })

  it('throws at once if its arguments are wrong, and says which there are', function () {
    const queue = fairlane(null, { scheduler: 'equal' })
    assert.throws(() => queue.acquire(), { code: 'FAIRLANE_ERR_TYPE_REQUIRED', message: /^acquire: / })
    assert.throws(() => queue.acquire({ type: Symbol('a') }), { code: 'FAIRLANE_ERR_TYPE' })
    for (const wrong of [null, 1, () => {}]) assert.throws(() => queue.acquire(wrong), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const name of ['maxAttempts', 'key', 'onDuplicate', 'keyUntil', 'maxDelayMs', 'timeoutMS']) {
      assert.throws(() => queue.acquire({ type: 'a', [name]: 1 }), { code: 'FAIRLANE_ERR_ARGUMENT', message: new RegExp(name) })
    }
    for (const options of [{ timeoutMs: 0 }, { signal: 1 }, { delayMs: -1 }, { priority: 16 }, { priority: 1 }, { maxWaitMs: '5' }]) {
      assert.throws(() => queue.acquire({ type: 'a', ...options }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    assert.equal(queue.stats().accepted, 0)
  })

  it('stands in one line with the jobs of the runner, by delays and priorities too', async function () {
    const clock = fakeClock()
    const order = []
    const queue = fairlane(async n => { order.push(n) }, { clock, concurrency: 1, priorityMs: 1000 })
    const hold = (name, options) => queue.acquire(options).then(slot => {
      order.push(name)
      slot.release()
    })
    const all = [
      hold('a'), queue.add('b'), hold('c', { priority: 3 }), hold('d', { unshift: true }), hold('e', { delayMs: 10 }), queue.add('f', { delayMs: 5 })
    ]
    await turns(10)
    clock.advance(5)
    await turns(5)
    clock.advance(5)
    await Promise.all(all)
    assert.deepEqual(order, ['d', 'c', 'a', 'b', 'f', 'e'])
  })

  it('rejects if it is refused, or cancelled while it waits', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, concurrency: 1, maxWaiting: 4, scheduler: 'equal' })
    const acquire = options => queue.acquire({ type: 'a', ...options })
    const held = await acquire()
    const controller = new AbortController()
    const waiting = [{ signal: controller.signal }, { maxWaitMs: 10 }, {}, {}].map(options => reasonOf(acquire(options)))
    const { code, retryAfterMs } = await reasonOf(acquire())
    assert.equal(code, 'FAIRLANE_ERR_QUEUE_FULL')
    assert(retryAfterMs > 0)
    assert.equal((await reasonOf(acquire({ signal: AbortSignal.abort('reason') }))).cause, 'reason')
    controller.abort('reason')
    clock.advance(10)
    assert.deepEqual(Array.from(queue.jobs('a')), [{ type: 'a', payload: undefined }, { type: 'a', payload: undefined }])
    queue.clear({ type: 'a', reason: 'cleared' })
    const reasons = await Promise.all(waiting)
    assert.deepEqual(reasons.map(({ code, cause }) => [code, cause]), [
      ['FAIRLANE_ERR_ABORTED', 'reason'], ['FAIRLANE_ERR_MAX_WAIT', undefined], ['FAIRLANE_ERR_CLEARED', 'cleared'], ['FAIRLANE_ERR_CLEARED', 'cleared']
    ])
    held.release()
    assert.equal(await queue.close(), 0)
    assert.equal((await reasonOf(acquire())).code, 'FAIRLANE_ERR_CLOSED')
    const { cancelled, done, rejected } = queue.stats()
    assert.deepEqual([cancelled, done, rejected], [4, 1, 3])
  })

  for (const settleBy of ['either', 'promise']) {
    it(`keeps a slot that has timed out until it is released, and its signal has aborted, with settleBy ${settleBy}`, async function () {
      const clock = fakeClock()
      const queue = fairlane(null, { clock, concurrency: 1, timeoutMs: 100, settleBy })
      const slot = await queue.acquire()
      const told = new Promise(resolve => slot.signal.addEventListener('abort', resolve))
      const next = queue.acquire({ timeoutMs: Infinity })
      clock.advance(100)
      await told
      await turns(5)
      assert.deepEqual([slot.signal.reason.code, queue.running, queue.waiting, queue.stats().failed], ['FAIRLANE_ERR_TIMEOUT', 1, 1, 1])
      checkInvariants(queue)
      slot.release()
      ;(await next).release()
      const { done, failed, misuse, running } = queue.stats()
      assert.deepEqual([done, failed, misuse, running], [1, 1, 0, 0])
      assert.equal(clock.timerCount, 0)
    })
  }

  it('gives the slot of one that has timed out to the next, if the queue says so', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, concurrency: 1, timeoutMs: 100, onTimeout: 'release' })
    const slot = await queue.acquire()
    const next = queue.acquire()
    clock.advance(100)
    const { release } = await next
    assert.deepEqual([slot.signal.reason.code, queue.running, queue.stats().overrun], ['FAIRLANE_ERR_TIMEOUT', 1, 1])
    slot.release()
    slot.release()
    assert.equal(queue.stats().overrun, 0)
    release()
    checkInvariants(queue)
    assert.equal(queue.running, 0)
  })

  it('has the signal of a slot abort by the signal of its options, in whose listener it may be released', async function () {
    const queue = fairlane(null, 1)
    const controller = new AbortController()
    const { signal, release } = await queue.acquire({ signal: controller.signal })
    const unread = queue.acquire({ signal: controller.signal })
    assert.equal(signal.aborted, false)
    signal.addEventListener('abort', () => { release() })
    controller.abort('reason')
    assert.deepEqual([signal.reason.code, signal.reason.cause, queue.running], ['FAIRLANE_ERR_ABORTED', 'reason', 0])
    assert.equal((await reasonOf(unread)).cause, 'reason')
    const later = new AbortController()
    const slot = await queue.acquire({ signal: later.signal })
    later.abort('later')
    assert.deepEqual([slot.signal.aborted, slot.signal.reason.cause, queue.running], [true, 'later', 1]) // read after it aborted
    slot.release()
    const [done, { cancelled }] = [queue.stats().done, queue.stats()]
    assert.deepEqual([done, cancelled, queue.running], [0, 3, 0])
    checkInvariants(queue)
  })

  it('may be aborted before its caller has got the slot', async function () {
    const queue = fairlane(null, 1)
    const controller = new AbortController()
    const promise = queue.acquire({ signal: controller.signal })
    await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
    controller.abort()
    const slot = await promise
    assert.deepEqual([slot.signal.aborted, queue.running], [true, 1])
    slot.release()
    assert.equal(queue.running, 0)
  })

  it('waits at close, or tells by the signal', async function () {
    const queue = fairlane(null, 2)
    const [first, second] = await Promise.all([queue.acquire(), queue.acquire()])
    const waits = queue.acquire()
    const closed = queue.close()
    await turns(3)
    assert.equal(first.signal.aborted, false)
    first.release()
    ;(await waits).release()
    second.release()
    assert.equal(await closed, 0)

    const other = fairlane(null, 1)
    const slot = await other.acquire()
    const left = reasonOf(other.acquire())
    assert.equal(await other.close({ drain: false }), 1)
    assert.deepEqual([slot.signal.reason.code, (await left).code], ['FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_CLOSED'])
    slot.release()
    assert.equal(other.running, 0)
    checkInvariants(other)
  })

  it('does not try a slot again, however often the queue tries jobs, and holds the type of one that was throttled', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock, scheduler: 'equal', maxAttempts: 5, concurrency: 1, timeoutMs: 500 })
    const slot = await queue.acquire({ type: 'a' })
    const next = queue.acquire({ type: 'a' })
    const other = queue.acquire({ type: 'b' })
    slot.release(new fairlane.Throttled(100))
    ;(await other).release(new fairlane.Postponed(100))
    assert.deepEqual([queue.heldMs('a'), queue.heldMs('b'), queue.waiting, queue.stats('a').throttled], [100, 0, 1, 1])
    clock.advance(100)
    const last = await next
    last.release(new Error('expected'))
    const overdue = await queue.acquire({ type: 'a' })
    clock.advance(500)
    overdue.release(new fairlane.Throttled(50))
    assert.equal(queue.heldMs('a'), 50)
    const { failed, retried, throttled, waiting, running } = queue.stats()
    assert.deepEqual([failed, retried, throttled, waiting, running], [4, 0, 2, 0, 0])
  })

  it('holds the queue by a throttled slot where there are no types', async function () {
    const clock = fakeClock()
    const queue = fairlane(null, { clock })
    const slot = await queue.acquire()
    slot.release(new fairlane.Throttled(100))
    assert.equal(queue.heldMs(), 100)
  })

  it('is told of by events, and in a history', async function () {
    const history = new History()
    const queue = fairlane(null, { observers: history, scheduler: 'equal', maxAttempts: 2 })
    const seen = []
    for (const event of ['done', 'failed', 'cancelled', 'retry']) {
      queue.on(event, ({ type, payload, attempt, result }) => { seen.push([event, type, payload, attempt, result]) })
    }
    const [first, second] = await Promise.all([queue.acquire({ type: 'a' }), queue.acquire({ type: 'b' })])
    first.release('ignored')
    second.release()
    queue.pause()
    const third = reasonOf(queue.acquire({ type: 'c' }))
    queue.clear()
    await third
    assert.deepEqual(seen, [['failed', 'a', undefined, 1, undefined], ['done', 'b', undefined, 1, undefined], ['cancelled', 'c', undefined, 0, undefined]])
    const records = Array.from(history.list(), ({ type, state }) => [type, state]).sort()
    assert.deepEqual(records, [['a', 'failed'], ['b', 'done'], ['c', 'cancelled']])
  })

  it('keeps the AsyncLocalStorage context of the code after it', async function () {
    const storage = new AsyncLocalStorage()
    const queue = fairlane(null, 1)
    const seen = []
    const hold = async name => {
      const slot = await queue.acquire()
      seen.push([name, storage.getStore()])
      await turns(1)
      slot.release()
      seen.push([name, storage.getStore()])
    }
    await Promise.all(['a', 'b', 'c'].map(name => storage.run(name, () => hold(name))))
    assert.deepEqual(seen.map(([name, store]) => name === store), [true, true, true, true, true, true])
    storage.disable()
  })

  it('shares one signal among many without a warning', async function () {
    const warnings = []
    const listener = warning => { warnings.push(warning) }
    process.on('warning', listener)
    const controller = new AbortController()
    const { signal } = controller
    const queue = fairlane(null, 100)
    const slots = await Promise.all(Array.from({ length: 100 }, () => queue.acquire({ signal })))
    const waits = Array.from({ length: 100 }, () => reasonOf(queue.acquire({ signal })))
    const runs = Array.from({ length: 100 }, () => reasonOf(queue.run(() => assert.fail('it ran'), { signal })))
    controller.abort()
    for (const { code } of await Promise.all([...waits, ...runs])) assert.equal(code, 'FAIRLANE_ERR_ABORTED')
    assert(slots.every(({ signal }) => signal.aborted))
    for (const slot of slots) slot.release()
    assert.equal(queue.running, 0)

    // nor does that of the queue, which jobs share, to which runners and functions listen
    const listen = ({ signal }) => { signal.addEventListener('abort', () => {}) }
    const other = fairlane(async (n, done, context) => { listen(context) }, { asyncContext: 'none', concurrency: 100 })
    await Promise.all(Array.from({ length: 50 }, (_, n) => Promise.all([other.add(n), other.run(listen)])))
    await turns(2)
    process.off('warning', listener)
    assert.deepEqual(warnings, [])
  })

  it('takes a hundred thousand in one turn', async function () {
    const queue = fairlane(null, { concurrency: 1000, scheduler: 'equal' })
    let most = 0
    const all = Array.from({ length: 100000 }, (_, n) => queue.acquire({ type: n % 7 }).then(slot => {
      most = Math.max(most, queue.running)
      slot.release()
    }))
    await Promise.all(all)
    assert(most <= 1000)
    assert.deepEqual([queue.stats().done, queue.running], [100000, 0])
  })
})
