'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { quiet } = require('../../support/turns')

/** The event loop does not turn between the call and what waits for it. */
async function assertResolvesNow (promise) {
  let hasTurned = false
  setImmediate(() => { hasTurned = true })
  await promise
  assert.equal(hasTurned, false)
}

describe('onIdle', function () {
  it('resolves at once on an empty queue', async function () {
    const idle = fairlane(() => {}).onIdle()
    assert.ok(idle instanceof Promise)
    await assertResolvesNow(idle)
  })

  it('resolves at once on an empty paused queue', async function () {
    await assertResolvesNow(fairlane(() => {}).pause().onIdle())
  })

  it('waits until nothing waits and nothing runs', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    let idle = false
    for (let i = 0; i < 5; i++) queue.push(i)
    queue.onIdle().then(() => { idle = true })
    for (let i = 1; i <= 5; i++) {
      await gate.until(i)
      await quiet()
      assert.equal(idle, false)
      gate.release()
    }
    await quiet()
    assert.equal(idle, true)
  })

  it('waits for jobs that were pushed after it was called', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    let idle = false
    queue.push(1)
    queue.onIdle().then(() => { idle = true })
    queue.push(2)
    await gate.until(1)
    gate.release()
    await gate.until(2)
    await quiet()
    assert.equal(idle, false)
    gate.release()
    await quiet()
    assert.equal(idle, true)
  })

  for (const place of ['a callback', 'drain', 'an fflush callback']) {
    it(`waits for a job that ${place} pushes when the queue was about to be idle`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, 1)
      let idle = false
      const pushOnce = () => {
        if (queue.stats().accepted === 1) queue.push(2)
      }
      if (place === 'drain') queue.drain = pushOnce
      queue.push(1, place === 'a callback' ? pushOnce : undefined)
      if (place === 'an fflush callback') queue.fflush(pushOnce)
      queue.onIdle().then(() => { idle = true })
      await gate.until(1)
      gate.release()
      await gate.until(2)
      await quiet()
      assert.equal(idle, false)
      gate.release()
      await quiet()
      assert.equal(idle, true)
    })
  }

  it('resolves for everyone who asked', async function () {
    const queue = fairlane((payload, done) => setImmediate(done), 2)
    for (let i = 0; i < 5; i++) queue.push(i)
    await Promise.all(Array.from({ length: 100 }, () => queue.onIdle()))
    assert.equal(queue.length, 0)
  })

  it('resolves again in each round', async function () {
    const queue = fairlane((payload, done) => setImmediate(done), 2)
    for (let round = 1; round <= 5; round++) {
      queue.push(1).push(2).push(3)
      await queue.onIdle()
      assert.equal(queue.length, 0)
      assert.equal(queue.stats().done, 3 * round)
    }
  })

  it('resolves after clear emptied a paused queue', async function () {
    const queue = fairlane(() => {}).pause()
    queue.push(1).push(2)
    const idle = queue.onIdle()
    queue.clear()
    await idle
    queue.push(1).push(2)
    const idleAgain = queue.onIdle()
    queue.remove(() => true)
    await idleAgain
  })
})

