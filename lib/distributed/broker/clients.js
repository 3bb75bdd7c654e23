'use strict'

// Makes the clients of ioredis that a queue talks to its broker with.

const { typeError } = require('../../arguments/errors')
const { isDemoted } = require('./failures')

const LONGEST_PAUSE_MS = 1000
const DEMOTED_PAUSE_MS = 1000
const MOST_REDIRECTIONS = 5 // some 300 ms while a slot moves: Broker knows for how long to go on, and pauses

/**
 * @param {{ connection: any, isCluster: boolean }} options read
 * @param {{ Redis: Function, Cluster: Function }} peers
 * @param {'calls' | 'messages'} purpose
 * @throws FAIRLANE_ERR_OPTION
 */
function makeClient ({ connection, isCluster }, { Redis, Cluster }, purpose) {
  // whatever is on its way when the connection ends fails: only the caller knows whether it can be made again. The name of the client is
  // told by a command that many users may not give, and each connection would be in the server's log of refusals
  const own = { maxRetriesPerRequest: 0, retryStrategy: pauseOf, reconnectOnError: reconnectsToMaster(), disableClientInfo: true }
  if (typeof connection === 'function') return checked(connection(purpose))
  if (isCluster) {
    // nodes that the first one names know nothing of its URL
    const redisOptions = { ...accessOf(connection[0]), maxRetriesPerRequest: 0, retryStrategy: null, disableClientInfo: true }
    return new Cluster(connection, { redisOptions, clusterRetryStrategy: pauseOf, maxRedirections: MOST_REDIRECTIONS })
  }
  if (typeof connection === 'string') return new Redis(connection, own)
  return new Redis({ ...own, ...connection, maxRetriesPerRequest: 0 })
}

/** Clients for messages, one after the other. */
class MessageClients {
  /**
   * @param {object} options as of makeClient()
   * @param {object} peers
   * @param {object} calls the client for calls
   */
  constructor (options, peers, calls) {
    this.options = options
    this.peers = peers
    this.cluster = options.isCluster ? calls : undefined // which knows of nodes
    this.last = undefined // node that was chosen
  }

  /**
   * @returns {object | undefined} of a Redis Cluster that of any node, but the last one if there are others; undefined while none is
   *   known
   */
  make () {
    if (this.cluster === undefined) {
      const client = makeClient(this.options, this.peers, 'messages')
      if (!client.isCluster) {
        client.options.autoResubscribe = false
        return client
      }
      client.on('error', ignore)
      this.cluster = client
    }
    const nodes = this.cluster.nodes('all')
    const others = nodes.filter(({ options }) => addressOf(options) !== this.last)
    const node = (others.length > 0 ? others : nodes)[Math.floor(Math.random() * (others.length || nodes.length))]
    if (node === undefined) return undefined
    this.last = addressOf(node.options)
    return node.duplicate({ autoResubscribe: false, lazyConnect: false, maxRetriesPerRequest: 0, readOnly: false, retryStrategy: null })
  }

  close () {
    if (!this.options.isCluster) this.cluster?.disconnect()
  }
}

function addressOf ({ host, port }) {
  return `${host}:${port}`
}

/** After so many tries. */
function pauseOf (count) {
  return Math.min(20 * 2 ** count, LONGEST_PAUSE_MS)
}

function checked (client) {
  if (typeof client?.defineCommand === 'function') return client
  throw typeError('FAIRLANE_ERR_OPTION', 'connection, as a function, must return an ioredis client')
}

/**
 * The connection of a server that has become a replica may last: a new one finds the master, by its name or by sentinels. Not at once
 * again: there may be none yet.
 */
function reconnectsToMaster () {
  let at = -Infinity
  return err => {
    const now = performance.now()
    if (!isDemoted(err) || now - at < DEMOTED_PAUSE_MS) return false
    at = now
    return true
  }
}

/** What a URL says of how a server lets clients in, as options of ioredis. */
function accessOf (text) {
  const { protocol, username, password } = new URL(text)
  const access = {}
  if (username !== '') access.username = decodeURIComponent(username)
  if (password !== '') access.password = decodeURIComponent(password)
  if (protocol === 'rediss:') access.tls = {}
  return access
}

function ignore () {}

module.exports = { makeClient, MessageClients, pauseOf }
