'use strict'

// The connections to the broker: one for calls, and, from the first need on, one for messages. Calls that fail since the broker is away, or
// not what it is expected to be, are told from those that it refuses (failures.js); the caller says for how long a call is tried again.

const { typeError, FairlaneError, warn } = require('../../arguments/errors')
const { MessageClients, makeClient, pauseOf } = require('./clients')
const { brokerError, causeOf, isDenied, isPassing } = require('./failures')
const { Messages } = require('./messages')
const { nameOf, partitionOf, prefixesOf, typeOf } = require('../names')
const { Place } = require('./place')
const { Questions } = require('./questions')
const { define } = require('./scripts')
const { Troubles } = require('./troubles')

const MOST_STALLS = 2 ** 31 - 1 // how often is too often, is decided here, not by BullMQ
const LONGEST_TIMER_MS = 2 ** 31 - 1
const FORGET_AFTER_MS = 60000
const WAITING = ['wait', 'prioritized', 'delayed'] // where jobs of a type wait

class Broker {
  static format = 3 // of what this version keeps at the broker

  /**
   * @param {object} options read; token: what this process is called
   * @param {object} peers of loadPeers()
   * @param {(error: Error) => void} tell of what goes wrong and no call is waiting for
   */
  constructor ({ name, token, connection, isCluster, partitions, leaseMs, pushTimeoutMs, serialize }, peers, tell) {
    this.name = name
    this.token = token
    this.connection = connection
    this.isCluster = isCluster
    this.leaseMs = leaseMs
    this.pushTimeoutMs = pushTimeoutMs
    this.serializer = serialize.name
    this.peers = peers
    this.client = undefined
    this.messageClients = undefined
    this.messages = undefined
    this.questions = new Questions(this)
    this.troubles = new Troubles(name, error => {
      this.failed(error)
      tell(error)
    })
    this.root = undefined // BullMQ's backend, which makes those of types
    this.partitions = prefixesOf(name, partitions).map(prefix => new Partition(prefix))
    this.places = new Map() // by type
    this.epoch = 0 // how often the connection was lost
    this.isClosed = false
    this.onReady = [] // called whenever the broker is there again
    this.onShaken = [] // called whenever a node of a Cluster was lost, or is there again
    this.waiters = new Set() // resolve pauses that end when the broker is there
    this.lastError = undefined // of the connection for calls
    this.latestError = undefined // of that, or of what it was told to do
    this.latestErrorAt = undefined // in ms since 1970
    this.lastAnswerAt = undefined // when a call was answered that was not asked for a job, in ms since 1970
    this.denial = undefined // what that is refused with, if no retry mends it
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
      this.client = makeClient(this, this.peers, 'calls')
      this.isCluster ||= this.client.isCluster === true
      this.messageClients = new MessageClients(this, this.peers, this.client)
      this.messages = new Messages(() => this.messageClients.make(), {
        restored: () => { for (const tell of this.onReady) tell() },
        unreadable: channel => this.troubles.unreadable(`a message on the channel ${channel}`)
      })
      this.client.on('error', err => this.unreachable(err))
      define(this.client)
      this.client.on('close', () => { this.epoch++ })
      this.client.on('+node', node => this.watch(node)) // of a Cluster, whose own connection is never closed
      this.client.on('ready', () => {
        this.denial = undefined
        for (const resume of this.waiters) resume()
        for (const tell of this.onReady) tell()
      })
      await this.until(deadline, () => this.look(), { what: 'The first look at the broker' })
      this.root = this.makeRoot()
      await this.until(deadline, () => this.root.waitUntilReady())
      await this.warnOfSettings()
    } catch (err) {
      this.disconnect()
      throw brokerError(err)
    }
  }

  /**
   * Makes a call, again and again while it fails by what passes.
   * @param {number} deadline by performance.now(), at most pushTimeoutMs from now; Infinity: also while the broker lets nobody in
   * @param {(isRepeated: boolean) => Promise<any>} call
   * @param {{ what?: string, repeats?: (err: any) => void }} [told] what: the call, as an error names it; repeats: called before each
   *   repetition
   * @returns {Promise<any>} rejects with what the broker refuses the call with, or, when the time is up, FAIRLANE_ERR_BROKER
   */
  async until (deadline, call, { what = 'A call to the broker', repeats = ignore } = {}) {
    const attempt = { what, deadline, failure: undefined }
    for (let count = 0; ; count++) {
      while (!this.isReady) await this.rest(attempt, Infinity)
      try {
        const answer = await this.within(attempt, call(count > 0))
        this.lastAnswerAt = Date.now()
        return answer
      } catch (err) {
        if (!isPassing(err)) throw err
        attempt.failure = err
        repeats(err)
        await this.rest(attempt, pauseOf(count))
      }
    }
  }

  /** The same for as long as a push is tried. */
  soon (call) {
    return this.until(performance.now() + this.pushTimeoutMs, call)
  }

  /**
   * Makes calls together that change nothing, and those that others make in this turn with them. In a Redis Cluster each goes for itself:
   * ioredis would have all of a pipeline follow one of them to where a slot moves, and what has not moved yet would be missing.
   * @param {[string, ...any[]][]} calls names of methods, and arguments
   * @returns {Promise<any[]>} rejects with the first error among the answers
   */
  askAll (calls) {
    return this.isCluster ? Promise.all(calls.map(([name, ...args]) => this.client[name](...args))) : this.questions.ask(calls)
  }

  /** Where a type is at the broker. It is kept as long as it is used. */
  place (type) {
    let place = this.places.get(type)
    if (place === undefined) {
      const name = nameOf(type)
      const partition = this.partitions[partitionOf(name, this.partitions.length)]
      place = new Place(type, name, partition, this.root)
      this.places.set(type, place)
    }
    place.usedAt = performance.now()
    return place
  }

  /** The same by its name at the broker. @returns {object | undefined} undefined if no type has such a name: other tools may write there */
  placeOf (name) {
    try {
      return this.place(typeOf(name))
    } catch {
      return undefined
    }
  }

  /** Forgets the types that this process has had nothing to do with for a while. O(types). */
  forgetPlaces (now) {
    for (const [type, place] of this.places) {
      if (place.usersCount === 0 && now - place.usedAt > FORGET_AFTER_MS) this.places.delete(type)
    }
  }

  /** Tells processes that types may have jobs. @returns {Promise<(number | string)[]>} how many wait, of each, or the text of an error */
  announce ({ types, ready, workers, wake }, places) {
    const keys = [types, ready, workers, ...places.flatMap(place => place.keysOf(WAITING))]
    return this.client.fairlaneAnnounce(keys.length, ...keys, 'PUBLISH', wake, ...places.map(({ name }) => name))
  }

  /**
   * Publishes a message on a channel of a partition. A Redis Cluster gets it where the partition is: those that go in at different nodes
   * overtake each other.
   * @returns {Promise<any>}
   */
  publish (channel, message) {
    const text = JSON.stringify(message)
    return this.isCluster ? this.client.fairlanePublish(channel, 'PUBLISH', text) : this.client.publish(channel, text)
  }

  /** Tells all other processes that take jobs of it that something has changed of what limits a type. @returns {Promise<any>} */
  publishChanged ({ partition, name }) {
    return this.publish(partition.wake, { changed: name, by: this.token })
  }

  /**
   * No job of a type is taken for so long; 0 ends that. Tells as publishChanged() does.
   * @param {string} [jobName] of a job that was started meanwhile
   */
  hold (place, ms, jobName) {
    const keys = [place.key('limiter')]
    if (jobName !== undefined) keys.push(place.key(jobName))
    return this.client.fairlaneHold(keys.length, ...keys, ms, 'PUBLISH', place.partition.wake, place.name, this.token)
  }

  /** Has messages on a channel passed on, as Messages does. */
  async listen (channel, onMessage) {
    await this.until(performance.now() + this.pushTimeoutMs, () => this.messages.listen(channel, onMessage))
  }

  /** Lets go of the connections; what is on its way then is not waited for. */
  disconnect () {
    this.isClosed = true
    for (const resume of this.waiters) resume()
    this.client?.disconnect()
    this.messages?.close()
    this.messageClients?.close()
  }

  // private from here on

  /** The connection for calls has failed. */
  unreachable (err) {
    this.lastError = causeOf(err)
    this.failed(this.lastError)
    this.denial = isDenied(err) ? this.lastError : undefined
    if (this.denial !== undefined) for (const resume of this.waiters) resume()
  }

  failed (error) {
    this.latestError = error
    this.latestErrorAt = Date.now()
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

  /** The first look at the broker. */
  async look () {
    const own = String(Broker.format)
    const { name, serializer: encoding, partitions: { length: count } } = this
    const shared = ['partitions', count, 'serializer', encoding]
    const [format, partitions, serializer] = await this.client.fairlaneOpen(`{fairlane:${name}}:.queue`, own, ...shared)
    if (format !== own) {
      const message = `The queue ${name} at the broker has format ${format}, and this version of fairlane knows ${own}`
      throw new FairlaneError('FAIRLANE_ERR_BROKER', `${message}: let processes of the other version empty it, or use another name`)
    }
    if (Number(partitions) !== count) {
      const message = `partitions is ${count}, and the queue ${name} at the broker has ${partitions}`
      throw typeError('FAIRLANE_ERR_OPTION', `${message}: use the same number, or another name`)
    }
    if (serializer !== encoding) {
      const message = `The jobs at the broker were pushed with serialize: '${serializer}', and the queue was opened with '${encoding}'`
      throw new FairlaneError('FAIRLANE_ERR_SERIALIZER', `${message} (${name})`)
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
    if (policy !== 'noeviction') faults.push(`its maxmemory-policy is ${policy}, so jobs may vanish: set it to noeviction`)
    if (/^aof_enabled:0/m.test(info)) faults.push('appendonly is off, so it loses jobs when it stops: set it to yes')
    if (this.isCluster) {
      const [, isWhole] = await this.client.config('GET', 'cluster-require-full-coverage').catch(() => [])
      if (isWhole === 'yes') faults.push('cluster-require-full-coverage is yes, so all types stop when one master is lost: set it to no')
    }
    if (faults.length === 0) return
    warn('FAIRLANE_WARN_BROKER', `The broker of the queue ${this.name} is not configured to keep jobs: ${faults.join('; ')}.`)
  }

  async within (attempt, promise) {
    const ms = attempt.deadline - performance.now()
    if (ms === Infinity) return promise
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(this.timeUp(attempt)), Math.min(Math.max(ms, 0), LONGEST_TIMER_MS))
    })
    try {
      return await Promise.race([promise, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Waits for so long, until the broker is there again, or the time is up. Rejects if waiting is no use. */
  rest (attempt, ms) {
    const leftMs = attempt.deadline - performance.now()
    if (this.isClosed || leftMs <= 0) return Promise.reject(this.timeUp(attempt))
    if (this.denial !== undefined && attempt.deadline !== Infinity) return Promise.reject(this.denial)
    return this.pause(Math.min(ms, leftMs))
  }

  /** Waits for so long, or until the broker is there again. */
  pause (ms) {
    return new Promise(resolve => {
      const resume = () => {
        clearTimeout(timer)
        this.waiters.delete(resume)
        resolve()
      }
      const timer = setTimeout(resume, Math.min(ms, LONGEST_TIMER_MS))
      this.waiters.add(resume)
    })
  }

  /** What is told of a call that has no time left, with what it failed with last; if it was not even made, with what the connection did. */
  timeUp ({ what, failure = this.lastError ?? new Error('there was no answer') }) {
    const when = this.isClosed ? 'when the queue closed' : `after ${this.pushTimeoutMs} ms`
    const cause = causeOf(failure)
    return new FairlaneError('FAIRLANE_ERR_BROKER', `${what} was given up ${when}: ${cause.message}`, { cause })
  }
}

/** Types whose keys are on one node. */
class Partition {
  constructor (prefix) {
    this.prefix = prefix
    this.answersCount = 0 // of questions why jobs wait (explaining.js)
    this.isAway = false // its master does not answer: what a process that runs jobs finds out (scout.js)
    this.types = this.key('types')
    this.ready = this.key('ready')
    this.workers = this.key('workers')
    this.wake = this.key('wake')
    this.walked = this.key('walked')
    this.times = this.key('times')
    this.limits = this.key('limits')
    this.generation = '' // of the limits that this process knows
  }

  key (what) {
    return `${this.prefix}:.${what}`
  }
}

function ignore () {}

module.exports = { Broker }
