'use strict'

// Chance in the hands of the test: what spreads times so that not all come at once asks Math.random().

module.exports = { withChance, giveChance }

/** Has Math.random() give this in each test of the suite. To be called in describe(). @param {number} value from 0 to below 1 */
function withChance (value) {
  const chance = {}
  beforeEach(() => { chance.release = giveChance(value) })
  afterEach(() => chance.release())
}

/** @returns {() => void} gives it back */
function giveChance (value) {
  const { random } = Math
  Math.random = () => value
  return () => { Math.random = random }
}
