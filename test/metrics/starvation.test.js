'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')
const { node } = require('../support/child')
const { turns } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

const STARVE_MS = 3000
const LOOK_MS = STARVE_MS / 3

/** A lane scheduler that starts the oldest lane's jobs, and forgets types. */
class Forgetful {
  constructor () {
    this.lanes = new Map()
    this.forgotten = new Set()
  }

  queued (lane) { this.lanes.set(lane.type, lane) }
  next () { return [...this.lanes.values()].find(({ size, type }) => size > 0 && !this.forgotten.has(type)) }
  started () {}
  ended () {}
  paused () {}
  resumed () {}
}

/** A lane scheduler that starts jobs of the type that came last. */
class Newest extends Forgetful {
  next () { return [...this.lanes.values()].findLast(({ size }) => size > 0) }
}

/** A queue whose jobs run for 10 ms, and what its metrics have told. */
function example (options, metricsOptions) {
  const clock = fakeClock()
  const metrics = new Metrics({ starveMs: STARVE_MS, ...metricsOptions })
  const queue = fairlane((ms, done) => { clock.setTimeout(done, ms) }, { concurrency: 1, observers: metrics, clock, ...options })
  const told = []
  metrics.on('starving', news => told.push(['starving', news]))
  metrics.on('fed', news => told.push(['fed', news]))
  const run = async (ms, step = 10) => {
    await turns(3)
    for (const end = clock.now() + ms; clock.now() < end;) {
      clock.advance(step)
      await turns(3)
    }
  }
  return { clock, metrics, queue, told, run }
}

