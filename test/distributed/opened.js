'use strict'

// A server for the tests of a file, and queues at it: each test has names of its own, and what it left open is closed after it.

const { distributed } = require('../../lib/distributed')
const { startRedis } = require('../support/redis')
const { startCluster } = require('../support/redis-cluster')

module.exports = { atServer, atCluster, servers, clusters, giveBack }

// a Cluster that goes on as far as it can when a master is lost
const PARTLY = ['--cluster-require-full-coverage', 'no']

/**
 * To be called in describe().
 * @param {string[]} [settings] of the server
 * @returns {{ open: (runner: any, options?: object) => Promise<object>, server: object, name: string, connection: any, keys: () =>
 *   string[] }} keys: of the queues of the name of the test
 */
function atServer (settings) {
  const at = atQueues({ keys: () => at.server.cli('keys', `{fairlane:${at.name}}:*`).split('\n').filter(Boolean) })
  before(async () => {
    at.server = await startRedis(settings)
    at.connection = { path: at.server.path }
  })
  after(() => at.server.stop())
  return at
}

/** The same at a Redis Cluster of three masters. */
function atCluster (settings = []) {
  const at = atQueues({
    keys: () => at.server.ports.flatMap(
      port => at.server.cli('-p', String(port), 'keys', `{fairlane:${at.name}:*`).split('\n').filter(Boolean)
    )
  })
  before(async () => {
    at.server = await startCluster([...PARTLY, ...settings])
    at.connection = at.server.urls
  })
  after(() => at.server.stop())
  return at
}

/**
 * Servers of single tests, for those that end them, and queues at them. To be called in describe(): what is left is ended after each test.
 * @returns {{ startServer: (settings?: string[]) => Promise<object>, open: (server: object, runner: any, options?: object) =>
 *   Promise<object> }} a server has its `connection` and `folder`, and `kill()`, `start()`
 */
function servers () {
  return brokers(startRedis)
}

/** The same with Redis Clusters of three masters, of which kill() ends one, each time another one. */
function clusters () {
  return brokers(async (settings = []) => {
    const cluster = await startCluster([...PARTLY, ...settings])
    let killsCount = 0
    let port
    return {
      ...cluster,
      connection: cluster.urls,
      kill () {
        port = cluster.ports[killsCount++ % cluster.ports.length]
        return cluster.kill(port).then(() => port)
      },
      start: () => cluster.start(port)
    }
  })
}

function brokers (start) {
  const started = []
  const queues = []
  afterEach(async () => {
    await Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 })))
    await Promise.all(started.splice(0).map(server => server.stop()))
  })
  return {
    async startServer (settings) {
      const server = await start(settings)
      started.push(server)
      return server
    },
    async open (server, runner, options) {
      const queue = await distributed(runner, { name: 'jobs', connection: server.connection, settleBy: 'promise', ...options })
      queues.push(queue)
      return queue
    }
  }
}

/**
 * Puts a job back that runs, as the keeper does when its lease is over. Whoever looks around, or hears of another job of its type,
 * takes it.
 */
function giveBack ({ server, name: queueName }, id) {
  const [type, name] = id.split(':')
  const key = what => `{fairlane:${queueName}}:${what}`
  server.cli('del', key(`${id}:lock`))
  server.cli('lrem', key(`${type}:active`), '0', name)
  server.cli('rpush', key(`${type}:wait`), name)
  server.cli('sadd', key('.ready'), type)
}

function atQueues (more) {
  const queues = []
  let count = 0
  const at = {
    server: undefined,
    connection: undefined,
    name: '',
    async open (runner, options) {
      const queue = await distributed(runner, { name: at.name, connection: at.connection, settleBy: 'promise', ...options })
      queues.push(queue)
      return queue
    },
    ...more
  }
  beforeEach(() => { at.name = `queue-${count++}` })
  afterEach(() => Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 }))))
  return at
}
