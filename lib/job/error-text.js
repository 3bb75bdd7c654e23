'use strict'

// What is kept of an error where only text can be kept, on disk or at a broker: name, message and code, none of them long.

const { FairlaneError } = require('../arguments/errors')

const MAX_TEXT = 1000

module.exports = { errorText, errorOf }

/** @returns {string} what errorOf() makes an error of */
function errorText (err) {
  const { name, message, code } = parts(err)
  return JSON.stringify({ name, message, code })
}

/** The error in a text, of the class FairlaneError if it was; its stack is not that of where it came from. */
function errorOf (text) {
  const { name, message, code } = JSON.parse(text)
  const isOurs = name === FairlaneError.prototype.name && typeof code === 'string' && code.startsWith('FAIRLANE_ERR_')
  const error = isOurs ? new FairlaneError(code, message) : new Error(message)
  if (name !== error.name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  if (code !== undefined) error.code = code
  error.stack = `${name}: ${message}`
  return error
}

/** An error of the caller's may be anything, with getters that throw. */
function parts (err) {
  try {
    if (typeof err !== 'object' || err === null) return { name: 'Error', message: shortened(err) }
    const { name = 'Error', message = err, code } = err
    const isShown = typeof code === 'string' || Number.isFinite(code)
    return { name: shortened(name), message: shortened(message), code: isShown ? shortened(code) : undefined }
  } catch {
    return { name: 'Error', message: 'an error that cannot be shown' }
  }
}

function shortened (value) {
  return String(value).slice(0, MAX_TEXT)
}
