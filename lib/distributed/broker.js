'use strict'

// The connections to the broker: one for calls, and, from the first need on, one for messages. Calls that fail since the broker is away, or
// not what it is expected to be, are told from those that it refuses; who makes a call again is up to the caller.

const { typeError, FairlaneError, warn } = require('../errors')
const { nameOf, partitionOf, prefixesOf, typeOf } = require('./names')
const { Place } = require('./place')
const { define } = require('./scripts')

const LONGEST_PAUSE_MS = 1000
const MOST_STALLS = 2 ** 31 - 1 // how often is too often, is decided here, not by BullMQ
const LONGEST_TIMER_MS = 2 ** 31 - 1
const FORGET_AFTER_MS = 60000
// Errors of a broker that will be what it was: it starts, fails over, or moves slots.
const PASSING = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|ASK|MOVED|NOSCRIPT|NOREPLICAS|UNBLOCKED|BUSY)\b|Too many Cluster redirections|Failed to refresh slots|None of startup nodes|Connection is (closed|not)|Stream isn't writeable|max retries per request|Command (timed out|aborted)|ETIMEDOUT|ECONN|EPIPE|ENOENT|EHOST|ENOTFOUND|EAI_AGAIN/

class Broker {
  static format = 1 // of what this version keeps at the broker; processes of the next one, and of the one before, work beside it

  /**
   * @param {object} options read
   * @param {object} peers of loadPeers()
   */
  constructor ({ name, connection, isCluster, partitions, leaseMs, pushTimeoutMs }, peers) {
    this.name = name
    this.connection = connection
    this.isCluster = isCluster
    this.leaseMs = leaseMs
    this.pushTimeoutMs = pushTimeoutMs
    this.peers = peers
    this.client = undefined
    this.messages = undefined // the client for these
    this.listeners = new Map() // channel → what is called with its messages
    this.root = undefined // BullMQ's backend, which makes those of types
    this.partitions = prefixesOf(name, partitions).map((prefix, index) => new Partition(index, prefix))
    this.places = new Map() // by type
    this.epoch = 0 // how often the connection was lost
    this.isClosed = false
    this.onReady = [] // called whenever the broker is there again
    this.onShaken = [] // called whenever a node of a Cluster was lost, or is there again
    this.waiters = new Set() // who waits for that
    this.lastError = undefined
  }

  /** Whether a call can be sent now. */
  get isReady () {
    return this.client.status === 'ready' && !this.isClosed
  }

  /**
   * Connects.
   * @returns {Promise<void>} rejects with FAIRLANE_ERR_BROKER, FAIRLANE_ERR_OPTION
   */
  async open () {
    const deadline = performance.now() + this.pushTimeoutMs
    try {
      this.client = this.makeClient('calls')
      define(this.client)
      this.client.on('close', () => { this.epoch++ })
      this.client.on('+node', node => this.watch(node)) // of a Cluster, whose own connection is never closed
      this.client.on('ready', () => {
        for (const resume of this.waiters) resume()
        for (const tell of this.onReady) tell()
      })
      await this.until(deadline, () => this.look())
      this.root = this.makeRoot()
      await this.until(deadline, () => this.root.waitUntilReady())
      await this.warnOfSettings()
    } catch (err) {
      this.disconnect()
      throw err
    }
  }

  /**
   * Makes a call, again and again while it fails by what passes.
   * @param {number} deadline by performance.now()
   * @param {(isRepeated: boolean) => Promise<any>} call
   * @param {(err: any) => void} [repeats] called before it is made again
   * @returns {Promise<any>} rejects with what the broker refuses the call with, or, when the time is up, FAIRLANE_ERR_BROKER
   */
  async until (deadline, call, repeats = ignore) {
    for (let count = 0; ; count++) {
      await this.whenReady(deadline)
      try {
        return await this.within(deadline, call(count > 0))
      } catch (err) {
        if (!isPassing(err)) throw err
        this.lastError = err
        repeats(err)
        await this.rest(deadline - performance.now(), pauseOf(count))
      }
    }
  }

