'use strict'

// Random mixtures of everything that can end, refuse or hold back a job, with every kind of list, and Metrics of it. Replay a failure with
// SEED=n: it plays the same rounds, up to the time slices of the queue, which are of real time.

const { MeteredRound } = require('../support/metered-round')
const { seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')
const { captureWarnings } = require('../support/uncaught')

const ROUNDS = rounds(20)
const STEPS = 150

describe('metrics of a queue', function () {
  const seed = seedFromEnvironment()
  let warnings

  beforeEach(function () { warnings = captureWarnings() })
  afterEach(function () { warnings.release() })

  it(`count what the queue counts, and time what the records say (SEED=${seed})`, () => playRounds(ROUNDS, seed, seed => new MeteredRound(seed), async round => {
    await round.play(STEPS)
    if (warnings.seen.length > 0) throw warnings.seen[0]
  }))
})
