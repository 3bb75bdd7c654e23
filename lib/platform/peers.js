'use strict'

// The error for an optional package that is missing.

const { FairlaneError } = require('../arguments/errors')

module.exports = { peerError }

/**
 * @param {string} who needs it
 * @param {string} name of the package
 * @param {string} range of its versions
 * @param {string} why that is an error: what is there in its place
 * @param {{ cause?: Error }} [options]
 * @returns {Error} FAIRLANE_ERR_PEER
 */
function peerError (who, name, range, why, options) {
  return new FairlaneError('FAIRLANE_ERR_PEER', `${who} needs ${name} ${range}, ${why}: npm install ${name}@${range}`, options)
}
