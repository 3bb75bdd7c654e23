'use strict'

// Jobs that are settled many at a time: what is true when the call returns, and what is told in later turns of the event loop.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { setPace } = require('../../support/pace')
const { captureUncaught } = require('../../support/uncaught')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { turn, turns } = require('../../support/turns')

const COUNT = 20
const NUMBERS = Array.from({ length: COUNT }, (_, i) => i)
const LISTS = { 'no scheduler': {}, lanes: { scheduler: 'equal' }, 'a window': { scheduler: { waiting () {}, start () {}, done () {}, select: () => 0 } } }

// Ways to settle many at once, each `{ options, runs, end(queue, clock, controller), code }`; runs: whether the jobs have started.
const WAYS = {
  'a signal that jobs share, while they wait,': { end: (queue, clock, controller) => controller.abort('why'), code: 'FAIRLANE_ERR_ABORTED', isCancelled: true },
  'a signal that jobs share, while they run,': { runs: true, end: (queue, clock, controller) => controller.abort('why'), code: 'FAIRLANE_ERR_ABORTED', isCancelled: true },
  'a timeout at the same time': { options: { timeoutMs: 50 }, runs: true, isSlicedBefore: true, end: (queue, clock) => clock.advance(50), code: 'FAIRLANE_ERR_TIMEOUT' },
  'a timeout that releases slots': { options: { timeoutMs: 50, onTimeout: 'release' }, runs: true, isSlicedBefore: true, end: (queue, clock) => clock.advance(50), code: 'FAIRLANE_ERR_TIMEOUT' },
  'maxWaitMs at the same time': { options: { maxWaitMs: 50 }, isSlicedBefore: true, end: (queue, clock) => clock.advance(50), code: 'FAIRLANE_ERR_MAX_WAIT', isCancelled: true },
  'close, while they wait,': { end: (queue) => { queue.close({ drain: false }) }, code: 'FAIRLANE_ERR_CLOSED', isCancelled: true },
  'close, while they run,': { runs: true, end: (queue) => { queue.close({ drain: false }) }, code: 'FAIRLANE_ERR_CLOSED', isCancelled: true }
}

/** A queue with COUNT jobs that wait, or run, and tells one in a turn. */
async function setUp ({ runs, options }, listOptions) {
  const clock = fakeClock()
  const gate = gates()
  const controller = new AbortController()
  const settled = outcomes()
  const queue = fairlane(gate.runner, { concurrency: COUNT, clock, ...listOptions, ...options })
  setPace(queue, 'one in a turn')
  if (!runs) queue.pause()
  for (const i of NUMBERS) queue.add(i, { type: 't', signal: controller.signal }).catch(settled.callback(i))
  if (runs) await gate.until(COUNT)
  return { queue, clock, gate, controller, settled }
}

