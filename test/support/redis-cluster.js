'use strict'

// Redis Clusters of the tests' own: servers on free ports of 127.0.0.1, below 55536, since their buses are at port + 10000.

const { execFile, execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdirSync, rmSync } = require('node:fs')
const net = require('node:net')
const { join } = require('node:path')
const { promisify } = require('node:util')
const { temporaryFolder } = require('./folders')
const { program } = require('./redis-program')

const SLOTS = 16384
const MOVED_AT_ONCE = 5 // keys

const running = new Set()

process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })

module.exports = { startCluster }

/**
 * @param {string[]} [settings] as arguments of each server
 * @param {number} [mastersCount] 1 or 3
 * @returns {Promise<object>} `urls` of its nodes; `addNode()`; `moveSlotOf(key, toPort, midway)`; `errorsCount(name)`; `kill(port)`,
 *   `start(port)`; `stop()`
 */
async function startCluster (settings = [], mastersCount = 3) {
  const folder = temporaryFolder()
  const servers = new Map() // port → child
  const client = program.replace(/-server$/, '-cli')
  const cli = (...args) => execFileSync(client, args, { encoding: 'utf8', timeout: 60000 })
  // while queues of this process go on; rejects with what it said
  const run = (...args) => promisify(execFile)(client, args.map(String), { encoding: 'utf8' }).then(({ stdout }) => stdout, err => {
    throw new Error(`${args.join(' ')} ended with ${err.code}: ${err.stdout.slice(-1500)}${err.stderr}`)
  })

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
  return {
    folder,
    ports: first,
    urls: first.map(port => `redis://127.0.0.1:${port}`),
    cli,
    async addNode () {
      const port = await start(ports[mastersCount])
      await run('--cluster', 'add-node', `127.0.0.1:${port}`, `127.0.0.1:${first[0]}`)
      // nodes that do not know each other cannot agree on who has what
      await until(async () => {
        const known = await Promise.all([...first, port].map(one => run('-p', one, 'cluster', 'nodes')))
        return known.every(text => parseNodes(text).length === mastersCount + 1 && !/handshake|fail/.test(text))
      })
      return port
    },
    /** How often its servers have answered with an error of that name. */
    errorsCount (name) {
      const counts = [...servers.keys()].map(port => new RegExp(`errorstat_${name}:count=(\\d+)`).exec(cli('-p', String(port), 'info', 'errorstats'))?.[1] ?? 0)
      return counts.reduce((sum, count) => sum + Number(count), 0)
    },
    /**
     * Moves the slot of a key with all that is in it, while all goes on.
     * @param {string} key
     * @param {number} to
     * @param {() => Promise<void>} [midway] the move goes on when it has resolved: some keys are there then, and others are not
     * @returns {Promise<number>} the port of the master that had it
     */
    async moveSlotOf (key, to, midway = async () => {}) {
      const slot = (await run('-p', to, 'cluster', 'keyslot', key)).trim()
      const nodes = parseNodes(await run('-p', to, 'cluster', 'nodes'))
      const from = nodes.find(({ ranges }) => ranges.some(([low, high]) => slot >= low && slot <= high))
      const { id } = nodes.find(({ port }) => port === to)
      const setSlot = (port, ...args) => run('-p', port, 'cluster', 'setslot', slot, ...args)
      await setSlot(to, 'importing', from.id)
      await setSlot(from.port, 'migrating', id)
      for (;;) {
        const keys = (await run('-p', from.port, '--raw', 'cluster', 'getkeysinslot', slot, MOVED_AT_ONCE)).split('\n').filter(Boolean)
        if (keys.length === 0) break
        await run('-p', from.port, 'migrate', '127.0.0.1', to, '', 0, 60000, 'keys', ...keys)
        await midway?.()
        midway = undefined
      }
      for (const port of [to, ...nodes.map(({ port }) => port)]) await setSlot(port, 'node', id)
      return from.port
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

/** @returns {{ id: string, port: number, ranges: [number, number][] }[]} slots that are being moved are not among its ranges */
function parseNodes (text) {
  return text.trim().split('\n').map(line => {
    const [id, address, ...rest] = line.split(' ')
    const ranges = rest.slice(6).filter(range => !range.startsWith('[')).map(range => range.split('-').map(Number))
    return { id, port: Number(/:(\d+)@/.exec(address)[1]), ranges: ranges.map(([low, high = low]) => [low, high]) }
  })
}

async function freePorts (count) {
  const ports = []
  // both below 32768, from where on systems give ports to connections
  for (let port = 10000 + 10 * (process.pid % 1200); ports.length < count; port++) {
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
  for (let times = 0; !await test(); times++) {
    if (times > 600) throw new Error(`it has not come: ${test}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
