'use strict'

// One run of the program: reads the command line, carries out the command, and tells by the exit code what came of it.
//
//   0   it has done what it was asked to, and found nothing wrong
//   1   it has found damage, or failed
//   2   it was used wrongly: there is no such command, option, folder or queue
//
// Whoever reads its output may have enough of it (`| head`): then it ends without a word.

const { isOf } = require('../arguments/fields')
const { errorOf, errorText } = require('../job/error-text')
const { COMMANDS } = require('./commands')
const { helpOf, version } = require('./help')
const { UsageError, readLine } = require('./line')
const { Output, isBrokenPipe } = require('./output')
const { openTarget } = require('./target')

const DONE = 0
const FAILED = 1
const WRONG_USE = 2
// there is no such folder, or no such queue in it or at the broker; its name, or the URL of that, can be none
const WRONG = ['FAIRLANE_ERR_ARGUMENT', 'FAIRLANE_ERR_OPTION']

/**
 * @param {string[]} args
 * @param {{ stdout: object, stderr: object, env: object, on: Function, off: Function }} world a process, or what tests put in its place
 * @returns {Promise<number>} the exit code; never rejects
 */
async function run (args, world) {
  const output = new Output(world)
  try {
    return await carryOut(args, world, output)
  } catch (err) {
    if (isBrokenPipe(err)) return DONE
    output.complain(told(err), args.includes('--json'))
    return codeOf(err)
  } finally {
    output.end()
  }
}

async function carryOut (args, world, output) {
  const { name, values, rest } = readLine(args, world.env)
  output.isJson = values.json === true
  if (name === 'version') return tell(output, { version }, version)
  if (name === 'help') return tell(output, { help: helpOf(rest[0]) }, helpOf(rest[0]))
  const command = COMMANDS.get(name)
  const target = await openTarget(values, output, command)
  try {
    const code = await command.run({ target, values, rest, output, world }) ?? DONE
    if (code !== DONE || !target.isDamaged) return code
    output.note('The folder is damaged, so something is missing: run \'fairlane verify\' to see where.')
    return FAILED
  } finally {
    output.progress.clear()
    await target.close()
  }
}

async function tell (output, object, text) {
  await output.write(output.isJson ? output.json(object) : text)
  return DONE
}

/** Of an error that may be anything: what is said of it. */
function told (err) {
  const { code, message } = errorOf(errorText(err))
  const { pid, file, offset } = Object(err)
  return { code, message, pid, file, offset }
}

function codeOf (err) {
  return isOf(err, UsageError) || WRONG.includes(Object(err).code) ? WRONG_USE : FAILED
}

module.exports = { run }
