'use strict'

// Rooms of many parts say in a table, WIRING in their parts.js, which part is given which others, in the order in which they are made:
//
//   const WIRING = { stage: [], clocks: ['stage'], keys: ['clocks', 'stage'] }
//   parts.keys = new Keys(givenTo('keys', WIRING, parts), options)
//
// A part is given what its row names, and no other part. test/package/wiring.test.js holds that a row names eight at most, each of them
// made before: so there is no circle. Where two parts need each other, one hears from the other: it says in its constructor what it does
// then.

module.exports = { givenTo }

/**
 * @returns {object} by name, the parts of a row; undefined for one that a queue does not have, as the ledger of one that nobody observes
 */
function givenTo (name, wiring, parts) {
  return Object.fromEntries(wiring[name].map(other => [other, parts[other]]))
}
