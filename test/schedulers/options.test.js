'use strict'

const assert = require('node:assert/strict')
const { Caps } = require('../../schedulers/options')

describe('caps', function () {
  it('of a share are the first count for which count / concurrency >= share', function () {
    const shares = [0, 1e-9, 1 / 3, 2 / 3, 1, 1.5, 456, ...Array.from({ length: 101 }, (_, i) => i / 100)]
    for (let concurrency = 1; concurrency <= 300; concurrency++) {
      for (const share of shares) {
        let count = 0
        while (!(count / concurrency >= share)) count++
        assert.equal(Object.assign(new Caps(share), { concurrency }).limitOf({ type: 'a' }), count, `${share} of ${concurrency}`)
      }
    }
  })

  it('of a share of Infinity are none, of nothing are 0', function () {
    assert.equal(Object.assign(new Caps(0.5), { concurrency: Infinity }).limitOf({ type: 'a' }), Infinity)
    assert.equal(Object.assign(new Caps(0), { concurrency: Infinity }).limitOf({ type: 'a' }), 0)
    assert.equal(new Caps(Infinity).limitOf({ type: 'a' }), Infinity)
  })

  it('of shared lanes are those for all types', function () {
    const caps = Object.assign(new Caps(0.8), { maxTypeCap: 6.5, typeCaps: new Map([['a', 2]]) })
    assert.equal(caps.limitOf({ type: 'a', isShared: true }), 7)
    assert.equal(caps.limitOf({ type: 'a', isShared: false }), 2)
  })

  it('are the lowest of share, number, and number of the type', function () {
    const caps = Object.assign(new Caps(0.8), { maxTypeCap: 6, typeCaps: new Map([['a', 2.5], ['b', 7]]) })
    assert.deepEqual(['a', 'b', 'c'].map(type => caps.limitOf({ type })), [3, 6, 6])
    caps.maxTypeCap = Infinity
    assert.deepEqual(['a', 'b', 'c'].map(type => caps.limitOf({ type })), [3, 7, 8])
  })
})
