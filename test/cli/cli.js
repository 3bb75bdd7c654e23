'use strict'

// Runs the program in the process of the test, with streams that keep what is written to them.

const { EventEmitter } = require('node:events')
const { Writable } = require('node:stream')
const { run } = require('../../lib/cli/program')

class Kept extends Writable {
  constructor (isTTY, options) {
    super({ highWaterMark: 64, ...options })
    this.isTTY = isTTY
    this.text = ''
  }

  _write (chunk, encoding, callback) {
    this.text += chunk
    setImmediate(callback)
  }
}

class World extends EventEmitter {
  constructor ({ env = {}, isTerminal = false, stdout } = {}) {
    super()
    this.env = env
    this.stdout = stdout ?? new Kept(isTerminal)
    this.stderr = new Kept(isTerminal)
  }
}

/**
 * @param {string[]} args
 * @param {{ env?: object, isTerminal?: boolean, stdout?: object }} [options]
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
async function cli (args, options) {
  const { code: whenOver, world: { stdout, stderr } } = start(args, options)
  const code = await whenOver
  await Promise.all([stdout, stderr].map(stream => new Promise(resolve => stream.end(resolve))))
  return { code, stdout: stdout.text, stderr: stderr.text }
}

/** The same, of what goes on until it is told to end. */
function start (args, options) {
  const world = new World(options)
  return { world, code: run(args, world) }
}

module.exports = { cli, start }
