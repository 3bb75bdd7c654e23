'use strict'

// Redis Clusters of the tests' own: servers on free ports of 127.0.0.1, below 55536, since their buses are at port + 10000.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdirSync, rmSync } = require('node:fs')
const net = require('node:net')
const { join } = require('node:path')
const { temporaryFolder } = require('./folders')
const { program } = require('./redis-program')

const SLOTS = 16384

const running = new Set()

process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })

module.exports = { startCluster }

/**
 * @param {string[]} [settings] as arguments of each server
 * @param {number} [mastersCount] 1 or 3
 * @returns {Promise<object>} `urls` of its nodes; `addNode()`; `moveSlots(count, fromPort, toPort)`; `kill(port)`, `start(port)`; `stop()`
 */
async function startCluster (settings = [], mastersCount = 3) {
  const folder = temporaryFolder()
  const servers = new Map() // port → child
  const cli = (...args) => execFileSync(program.replace(/-server$/, '-cli'), args, { encoding: 'utf8', timeout: 60000 })

  async function start (port) {
    const dir = join(folder, String(port))
    mkdirSync(dir, { recursive: true })
    const args = ['--port', port, '--dir', dir, '--appendonly', 'yes', '--save', '', '--cluster-enabled', 'yes', '--cluster-node-timeout', 2000, '--bind', '127.0.0.1', '--cluster-announce-ip', '127.0.0.1', ...settings]
    const child = spawn(program, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    servers.set(port, child)
    child.once('exit', () => running.delete(child))
    await new Promise((resolve, reject) => {
      let log = ''
      child.stdout.on('data', data => {
        log += data
        if (/eady to accept connections/.test(log)) resolve()
      })
      child.once('exit', code => reject(new Error(`the server ended with ${code}: ${log}`)))
    })
    return port
  }

  const ports = await freePorts(mastersCount + 1)
  const first = ports.slice(0, mastersCount)
  await Promise.all(first.map(start))
  if (mastersCount === 1) cli('-p', String(first[0]), 'cluster', 'addslots', ...Array.from({ length: SLOTS }, (_, n) => String(n)))
  else cli('--cluster', 'create', ...first.map(port => `127.0.0.1:${port}`), '--cluster-replicas', '0', '--cluster-yes')
  await until(() => first.every(port => /cluster_state:ok/.test(cli('-p', port, 'cluster', 'info'))))
  const idOf = port => cli('-p', port, 'cluster', 'myid').trim()
  return {
    ports: first,
    urls: first.map(port => `redis://127.0.0.1:${port}`),
    cli,
    async addNode () {
      const port = await start(ports[mastersCount])
      cli('--cluster', 'add-node', `127.0.0.1:${port}`, `127.0.0.1:${first[0]}`)
      await until(() => [...first, port].every(known => cli('-p', known, 'cluster', 'nodes').trim().split('\n').length === mastersCount + 1))
      return port
    },
    /** Moves slots with all keys in them, while all goes on. */
    async moveSlots (count, from, to) {
      const child = spawn(program.replace(/-server$/, '-cli'), ['--cluster', 'reshard', `127.0.0.1:${from}`, '--cluster-from', idOf(from), '--cluster-to', idOf(to), '--cluster-slots', String(count), '--cluster-yes'], { stdio: 'ignore' })
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`resharding ended with ${code}`)
    },
    async kill (port) {
      const child = servers.get(port)
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
    start,
    async stop () {
      await Promise.all([...servers.values()].map(child => {
        if (child.exitCode !== null || child.signalCode !== null) return undefined
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        return exited
      }))
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function freePorts (count) {
  const ports = []
  for (let port = 20000 + process.pid % 30000; ports.length < count; port++) {
    if (await isFree(port) && await isFree(port + 10000)) ports.push(port)
  }
  return ports
}

async function isFree (port) {
  const server = net.createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

async function until (test) {
  for (let times = 0; !test(); times++) {
    if (times > 600) throw new Error(`it has not come: ${test}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