describe('a type that starves', function () {
  it('is told of once, and its end too', async function () {
    const scheduler = new Forgetful()
    scheduler.forgotten.add('b')
    const { metrics, queue, told, run } = example({ scheduler })
    for (let i = 0; i < 1000; i++) queue.pushType('a', 10)
    queue.pushType('b', 10).pushType('b', 10)
    await run(STARVE_MS - LOOK_MS)
    assert.deepEqual(told, [])
    await run(LOOK_MS)
    assert.deepEqual(told, [['starving', { type: 'b', waiting: 2, sinceMs: STARVE_MS }]])
    assert.deepEqual(metrics.snapshot().starving, [{ type: 'b', sinceMs: STARVE_MS }])
    assert.match(new TextDecoder().decode(metrics.toText()), /fairlane_starving_types\{queue="default"\} 1\n/)
    await run(2 * STARVE_MS)
    assert.equal(told.length, 1)
    scheduler.forgotten.delete('b')
    scheduler.forgotten.add('a')
    await run(2 * LOOK_MS)
    assert.deepEqual(told.slice(1), [['fed', { type: 'b' }]])
    assert.deepEqual(metrics.snapshot().starving, [])
  })

  it('is told of again if it starves again, and is fed when its jobs are gone', async function () {
    const scheduler = new Forgetful()
    scheduler.forgotten.add('b')
    const { queue, told, run } = example({ scheduler })
    for (let i = 0; i < 2000; i++) queue.pushType('a', 10)
    for (let i = 0; i < 2; i++) {
      queue.pushType('b', 10)
      await run(STARVE_MS + LOOK_MS)
      queue.clear({ type: 'b' })
      await run(LOOK_MS)
    }
    assert.deepEqual(told.map(([event]) => event), ['starving', 'fed', 'starving', 'fed'])
  })

  it('is measured from its own last start, on a queue that pays no heed to types too', async function () {
    const { queue, told, run } = example({}, { windowMs: 500 })
    queue.pushType('b', 10)
    for (let i = 0; i < 400; i++) queue.pushType('a', 10)
    queue.pushType('b', 10)
    await run(STARVE_MS + 500)
    assert.deepEqual(told, [['starving', { type: 'b', waiting: 1, sinceMs: 3000 }]])
    await run(1500)
    assert.deepEqual(told.slice(1), [['fed', { type: 'b' }]])
  })

  it('is not one that is paused, nor any of a paused queue, nor for the time of the pause', async function () {
    const { queue, told, run } = example({ scheduler: 'equal' })
    for (let i = 0; i < 3000; i++) queue.pushType('a', 10)
    queue.pauseType('b').pushType('b', 10).pushType('b', 10)
    await run(2 * STARVE_MS)
    queue.pause()
    await run(2 * STARVE_MS)
    assert.deepEqual(told, [])
    queue.resume()
    const scheduler = new Forgetful()
    scheduler.forgotten.add('b')
    const other = example({ scheduler })
    for (let i = 0; i < 3000; i++) other.queue.pushType('a', 10)
    other.queue.pushType('b', 10)
    await other.run(LOOK_MS)
    other.queue.pauseType('b')
    await other.run(STARVE_MS)
    other.queue.resumeType('b')
    await other.run(STARVE_MS)
    assert.deepEqual(other.told, [])
    await other.run(LOOK_MS)
    assert.equal(other.told.length, 1)
    other.queue.pauseType('b')
    await other.run(LOOK_MS)
    assert.deepEqual(other.told.slice(1), [['fed', { type: 'b' }]])
  })

  it('is not one whose cap is 0, by the options of any scheduler', async function () {
    for (const options of [
      { scheduler: 'equal', schedulerOptions: { typeCaps: { b: 0 } } },
      { scheduler: 'capped', schedulerOptions: { typeCaps: { b: 0 }, hard: true } }
    ]) {
      const { queue, told, run } = example(options)
      for (let i = 0; i < 3000; i++) queue.pushType('a', 10)
      queue.pushType('b', 10)
      await run(3 * STARVE_MS)
      assert.deepEqual(told, [])
    }
  })

  it('is not one that a limit of its own holds, on a queue with limits', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ starveMs: STARVE_MS })
    const options = { concurrency: 1, observers: metrics, clock, rate: { limit: 1, intervalMs: 50 }, ratePerType: type => type === 'b' ? { limit: 1, intervalMs: 8 * STARVE_MS } : undefined }
    const told = []
    metrics.on('starving', news => told.push(news))
    for (const scheduler of ['equal', undefined]) {
      const given = scheduler === undefined ? { clock, rate: options.rate, observers: new Metrics() } : { ...options, scheduler }
      const queue = fairlane((ms, done) => { clock.setTimeout(done, ms) }, given)
      for (let i = 0; i < 500; i++) queue.pushType('a', 10)
      queue.pushType('b', 10).pushType('b', 10)
      for (let i = 0; i < 300; i++) {
        await turns(3)
        clock.advance(50)
      }
      assert(queue.stats().done > 200)
    }
    assert.deepEqual(told, [])
  })

  it('is not one that holds a slot, for however long', async function () {
    const { queue, told, run } = example({ scheduler: 'equal', concurrency: 2, schedulerOptions: { typeCaps: { b: 1 } } })
    for (let i = 0; i < 3000; i++) queue.pushType('a', 10)
    for (let i = 0; i < 5; i++) queue.pushType('b', 10 * STARVE_MS)
    await run(3 * STARVE_MS)
    assert.deepEqual(told, [])
  })

  it('is none where nothing starts at all', async function () {
    const { queue, told, run } = example({ scheduler: 'equal' })
    for (let i = 0; i < 5; i++) queue.pushType('a', 10 * STARVE_MS).pushType('b', 10)
    await run(3 * STARVE_MS, 100)
    assert.deepEqual(told, [])
  })

  it('is none in mere overload, where all types have their turn, however long it takes', async function () {
    const { queue, told, run } = example({ scheduler: 'equal' })
    for (let round = 0; round < 10; round++) for (let type = 0; type < 100; type++) queue.pushType(`type ${type}`, 100)
    await run(8 * STARVE_MS, 100)
    assert(queue.stats().done > 200)
    assert.deepEqual(told, [])
  })

  it('is one that newcomers are served before, each of them once', async function () {
    const { queue, told, run } = example({ scheduler: new Newest() })
    queue.pushType('b', 10).pushType('b', 10).pushType('newest', 10).pushType('newer still', 10)
    for (let i = 0; i < 320; i++) {
      queue.pushType(`new ${i}`, 10)
      await run(10)
    }
    assert.deepEqual(told.map(([event, { type }]) => [event, type]), [['starving', 'b'], ['starving', 'newest']])
  })

  it('is told of in the context of who made the queue, whoever pushed', async function () {
    const storage = new AsyncLocalStorage()
    const scheduler = new Forgetful()
    scheduler.forgotten.add('b')
    const timers = { setTimeout: fn => { timers.fn = fn } }
    let now = 0
    const clock = { now: () => now, setTimeout: (fn, ms) => timers.setTimeout(fn, ms), clearTimeout () {} }
    const metrics = new Metrics({ starveMs: STARVE_MS })
    const queue = storage.run('maker', () => fairlane((payload, done) => { done() }, { scheduler, concurrency: 1, observers: metrics, clock }))
    const seen = []
    metrics.on('starving', ({ type }) => seen.push([storage.getStore(), type]))
    storage.run('tenant b', () => queue.pushType('b', 1))
    await turns(3)
    now = 1000
    storage.run('tenant a', () => queue.pushType('a', 1))
    await turns(3)
    now = STARVE_MS
    storage.run('tenant c', () => timers.fn())
    assert.deepEqual(seen, [['maker', 'b']])
  })

  it('is told of to others though a listener throws', async function () {
    const scheduler = new Forgetful()
    for (const type of ['b', 'c']) scheduler.forgotten.add(type)
    const { metrics, queue, told, run } = example({ scheduler })
    const uncaught = captureUncaught()
    try {
      let throws = 0
      metrics.on('starving', () => {
        if (throws++ === 0) throw new Error('listener')
      })
      for (let i = 0; i < 1000; i++) queue.pushType('a', 10)
      queue.pushType('b', 10).pushType('c', 10)
      await run(STARVE_MS)
      assert.deepEqual(told.map(([, { type }]) => type), ['b', 'c'])
      assert.deepEqual(uncaught.seen.map(({ message }) => message), ['listener'])
    } finally {
      uncaught.release()
    }
  })
})

