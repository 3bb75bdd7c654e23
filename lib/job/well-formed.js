'use strict'

// Texts that are kept: what is no well-formed Unicode is not read back as it was written.

const { describe, typeError } = require('../arguments/errors')

/**
 * @param {string} text
 * @param {string} what it is, and where it is kept
 * @returns {string} the text
 * @throws what `code` says
 */
function readWellFormed (text, what, code) {
  if (text.isWellFormed()) return text
  throw typeError(code, `${what} must be well-formed Unicode, and ${describe(text)} is not`)
}

module.exports = { readWellFormed }
