'use strict'

const assert = require('node:assert')
const { Limit } = require('../../../lib/core/limits/limit')
const { mostWithin } = require('../../support/starts')
const { seeded, seedFromEnvironment } = require('../../support/random')

describe('a limit of rate', function () {
  const seed = seedFromEnvironment()

  it('lets as many start at once as it says, and the next when the first is so old', function () {
    const limit = new Limit([{ limit: 3, intervalMs: 100 }])
    for (const now of [0, 0, 40]) {
      assert.equal(limit.waitMs(now), 0)
      limit.add(now)
    }
    assert.equal(limit.waitMs(40), 60)
    assert.equal(limit.waitMs(99), 1)
    assert.equal(limit.waitMs(100), 0)
    limit.add(100)
    limit.add(100)
    assert.equal(limit.waitMs(100), 40)
  })

  it('holds in each of several windows', function () {
    const limit = new Limit([{ limit: 2, intervalMs: 10 }, { limit: 3, intervalMs: 100 }])
    limit.add(0)
    limit.add(0)
    assert.equal(limit.waitMs(0), 10)
    limit.add(10)
    assert.equal(limit.waitMs(10), 90)
    assert.equal(limit.longestMs, 100)
  })

  it('is empty when all that has started is too old to count', function () {
    const limit = new Limit([{ limit: 2, intervalMs: 10 }, { limit: 3, intervalMs: 100 }])
    assert.equal(limit.isEmpty(0), true)
    limit.add(0)
    assert.equal(limit.isEmpty(99), false)
    assert.equal(limit.isEmpty(100), true)
  })

  it('says by its counts alone whether one has to wait', function () {
    const limit = new Limit([{ limit: 1, intervalMs: 10 }])
    assert.equal(limit.lacks(), false)
    limit.add(0)
    assert.equal(limit.lacks(), true)
  })

  it('counts what started under another limit of the same interval, but not of another one', function () {
    const before = new Limit([{ limit: 3, intervalMs: 100 }])
    for (const now of [0, 10, 20]) before.add(now)
    assert.equal(new Limit([{ limit: 4, intervalMs: 100 }], before).waitMs(20), 0)
    assert.equal(new Limit([{ limit: 1, intervalMs: 100 }], before).waitMs(20), 100) // of three starts all must be over
    assert.equal(new Limit([{ limit: 2, intervalMs: 100 }], before).waitMs(20), 90)
    assert.equal(new Limit([{ limit: 1, intervalMs: 50 }], before).waitMs(20), 0)
  })

  it('leaves alone the one whose starts it counts', function () {
    const before = new Limit([{ limit: 3, intervalMs: 100 }])
    before.add(0)
    new Limit([{ limit: 3, intervalMs: 100 }], before).add(0)
    before.add(0)
    assert.equal(before.lacks(), false)
  })

  it('above 64 takes the room of 66 entries at most, also where it is never reached', function () {
    const limit = new Limit([{ limit: 1e6, intervalMs: 64 }])
    for (let now = 0; now < 1000; now += 0.125) {
      limit.add(now)
      assert(limit.windows[0].times.length <= 66, `${limit.windows[0].times.length} entries`)
    }
  })

  it('up to 64 has each start be too old by itself', () => {
    const limit = new Limit([{ limit: 64, intervalMs: 64 }])
    limit.add(0)
    for (let i = 1; i < 64; i++) limit.add(0.5)
    assert.equal(limit.waitMs(0.5), 63.5)
    assert.equal(limit.waitMs(64), 0)
    limit.add(64)
    assert.equal(limit.waitMs(64), 0.5)
  })

  it('above 64 has those in a 64th of the interval be too old together, when the last of them is', () => {
    const limit = new Limit([{ limit: 65, intervalMs: 64 }])
    limit.add(0)
    limit.add(0.75)
    for (let i = 2; i < 65; i++) limit.add(1)
    assert.equal(limit.waitMs(64), 0.75)
    assert.equal(limit.waitMs(64.75), 0)
    limit.add(64.75)
    limit.add(64.75)
    assert.equal(limit.waitMs(64.75), 0.25)
  })

  it(`lets no more than the limit start in any stretch, and none wait longer than it must (SEED=${seed})`, function () {
    const random = seeded(seed)
    for (let round = 0; round < 200; round++) {
      const most = 1 + random.below(random.pick([3, 64, 300]))
      const intervalMs = 1 + random.below(1000)
      const limit = new Limit([{ limit: most, intervalMs }])
      const slack = most > 64 ? intervalMs / 64 : 0
      const times = []
      let now = 0
      for (let i = 0; i < 1000; i++) {
        if (random.chance(0.3)) now += random.below(intervalMs) / random.pick([1, 10, 100])
        const ms = limit.waitMs(now)
        const due = times.length < most ? -Infinity : times[times.length - most] + intervalMs
        if (ms > 0) {
          assert(now < due + slack, `waits until ${now + ms}, and ${due} would do`)
          now += ms
          if (limit.waitMs(now) > 0) now = Math.ceil(now) // a rounded sum
          continue
        }
        limit.add(now)
        times.push(now)
      }
      assert(mostWithin(times, intervalMs - 1e-6) <= most)
    }
  })
})
