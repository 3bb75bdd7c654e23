'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { bytesUsed, heapUsed, retainedCount } = require('../support/memory')
const { isLong, rounds } = require('../support/rounds')
const { turn } = require('../support/turns')

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

describe('a hundred thousand types in a thousand groups', function () {
  const TYPES_IN_GROUPS = 1e5
  const GROUPS = 1000
  const STARTS = 10 // of each group
  const groupOf = type => type.slice(0, type.indexOf('/'))
  const types = Array.from({ length: TYPES_IN_GROUPS }, (_, i) => `${i % GROUPS}/${i}`)

  /** All of them wait. */
  async function filled (schedulerOptions, runner = (payload, done) => done()) {
    const queue = fairlane(runner, { scheduler: 'equal', schedulerOptions, concurrency: 1, clock: fakeClock() }).pause() // all jobs take as long
    queue.pushType(types[0], 0)
    const before = await bytesUsed()
    for (const type of types) queue.pushType(type, 1)
    return { queue, before, bytes: await bytesUsed() - before }
  }

  it('take at most 2.5 kB for each group, and nothing when all have ended', async function () {
    const flat = await filled({})
    flat.queue.clear()
    const { queue, before, bytes } = await filled({ groupOf })
    const perGroup = (bytes - flat.bytes) / GROUPS
    assert.ok(perGroup <= 2500, `${perGroup} bytes`)
    assert.equal(queue.stats().groups, GROUPS)
    queue.resume()
    await queue.onIdle()
    const left = await bytesUsed() - before
    assert.ok(left < 2 * MB, `${left} bytes left`)
    assert.deepEqual([queue.stats().groups, queue.stats().types], [0, 0])
  })

  it('have each group get as many slots as any other', async function () {
    const counts = new Map()
    let left = STARTS * GROUPS
    const { queue } = await filled({ groupOf }, (payload, done, { type }) => {
      counts.set(groupOf(type), (counts.get(groupOf(type)) ?? 0) + 1)
      if (--left === 0) queue.pause()
      done()
    })
    queue.resume()
    while (!queue.paused) await turn()
    const [least, most] = [Math.min(...counts.values()), Math.max(...counts.values())]
    assert.ok(counts.size === GROUPS && most - least <= 2, `${counts.size} groups, from ${least} to ${most}`)
    queue.clear()
  })
})

function pushWatched (queue, i) {
  const payload = { i }
  const callback = () => payload
  queue.pushType(`type ${i % 7}`, payload, callback)
  return [new WeakRef(payload), new WeakRef(callback)]
}
