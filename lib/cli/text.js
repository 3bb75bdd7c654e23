'use strict'

// Values as text for people, and text as it can be shown to them.

// Controls, and what changes the direction of text or cannot be seen.
// eslint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const MOST_CHARACTERS = 80 // of a cell
const UNITS = [['d', 86400000], ['h', 3600000], ['min', 60000], ['s', 1000], ['ms', 1]]
const SIZES = ['B', 'KB', 'MB', 'GB', 'TB']

/** What a terminal shows as it is. The same text in JSON. */
function escaped (text) {
  return text.replace(STEERING, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** One line. */
function shown (text) {
  return escaped(String(text))
}

/** A name or a text in a table: no longer than a terminal can take. */
function cut (text) {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text
}

/** @param {number | undefined} at in ms since 1970 */
function timeText (at) {
  return at === undefined || !Number.isFinite(new Date(at).getTime()) ? '' : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

function durationText (ms) {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? UNITS.at(-1)
  return `${Math.floor(ms / size)} ${unit}`
}

function sizeText (bytes) {
  let exponent = 0
  while (bytes >= 1000 && exponent < SIZES.length - 1) {
    bytes /= 1000
    exponent++
  }
  return `${exponent === 0 ? bytes : bytes.toPrecision(3)} ${SIZES[exponent]}`
}

/** @param {Error} [error] of a job */
function errorLine ({ code, name, message } = {}) {
  return message === undefined ? '' : `${code ?? name}: ${message}`
}

module.exports = { cut, durationText, errorLine, escaped, shown, sizeText, timeText }
