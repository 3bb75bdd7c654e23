'use strict'

// Names of queues and tenants as they are shown: whatever cannot be seen in them, or turns the text around, gets a sign that can, and each
// name is isolated from the text beside it.

const MOST_CHARACTERS = 128
const FIRST_PICTURE = 0x2400 // Unicode has pictures of the first control characters
const SPACE = '\u2423'
const [ISOLATE, END_OF_ISOLATE] = ['\u2068', '\u2069']

module.exports = { isolated, visible }

/** @returns {string} with a sign for each character that cannot be seen, or that sets the direction of others */
function visible (name) {
  if (name === '') return '(none)'
  const short = name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}…` : name
  return short.replace(/^ +| {2,}| +$/g, spaces => SPACE.repeat(spaces.length)).replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, signOf)
}

/** For texts that have no elements in them. */
function isolated (name) {
  return `${ISOLATE}${visible(name)}${END_OF_ISOLATE}`
}

function signOf (character) {
  const code = character.codePointAt(0)
  return code < 0x20 ? String.fromCodePoint(FIRST_PICTURE + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
