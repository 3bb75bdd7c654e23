'use strict'

const assert = require('node:assert/strict')
const quickq = require('quickq')
const fairlane = require('../..')
const { Fair } = require('../../schedulers')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { startOrder } = require('../support/traces')

const ROUNDS = rounds(40)
const base = seedFromEnvironment()

const makeOptions = {
  fair: random => random.chance(0.5) ? { maxTypeShare: random.pick([0, 0.05, 0.07, 0.1, 0.25, 0.5, 0.8, 1, 2]) } : {},
  capped: random => ({
    ...makeOptions.fair(random),
    ...random.chance(0.5) && { maxTypeCap: random.pick([0, 1, 2, 3, 2.5, Infinity]) },
    ...random.chance(0.5) && { typeCaps: { 'type 1': random.below(3), 'type 2': random.below(4), 'type 20': 1 } }
  })
}

for (const scheduler of ['fair', 'capped']) {
  describe(`the order of '${scheduler}'`, function () {
    it(`is that of quickq 0.10.2 with an unlimited window, in ${ROUNDS} random histories`, async function () {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        const [own, quickqs] = await bothOrders(seed, scheduler, scheduler)
        assert.deepEqual(own, quickqs, `SEED=${seed}`)
      }
    })
  })
}

describe('the comparison with quickq', function () {
  // quickq's shares are of counts that are taken while the job that is to start still waits
  class Later extends Fair {
    isEligible ({ lane }) {
      const share = lane.running / this.concurrency
      return share < this.maxTypeShare && share < (lane.size - 1) / this.waitingCount
    }
  }
  // ... and of all waiting jobs
  class Types extends Fair {
    isEligible ({ lane }) {
      const share = lane.running / this.concurrency
      return share < this.maxTypeShare && share < 1 / [...this.ranking].length
    }
  }
  for (const [mistake, Wrong] of Object.entries({ 'counts of after the start': Later, 'shares by types': Types })) {
    it(`finds ${mistake}`, async function () {
      let differences = 0
      for (let seed = 1; seed <= 300 && differences === 0; seed++) {
        const [own, quickqs] = await bothOrders(seed, options => new Wrong(options), 'fair')
        if (own.join() !== quickqs.join()) differences++
      }
      assert.equal(differences, 1)
    })
  }
})

/** @param {string | Function} own the name of our scheduler, or what makes one of its options */
async function bothOrders (seed, own, name) {
  const ours = await startOrder((runner, concurrency, schedulerOptions) => fairlane(runner, typeof own === 'string'
    ? { concurrency, scheduler: own, schedulerOptions }
    : { concurrency, scheduler: own(schedulerOptions) }), seed, makeOptions[name])
  const quickqs = await startOrder((runner, concurrency, schedulerOptions) => quickq(runner,
    { concurrency, scheduler: name, schedulerOptions: { ...schedulerOptions, maxScanLength: 1e9 } }), seed, makeOptions[name])
  return [ours, quickqs]
}
