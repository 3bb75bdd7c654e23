'use strict'

const assert = require('node:assert/strict')
const { Capped, Equal } = require('../../schedulers')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')

describe('a scheduler, asked about a type,', function () {
  for (const Scheduler of [Capped, Equal]) {
    it(`tells its cap: ${Scheduler.name}`, function () {
      const scheduler = new Scheduler({ concurrency: 10, maxTypeShare: 0.5, maxTypeCap: 4, typeCaps: { a: 1.5, b: 100, c: 0 } })
      assert.deepEqual(['a', 'b', 'c', 'd', '__proto__'].map(type => scheduler.capOf(type)), [2, 4, 0, 4, 4])
      scheduler.configure({ maxTypeCap: Infinity, concurrency: 20 })
      assert.deepEqual(['a', 'b', 'c', 'd'].map(type => scheduler.capOf(type)), [2, 10, 0, 10])
      assert.equal(new Scheduler({ maxTypeShare: 1, concurrency: Infinity }).capOf('a'), Infinity)
    })
  }

  it('tells its weight, as it was given', function () {
    const equal = new Equal({ weights: { a: 3, b: 0.25 } })
    assert.deepEqual(['a', 'b', 'c', '__proto__'].map(type => equal.weightOf(type)), [3, 0.25, 1, 1])
    equal.configure({ weights: type => type.length })
    assert.equal(equal.weightOf('four'), 4)
  })

  it('tells 1 where the function for weights fails, and warns once', async function () {
    const warnings = captureWarnings()
    const equal = new Equal({ weights: () => { throw new Error('no') } })
    assert.deepEqual([equal.weightOf('a'), equal.weightOf('b')], [1, 1])
    await quiet()
    warnings.release()
    assert.equal(warnings.seen.length, 1)
  })
})
