'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { heapUsed } = require('../support/memory')
const { isLong } = require('../support/rounds')
const { turns } = require('../support/turns')

const MB = 1024 * 1024
const BURST = 10000
const TYPES = isLong ? 1e6 : 2e5

describe('memory of a queue with limits', function () {
  it(`is at most 2 MB more after ${TYPES} types with a rate and a job each, once their windows are empty`, async function () {
    const clock = fakeClock()
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 10 }, clock })

    async function run (count, name) {
      for (let n = 0; n < count; n += BURST) {
        for (let i = n; i < n + BURST; i++) queue.pushType(`${name} ${i}`, i)
        await queue.onIdle()
        clock.advance(1)
      }
      clock.advance(1000)
    }

    await run(1e5, 'first')
    const before = await heapUsed()
    await run(TYPES, 'type')
    const more = await heapUsed() - before
    assert.equal(queue.stats().done, 1e5 + TYPES)
    assert(more <= 2 * MB, `${more / MB} MB`)
    assert.equal(clock.timerCount, 0)
  })

  it('is at most 2 MB more after 300,000 keys that are taken for a time, once that is over', async function () {
    const clock = fakeClock()
    const queue = fairlane((n, done) => done(), { clock })

    async function run (count, name) {
      for (let n = 0; n < count; n += BURST) {
        for (let i = n; i < n + BURST; i++) queue.add(i, { key: `${name} ${i}`, keyUntil: 1 })
        await queue.onIdle()
        clock.advance(1)
      }
      for (let at = 0; at < 10; at++) { // they are looked for in slices, and then after a rest
        clock.advance(1000)
        await turns(100)
      }
    }

    await run(1e5, 'first')
    const before = await heapUsed()
    await run(3e5, 'key')
    const more = await heapUsed() - before
    assert(more <= 2 * MB, `${more / MB} MB`)
  })
})
