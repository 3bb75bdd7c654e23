'use strict'

// How weights are read, and the numbers that they become, by themselves.

const assert = require('node:assert/strict')
const { LEAST_WEIGHT, MOST_WEIGHT, Weights, readWeights, unitOf, inUnits } = require('../../schedulers/weights')
const { captureWarnings } = require('../support/uncaught')

function weightsOf (value) {
  return Object.assign(new Weights(), { weights: readWeights(value, 'weights', new Map()) })
}

describe('weights', function () {
  it('are 1 for types that have none, and for a lane that types share', function () {
    const weights = weightsOf({ heavy: 4 })
    assert.deepEqual(['heavy', 'other'].map(type => weights.weightOf({ type, isShared: false })), [4, 1])
    assert.equal(weights.weightOf({ type: 'heavy', isShared: true }), 1)
    assert.equal(new Weights().weightOf({ type: 'heavy', isShared: false }), 1)
  })

  it('of a function are 1 for types for which it throws or gives no weight, which is told once', async function () {
    const warnings = captureWarnings()
    try {
      const weights = weightsOf(type => {
        if (type === 'unknown') throw new Error('who is that?')
        return Number(type)
      })
      assert.deepEqual(['unknown', '4', '0', 'Infinity', 'unknown'].map(type => weights.weightOf({ type, isShared: false })), [1, 4, 1, 1, 1])
      await warnings.until(1)
      await new Promise(setImmediate)
      assert.deepEqual(warnings.seen.map(({ code, message }) => [code, message]), [
        ['FAIRLANE_ERR_SCHEDULER', 'The function weights failed (Error: who is that?); such types have the weight 1.']
      ])
    } finally {
      warnings.release()
    }
  })

  it('of a function are 1 where it throws what has no words', async function () {
    const thrown = [Object.create(null), Symbol('no'), Object.assign(new Error('no'), { toString: undefined, [Symbol.toPrimitive]: () => ({}) })]
    for (const [i, told] of ['an object', 'Symbol(no)', 'what cannot be described'].entries()) {
      const warnings = captureWarnings()
      try {
        const weights = weightsOf(() => { throw thrown[i] })
        assert.deepEqual([weights.weightOf({ type: 'a', isShared: false }), weights.weightOf({ type: 'b', isShared: false })], [1, 1])
        await warnings.until(1)
        assert.deepEqual(warnings.seen.map(({ message }) => message), [`The function weights failed (${told}); such types have the weight 1.`])
      } finally {
        warnings.release()
      }
    }
  })

  it('must be finite, above 0, and say of which type they are not', function () {
    for (const wrong of [Infinity, 0, -1, NaN]) {
      assert.throws(() => readWeights({ a: wrong }, 'weights', new Map()), err => err.code === 'FAIRLANE_ERR_OPTION' && err.message.startsWith("weights['a'] must be"))
      assert.throws(() => readWeights(() => wrong, 'weights', new Map())('b'), err => err.code === 'FAIRLANE_ERR_OPTION' && err.message.startsWith("weights['b'] must be"))
    }
  })

  it('that are not above 0 are told so, not that 0 would do', function () {
    for (const wrong of [0, -1, NaN]) {
      assert.throws(() => readWeights({ a: wrong }, 'weights', new Map()), { message: `weights['a'] must be above 0, not ${wrong}` })
    }
  })

  it('name types where they are numbers by type, not where they are a function', function () {
    assert.deepEqual(['a', 'b'].map(type => weightsOf({ a: 1 }).isNamed(type)), [true, false])
    assert.equal(weightsOf(() => 2).isNamed('a'), false)
  })

  it('are taken in the unit 1 up to 1024, else in a power of two that is at most as much and more than half of it', function () {
    assert.deepEqual([1, 3, MOST_WEIGHT].map(unitOf), [1, 1, 1])
    assert.deepEqual([MOST_WEIGHT + 1, 5000, 0.9, 0.25, Number.MIN_VALUE].map(unitOf), [1024, 4096, 0.5, 0.25, Number.MIN_VALUE])
    assert.equal(unitOf(Number.MAX_VALUE), 2 ** 1023)
  })

  it('stay what they are in the unit 1, and are never less than the least', function () {
    assert.deepEqual([inUnits(3, 1), inUnits(LEAST_WEIGHT, 1), inUnits(LEAST_WEIGHT / 2, 1)], [3, LEAST_WEIGHT, LEAST_WEIGHT])
    assert.deepEqual([inUnits(3, 2), inUnits(1e-300, 2 ** 20)], [1.5, LEAST_WEIGHT])
  })
})
