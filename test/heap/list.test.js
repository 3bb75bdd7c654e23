'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Fifo } = require('../../lib/core/lists/fifo')
const gates = require('../support/gates')
const { heapUsed } = require('../support/memory')
const { setPace } = require('../support/pace')
const { turn } = require('../support/turns')

const MB = 1024 * 1024

describe('memory of the waiting jobs', function () {
  it('goes back after a flood of a million jobs', async function () {
    const queue = fairlane((payload, done) => done(), 10)
    queue.push(0)
    await queue.onIdle()
    const before = await heapUsed()

    queue.pause()
    for (let i = 0; i < 1e6; i++) queue.push(i)
    const flooded = await heapUsed() - before
    assert.ok(flooded > 10 * MB, `the flood is visible: ${flooded}`)
    assert.ok(flooded / 1e6 <= 24, `${flooded / 1e6} bytes per waiting job`)

    queue.resume()
    await queue.onIdle()
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
    assert.equal(queue.stats().done, 1e6 + 1)
  })

  it('goes back block by block while a flood is worked off', async function () {
    const list = new Fifo()
    const before = await heapUsed()
    for (let i = 0; i < 1e6; i++) list.push(undefined, i, undefined)
    const flooded = await heapUsed() - before
    for (let i = 0; i < 7.5e5; i++) list.take()
    const quarter = await heapUsed() - before
    assert.ok(quarter < 0.3 * flooded, `${quarter} of ${flooded} bytes hold a quarter of the jobs`)
    while (list.take());
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
    assert.equal(list.size, 0)
  })

  it('goes back after a flood of a million jobs at the head', async function () {
    const list = new Fifo()
    const before = await heapUsed()
    for (let i = 0; i < 1e6; i++) list.unshift(undefined, i, undefined)
    while (list.take());
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
    assert.equal(list.size, 0)
  })

  it('does not grow while jobs come and go for long', async function () {
    const list = new Fifo()
    for (let i = 0; i < 500; i++) list.push(undefined, i, undefined)
    const before = await heapUsed()
    for (let i = 0; i < 3e6; i++) {
      list[i % 5 ? 'push' : 'unshift'](undefined, i, undefined)
      list.take()
    }
    const growth = await heapUsed() - before
    assert.ok(growth < MB, `${growth} bytes more`)
    assert.equal(list.size, 500)
  })

  it('goes back after clear', async function () {
    const queue = fairlane(() => {}).pause()
    const before = await heapUsed()
    for (let i = 0; i < 1e6; i++) queue.push(i)
    assert.equal(queue.clear(), 1e6)
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
    assert.equal(queue.length, 0)
  })

  it('holds nothing of a hundred thousand jobs that were pushed and removed behind a stuck head', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push('stuck').push('waiting')
    await gate.until(1)
    const before = await heapUsed()
    for (let i = 0; i < 1e5; i++) {
      queue[i % 3 ? 'push' : 'unshift'](i)
      assert.equal(queue.remove(({ payload }) => payload === i), 1)
    }
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
    assert.equal(queue.length, 2)
    assert.deepEqual([...queue.jobs()].map((job) => job.payload), ['waiting'])
    gate.release()
    await gate.until(2)
  })

  it('holds nothing of a hundred thousand jobs that were pushed behind a stuck head and removed one by one', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push('stuck')
    await gate.until(1)
    const before = await heapUsed()
    for (let i = 0; i < 1e5; i++) queue.push(i)
    for (let rest = 0; rest < 100; rest++) queue.remove(({ payload }) => payload % 100 === rest)
    assert.equal(queue.length, 1)
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
    gate.release()
  })

  it('holds nothing of a hundred thousand calls of fflush and onIdle', async function () {
    const gate = gates()
    const queue = setPace(fairlane(gate.runner, 1), 'all at once') // else some of them may be told after the last one
    const before = await heapUsed()
    for (let round = 0; round < 10; round++) {
      queue.push(round)
      for (let i = 0; i < 1e4; i++) {
        queue.fflush(() => {})
        queue.onIdle()
      }
      await gate.until(round + 1)
      gate.release()
    }
    await queue.onIdle()
    gate.payloads.length = gate.started.length = 0
    const left = await heapUsed() - before
    assert.ok(left < MB, `${left} bytes left`)
  })

  it('goes back after a hundred thousand jobs that ran at once, with and without lanes', async function () {
    for (const options of [{}, { scheduler: 'equal' }]) {
      const ends = []
      const queue = fairlane((payload, done) => { ends.push(done) }, { concurrency: Infinity, ...options })
      const add = () => options.scheduler === undefined ? queue.push(1) : queue.pushType('a', 1)
      add()
      while (ends.length < 1) await turn()
      ends.splice(0)[0]()
      const before = await heapUsed()
      for (let i = 0; i < 1e5; i++) add()
      while (ends.length < 1e5) await turn()
      for (const end of ends.splice(0)) end()
      const left = await heapUsed() - before
      assert.ok(left < MB, `${left} bytes left`)
      assert.equal(queue.length, 0)
    }
  })

  it('is small for a queue that is idle', async function () {
    const before = await heapUsed()
    const queues = Array.from({ length: 1000 }, () => fairlane(() => {}))
    const each = (await heapUsed() - before) / queues.length
    assert.ok(each < 8192, `${each} bytes per queue`)
  })
})
