'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Capped, Equal, Fair } = require('../../schedulers')
const { Caps, capReaders, readOptions } = require('../../schedulers/options')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')

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

describe('the options of schedulers', function () {
  it('change something if any of them does', function () {
    const caps = new Caps(0.8)
    const read = options => readOptions(options, capReaders, () => caps)
    assert.equal(read({ maxTypeShare: 0.8, maxTypeCap: 3 }), true)
    assert.equal(read({ maxTypeShare: 0.8, maxTypeCap: 3 }), false)
    assert.equal(read({}), false)
    assert.equal(read({ typeCaps: {} }), true)
  })

  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  // what is said, and the options that are wrong
  const wrong = [
    [/options of a scheduler .* object/, TypeError, null, 7, []],
    [/maxTypeShare .* number/, TypeError, { maxTypeShare: '1' }, { maxTypeShare: null }],
    [/maxTypeShare .* 0 or more/, RangeError, { maxTypeShare: -1 }, { maxTypeShare: NaN }],
    [/concurrency .* above 0/, RangeError, { concurrency: 0 }],
    [/typeCaps .* Map/, TypeError, { typeCaps: 7 }, { typeCaps: [] }],
    [/typeCaps\['a'\] .* number/, TypeError, { typeCaps: { a: 'b' } }, { typeCaps: new Map([['a', null]]) }],
    [/typeCaps/, TypeError, { typeCaps: revoked() }],
    [/options/, TypeError, revoked()]
  ]
  for (const Scheduler of [Capped, Equal]) {
    it(`that are wrong are told by name (${Scheduler.name})`, function () {
      for (const [message, name, ...cases] of wrong) {
        for (const options of cases) assert.throws(() => new Scheduler(options), { name: name.name, code: 'FAIRLANE_ERR_OPTION', message })
      }
    })
  }

  it('of which one must be true or false say so', function () {
    assert.throws(() => new Fair({ hard: 1 }), { name: 'TypeError', code: 'FAIRLANE_ERR_OPTION', message: /hard .* true or false/ })
  })

  const stopping = { fair: { hard: true, maxTypeShare: 0 }, capped: { hard: true, maxTypeCap: 0 }, equal: { maxTypeCap: 0 } }
  for (const [scheduler, schedulerOptions] of Object.entries(stopping)) {
    it(`may let nothing start, of which nobody is warned (${scheduler})`, async function () {
      const warnings = captureWarnings()
      try {
        const queue = fairlane(assert.fail, { scheduler, schedulerOptions }).pushType('a', 1)
        await quiet()
        assert.deepEqual([queue.waiting, queue.running, warnings.seen], [1, 0, []])
      } finally {
        warnings.release()
      }
    })
  }
})