describe('many jobs that are settled at once', function () {
  for (const [list, listOptions] of Object.entries(LISTS)) {
    for (const [name, way] of Object.entries(WAYS)) {
      it(`by ${name} are told one after the other, a turn between them, with ${list}`, async function () {
        const { queue, clock, gate, controller, settled } = await setUp(way, listOptions)
        const come = []
        const toldWhen = (what) => () => come.push([what, settled.list.length])
        queue.drain = toldWhen('drain')
        queue.fflush(toldWhen('fflush'))
        queue.onIdle().then(toldWhen('onIdle'))
        way.end(queue, clock, controller)
        checkInvariants(queue)
        if (!way.isSlicedBefore) {
          assert.deepEqual([queue.waiting, queue.stats().cancelled], [0, COUNT])
          if (list !== 'no scheduler') assert.equal(queue.stats('t').waiting, 0)
        }
        let mostInTurn = 0
        for (let i = 0; settled.list.length < COUNT; i++) {
          assert.ok(i < 5 * COUNT, `${settled.list.length} were told`)
          const before = settled.list.length
          await turn()
          checkInvariants(queue)
          mostInTurn = Math.max(mostInTurn, settled.list.length - before)
        }
        assert.ok(mostInTurn <= 3, `${mostInTurn} in a turn`)
        assert.deepEqual(settled.names(), NUMBERS)
        assert.ok(settled.list.every(([, error]) => error.code === way.code))
        const { waiting, failed, cancelled } = queue.stats()
        assert.deepEqual([waiting, failed, cancelled], way.isCancelled ? [0, 0, COUNT] : [0, COUNT, 0])
        gate.release(gate.open.length)
        await turns(3)
        assert.deepEqual(come.map(([what]) => what).sort(), ['drain', 'fflush', 'onIdle'])
        // promises of add() are heard of in microtasks, drain and callbacks of fflush at once
        assert.ok(come.every(([, count]) => count >= COUNT - 1), JSON.stringify(come))
        assert.equal(clock.timerCount, 0)
      })
    }
  }

  it('are told in the order of the call by a close, those that ran first; and it resolves behind them', async function () {
    const gate = gates()
    const settled = outcomes()
    const queue = setPace(fairlane(gate.runner, 3), 'one in a turn')
    for (const i of NUMBERS) queue.push(i, settled.callback(i))
    await gate.until(3)
    const event = once(queue, 'close').then(([count]) => [count, settled.list.length])
    let abandonedCount
    queue.close({ drain: false }).then((count) => { abandonedCount = [count, settled.list.length] })
    assert.equal(settled.list.length, 1)
    assert.deepEqual([queue.waiting, queue.running, queue.stats().cancelled], [0, 3, COUNT])
    gate.started[0].done()
    assert.equal(queue.running, 2)
    await event
    await turn()
    assert.deepEqual(await event, [2, COUNT])
    assert.deepEqual(abandonedCount, [2, COUNT])
    assert.deepEqual(settled.names(), NUMBERS)
    assert.equal(queue.stats().misuse, 0)
  })

  it('hold up no other jobs: these start and end meanwhile', async function () {
    const controller = new AbortController()
    const told = []
    const queue = setPace(fairlane((payload, done) => done(), 1), 'one in a turn').pause()
    for (const i of NUMBERS) queue.add(i, { signal: controller.signal }).catch(() => told.push(i))
    controller.abort()
    queue.resume().push('other', () => told.push('other'))
    await queue.onIdle()
    await turn()
    assert.ok(told.indexOf('other') < 5, String(told))
    assert.equal(told.length, COUNT + 1)
  })

  it('are waited for by an fflush that is called meanwhile, and by onIdle; one for later jobs is not held up', async function () {
    const controller = new AbortController()
    const settled = outcomes()
    const come = []
    const gate = gates()
    const queue = setPace(fairlane(gate.runner, 1), 'one in a turn').pause()
    for (const i of NUMBERS) queue.add(i, { signal: controller.signal }).catch(settled.callback(i))
    controller.abort()
    assert.equal(queue.length, 0)
    queue.fflush(() => come.push(['fflush', settled.list.length]))
    queue.onIdle().then(() => come.push(['onIdle', settled.list.length]))
    await turns(3)
    assert.deepEqual(come, [])
    queue.push('later')
    queue.fflush(() => come.push(['later', settled.list.length]))
    queue.resume()
    await gate.until(1)
    gate.release()
    while (come.length < 3) await turn()
    const [[first], [second], [last, count]] = come
    assert.deepEqual([first, second, last], ['fflush', 'later', 'onIdle'])
    assert.equal(count, COUNT)
  })

  it('may do anything in their callbacks: push, clear, abort others, close', async function () {
    const first = new AbortController()
    const second = new AbortController()
    const settled = outcomes()
    const queue = setPace(fairlane((payload, done) => done(), 1), 'one in a turn').pause()
    const add = (name, signal, then) => queue.add(name, { signal }).catch((error) => {
      settled.callback(name)(error)
      then?.()
      checkInvariants(queue)
    })
    add('a', first.signal, () => queue.push('pushed', settled.callback('pushed')))
    add('b', first.signal, () => assert.equal(queue.clear(), 2))
    add('c', first.signal, () => second.abort())
    add('d', first.signal, () => queue.push('last', settled.callback('last')))
    add('e', first.signal, () => queue.close({ drain: false }))
    for (const name of ['f', 'g']) add(name, first.signal)
    add('x', second.signal)
    queue.push('plain', settled.callback('plain'))
    first.abort()
    await once(queue, 'close')
    await turn()
    const codes = Object.fromEntries(settled.list.map(([name, error]) => [name, error.code.slice(13)]))
    assert.deepEqual(codes, {
      a: 'ABORTED', pushed: 'CLEARED', b: 'ABORTED', plain: 'CLEARED', x: 'CLEARED', c: 'ABORTED', d: 'ABORTED', last: 'CLOSED', e: 'ABORTED', f: 'ABORTED', g: 'ABORTED'
    })
    assert.equal(settled.list.length, 11)
    assert.equal(queue.stats().cancelled, 11)
  })

  it('are all told though callbacks throw', async function () {
    const uncaught = captureUncaught()
    const controller = new AbortController()
    const told = []
    const queue = setPace(fairlane(() => {}, { signal: controller.signal }), 'three in a turn').pause()
    for (const i of NUMBERS) {
      queue.push(i, () => {
        told.push(i)
        throw new Error(`expected ${i}`)
      })
    }
    controller.abort()
    await queue.onIdle()
    await uncaught.until(COUNT)
    uncaught.release()
    assert.deepEqual(told, NUMBERS)
    assert.deepEqual(uncaught.seen.map(({ message }) => message), NUMBERS.map((i) => `expected ${i}`))
  })

  it('are told before remove and clear return, however many', function () {
    for (const cancel of [(queue) => queue.clear(), (queue) => queue.remove(() => true)]) {
      const told = []
      const queue = setPace(fairlane(() => {}).pause(), 'one in a turn')
      for (const i of NUMBERS) queue.push(i, () => told.push(i))
      assert.equal(cancel(queue), COUNT)
      assert.deepEqual(told, NUMBERS)
    }
  })

  it('are told inside the call if they are few', async function () {
    const controller = new AbortController()
    const told = []
    const queue = fairlane(() => {}, { signal: controller.signal }).pause()
    for (let i = 0; i < 10; i++) queue.push(i, () => told.push(i))
    controller.abort()
    assert.equal(told.length, 10)
  })

  it('have the context of the queue, whatever the callback before has set by run', async function () {
    const als = new AsyncLocalStorage()
    const controller = new AbortController()
    const seen = []
    const queue = als.run('maker', () => fairlane(() => {}, { signal: controller.signal }).pause())
    setPace(queue, 'three in a turn')
    for (const i of NUMBERS) {
      queue.push(i, () => {
        seen.push(als.getStore())
        als.run(`callback ${i}`, () => { if (i === 1) controller.abort() })
      })
    }
    als.run('closer', () => controller.abort())
    await queue.onIdle()
    assert.deepEqual(seen, Array(COUNT).fill('maker'))
  })

  const isolates = Number(process.versions.node.split('.')[0]) >= 24
  for (const [name, cancel] of [['clear', (queue) => queue.clear()], ['close', (queue) => { queue.close({ drain: false }) }]]) {
    (isolates ? it : it.skip)(`by ${name} do not see what the callback before has entered${isolates ? '' : ' (needs Node 24)'}`, async function () {
      const als = new AsyncLocalStorage()
      const seen = []
      const queue = als.run('maker', () => fairlane(() => {}).pause())
      setPace(queue, 'three in a turn')
      for (const i of NUMBERS) {
        queue.push(i, () => {
          seen.push(als.getStore())
          als.enterWith(`callback ${i}`)
        })
      }
      cancel(queue)
      await queue.onIdle()
      assert.deepEqual(seen, Array(COUNT).fill('maker'))
    })
  }

  it('that run have their signals aborted before any of them is told, each by the error that it is told', async function () {
    const gate = gates()
    const controller = new AbortController()
    const come = []
    const queue = setPace(fairlane(gate.runner, COUNT), 'three in a turn')
    for (const i of NUMBERS) queue.add(i, { signal: controller.signal }).catch((error) => come.push(['told', error]))
    await gate.until(COUNT)
    for (const { context: { signal } } of gate.started) signal.addEventListener('abort', () => come.push(['signal', signal.reason]))
    controller.abort()
    while (come.length < 2 * COUNT) await turn()
    assert.deepEqual(come.map(([what]) => what), [...Array(COUNT).fill('signal'), ...Array(COUNT).fill('told')])
    assert.deepEqual(come.slice(0, COUNT).map(([, error]) => error), come.slice(COUNT).map(([, error]) => error))
  })
})

