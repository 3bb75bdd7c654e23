'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { bytesUsed, heapUsed, retainedCount } = require('../support/memory')
const { isLong, rounds } = require('../support/rounds')

const MB = 1024 * 1024
const TYPES = isLong ? 1e6 : 2e5
const BURSTS = rounds(50) // of a thousand types each
const schedulers = {
  fair: () => 'fair',
  capped: () => 'capped',
  equal: () => 'equal',
  'of a window': () => ({ waiting () {}, start () {}, done () {}, select: () => 0 })
}

for (const [name, makeScheduler] of Object.entries(schedulers)) {
  describe(`memory of a queue with a scheduler ${name}`, function () {
    const make = () => fairlane((payload, done) => done(), { scheduler: makeScheduler() })

    it('is at most 600 bytes for a type with one waiting job', async function () {
      const types = Array.from({ length: 1e5 }, (_, i) => `type ${i}`)
      const queue = make().pause()
      queue.pushType(types[0], 0)
      const before = await bytesUsed()
      for (const type of types) queue.pushType(type, 1)
      const perType = (await bytesUsed() - before) / types.length
      assert.ok(perType <= 600, `${perType} bytes`)
      assert.equal(queue.waiting, types.length + 1)
    })

    if (typeof makeScheduler() === 'string') {
      it('is at most 100 bytes for a type that was paused without jobs, besides its name, and nothing when all are resumed', async function () {
        const types = Array.from({ length: 1e5 }, (_, i) => `type ${i}`)
        const queue = make()
        queue.pauseType(types[0])
        const before = await bytesUsed()
        for (const type of types) queue.pauseType(type)
        const perType = (await bytesUsed() - before) / types.length
        assert.ok(perType <= 100, `${perType} bytes`)
        for (const type of types) queue.resumeType(type)
        const perResumed = (await bytesUsed() - before) / types.length
        assert.ok(perResumed <= 10, `${perResumed} bytes`)
        assert.equal(queue.stats().types, 0)
      })
    }

    it('is at most 48 bytes for a waiting job of one of 10 types', async function () {
      const queue = make().pause()
      queue.pushType('0', 0)
      const before = await bytesUsed()
      for (let i = 0; i < 1e5; i++) queue.pushType(String(i % 10), 1)
      const perJob = (await bytesUsed() - before) / 1e5
      assert.ok(perJob <= 48, `${perJob} bytes`)
      assert.equal(queue.waiting, 1e5 + 1)
    })

    it(`is back where it was after ${TYPES} types of one job each`, async function () {
      const queue = make()
      queue.pushType('warm', 0)
      await queue.onIdle()
      const before = await bytesUsed()
      for (let i = 0; i < TYPES; i++) queue.pushType(`once ${i}`, i)
      assert.equal(queue.stats().types, TYPES)
      const flooded = await heapUsed() - before
      assert.ok(flooded > 50 * TYPES, `the flood is visible: ${flooded}`)
      await queue.onIdle()
      const left = await bytesUsed() - before
      assert.ok(left < 2 * MB, `${left} bytes left`)
      assert.equal(queue.stats().done, TYPES + 1)
      assert.equal(queue.stats().types, 0)
    })

    it(`is back where it was after ${BURSTS} times a thousand types, while another type always has jobs`, async function () {
      const queue = make()
      const keep = () => queue.pushType('busy', 0, () => { if (isKept) keep() })
      let isKept = true
      keep()
      const before = await bytesUsed()
      for (let round = 0; round < BURSTS; round++) {
        let left = 1000
        await new Promise(resolve => {
          for (let i = 0; i < 1000; i++) queue.pushType(`once ${round}:${i}`, i, () => { if (--left === 0) resolve() })
        })
      }
      const left = await bytesUsed() - before
      isKept = false
      assert.ok(left < 2 * MB, `${left} bytes left`)
      await queue.onIdle()
    })

    it('retains no payload and no callback of a job that has ended', async function () {
      const queue = make()
      const refs = []
      for (let i = 0; i < 100; i++) refs.push(...pushWatched(queue, i))
      queue.remove(({ payload }) => payload.i % 3 === 0)
      await queue.onIdle()
      queue.pushType('stays', 1)
      assert.equal(await retainedCount(refs), 0)
    })
  })
}

function pushWatched (queue, i) {
  const payload = { i }
  const callback = () => payload
  queue.pushType(`type ${i % 7}`, payload, callback)
  return [new WeakRef(payload), new WeakRef(callback)]
}
