'use strict'

// Programs that go on until they are told to stop: servers, crawlers. Like child.js, outside of the coverage run.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { createServer } = require('node:http')
const { createInterface } = require('node:readline')
const { root } = require('./child')

module.exports = { startProgram, startServer }

/**
 * Runs Node with these arguments.
 * @param {string[]} args
 * @param {{ env?: object, input?: string }} [options] env: variables beside those of this process; input: all of its standard input
 * @returns {{ child: import('node:child_process').ChildProcess, lines: string[], line: () => Promise<string>, exit: Promise<[number,
 *   string]>, end: () => Promise<void> }} lines: what it has printed; line(): the next line that it prints; exit: its code and signal;
 *   end(): kills it
 */
function startProgram (args, { env, input } = {}) {
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], {
    cwd: root, env: { ...process.env, ...env }, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'inherit']
  })
  if (input !== undefined) child.stdin.on('error', () => {}).end(input) // it may be killed before it has read all
  const lines = []
  const reader = createInterface({ input: child.stdout }).on('line', text => lines.push(text))
  const exit = once(child, 'close') // when all that it has printed is here, too
  return {
    child,
    lines,
    exit,
    line: async () => (await once(reader, 'line'))[0],
    async end () {
      child.kill('SIGKILL')
      await exit
    }
  }
}

/**
 * A server of this process, for programs that ask one.
 * @param {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} listener
 * @returns {Promise<{ origin: string, end: () => Promise<void> }>}
 */
async function startServer (listener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async end () {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}