  /** @returns {Promise<void>} rejects with FAIRLANE_ERR_BROKER when the time is up, or the queue has closed */
  async whenReady (deadline) {
    while (!this.isReady) await this.rest(deadline - performance.now(), Infinity)
  }

  /** The same for as long as a push is tried. */
  soon (call) {
    return this.until(performance.now() + this.pushTimeoutMs, call)
  }

  /** What the broker says of a type. It is kept as long as it is used. */
  place (type) {
    let place = this.places.get(type)
    if (place === undefined) {
      const name = nameOf(type)
      const partition = this.partitions[partitionOf(name, this.partitions.length)]
      place = new Place(type, name, partition, this.root.forQueue(name, partition.prefix))
      this.places.set(type, place)
    }
    place.usedAt = performance.now()
    return place
  }

  /** The same by its name at the broker. @returns {object | undefined} undefined if there can be no such type: others may write there too */
  placeOf (name) {
    try {
      return this.place(typeOf(name))
    } catch {
      return undefined
    }
  }

  /** Forgets the types that nobody here has had to do with for a while. O(types). */
  forgetPlaces (now) {
    for (const [type, place] of this.places) {
      if (place.usersCount === 0 && now - place.usedAt > FORGET_AFTER_MS) this.places.delete(type)
    }
  }

  /** Tells processes that types may have jobs. @returns {Promise<number[]>} how many wait, of each */
  announce ({ types, ready, workers, wake }, places) {
    const keys = [types, ready, workers, ...places.map(place => place.key('wait'))]
    return this.client.fairlaneAnnounce(keys.length, ...keys, 'PUBLISH', wake, ...places.map(({ name }) => name))
  }

  /** No job of a type is taken for so long. BullMQ heeds that where a type has a rate, so it gets one that is never reached. jobName: that was started. */
  hold (place, ms, jobName) {
    const keys = [place.key('meta'), place.key('limiter')]
    if (jobName !== undefined) keys.push(place.key(jobName))
    return this.client.fairlaneHold(keys.length, ...keys, ms, 'PUBLISH', place.partition.wake, place.name)
  }

  /** Has messages on a channel passed on, from when the promise has resolved. */
  async listen (channel, onMessage) {
    this.listeners.set(channel, onMessage)
    if (this.messages === undefined) {
      this.messages = this.makeClient('messages')
      this.messages.on('message', (from, message) => this.listeners.get(from)?.(message))
      this.messages.on('ready', () => { for (const tell of this.onReady) tell() })
    }
    await this.until(performance.now() + this.pushTimeoutMs, () => this.messages.subscribe(channel))
  }

  /** Lets go of the connections; what is on its way then is not waited for. */
  disconnect () {
    this.isClosed = true
    for (const resume of this.waiters) resume()
    for (const client of [this.client, this.messages]) client?.disconnect()
  }

  // private from here on

  makeClient (purpose) {
    const { connection } = this
    const client = typeof connection === 'function' ? connection(purpose) : this.clientOf(connection)
    if (typeof client?.defineCommand !== 'function') {
      throw typeError('FAIRLANE_ERR_OPTION', 'connection, as a function, must return a client of ioredis')
    }
    client.on('error', err => { this.lastError = err })
    return client
  }

  /** Each attempt to connect to a lost node ends with a close, too: only connections that were there count. */
  watch (node) {
    node.on('ready', () => {
      node.once('close', () => {
        this.epoch++
        for (const tell of this.onShaken) tell()
      })
      for (const tell of this.onShaken) tell()
    })
  }

  clientOf (connection) {
    const { Redis, Cluster } = this.peers
    // whatever is on its way when the connection ends fails: only the caller knows whether it can be made again
    const own = { maxRetriesPerRequest: 0, retryStrategy: pauseOf }
    if (this.isCluster) {
      // nodes that the first one names know nothing of its URL
      return new Cluster(connection, { redisOptions: { ...accessOf(connection[0]), ...own, retryStrategy: null }, clusterRetryStrategy: pauseOf })
    }
    if (typeof connection === 'string') return new Redis(connection, own)
    return new Redis({ retryStrategy: own.retryStrategy, ...connection, maxRetriesPerRequest: 0 })
  }

