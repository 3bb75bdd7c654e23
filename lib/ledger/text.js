'use strict'

// The text that is kept of an error, whatever that is.

const { describe } = require('../arguments/errors')
const { copyOf } = require('./names')

const MOST_CHARACTERS = 200

/** @returns {string} `code or name: message`; nothing of the error is kept alive by it */
function textOf (err) {
  let text
  try {
    text = typeof err === 'object' && err !== null ? textOfObject(err) : typeof err === 'function' ? describe(err) : String(err)
  } catch {
    text = 'what cannot be described'
  }
  return copyOf(text.slice(0, MOST_CHARACTERS))
}

function textOfObject (err) {
  const { code, name, message } = err
  const title = [code, name].find(isText)
  if (!isText(message)) return title ?? describe(err)
  return title === undefined ? message : `${title}: ${message}`
}

function isText (value) {
  return typeof value === 'string' && value !== ''
}

module.exports = { textOf }