describe('the timer of metrics', function () {
  it('is there only while jobs wait', async function () {
    const { clock, queue, run } = example({}, { windowMs: 100 })
    assert.equal(clock.timerCount, 0)
    queue.push(10)
    await turns(2)
    assert.equal(clock.timerCount, 2) // the other one is the runner's
    await run(100)
    assert.equal(clock.timerCount, 0)
    queue.push(10).push(10)
    await run(10)
    assert.equal(clock.timerCount, 2)
    await run(200)
    assert.equal(clock.timerCount, 0)
  })

  it('outlives a clock that throws, or that does not wait', async function () {
    const clock = fakeClock()
    const { setTimeout } = clock
    const scheduler = new Forgetful()
    const metrics = new Metrics({ starveMs: STARVE_MS })
    const queue = fairlane((payload, done) => { done() }, { scheduler, observers: [metrics, new History()], clock })
    const uncaught = captureUncaught()
    try {
      clock.setTimeout = () => { throw new Error('no timers') }
      queue.pushType('a', 1)
      await turns(5)
      assert.deepEqual(uncaught.seen.map(({ message }) => message), ['no timers'])
      clock.setTimeout = fn => { fn() }
      queue.pushType('a', 1)
      await turns(5)
      clock.setTimeout = setTimeout
      queue.pushType('a', 1)
      await turns(5)
      assert.equal(clock.timerCount, 1)
      assert.equal(uncaught.seen.length, 1)
    } finally {
      uncaught.release()
    }
  })

  it('keeps no process alive', async function () {
    const { code, stdout } = await node(['-e', `
      const fairlane = require('./index.js')
      const { Metrics } = require('./lib/metrics')
      const queue = fairlane((payload, done) => {}, { observers: new Metrics({ windowMs: 2 ** 31 - 1, starveMs: 2 ** 31 - 1 }), concurrency: 1 })
      queue.push(1).push(2)
      setImmediate(() => console.log('started', queue.running))
    `])
    assert.deepEqual([code, stdout], [0, 'started 1\n'])
  })
})
