'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const gates = require('../support/gates')
const { setPace } = require('../support/pace')
const { heapUsed, retainedCount } = require('../support/memory')
const { quiet, turns } = require('../support/turns')

// Every way to end, as `(done, payload)`; none keeps what it is given.
const STYLES = {
  'done at once': (done) => { done() },
  'done with an error': (done) => { done(new Error('expected')) },
  'done in a nextTick': (done) => { process.nextTick(done) },
  'done in a microtask': (done) => { queueMicrotask(done) },
  'done in a later turn': (done) => { setImmediate(done) },
  'a fulfilled promise': () => Promise.resolve(),
  'a rejected promise': () => Promise.reject(new Error('expected')),
  'a thenable': () => ({ then (resolve) { setImmediate(resolve) } }),
  'a throw': () => { throw new Error('expected') }
}

describe('the queue retains nothing of settled jobs:', function () {
  for (const [name, complete] of Object.entries(STYLES)) {
    it(`neither payloads nor callbacks nor results after ${name}, the last job included`, async function () {
      const refs = []
      const queue = fairlane((payload, done) => complete(done), 3)
      pushObjects(queue, 100, refs)
      await queue.onIdle()
      assert.equal(await retainedCount(refs), 0)
      assert.equal(queue.length, 0)
    })

    it(`neither payloads nor callbacks after ${name} while the runner's done functions are kept`, async function () {
      const refs = []
      const dones = []
      const contexts = []
      const queue = fairlane((payload, done, context) => {
        dones.push(done)
        contexts.push(context)
        return complete(done)
      }, 3)
      pushObjects(queue, 100, refs)
      await queue.onIdle()
      assert.equal(await retainedCount(refs), 0)
      assert.equal(dones.length, 100)
      assert.equal(contexts.length, 100)
    })
  }

  it('the payloads of running jobs, which may come back, only until they settle, though their done functions are kept', async function () {
    const dones = []
    const refs = []
    const queue = fairlane((payload, done) => { dones.push(done) }, 5)
    for (let i = 0; i < 5; i++) pushPayload(queue, refs)
    await quiet()
    assert.equal(dones.length, 5)
    assert.equal(await retainedCount(refs), 5)
    dones.forEach((done) => done())
    assert.equal(queue.length, 0)
    assert.equal(await retainedCount(refs), 0)
    assert.equal(dones.length, 5)
  })

  it('payloads and callbacks of a burst among which one job is still stuck', async function () {
    const refs = []
    let stuck
    const queue = fairlane((payload, done) => {
      if (payload === 'stuck') stuck = done
      else setImmediate(done)
    }, 2)
    queue.push('stuck')
    pushObjects(queue, 3000, refs)
    while (queue.length > 1) await quiet()
    assert.equal(await retainedCount(refs), 0)
    stuck()
    assert.equal(queue.length, 0)
  })

  it('payloads and callbacks of unshifted jobs', async function () {
    const refs = []
    const queue = fairlane((payload, done) => done(), 1)
    for (let i = 0; i < 3000; i++) pushObject(queue, refs, 'unshift')
    await queue.onIdle()
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.length, 0)
  })

  it('callbacks of jobs that were ended inside another one, and were the last to end', async function () {
    const refs = []
    const dones = []
    const queue = fairlane((payload, done) => {
      if (payload !== 'ending') dones.push(done)
      else for (const held of dones.splice(0)) held(null, { large: 1 })
    }, 4)
    pushObjects(queue, 3, refs)
    queue.push('ending')
    await quiet()
    assert.deepEqual([queue.running, queue.stats().done], [1, 3])
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.running, 1)
  })

  it('who waited for it to be idle, or was told of many jobs in slices', async function () {
    const refs = []
    const controller = new AbortController()
    const queue = setPace(fairlane(() => {}, { signal: controller.signal }).pause(), 'three in a turn')
    pushObjects(queue, 50, refs)
    for (let i = 0; i < 20; i++) refs.push(new WeakRef(queue.onIdle()), new WeakRef(queue.fflush()))
    controller.abort()
    await queue.onIdle()
    await turns(20)
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.stats().cancelled, 50)
  })

  for (const [name, cancel] of [
    ['cleared', (queue) => queue.clear()],
    ['removed', (queue) => queue.remove(({ payload }) => typeof payload === 'object')]
  ]) {
    it(`payloads and callbacks of ${name} jobs while the head is stuck`, async function () {
      for (const count of [1, 10, 100, 5000]) {
        const refs = []
        const gate = gates()
        const queue = fairlane(gate.runner, 1)
        queue.push('stuck')
        await gate.until(1)
        pushObjects(queue, count, refs)
        assert.equal(cancel(queue), count)
        assert.equal(await retainedCount(refs), 0)
        gate.release()
        assert.equal(queue.length, 0)
      }
    })
  }

  it('payloads of removed jobs between others that wait on', async function () {
    const refs = []
    const queue = fairlane(() => {}).pause()
    for (let i = 0; i < 3000; i++) {
      queue.push(i)
      pushObject(queue, refs)
    }
    assert.equal(queue.remove(({ payload }) => typeof payload === 'object'), 3000)
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.length, 3000)
  })

  it('payloads that only the test function of remove and jobs() have seen', async function () {
    const refs = []
    const queue = fairlane((payload, done) => done(), 1).pause()
    pushObjects(queue, 100, refs)
    queue.remove(() => false)
    assert.equal([...queue.jobs()].length, 100)
    queue.resume()
    await queue.onIdle()
    assert.equal(await retainedCount(refs), 0)
  })

  for (const [name, options] of [['no scheduler', {}], ['lanes', { scheduler: 'equal' }], ['a window', { scheduler: { waiting () {}, start () {}, done () {}, select: () => 0 } }]]) {
    it(`what many flushes have left behind once all jobs before them have settled, with ${name}`, async function () {
      const queue = fairlane((payload, done) => done(), options)
      const flushMany = async (count) => {
        queue.pause()
        for (let i = 0; i < count; i++) queue.pushType('a', i).fflush(ignore)
        queue.resume()
        await queue.onIdle()
        await quiet()
      }
      await flushMany(100)
      const before = await heapUsed()
      await flushMany(1e5)
      const bytes = await heapUsed() - before
      assert.ok(bytes < 1e6, `${bytes} bytes`) // one reference and its place for each are more
      assert.equal(queue.length, 0)
    })
  }

  it('callbacks of fflush, drain functions that were replaced, waiters for onIdle', async function () {
    const refs = []
    const queue = fairlane((payload, done) => done(), 1)
    wait(queue, refs)
    await queue.onIdle()
    await quiet()
    queue.drain = null
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.length, 0)
  })

  it('what callbacks and runners threw or returned', async function () {
    const refs = []
    const queue = fairlane((payload, done) => {
      const error = new Error('expected')
      refs.push(new WeakRef(error))
      done(error, error)
      return error
    }, 2)
    for (let i = 0; i < 50; i++) queue.push(i, () => {})
    await queue.onIdle()
    assert.equal(await retainedCount(refs), 0)
    assert.equal(queue.stats().failed, 50)
  })

  it('itself, once nobody holds it, though jobs wait', async function () {
    const refs = []
    makeQueues(refs)
    await quiet()
    assert.equal(await retainedCount(refs), 0)
  })
})

