'use strict'

// What explain() says of a type, in random histories, against what then happens. Replay a failure with SEED=n.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { ExplainRound } = require('../support/explain-round')
const { seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')

const ROUNDS = rounds(150)
const FIRST = { waiting () {}, start () {}, done () {}, select: () => 0 }
const SCHEDULERS = [
  ['equal', { groupOf: type => type < 'b' ? 'low' : 'high', groupCaps: { low: 1 } }], ['equal', { groupOf: type => type < 'c' ? 'low' : 'high' }],
  ['equal', {}], ['equal', { maxTypeCap: 1 }], ['equal', { maxTypeShare: 0.5 }],
  ['capped', { maxTypeShare: 0.5 }], ['capped', { maxTypeCap: 1, hard: true }], ['fair', {}], ['fair', { hard: true, maxTypeShare: 0.6 }],
  [FIRST, undefined], [null, undefined]
]

describe('explain() in random histories', function () {
  it('says what then happens', async function () {
    const seen = new Map()
    await playRounds(ROUNDS, seedFromEnvironment(), seed => new ExplainRound(seed, SCHEDULERS, fakeClock()), async round => {
      const { because } = await round.play(fairlane(round.runner, { ...round.options, clock: round.clock }))
      seen.set(because, (seen.get(because) ?? 0) + 1)
    })
    assert(seen.size > 5, `few reasons were seen: ${[...seen.keys()]}`)
  })
})