describe('what falls due at the same time', function () {
  it('is taken up in slices; what is added meanwhile, or taken out, has its time', async function () {
    const clock = fakeClock()
    const told = []
    const queue = setPace(fairlane(() => {}, { clock, maxWaitMs: 50 }).pause(), 'three in a turn')
    for (const i of NUMBERS) queue.push(i, (error) => told.push([i, error.code]))
    clock.advance(50)
    assert.ok(told.length < COUNT)
    queue.push('added', (error) => told.push(['added', error.code]))
    checkInvariants(queue)
    assert.equal(queue.remove(({ payload }) => payload === COUNT - 1), 1)
    await turns(2 * COUNT)
    assert.equal(told.length, COUNT)
    assert.equal(queue.waiting, 1)
    assert.equal(clock.timerCount, 1)
    clock.advance(49)
    assert.equal(told.length, COUNT)
    clock.advance(1)
    await turn()
    assert.deepEqual(told.at(-1), ['added', 'FAIRLANE_ERR_MAX_WAIT'])
    assert.equal(clock.timerCount, 0)
  })

  it('leaves no timer behind when the rest is taken out before its turn', async function () {
    const clock = fakeClock()
    const queue = setPace(fairlane(() => {}, { clock, maxWaitMs: 50 }).pause(), 'one in a turn')
    for (const i of NUMBERS) queue.push(i, () => {})
    clock.advance(50)
    queue.clear()
    assert.equal(queue.length, 0)
    await queue.onIdle()
    assert.equal(clock.timerCount, 0)
    assert.equal(queue.stats().cancelled, COUNT)
  })
})