// In functions of their own, so that no local variable of a test keeps anything.

function pushObjects (queue, count, refs) {
  for (let i = 0; i < count; i++) pushObject(queue, refs)
}

function pushObject (queue, refs, method = 'push') {
  const payload = { large: new Array(10).fill(refs.length) }
  const callback = (error, result) => [payload, error, result]
  refs.push(new WeakRef(payload), new WeakRef(callback))
  queue[method](payload, callback)
}

function ignore () {}

function pushPayload (queue, refs) {
  const payload = { large: new Array(10).fill(refs.length) }
  refs.push(new WeakRef(payload))
  queue.push(payload, () => {})
}

function wait (queue, refs) {
  const drain = () => refs
  const flushed = () => refs
  refs.push(new WeakRef(drain), new WeakRef(flushed))
  queue.drain = drain
  queue.push(1)
  queue.fflush(flushed)
  refs.push(new WeakRef(queue.onIdle()), new WeakRef(queue.fflush()))
}

function makeQueues (refs) {
  const paused = fairlane(() => {}).pause()
  const stuck = fairlane(() => {}, 1)
  const idle = fairlane((payload, done) => done())
  for (const queue of [paused, stuck, idle]) {
    pushObjects(queue, 10, refs)
    refs.push(new WeakRef(queue))
  }
}

describe('a scheduler object that many queues have', function () {
  const kinds = {
    lane (isOpen) {
      const lanes = new Set()
      return {
        mayStall: true,
        queued (lane) { lanes.add(lane) },
        next: () => isOpen() ? [...lanes].find(({ size }) => size > 0) : undefined,
        started (lane) { if (lane.size === 0) lanes.delete(lane) },
        ended () {},
        configure () {}
      }
    },
    window: isOpen => ({ mayStall: true, waiting () {}, start () {}, done () {}, select: () => isOpen() ? 0 : -1, configure () {} })
  }

  for (const [kind, make] of Object.entries(kinds)) {
    it(`keeps none of them when they are idle, and have been stuck before: ${kind} scheduler`, async function () {
      let isOpen = true
      const scheduler = make(() => isOpen)
      const refs = []
      const use = async (wake) => {
        const queue = fairlane((payload, done) => done(), { scheduler })
        refs.push(new WeakRef(queue))
        isOpen = false
        queue.pushType('a', 1)
        await quiet()
        isOpen = true
        wake(queue)
        await queue.onIdle()
      }
      for (let i = 0; i < 25; i++) {
        await use((queue) => queue.resume())
        await use(() => scheduler.configure({}))
      }
      assert.equal(await retainedCount(refs), 0)
      scheduler.configure({})
    })

    it(`keeps those whose jobs wait until it lets them start, though nobody else does: ${kind} scheduler`, async function () {
      let isOpen = false
      const scheduler = make(() => isOpen)
      let doneCount = 0
      const refs = []
      for (let i = 0; i < 50; i++) {
        const queue = fairlane((payload, done) => done(), { scheduler })
        queue.pushType('a', 1, () => { doneCount++ })
        refs.push(new WeakRef(queue))
      }
      await retainedCount(refs)
      isOpen = true
      // each is woken, and asks a scheduler that may have a job of another for it: then that one goes first
      for (let i = 0; i < 50; i++) {
        scheduler.configure({})
        await quiet()
      }
      assert.equal(doneCount, 50)
    })
  }
})
