'use strict'

// The types of jobs that benches use.

module.exports = { typeNames }

/** @returns {string[]} so many different types */
function typeNames (count) {
  return Array.from({ length: count }, (_, i) => `type ${i}`)
}
