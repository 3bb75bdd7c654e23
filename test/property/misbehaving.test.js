'use strict'

// Schedulers that throw, lie, and call the queue from each of their methods. Replay a failure with SEED=n: it plays the same rounds, up
// to the time slices of the queue, which are of real time.

const { seedFromEnvironment } = require('../support/random')
const { MisbehavingRound } = require('../support/misbehaving-round')
const { rounds, playRounds } = require('../support/rounds')
const { captureUncaught, captureWarnings } = require('../support/uncaught')
const { turn } = require('../support/turns')

const ROUNDS = rounds(150)
const STEPS = 80
const MOST_WARNINGS = 2 // of what it did first, and that nothing runs

describe('a queue with a scheduler that misbehaves', function () {
  const seed = seedFromEnvironment()
  let uncaught, warnings

  beforeEach(function () {
    uncaught = captureUncaught()
    warnings = captureWarnings()
  })
  afterEach(function () {
    uncaught.release()
    warnings.release()
  })

  it(`tells every job once, loses none, and comes to an end (SEED=${seed})`, () => playRounds(ROUNDS, seed, seed => new MisbehavingRound(seed), async round => {
    await round.play(STEPS)
    await turn()
    for (const error of uncaught.seen.splice(0)) if (error !== round.thrown) throw error
    const wrong = warnings.seen.splice(0).find(({ code }, i) => code !== 'FAIRLANE_ERR_SCHEDULER' || i === MOST_WARNINGS)
    if (wrong !== undefined) throw wrong
  }))
})
