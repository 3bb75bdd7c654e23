'use strict'

const assert = require('node:assert/strict')
const { Fair, Capped, Equal } = require('../../schedulers')
const { capOf, weightOf, namedTypes } = require('../../schedulers/shares')

describe('what may be asked of a scheduler', function () {
  it('is the least cap of a type, where caps are never exceeded', function () {
    assert.equal(capOf(new Equal({ maxTypeShare: 0.5, typeCaps: { a: 2 } }), 'a'), 2)
    assert.equal(capOf(new Equal({ maxTypeShare: 0.5, typeCaps: { a: 2 } }), 'b'), 5)
    assert.equal(capOf(new Capped({ hard: true, maxTypeCap: 3 }), 'a'), 3)
    assert.equal(capOf(new Capped({ maxTypeCap: 3 }), 'a'), Infinity)
    assert.equal(capOf(new Fair({ hard: true, maxTypeShare: 0.5, concurrency: 4 }), 'a'), 2)
    assert.equal(capOf(new Fair({ maxTypeShare: 0.5 }), 'a'), Infinity)
    for (const scheduler of [null, {}, { hard: true, maxTypeShare: 0, caps: {}, weighting: {} }]) assert.equal(capOf(scheduler, 'a'), Infinity)
  })

  it('is the weight of a type', function () {
    assert.equal(weightOf(new Equal({ weights: { a: 2 } }), 'a'), 2)
    assert.equal(weightOf(new Equal({ weights: type => type.length }), 'abc'), 3)
    for (const scheduler of [null, {}, new Fair(), { weighting: {} }]) assert.equal(weightOf(scheduler, 'a'), 1)
  })

  it('are the types that have one of their own', function () {
    assert.deepEqual(namedTypes(new Equal({ weights: { a: 2, b: 1 }, typeCaps: { b: 0, c: 1 } })), ['a', 'b', 'c'])
    assert.deepEqual(namedTypes(new Equal({ weights: () => 1 })), [])
    assert.deepEqual(namedTypes(new Capped({ typeCaps: { c: 1 } })), ['c'])
    for (const scheduler of [null, {}, new Fair(), { caps: {}, weighting: {} }]) assert.deepEqual(namedTypes(scheduler), [])
  })
})
