'use strict'

// Which scheduler `equal` is by its options. What only some options need is not loaded without them.

const { checkObject, copyOf, readChoice } = require('../lib/arguments/fields')
const { Equal } = require('./equal')

const OPTION = 'FAIRLANE_ERR_OPTION'
const CHARGES = ['time', 'cost', 'cost*time']

module.exports = { makeEqual }

/**
 * Makes the scheduler that `scheduler: 'equal'` stands for, with all of its options: those of Equal, and
 *
 * - `chargeBy`: what is shared, as charges.js says;
 * - `groupOf`, `groupWeights`, `groupCaps`, `maxGroupCap`: as groups.js says.
 *
 * @param {object} [options]
 * @returns {object} a lane scheduler
 * @throws FAIRLANE_ERR_OPTION
 */
function makeEqual (options = {}) {
  checkObject(options, 'the options of a scheduler', OPTION)
  const { groupOf, chargeBy = 'time', ...others } = copyOf(options, OPTION)
  const Charging = readChoice(chargeBy, 'chargeBy', CHARGES, OPTION) === 'time' ? Equal : require('./charges').byName[chargeBy]
  if (groupOf === undefined) return new Charging(others)
  const { Groups } = require('./groups')
  return new Groups(groupOf, others, Charging)
}
