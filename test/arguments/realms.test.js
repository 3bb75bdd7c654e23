'use strict'

// What comes out of another realm: a context of node:vm, as test runners and plug-in hosts make it, or a frame of a browser. Its Map is not
// ours, and its errors are no instances of our Error.

const assert = require('node:assert/strict')
const { runInNewContext } = require('node:vm')
const fairlane = require('../..')
const { Equal } = require('../../schedulers')
const { batches } = require('../..')
const { isError, isMap } = require('../../lib/arguments/fields')
const { revoked } = require('../support/proxies')

const foreign = runInNewContext(`({
  map: entries => new Map(entries),
  errors: [new Error('theirs'), new TypeError('theirs'), new (class Mine extends RangeError {})('theirs')],
  values: [{}, [], new Map(), () => {}]
})`)

describe('A Map of another realm', function () {
  it('is a Map', function () {
    class Mine extends Map {}
    for (const map of [foreign.map([]), new Map(), new Mine()]) assert.equal(isMap(map), true)
    for (const other of [undefined, null, 1, 'Map', {}, [], new Set(), new WeakMap(), { [Symbol.toStringTag]: 'Map' }, Map, revoked()]) assert.equal(isMap(other), false)
  })

  it('is read wherever a Map is: weights, caps, limits on what waits, and rates', function () {
    const equal = new Equal({ weights: foreign.map([['a', 3]]), typeCaps: foreign.map([['a', 2]]) })
    assert.deepEqual([equal.weightOf('a'), equal.capOf('a'), equal.capOf('b')], [3, 2, 10])
    const queue = fairlane(() => {}, { scheduler: 'equal', maxWaitingPerType: foreign.map([['a', 1]]) }).pause()
    for (const type of ['a', 'a', 'b', 'b']) queue.pushType(type, 1)
    assert.deepEqual([queue.waiting, queue.stats('a').rejected], [3, 1])
    const limited = fairlane(() => {}, { scheduler: 'equal', ratePerType: foreign.map([['a', { limit: 1, intervalMs: 1000 }]]) })
    limited.setRates({ ratePerType: foreign.map([[7, { limit: 1, intervalMs: 500 }]]) })
    assert.throws(() => limited.setRates({ ratePerType: foreign.map([['a', { limit: 0, intervalMs: 1 }]]) }), { code: 'FAIRLANE_ERR_ARGUMENT', message: /^ratePerType\['a'\]\.limit / })
  })
})

describe('A Proxy of a Map', function () {
  it('is wrong use where a Map is read, and no object without entries', function () {
    for (const map of [new Proxy(new Map([['a', 1]]), {}), revoked(new Map())]) {
      assert.throws(() => fairlane(() => {}, { scheduler: 'equal', schedulerOptions: { typeCaps: map } }), { code: 'FAIRLANE_ERR_OPTION' })
      assert.throws(() => fairlane(() => {}, { scheduler: 'equal', ratePerType: map }), { code: 'FAIRLANE_ERR_OPTION' })
    }
  })
})

describe('An error of another realm', function () {
  it('is an error', function () {
    for (const error of [...foreign.errors, new Error('ours'), new (class Mine extends Error {})(), new DOMException('ours')]) assert.equal(isError(error), true)
    for (const other of [...foreign.values, undefined, null, 1, 'Error', {}, { message: 'like one' }, Error, revoked(), revoked(new Error('gone'))]) assert.equal(isError(other), false)
  })

  it('in the results of a batch is the failure of its job', async function () {
    const queue = fairlane(async payloads => payloads.map((payload, at) => payload === 'fails' ? foreign.errors[at] : payload))
    const gathered = batches(queue, { maxSize: 5 })
    const results = await Promise.allSettled(['fails', 'fails', 'fails', 'is well'].map(payload => gathered.add(payload)))
    assert.deepEqual(results.map(({ status }) => status), ['rejected', 'rejected', 'rejected', 'fulfilled'])
    assert.deepEqual(results.slice(0, 3).map(({ reason }) => reason), [...foreign.errors])
  })
})
