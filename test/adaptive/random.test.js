'use strict'

// Random mixtures of everything that can end, refuse or hold back a job, with every kind of list, and a control of it, alone or beside a
// history. Replay a failure with SEED=n.

const { adaptive } = require('../../lib/adaptive')
const { History } = require('../../lib/history')
const { Round } = require('../support/control-round')
const { seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')
const { captureWarnings } = require('../support/uncaught')

const ROUNDS = rounds(60)
const STEPS = 150
const MOST = 50

class AdaptedRound extends Round {
  constructor (seed) {
    const control = adaptive({
      most: MOST,
      least: 1 + seed % 3,
      first: 3,
      classOf: seed % 2 === 0 ? type => type.slice(0, 1) : undefined,
      isOverload: ({ message }) => message?.length % 2 === 0
    })
    super(seed, seed % 3 === 0 ? [control, new History()] : [control])
    this.control = control
  }

  check () {
    super.check()
    if (this.failure || this.isStarting || this.control === undefined) return
    const { limit, slowdown, classes } = this.control.stats()
    this.expect(Number.isInteger(limit) && limit >= 1 && limit <= MOST, `the limit is ${limit}`)
    this.expect(slowdown > 0 && slowdown < Infinity, `the slowdown is ${slowdown}`)
    this.expect(classes <= 5, `there are ${classes} classes`)
  }
}

describe('a control of a queue', () => {
  const seed = seedFromEnvironment()
  let warnings

  beforeEach(() => { warnings = captureWarnings() })
  afterEach(() => warnings.release())

  it(`keeps its bounds, and harms nothing (SEED=${seed})`, () => playRounds(ROUNDS, seed, seed => new AdaptedRound(seed), async round => {
    await round.play(STEPS)
    if (warnings.seen.length > 0) throw warnings.seen[0]
  }))
})