describe('many that wait for the queue', function () {
  /** How many of them have come after each turn. */
  async function countsPerTurn (promises) {
    let count = 0
    const counts = []
    for (const promise of promises) promise.then(() => count++, () => count++)
    do {
      await turn()
      counts.push(count)
      assert.ok(counts.length < 5 * COUNT)
    } while (count < promises.length)
    return counts
  }

  function assertOneByOne (counts) {
    assert.ok(counts.length >= COUNT - 3, String(counts))
    assert.ok(counts.every((count, i) => count - (counts[i - 1] ?? 0) <= 3), String(counts))
  }

  it('have their promises of onIdle resolved in slices', async function () {
    const gate = gates()
    const queue = setPace(fairlane(gate.runner), 'one in a turn').push(1)
    const promises = NUMBERS.map(() => queue.onIdle())
    await gate.until(1)
    gate.release()
    assertOneByOne(await countsPerTurn(promises))
  })

  for (const [name, jobs] of [['idle', 0], ['busy', 1]]) {
    it(`have their callbacks of fflush called in slices, in order, on a queue that is ${name}; onIdle is behind`, async function () {
      const gate = gates()
      const come = []
      const queue = setPace(fairlane(gate.runner), 'one in a turn')
      for (let i = 0; i < jobs; i++) queue.push(i)
      const promises = NUMBERS.map((i) => new Promise((resolve) => {
        queue.fflush(() => {
          come.push(i)
          resolve()
        })
      }))
      if (jobs > 0) queue.onIdle().then(() => come.push('idle'))
      await gate.until(jobs)
      gate.release(jobs)
      assertOneByOne(await countsPerTurn(promises))
      await turn()
      assert.deepEqual(come, jobs > 0 ? [...NUMBERS, 'idle'] : NUMBERS)
    })
  }

  it('have an fflush callback that comes while others are told called behind these', async function () {
    const gate = gates()
    const come = []
    const queue = setPace(fairlane(gate.runner, 2), 'one in a turn').push(1)
    queue.fflush(() => come.push('a'))
    queue.fflush(() => come.push('b'))
    await gate.until(1)
    queue.push(2)
    queue.fflush(() => come.push('c'))
    await gate.until(2)
    gate.release(2)
    await turns(5)
    assert.deepEqual(come, ['a', 'b', 'c'])
  })

  it('let a callback of fflush on an idle queue ask again in each turn, not more often', async function () {
    const queue = fairlane(() => {})
    let count = 0
    const again = () => {
      count++
      if (count < 100) queue.fflush(again)
    }
    queue.fflush(again)
    await turns(10)
    assert.ok(count <= 12, `${count} in ten turns`)
  })

  it('have their promises of ready() resolved in slices, of one type or of many', async function () {
    for (const types of [['t'], NUMBERS]) {
      const queue = setPace(fairlane(() => {}, { scheduler: 'equal', maxWaiting: 0, concurrency: 1 }), 'one in a turn')
      queue.pushType('t', 1)
      const promises = NUMBERS.map((i) => queue.ready(types[i % types.length]))
      queue.clear()
      assertOneByOne(await countsPerTurn(promises))
    }
  })

  it('have their promises of ready() rejected in slices when the queue closes', async function () {
    const queue = setPace(fairlane(() => {}, { maxWaiting: 0, concurrency: 1 }), 'one in a turn').push(1)
    const promises = NUMBERS.map(() => queue.ready())
    queue.close({ drain: false })
    assertOneByOne(await countsPerTurn(promises))
    const errors = await Promise.all(promises.map((promise) => promise.catch((error) => error)))
    assert.ok(errors.every(({ code }) => code === 'FAIRLANE_ERR_CLOSED'))
    assert.equal(new Set(errors).size, COUNT)
  })
})

describe('map', function () {
  it('lets the event loop turn while it takes a long source', async function () {
    let takenInTurn = 0
    let most = 0
    let isOver = false
    function * source () {
      for (const i of NUMBERS) {
        most = Math.max(most, ++takenInTurn)
        yield i
      }
    }
    const watch = () => {
      takenInTurn = 0
      if (!isOver) setImmediate(watch)
    }
    const queue = setPace(fairlane(async (n) => n).pause(), 'three in a turn')
    setImmediate(watch)
    const results = queue.map(source(), { maxPending: Infinity })
    const first = results.next()
    await turns(COUNT)
    assert.equal(queue.waiting, COUNT)
    assert.ok(most <= 6, `${most} in a turn`)
    queue.resume()
    assert.equal((await first).value, 0)
    let sum = 0
    for await (const value of results) sum += value
    isOver = true
    assert.equal(sum, COUNT * (COUNT - 1) / 2)
  })
})
