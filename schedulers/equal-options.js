'use strict'

// How options of 'equal' are read, and which of them want another scheduler than the class Equal.

const { typeError } = require('../lib/arguments/errors')
const { capReaders } = require('./options')
const { readWeights } = require('./weights')

const OPTION = 'FAIRLANE_ERR_OPTION'

const readers = {
  ...capReaders,
  weights: readWeights,
  groupOf: fixed,
  chargeBy: fixed,
  groupWeights: needsGroups,
  groupCaps: needsGroups,
  maxGroupCap: needsGroups
}

function fixed (value, name) {
  throw typeError(OPTION, `${name} is fixed when the scheduler is made: give it in schedulerOptions of the queue, or to makeEqual()`)
}

function needsGroups (value, name) {
  throw typeError(OPTION, `${name} needs groupOf, which says the group of each type`)
}

module.exports = { readers }
