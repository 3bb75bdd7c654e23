'use strict'

// Who is refused is told when to come back. Those who were refused together would come back together, and be refused again.

const MOST = 0.2

/** @param {number} ms whole @returns {number} up to a fifth more, by chance, and never less; whole, too */
function spread (ms) {
  return Math.floor(ms * (1 + MOST * Math.random()))
}

module.exports = { spread }
