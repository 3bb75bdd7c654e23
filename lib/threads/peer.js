'use strict'

// piscina, which starts the threads and carries messages to them: an optional peer dependency.

const { peerError } = require('../platform/peers')

const RANGE = '^5.2'
const MAJOR = 5
const LEAST_MINOR = 2

module.exports = { loadPiscina, RANGE }

/** @returns {Function} the class; throws FAIRLANE_ERR_PEER if it is not installed, or too old, or not known yet */
function loadPiscina () {
  let Piscina
  try {
    Piscina = require('piscina')
  } catch (cause) {
    throw needed('which is not installed', { cause })
  }
  const [major, minor] = Piscina.version.split('.').map(Number)
  if (major === MAJOR && minor >= LEAST_MINOR) return Piscina
  throw needed(`and ${Piscina.version} is installed`)
}

function needed (why, options) {
  return peerError('fairlane/threads', 'piscina', RANGE, why, options)
}
