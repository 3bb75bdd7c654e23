'use strict'

// What a job costs, in units of the caller's own: tokens, rows, bytes. A rate of cost counts them in place of starts.

const { rangeError } = require('../arguments/errors')
const { readInteger } = require('../arguments/fields')

const COST = 1 // of a job of which nothing is said

module.exports = { COST, isCost, readCost, readSpent, ofCost, mostCost, checkCost }

/** @returns {number} a safe integer, 0 or more @throws of the code */
function readCost (value, code, name = 'cost') {
  return readInteger(value, name, 0, Number.MAX_SAFE_INTEGER, code)
}

/** Whether what others have written may be a cost. */
function isCost (value) {
  return Number.isSafeInteger(value) && value >= 0
}

/** What a runner says that its job has cost so far. @returns {number} @throws FAIRLANE_ERR_ARGUMENT */
function readSpent (total) {
  return readCost(total, 'FAIRLANE_ERR_ARGUMENT', 'spent: the total')
}

/** Whether one of some rates, as read, counts units of cost. */
function ofCost (rates) {
  return rates.some(({ of }) => of === 'cost')
}

/** The least limit of rates of cost; Infinity: there is none. */
function mostCost (rates) {
  return rates.reduce((most, { limit, of }) => of === 'cost' ? Math.min(most, limit) : most, Infinity)
}

/** @param {number} limit of a rate @throws FAIRLANE_ERR_ARGUMENT if a job that costs so much could never start by it */
function checkCost (cost, limit) {
  if (cost <= limit) return
  throw rangeError('FAIRLANE_ERR_ARGUMENT', `a job that costs ${cost} could never start: that is above the limit of ${limit} of a rate`)
}
