'use strict'

// How much the random tests and the large ones do: little in `npm test`, more in `npm run test:long`.

const { seeded } = require('./random')

const factor = Number(process.env.FAIRLANE_ROUNDS ?? 1)
if (!(factor >= 1)) throw new Error(`FAIRLANE_ROUNDS=${process.env.FAIRLANE_ROUNDS} is no number of at least 1`)

module.exports = { rounds, playRounds, isLong: factor > 1 }

/** @returns {number} how many rounds to play: `count`, or with FAIRLANE_ROUNDS=n so many times as many */
function rounds (count) {
  return Math.ceil(count * factor)
}

/**
 * Plays rounds one after the other, each from a seed of its own. What one throws says how to replay it.
 * @template Round
 * @param {number} count
 * @param {number} seed of all of them
 * @param {(seed: number) => Round} make a round that may have a `description`
 * @param {(round: Round) => any} play may give a promise
 */
async function playRounds (count, seed, make, play) {
  const random = seeded(seed)
  for (let number = 0; number < count; number++) {
    const round = make(random.below(4294967296))
    try {
      await play(round)
    } catch (error) {
      const where = [`SEED=${seed}, round ${number}`, ...round.description === undefined ? [] : [round.description]].join(', ')
      throw new Error(`${where}: ${error.message}`, { cause: error })
    }
  }
}
