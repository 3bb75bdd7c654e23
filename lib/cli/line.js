'use strict'

// Reads the command line, by parseArgs() of Node. What is unknown is said with the nearest name that is known.

const { parseArgs } = require('node:util')
const { hintOf } = require('../arguments/hints')
const { COMMANDS, OPTIONS, commandsOf } = require('./commands')

/** The program was used wrongly. */
class UsageError extends Error {}

/**
 * @param {string[]} args
 * @param {object} env
 * @returns {{ name: string, values: object, rest: string[] }} name: of a command. values: of options, and of the target `path`, or
 *   `connection` and `name`. rest: what else is said, such as ids
 * @throws UsageError
 */
function readLine (args, env) {
  const { tokens } = parseArgs({ args, options: OPTIONS, strict: false, allowPositionals: true, tokens: true })
  const words = tokens.filter(({ kind }) => kind === 'positional').map(({ value }) => value)
  const given = tokens.filter(({ kind }) => kind === 'option')
  if (given.some(({ rawName }) => rawName === '--version')) return { name: 'version', values: flagsOf(given), rest: [] }
  const [first = 'help', ...others] = words
  const wantsHelp = first === 'help' || given.some(({ rawName }) => rawName === '--help' || rawName === '-h')
  if (wantsHelp) return { name: 'help', values: flagsOf(given), rest: [topicOf(first === 'help' ? others : words)] }
  const { name, rest } = commandOf(words)
  return { name, ...valuesOf(name, args, given, rest, env) }
}

/** Options that every command has. */
function flagsOf (given) {
  return { json: given.some(({ rawName }) => rawName === '--json') }
}

/** What help is wanted of: a command, or the first word of several. */
function topicOf (words) {
  return words.length === 1 && commandsOf(words[0]).length > 0 ? words[0] : commandOf(words).name
}

/** A command has one word or two. */
function commandOf ([first = 'help', second, ...rest]) {
  const pair = `${first} ${second}`
  if (COMMANDS.has(pair)) return { name: pair, rest }
  if (first === 'help' || COMMANDS.has(first)) return { name: first, rest: second === undefined ? [] : [second, ...rest] }
  const seconds = commandsOf(first)
  if (seconds.length === 0) throw unknown(first, ['help', ...new Set(Array.from(COMMANDS.keys(), name => name.split(' ')[0]))])
  if (second === undefined) throw new UsageError(`'${first}' is followed by one of ${seconds.map(name => name.slice(first.length + 1)).join(', ')}`)
  throw unknown(pair, seconds)
}

function valuesOf (name, args, given, words, env) {
  const command = COMMANDS.get(name)
  const options = Object.fromEntries(command.options.map(option => [option, OPTIONS[option]]))
  for (const { name: option, rawName } of given) {
    if (!Object.hasOwn(options, option) || rawName !== `--${option}`) {
      throw new UsageError(`'${name}' has no option '${rawName}'${hintOf(rawName, command.options.map(option => `--${option}`))}`)
    }
  }
  const values = strictly({ args, options, allowPositionals: true })
  const rest = words.slice()
  if (values.connection === undefined && values.path === undefined) {
    if (env.FAIRLANE_CONNECTION !== undefined && (values.name !== undefined)) values.connection = [env.FAIRLANE_CONNECTION]
    else if (rest.length > 0) values.path = rest.shift()
  }
  checkTarget(name, values, command)
  for (const option of ['limit', 'port']) if (values[option] !== undefined) values[option] = wholeOf(option, values[option])
  const wrong = command.check?.(values, rest)
  if (wrong !== undefined) throw new UsageError(`'${name}': ${wrong}`)
  if (!command.takesIds && rest.length > 0) throw new UsageError(`'${name}' takes a folder and options, not '${rest[0]}'`)
  return { values, rest }
}

/** What Node finds wrong: a value that is missing, or is none. */
function strictly (line) {
  try {
    return { ...parseArgs(line).values }
  } catch (err) {
    throw new UsageError(err.message.split('\n')[0])
  }
}

function checkTarget (name, { path, connection, name: queue }, { isOfFolders }) {
  if (path !== undefined && (connection !== undefined || queue !== undefined)) {
    throw new UsageError('give either a folder, or --connection and --name')
  }
  if (path === '') throw new UsageError('the name of the folder is empty')
  if (path === undefined && isOfFolders) throw new UsageError(`'${name}' needs a folder: fairlane ${name} FOLDER`)
  if (path === undefined && connection === undefined) {
    throw new UsageError(`'${name}' needs a queue: a folder, or --connection URL --name QUEUE`)
  }
  if (path === undefined && queue === undefined) throw new UsageError('--connection needs --name, the name of the queue')
}

function wholeOf (option, text) {
  const number = Number(text)
  const [least, most, range] = option === 'port' ? [0, 65535, 'from 0 to 65535'] : [1, Number.MAX_SAFE_INTEGER, 'of 1 or more']
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new UsageError(`--${option} must be an integer ${range}, not '${text}'`)
}

function unknown (name, known) {
  return new UsageError(`there is no command '${name}'${hintOf(name, known)}`)
}

module.exports = { UsageError, readLine }
