'use strict'

// Schedulers that throw, lie, and call the queue from each of their methods. Replay a failure with SEED=n: it plays the same rounds, up
// to the time slices of the queue, which are of real time. ROUNDS=n plays so many, however long they take.

const { seeded, seedFromEnvironment } = require('../support/random')
const { MisbehavingRound } = require('../support/misbehaving-round')
const { captureUncaught, captureWarnings } = require('../support/uncaught')
const { turn } = require('../support/turns')

const MIN_ROUNDS = Number(process.env.ROUNDS ?? 200)
const MOST_ROUNDS = Math.max(2000, MIN_ROUNDS)
const TIME_MS = 8000
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

  it(`tells every job once, loses none, and comes to an end (SEED=${seed})`, async function () {
    this.timeout(0)
    const random = seeded(seed)
    const begun = performance.now()
    for (let number = 0; number < MOST_ROUNDS && (number < MIN_ROUNDS || performance.now() < begun + TIME_MS); number++) {
      const round = new MisbehavingRound(random.below(4294967296))
      try {
        await round.play(STEPS)
        await turn()
        for (const error of uncaught.seen.splice(0)) if (error !== round.thrown) throw error
        const wrong = warnings.seen.splice(0).find(({ code }, i) => code !== 'FAIRLANE_ERR_SCHEDULER' || i === MOST_WARNINGS)
        if (wrong !== undefined) throw wrong
      } catch (error) {
        throw new Error(`SEED=${seed}, round ${number}, ${round.description}: ${error.message}`, { cause: error })
      }
    }
  })
})
