'use strict'

// Random transitions of jobs, as the lists of queues in memory and queues on disk tell them, and all that a History can be asked, against a
// naive account of the same. Replay a failure with SEED=n.

const { LedgerRound } = require('../support/ledger-round')
const { seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')

const KINDS = [
  { title: 'that keeps all', options: undefined, steps: 600, askChance: 0.02, burst: 300, count: 20 },
  { title: 'that keeps some', options: { keep: 2000 }, steps: 12000, askChance: 0.0004, burst: 1000, count: 1 },
  { title: 'that keeps nothing but what is live', options: { keep: 0 }, steps: 3000, askChance: 0.003, burst: 3000, count: 3 },
  { title: 'that keeps records for a time', options: { keepMs: 100 }, steps: 2000, askChance: 0.01, burst: 300, count: 5 }
]

describe('what is asked of a history', function () {
  const seed = seedFromEnvironment()
  for (const { title, options, steps, askChance, burst, count } of KINDS) {
    const make = seed => new LedgerRound(seed, options)
    it(`${title} is what has happened (SEED=${seed})`, () => playRounds(rounds(count), seed, make, round => round.play(steps, askChance, burst)))
  }
})
