'use strict'

// Weights of types: reading them, and the numbers that they are calculated with.

const { describeThrown, rangeError, warn } = require('../lib/arguments/errors')
const { readPositive, readNumbers } = require('./options')

// In units of unitOf(): a lesser weight counts as the least one, and a greater one asks for another unit.
const LEAST_WEIGHT = 2 ** -30
const MOST_WEIGHT = 2 ** 10

/** The weights that the user gave, of types or of groups. */
class Weights {
  constructor (option = 'weights', whose = 'types') {
    this.option = option
    this.whose = whose
    this.weights = new Map() // or a function of the type; another one whenever the user gives weights
    this.hasWarned = false
  }

  /** @param {{ type: string, isShared: boolean }} lane */
  weightOf ({ type, isShared }) {
    const { weights } = this
    if (isShared) return 1
    if (weights instanceof Map) return weights.get(type) ?? 1
    try {
      return weights(type)
    } catch (err) {
      this.blame(err)
      return 1
    }
  }

  /** Whether the type was given a weight by name. */
  isNamed (type) {
    return this.weights instanceof Map && this.weights.has(type)
  }

  // private from here on

  blame (err) {
    if (this.hasWarned) return
    this.hasWarned = true
    warn('FAIRLANE_ERR_SCHEDULER', `The function ${this.option} failed (${describeThrown(err)}); such ${this.whose} have the weight 1.`)
  }
}

module.exports = { LEAST_WEIGHT, MOST_WEIGHT, Weights, readWeights, unitOf, inUnits }

/** As numbers by type, or a function that gives a type's; both only finite ones above 0. */
function readWeights (value, name, known) {
  if (typeof value !== 'function') return readNumbers(value, name, known, readWeight)
  return type => readWeight(value(type), `${name}['${type}']`)
}

function readWeight (value, name) {
  if (readPositive(value, name) === Infinity) throw rangeError('FAIRLANE_ERR_OPTION', `${name} must be finite`)
  return value
}

/** The unit for a weight: at most that, and more than half of it or 1; a power of two, so that nothing is rounded. */
function unitOf (weight) {
  if (weight >= 1 && weight <= MOST_WEIGHT) return 1
  return 2 ** Math.min(Math.floor(Math.log2(weight)), 1023)
}

/** Whole numbers by the unit 1 stay as they are: others take 16 bytes in each field. */
function inUnits (weight, unit) {
  if (unit === 1 && weight >= LEAST_WEIGHT) return weight
  return Math.max(weight / unit, LEAST_WEIGHT)
}