  /** The first look at the broker. */
  async look () {
    const { format: own } = Broker
    const count = this.partitions.length
    const kept = await this.client.fairlaneOpen(`{fairlane:${this.name}}:.queue`, own, count)
    const [format, partitions] = kept.map(Number)
    if (Math.abs(format - own) > 1) {
      throw new FairlaneError('FAIRLANE_ERR_BROKER', `The queue at the broker has format ${format}, which this version does not know`)
    }
    if (partitions !== count) {
      throw typeError('FAIRLANE_ERR_OPTION', `partitions is ${count}, and the queue at the broker has ${partitions}`)
    }
  }

  makeRoot () {
    const root = this.peers.createRedisBackend('.root', {
      connection: this.client,
      prefix: this.partitions[0].prefix,
      skipVersionCheck: true,
      lockDuration: this.leaseMs,
      stalledInterval: Math.floor(this.leaseMs / 4),
      maxStalledCount: MOST_STALLS
    })
    root.on('error', ignore) // of the client, which tells it here too
    return root
  }

  /** What a broker should not be, where it may be asked for that. */
  async warnOfSettings () {
    const info = await this.client.info().catch(() => '')
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction'
    const faults = []
    if (policy !== 'noeviction') faults.push(`its maxmemory-policy is ${policy}, by which jobs may vanish: it should be noeviction`)
    if (/^aof_enabled:0/m.test(info)) faults.push('appendonly is off, so that it loses jobs when it ends')
    if (this.isCluster) {
      const [, isWhole] = await this.client.config('GET', 'cluster-require-full-coverage').catch(() => [])
      if (isWhole === 'yes') faults.push('cluster-require-full-coverage is yes, so that all types stop when one master is lost')
    }
    if (faults.length > 0) warn('FAIRLANE_WARN_BROKER', `The broker of the queue ${this.name} is not set up to keep jobs: ${faults.join('; ')}.`)
  }

  async within (deadline, promise) {
    const ms = deadline - performance.now()
    if (ms === Infinity) return promise
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(this.away()), Math.min(Math.max(ms, 0), LONGEST_TIMER_MS))
    })
    try {
      return await Promise.race([promise, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Waits for so long, until the broker is there again, or the time is up. */
  rest (leftMs, ms) {
    if (this.isClosed || leftMs <= 0) return Promise.reject(this.away())
    return new Promise(resolve => {
      const resume = () => {
        clearTimeout(timer)
        this.waiters.delete(resume)
        resolve()
      }
      const timer = setTimeout(resume, Math.min(ms, leftMs, LONGEST_TIMER_MS))
      this.waiters.add(resume)
    })
  }

  away () {
    return brokerError(this.lastError ?? new Error('no connection'))
  }
}

/** Types whose keys are on one node. */
class Partition {
  constructor (index, prefix) {
    this.index = index
    this.prefix = prefix
    this.isAway = false // its master does not answer: what a process that runs jobs finds out (scout.js)
    this.types = this.key('types')
    this.ready = this.key('ready')
    this.workers = this.key('workers')
    this.wake = this.key('wake')
  }

  key (what) {
    return `${this.prefix}:.${what}`
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

/** Whether what a call failed with says nothing of the call itself. */
function isPassing (err) {
  return PASSING.test(err?.message) || PASSING.test(err?.code)
}

/** What callers get of an error of the broker. */
function brokerError (cause) {
  if (cause instanceof FairlaneError) return cause
  return new FairlaneError('FAIRLANE_ERR_BROKER', `The broker failed: ${cause.message}`, { cause })
}

/** After so many tries. */
function pauseOf (count) {
  return Math.min(20 * 2 ** count, LONGEST_PAUSE_MS)
}

function ignore () {}

module.exports = { Broker, isPassing, brokerError }
