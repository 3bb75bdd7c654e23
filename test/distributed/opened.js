'use strict'

// A server for the tests of a file, and queues at it: each test has names of its own, and what it left open is closed after it.

const { distributed } = require('../../lib/distributed')
const { startRedis } = require('../support/redis')

module.exports = { atServer, servers }

/**
 * To be called in describe().
 * @param {string[]} [settings] of the server
 * @returns {{ open: (runner: any, options?: object) => Promise<object>, server: object, name: string, connection: object }}
 */
function atServer (settings) {
  const queues = []
  let count = 0
  const at = {
    server: undefined,
    name: '',
    get connection () { return { path: at.server.path } },
    async open (runner, options) {
      const queue = await distributed(runner, { name: at.name, connection: at.connection, settleBy: 'promise', ...options })
      queues.push(queue)
      return queue
    }
  }
  before(async () => { at.server = await startRedis(settings) })
  after(() => at.server.stop())
  beforeEach(() => { at.name = `queue-${count++}` })
  afterEach(() => Promise.all(queues.splice(0).map(queue => queue.close({ drain: false }))))
  return at
}

/**
 * Servers of single tests, for those that end them, and queues at them. To be called in describe(): what is left is ended after each test.
 * @returns {{ startServer: (settings?: string[]) => Promise<object>, open: (server: object, runner: any, options?: object) => Promise<object> }}
 */
function servers () {
  const started = []
  const queues = []
  afterEach(async () => {
    await Promise.all(queues.splice(0).map(queue => queue.close({ drain: false })))
    await Promise.all(started.splice(0).map(server => server.stop()))
  })
  return {
    async startServer (settings) {
      const server = await startRedis(settings)
      started.push(server)
      return server
    },
    async open (server, runner, options) {
      const queue = await distributed(runner, { name: 'jobs', connection: { path: server.path }, settleBy: 'promise', ...options })
      queues.push(queue)
      return queue
    }
  }
}
