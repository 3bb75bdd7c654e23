'use strict'

// What --help says.

const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { COMMANDS, OPTIONS, commandsOf } = require('./commands')

const WIDTH = 24
const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'))

/** @param {string} [name] of a command, or the first word of several; without one, of all @returns {string} */
function helpOf (name) {
  if (COMMANDS.has(name)) return helpOfCommand(name)
  const names = commandsOf(name)
  if (names.length > 0) return [...names.map(lineOfCommand), '', `'fairlane help ${names[0]}' says what that takes, and so on.`].join('\n')
  return [
    'Looks into queues of fairlane on disk and at a broker, and at what has failed there.',
    '',
    'fairlane COMMAND FOLDER [options]',
    'fairlane COMMAND --connection URL --name QUEUE [options]',
    '',
    ...Array.from(COMMANDS.keys(), lineOfCommand),
    `  ${'help COMMAND'.padEnd(WIDTH)}what a command takes`,
    '',
    'It runs no jobs. What only looks changes nothing, and reads a folder that a process has open, too. A folder is opened by what changes',
    'it: then no other process may have it open. The exit code is 0, 1 for damage and failures, 2 for wrong use.'
  ].join('\n')
}

function helpOfCommand (name) {
  const { about, options, takesIds, isOfFolders } = COMMANDS.get(name)
  const ids = takesIds ? ' [ID …]' : ''
  const lines = [`fairlane ${name}: ${about}`, '', `fairlane ${name} FOLDER${ids} [options]`]
  if (!isOfFolders) lines.push(`fairlane ${name} --connection URL --name QUEUE${ids} [options]`)
  return [...lines, '', ...options.map(lineOf)].join('\n')
}

function lineOfCommand (name) {
  return `  ${name.padEnd(WIDTH)}${COMMANDS.get(name).about}`
}

function lineOf (option) {
  const { value, about } = OPTIONS[option]
  return `  ${`--${option}${value === undefined ? '' : ` ${value}`}`.padEnd(WIDTH)}${about}`
}

module.exports = { helpOf, version }
