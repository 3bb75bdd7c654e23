'use strict'

// Programs as child processes, each of which ends: by itself, or because its time is over.

const { spawn } = require('node:child_process')

module.exports = { run, start }

/**
 * @param {string[]} command
 * @param {{ cwd?: string, timeoutMs?: number }} [options]
 * @returns {Promise<{ code: number | string, stdout: string, stderr: string }>} `code` is the signal's name if one ended it
 */
async function run (command, options) {
  const child = start(command, options)
  const code = await child.ended
  return { code, stdout: child.stdout, stderr: child.stderr }
}

/**
 * The same, without waiting for the end. It has a process group of its own, so that `stop` ends what it has started too.
 * @returns {{ stdout: string, stderr: string, ended: Promise<number | string>, stop: () => Promise<unknown> }} texts so far
 */
function start ([program, ...args], { cwd, timeoutMs = 100000 } = {}) {
  const { FORCE_COLOR, ...environment } = process.env // for Deno '0' of it means colours too
  const env = { ...environment, NO_COLOR: '1' }
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {} // nobody is left
  }
  const stop = () => {
    kill()
    return state.ended
  }
  const timer = setTimeout(kill, timeoutMs)
  const state = { stdout: '', stderr: '', ended: undefined, stop }
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', text => { state[name] += text })
  state.ended = new Promise(resolve => {
    child.on('error', err => resolve(err.code))
    child.on('close', (code, signal) => resolve(code ?? signal))
  }).finally(() => clearTimeout(timer))
  return state
}
