'use strict'

const assert = require('node:assert/strict')
const { Equal } = require('../../schedulers')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { extremes, worstExcess, worstShortfall } = require('../support/shares')
const { backlogTrace, oddWeightsTrace, strangersTrace } = require('../support/traces')

const ROUNDS = rounds(40)
const base = seedFromEnvironment()

/** One job of each waiting type in turn. */
class RoundRobin {
  lanes = []
  queued (lane) { if (lane.size === 1) this.lanes.push(lane) }
  next () { return this.lanes[0] }
  started (lane) {
    this.lanes.shift()
    if (lane.size > 0) this.lanes.push(lane)
  }

  ended () {}
}

/** Charges a type for its jobs only when they have ended. */
class LateCharge extends Equal {
  keyOf (state) { return state.used }
}

/** Virtual time never begins anew. */
class OneTime extends Equal {
  rebase () {}
}

describe("the bound of 'equal'", function () {
  it(`holds in ${ROUNDS} random histories`, async function () {
    for (let seed = base; seed < base + ROUNDS; seed++) {
      const { log, weights } = await backlogTrace(seed, weights => new Equal({ weights }))
      const excess = worstExcess(log, weights, extremes(log))
      assert.ok(excess <= 1, `SEED=${seed}: ${excess} times the bound`)
    }
  })

  it(`holds in ${ROUNDS} random histories with weights from 1e-300 to 1e300, one up to 1e9 times another`, async function () {
    for (let seed = base; seed < base + ROUNDS; seed++) {
      const { log, weights } = await oddWeightsTrace(seed, weights => new Equal({ weights }))
      const excess = worstExcess(log, weights, extremes(log))
      assert.ok(excess <= 1, `SEED=${seed}: ${excess} times the bound`)
    }
  })

  it('is broken there by a virtual time that only grows, so the check can fail', async function () {
    let worst = 0
    for (const seed of [12, 75, 90, 137]) {
      const { log, weights } = await oddWeightsTrace(seed, weights => new OneTime({ weights }))
      worst = Math.max(worst, worstExcess(log, weights, extremes(log)))
    }
    assert.ok(worst > 2, `${worst}`)
  })

  it('is broken by a round robin of jobs, so the check can fail', async function () {
    assert.ok(await worstOf(() => new RoundRobin()) > 10)
  })

  it('is broken by charges at the end of jobs, so the check is sharp', async function () {
    assert.ok(await worstOf(weights => new LateCharge({ weights })) > 1)
  })

  /** The worst of some histories, by the bounds of what 'equal' does in the same; from one on where late charges show soon. */
  async function worstOf (makeScheduler) {
    let worst = 0
    for (let seed = 25; seed < 25 + rounds(20); seed++) {
      const { log, weights } = await backlogTrace(seed, weights => new Equal({ weights }))
      const own = await backlogTrace(seed, makeScheduler)
      worst = Math.max(worst, worstExcess(own.log, weights, extremes(log)))
    }
    return worst
  }
})

/** Newcomers are behind V only, not the fluid time. */
class NoFluidTime extends Equal {
  advanceFluidTime () {}
}

describe("what 'equal' leaves a type that waits, whoever comes and goes", function () {
  it(`is its part in ${ROUNDS / 2} random histories`, async function () {
    for (let seed = base; seed < base + ROUNDS / 2; seed++) {
      const shortfall = await shortfallOf(seed, weights => new Equal({ weights }))
      assert.ok(shortfall <= 1, `SEED=${seed}: ${shortfall} times what is allowed`)
    }
  })

  it('is less if newcomers begin at V, however long their jobs, so the check can fail', async function () {
    let worst = 0
    for (let seed = 1; seed <= 10; seed++) worst = Math.max(worst, await shortfallOf(seed, weights => new NoFluidTime({ weights })))
    assert.ok(worst > 2, `${worst}`)
  })

  async function shortfallOf (seed, makeScheduler) {
    const { log, weights } = await strangersTrace(seed, makeScheduler)
    return worstShortfall(log, weights, extremes(log))
  }
})
