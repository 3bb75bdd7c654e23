'use strict'

// Random mixtures of everything that can end, refuse or hold back a job, on a clock that the test moves, with every kind of
// scheduler. Replay a failure with SEED=n: it plays the same rounds, up to the time slices of the queue, which are of real time.

const { seedFromEnvironment } = require('../support/random')
const { Round } = require('../support/control-round')
const { rounds, playRounds } = require('../support/rounds')
const { captureWarnings } = require('../support/uncaught')

const ROUNDS = rounds(150)
const STEPS = 150

describe('a queue with limits, signals and deadlines', function () {
  const seed = seedFromEnvironment()
  let warnings

  beforeEach(function () { warnings = captureWarnings() })
  afterEach(function () { warnings.release() })

  it(`settles every accepted job once and for a reason, and tells every refused one once (SEED=${seed})`, () => playRounds(ROUNDS, seed, seed => new Round(seed), async round => {
    await round.play(STEPS)
    if (warnings.seen.length > 0) throw warnings.seen[0]
  }))
})
