'use strict'

// Redis or Valkey servers of the tests' own: each in a folder, on a unix socket, ended with the tests.

const { spawn, execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { temporaryFolder } = require('./folders')
const { program } = require('./redis-program')

const running = new Set()

process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })

module.exports = { program, describeWithRedis, startRedis }

/** As describe(), for tests that need a server: skipped where there is none, unless there must be one. */
function describeWithRedis (title, define) {
  if (program === undefined && process.env.REQUIRE_REDIS !== '1') describe.skip(title, define)
  else describe(title, define)
}

/**
 * @param {string[]} [settings] as arguments of the server
 * @returns {Promise<object>} `path` of its socket, its `folder`, and what queues take as `connection`; `kill()`, `start()` again with the
 *   same data, `stop()` for good, `cli(...args)`
 */
async function startRedis (settings = []) {
  const folder = temporaryFolder()
  const path = join(folder, 'redis.sock')
  const config = join(folder, 'redis.conf')
  writeFileSync(config, `port 0\nbind 127.0.0.1 -::1\nunixsocket ${path}\ndir ${folder}\nappendonly yes\nsave ""\n`)
  const server = {
    path,
    folder,
    connection: { path },
    child: undefined,

    async start () {
      rmSync(path, { force: true })
      const child = spawn(program, [config, ...settings], { stdio: ['ignore', 'pipe', 'pipe'] })
      running.add(child)
      child.once('exit', () => running.delete(child))
      server.child = child
      await new Promise((resolve, reject) => {
        let log = ''
        child.stderr.on('data', data => { log += data })
        child.stdout.on('data', data => {
          log += data
          if (/Ready to accept connections|ready to accept connections/.test(log)) resolve()
        })
        child.once('close', code => reject(new Error(`the server ended with ${code}: ${log}`)))
        child.once('error', reject)
      })
    },

    async kill (signal = 'SIGKILL') {
      if (server.child.exitCode !== null || server.child.signalCode !== null) return
      const exited = once(server.child, 'exit')
      server.child.kill(signal)
      await exited
    },

    cli (...args) {
      return execFileSync(program.replace(/-server$/, '-cli'), ['-s', path, ...args], { encoding: 'utf8' }).trim()
    },

    async stop () {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  await server.start()
  return server
}
