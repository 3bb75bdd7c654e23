'use strict'

// How much the random tests and the large ones do: little in `npm test`, more in `npm run test:long`.

const factor = Number(process.env.FAIRLANE_ROUNDS ?? 1)
if (!(factor >= 1)) throw new Error(`FAIRLANE_ROUNDS=${process.env.FAIRLANE_ROUNDS} is no number of at least 1`)

module.exports = { rounds, isLong: factor > 1 }

/** @returns {number} how many rounds to play: `count`, or with FAIRLANE_ROUNDS=n so many times as many */
function rounds (count) {
  return Math.ceil(count * factor)
}
