'use strict'

// Texts of callers, cut where they are only read.

const MOST_CHARACTERS = 200

module.exports = { cut, errorLine }

function cut (text, most = MOST_CHARACTERS) {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** @param {Error & { code?: any }} error of a dead letter */
function errorLine ({ code, name, message }) {
  return cut(`${code ?? name}: ${message}`)
}
