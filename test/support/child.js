'use strict'

// Runs programs in child processes. They are not part of the coverage run: its hooks would show up in require.cache and
// take most of their time. It puts the hooks into each child's NODE_OPTIONS, so `env` takes them out again.

const { execFile } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..', '..')

module.exports = { root, node, tool }

/**
 * Runs Node with these arguments.
 *
 * @param {string[]} args
 * @param {{ cwd?: string, timeoutMs?: number, env?: object }} [options] `env`: variables beside those of this process
 * @returns {Promise<{ code: number | string, stdout: string, stderr: string }>} `code` is 'timeout' if it had to be killed
 */
function node (args, { cwd = root, timeoutMs = 100000, env } = {}) {
  return new Promise(resolve => {
    const options = { cwd, env: { ...plainEnvironment(), ...env }, timeout: timeoutMs, maxBuffer: 64 << 20 }
    execFile('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], options, (err, stdout, stderr) => {
      resolve({ code: exitCode(err), stdout, stderr })
    })
  })
}

/** Runs the command-line tool `bin` of the installed package `name`. */
function tool (name, bin, args, options) {
  const { bin: bins } = require(join(root, 'node_modules', name, 'package.json'))
  const file = typeof bins === 'string' ? bins : bins[bin]
  return node([join(root, 'node_modules', name, file), ...args], options)
}

function exitCode (err) {
  if (err === null) return 0
  return err.killed ? 'timeout' : err.code
}

function plainEnvironment () {
  return Object.fromEntries(Object.entries(process.env)
    .filter(([name]) => !/^(NODE_OPTIONS|NYC_|npm_)/.test(name)))
}
