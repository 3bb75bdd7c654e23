'use strict'

const assert = require('node:assert')
const { backoff } = require('../..')

describe('backoff', function () {
  it('gives longer and longer times, up to a most', function () {
    const backoffMs = backoff({ jitter: 0 })
    assert.deepEqual([1, 2, 3, 7, 2000].map(attempt => backoffMs(attempt)), [1000, 2000, 4000, 60000, 60000])
    const other = backoff({ firstMs: 10, factor: 3, mostMs: 50, jitter: 0 })
    assert.deepEqual([1, 2, 3].map(attempt => other(attempt)), [10, 30, 50])
  })

  it('may give no time, however many attempts there were', function () {
    for (const attempt of [1, 2, 1025, 1e6]) assert.equal(backoff({ firstMs: 0 })(attempt), 0)
  })

  it('waits a second at most before the second attempt by default', function () {
    const ms = backoff()(1)
    assert(ms >= 500 && ms <= 1000, `${ms}`)
  })

  it('leaves out a random part, up to jitter', function () {
    const { random } = Math
    try {
      const backoffMs = backoff({ factor: undefined })
      Math.random = () => 0
      assert.equal(backoffMs(1), 1000)
      Math.random = () => 0.5
      assert.equal(backoffMs(1), 750)
      assert.equal(backoff({ jitter: 1 })(1), 500)
    } finally {
      Math.random = random
    }
  })

  it('takes an option that is undefined for one that is not given', function () {
    assert.deepEqual([1, 2].map(backoff({ firstMs: undefined, factor: undefined, mostMs: undefined, jitter: 0 })), [1000, 2000])
  })

  it('gives no less than an error asks for', function () {
    const backoffMs = backoff({ jitter: 0 })
    assert.equal(backoffMs(1, { retryAfterMs: 5000 }), 5000)
    for (const retryAfterMs of [10, 'soon', '5000', 5000n, Infinity, NaN, undefined]) assert.equal(backoffMs(1, { retryAfterMs }), 1000)
  })

  it('takes numbers only', function () {
    for (const options of [null, 3, { first: 1 }, { firstMs: -1 }, { factor: 0.5 }, { mostMs: Infinity }, { jitter: 1.5 }, { jitter: '1' }, { firstMs: NaN }]) {
      assert.throws(() => backoff(options), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })
})
