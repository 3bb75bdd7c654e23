'use strict'

const assert = require('node:assert')
const { Postponed, Throttled } = require('../lib/postponing')

describe('Throttled', () => {
  it('takes a time in ms, or what a Retry-After header says', () => {
    const times = [[5, 5], [0.5, 1000], [1.2, 2], [2 ** 31, 2 ** 31], ['3', 3000], [' 3 ', 3000]]
    for (const [given, ms] of times) assert.equal(new Throttled(given).retryAfterMs, ms)
    const inAMinute = new Throttled(new Date(Date.now() + 60000).toUTCString()).retryAfterMs
    assert(inAMinute > 50000 && inAMinute <= 60000)
  })

  it('is one second where it is told nothing of sense', () => {
    for (const given of [undefined, null, '', 'soon', -1, NaN, 2 ** 31 + 1, '99999999999', 'Mon, 01 Jan 1990 00:00:00 GMT', {}]) {
      assert.equal(new Throttled(given).retryAfterMs, 1000)
    }
  })

  it('is an error with a name and a cause', () => {
    const err = new Throttled(5, { cause: 'why' })
    assert(err instanceof Error)
    assert.equal(String(err), 'Throttled: throttled for 5 ms')
    assert.equal(err.cause, 'why')
  })
})

describe('Postponed', () => {
  it('takes a time in ms', () => {
    assert.equal(new Postponed(0).delayMs, 0)
    assert.equal(String(new Postponed(5)), 'Postponed: postponed for 5 ms')
    for (const wrong of [-1, NaN, 2 ** 31 + 1]) assert.throws(() => new Postponed(wrong), err => err instanceof RangeError && err.code === 'FAIRLANE_ERR_ARGUMENT')
    for (const wrong of [undefined, '5']) assert.throws(() => new Postponed(wrong), err => err instanceof TypeError && err.code === 'FAIRLANE_ERR_ARGUMENT')
  })
})
