'use strict'

const assert = require('node:assert')
const { Postponed, Throttled, isPostponed, isThrottled } = require('../lib/postponing')

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

describe('What a runner fails with to wait', () => {
  it('says the same for good', () => {
    class Busy extends Throttled {}
    for (const [err, name] of [[new Busy(5), 'retryAfterMs'], [new Postponed(5), 'delayMs']]) {
      assert.throws(() => { err[name] = NaN }, TypeError)
      assert.throws(() => Object.defineProperty(err, name, { get () { throw new Error('expected') } }), TypeError)
      assert.deepEqual([err[name], Object.keys(err)], [5, [name]])
    }
  })

  it('is known without a look at it', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const others = [proxy, Object.create(Throttled.prototype), Object.create(Postponed.prototype), undefined, null, 5, Symbol('x')]
    for (const other of others) assert.deepEqual([isThrottled(other), isPostponed(other)], [false, false])
    assert.deepEqual([new Throttled(5), new Postponed(5)].map(err => [isThrottled(err), isPostponed(err)]), [[true, false], [false, true]])
  })
})
