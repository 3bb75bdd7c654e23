'use strict'

// Types that are out of rate or held are out of the count of `equal`: while they are not, its bound holds.

const assert = require('node:assert/strict')
const { Equal } = require('../../../schedulers')
const { seedFromEnvironment } = require('../../support/random')
const { rounds } = require('../../support/rounds')
const { extremes, worstExcess } = require('../../support/shares')
const { heldTrace } = require('../../support/traces')

const ROUNDS = rounds(40)
const base = seedFromEnvironment()

/** A type that comes back is where it was, however long it was away. */
class SavingUp extends Equal {
  floorOf () { return -Infinity }
}

describe("the bound of 'equal' with rates and holds", function () {
  it(`holds while neither of two types is held, in ${ROUNDS} random histories`, async function () {
    let heldCount = 0
    for (let seed = base; seed < base + ROUNDS; seed++) {
      const { log, weights } = await heldTrace(seed, Equal)
      const excess = worstExcess(log, weights, extremes(log))
      assert.ok(excess <= 1, `SEED=${seed}: ${excess} times the bound`)
      heldCount += log.filter(({ kind }) => kind === 'hold').length
    }
    assert.ok(heldCount > ROUNDS, `${heldCount}`)
  })

  it('is broken where a type that was held has saved up, so the check can fail', async function () {
    assert.ok(await worstOf(SavingUp, log => log) > 2)
  })

  it('is broken by what a type is behind while it is held, so the check is one of the other times', async function () {
    assert.ok(await worstOf(Equal, log => log.filter(({ kind }) => kind !== 'hold' && kind !== 'free')) > 5)
  })

  /** The worst of some histories, by the bounds of what 'equal' does in the same. */
  async function worstOf (Scheduler, view) {
    let worst = 0
    for (const seed of [5, 14, 29, 31, 44, 46, 48, 54, 58]) {
      const { log } = await heldTrace(seed, Equal)
      const own = await heldTrace(seed, Scheduler)
      worst = Math.max(worst, worstExcess(view(own.log), own.weights, extremes(log)))
    }
    return worst
  }
})
