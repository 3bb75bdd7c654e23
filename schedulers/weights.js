'use strict'

// Weights of types: reading them, and the numbers that they are calculated with.

const { rangeError } = require('../lib/errors')
const { readPositive, readNumbers } = require('./options')

// In units of unitOf(): a lesser weight counts as the least one, and a greater one asks for another unit.
const LEAST_WEIGHT = 2 ** -30
const MOST_WEIGHT = 2 ** 10

module.exports = { LEAST_WEIGHT, MOST_WEIGHT, readWeights, unitOf }

/** As numbers by type, or a function that gives a type's; both only finite ones above 0. */
function readWeights (value, name, known) {
  if (typeof value !== 'function') return readNumbers(value, name, known, readWeight)
  return type => readWeight(value(type), `${name} of '${type}'`)
}

function readWeight (value, name) {
  if (readPositive(value, name) === Infinity) throw rangeError('FAIRLANE_ERR_OPTION', `${name} must be finite`)
  return value
}

/** A power of two, so that nothing is rounded: a weight of 1 to 2 units. */
function unitOf (weight) {
  return 2 ** Math.min(Math.floor(Math.log2(weight)), 1023)
}