describe('drain', function () {
  it('comes when the callback has returned that has ended all the rest by clear', async function () {
    const told = []
    const queue = fairlane((payload, done) => setImmediate(done), 1)
    queue.drain = () => told.push('drain')
    queue.push(1, () => {
      assert.equal(queue.clear(), 1)
      told.push('callback')
    })
    queue.push(2, () => {})
    await queue.onIdle()
    assert.deepEqual(told, ['callback', 'drain'])
  })

  it('is null at first and may be a function, null or undefined', function () {
    const queue = fairlane(() => {})
    assert.equal(queue.drain, null)
    const drain = () => {}
    queue.drain = drain
    assert.equal(queue.drain, drain)
    queue.drain = null
    assert.equal(queue.drain, null)
    queue.drain = drain
    queue.drain = undefined
    assert.equal(queue.drain, null)
  })

  it('is called without arguments each time the queue empties', async function () {
    const calls = []
    const queue = fairlane((payload, done) => setImmediate(done), 2)
    queue.drain = (...args) => calls.push(args)
    for (let round = 1; round <= 3; round++) {
      for (let i = 0; i < 5; i++) queue.push(i)
      await queue.onIdle()
      await quiet()
      assert.equal(calls.length, round)
    }
    assert.deepEqual(calls, [[], [], []])
  })

  it('is not called for a queue that never had a job', async function () {
    let calls = 0
    const queue = fairlane(() => {})
    queue.drain = () => calls++
    queue.on('drain', () => calls++)
    queue.pause().resume()
    queue.clear()
    queue.remove(() => true)
    queue.concurrency = 3
    queue.fflush(() => {})
    await quiet()
    assert.equal(calls, 0)
  })

  it('is called once where many jobs end in one turn', async function () {
    let calls = 0
    const gate = gates()
    const queue = fairlane(gate.runner, 100)
    queue.drain = () => calls++
    for (let i = 0; i < 100; i++) queue.push(i)
    await gate.until(100)
    gate.release(100)
    await quiet()
    assert.equal(calls, 1)
  })

  it('is called after all callbacks, with nothing waiting or running', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(), 3)
    const drained = new Promise((resolve) => {
      queue.drain = () => {
        const { waiting, running, done, accepted } = queue.stats()
        resolve({ waiting, running, done, accepted, length: queue.length, settled: settled.list.length })
      }
    })
    for (let i = 0; i < 10; i++) queue.push(i, settled.callback(i))
    assert.deepEqual(await drained, { waiting: 0, running: 0, done: 10, accepted: 10, length: 0, settled: 10 })
  })

  it('is the function that is set when the queue empties', async function () {
    const calls = []
    const gate = gates()
    const queue = fairlane(gate.runner)
    queue.drain = () => calls.push('old')
    queue.push(1)
    await gate.until(1)
    queue.drain = () => {
      calls.push('new')
      queue.drain = null
    }
    gate.release()
    queue.push(2)
    await gate.until(2)
    gate.release()
    await quiet()
    assert.deepEqual(calls, ['new'])
  })

  for (const [name, cancel] of [['clear', (queue) => queue.clear()], ['remove', (queue) => queue.remove(() => true)]]) {
    it(`is called once after the callbacks of ${name}, which emptied the queue`, async function () {
      const events = []
      const queue = fairlane(() => {}).pause()
      const count = () => `${queue.length} ${queue.stats().cancelled}`
      queue.drain = () => events.push(`drain ${count()}`)
      queue.on('drain', () => events.push(`event ${count()}`))
      for (const i of [1, 2]) queue.push(i, () => events.push(`callback ${count()}`))
      queue.fflush(() => events.push(`fflush ${count()}`))
      const idle = queue.onIdle().then(() => events.push('idle'))
      assert.equal(cancel(queue), 2)
      await idle
      await quiet()
      cancel(queue)
      await quiet()
      assert.deepEqual(events, ['callback 0 2', 'callback 0 2', 'drain 0 2', 'event 0 2', 'fflush 0 2', 'idle'])
    })

    it(`is not called after ${name} where a callback pushed another job`, async function () {
      let drains = 0
      const queue = fairlane(() => {}).pause()
      queue.drain = () => drains++
      queue.push(1, () => queue.push('new'))
      cancel(queue)
      await quiet()
      assert.equal(drains, 0)
      assert.equal(queue.waiting, 1)
    })
  }

  it('is not called after clear while jobs run', async function () {
    let calls = 0
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.drain = () => calls++
    queue.push(1).push(2)
    await gate.until(1)
    queue.clear()
    await quiet()
    assert.equal(calls, 0)
    gate.release()
    await quiet()
    assert.equal(calls, 1)
  })
})

describe('the drain event', function () {
  it('is emitted after the property was called, each time the queue empties', async function () {
    const events = []
    const queue = fairlane((payload, done) => setImmediate(done), 2)
    queue.drain = () => events.push('property')
    queue.on('drain', () => events.push('event'))
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 5; i++) queue.push(i)
      await queue.onIdle()
      await quiet()
    }
    assert.deepEqual(events, ['property', 'event', 'property', 'event'])
  })

  it('needs no property', async function () {
    const queue = fairlane((payload, done) => done())
    queue.push(1)
    await new Promise((resolve) => queue.once('drain', resolve))
    assert.equal(queue.length, 0)
  })

  it('works with events.once', async function () {
    const queue = fairlane((payload, done) => setImmediate(done), 2)
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++) queue.push(i)
      assert.deepEqual(await once(queue, 'drain'), [])
      assert.equal(queue.length, 0)
    }
  })

  it('can be aborted in events.once, which takes its listener off', async function () {
    const queue = fairlane(() => {})
    const controller = new AbortController()
    const waiting = once(queue, 'drain', { signal: controller.signal })
    assert.equal(queue.listenerCount('drain'), 1)
    controller.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    assert.equal(queue.listenerCount('drain'), 0)
  })

  it('is not heard by a listener that was taken off', async function () {
    let calls = 0
    const listener = () => calls++
    const queue = fairlane((payload, done) => done())
    queue.on('drain', listener)
    queue.on('drain', listener)
    queue.off('drain', listener)
    queue.removeListener('drain', listener)
    queue.push(1)
    await queue.onIdle()
    await quiet()
    assert.equal(calls, 0)
  })

  it('lets on and once be chained', function () {
    const queue = fairlane(() => {})
    assert.equal(queue.on('drain', () => {}), queue)
    assert.equal(queue.once('drain', () => {}), queue)
  })
})
