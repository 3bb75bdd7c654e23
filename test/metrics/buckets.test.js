'use strict'

const assert = require('node:assert/strict')
const { Buckets } = require('../../lib/metrics/buckets')
const { seeded, seedFromEnvironment } = require('../support/random')

const SETS = [
  [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000],
  [0.001, 0.5, 0.75],
  [7],
  [2 ** 31, 2 ** 31 + 1, 2 ** 40]
]

describe('the buckets of a histogram', function () {
  const seed = seedFromEnvironment()

  it('have times up to their bounds, these included', function () {
    for (const bounds of SETS) {
      const buckets = new Buckets(bounds)
      assert.equal(buckets.indexOf(0), 0)
      bounds.forEach((bound, i) => {
        assert.equal(buckets.indexOf(bound), i)
        assert.equal(buckets.indexOf(bound * (1 - Number.EPSILON)), i)
        assert.equal(buckets.indexOf(bound * (1 + 2 * Number.EPSILON)), i + 1)
      })
    }
  })

  it(`are those that a search finds (SEED=${seed})`, function () {
    const random = seeded(seed)
    for (const bounds of SETS) {
      const buckets = new Buckets(bounds)
      for (let i = 0; i < 20000; i++) {
        const ms = random.below(2 ** 20) / 2 ** 20 * 2 ** (random.below(60) - 10)
        const expected = bounds.findIndex(bound => ms <= bound)
        assert.equal(buckets.indexOf(ms), expected === -1 ? bounds.length : expected, `${ms} ms`)
      }
    }
  })

  it('tell a quantile as Prometheus does: evenly within a bucket, and no more than the last bound', function () {
    const buckets = new Buckets([10, 20, 40])
    assert.equal(buckets.quantile(0.5, [0, 0, 0, 0]), undefined)
    assert.equal(buckets.quantile(0.5, [4, 0, 0, 0]), 5)
    assert.equal(buckets.quantile(0.5, [0, 4, 0, 0]), 15)
    assert.equal(buckets.quantile(0.75, [2, 0, 2, 0]), 30)
    assert.equal(buckets.quantile(0.99, [0, 0, 0, 1]), 40)
    assert.equal(buckets.quantile(0, [1, 1, 0, 0]), 0)
    assert.equal(buckets.quantile(1, [1, 1, 0, 0]), 20)
  })
})
