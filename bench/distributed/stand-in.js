'use strict'

// A fleet without a machine room: distributed queues by the hundred in this process, in virtual time, at a broker that is a few Maps and
// counts calls. It replaces the timers, clocks and random numbers of the process, and what bullmq and ioredis are: so it is to be loaded
// before the queues, in a process of its own. A call reaches the broker at once, and is answered RTT_MS later; messages take as long.

const crypto = require('node:crypto')
const { EventEmitter } = require('node:events')
const { FIELDS_TAKEN, KEYS_COUNT } = require('../../lib/distributed/broker/scripts/take')
const { Heap } = require('../../lib/platform/heap')
const { randomNumbers } = require('../simulation')

const RTT_MS = 1
const GENERATION = '1' // of limits, of which there are none
const EPOCH = 1e12
/** Turns of the event loop in which all is done that a moment brings. */
const TURNS = 6

const turn = globalThis.setImmediate
const timers = new Heap()
let now = 0
let order = 0

function startTimer (fn, ms = 0, ...args) {
  const timer = { position: -1, order: order++, call: () => fn(...args), unref: () => timer, ref: () => timer }
  timers.insert(timer, Math.ceil(now + Math.max(ms, 0)))
  return timer
}

function stopTimer (timer) {
  if (timer?.position >= 0) timers.remove(timer.position)
}

function repeat (fn, ms) {
  const again = () => {
    fn()
    timer.next = startTimer(again, ms)
  }
  const timer = { next: startTimer(again, ms), unref: () => timer, ref: () => timer }
  return timer
}

/** @param {number} seed */
function replaceGlobals (seed) {
  const random = randomNumbers(seed)
  Math.random = random
  crypto.randomInt = max => Math.floor(random() * max)
  Date.now = () => EPOCH + now
  performance.now = () => now
  Object.assign(globalThis, {
    setTimeout: startTimer, clearTimeout: stopTimer, setInterval: repeat, clearInterval: timer => stopTimer(timer?.next)
  })
}

/** Lets time go by, up to `end` in ms, or until isOver(). */
async function goOn (end, isOver = () => false) {
  await settle()
  while (!isOver() && timers.size > 0 && timers.keys[0] <= end) {
    now = timers.keys[0]
    while (timers.size > 0 && timers.keys[0] === now) {
      const [timer] = timers.items
      timers.remove(0)
      timer.call()
    }
    await settle()
  }
  if (end !== Infinity) now = Math.max(now, end)
}

async function settle () {
  for (let i = 0; i < TURNS; i++) await new Promise(resolve => turn(resolve))
}

/** What a server of a single partition would have, as far as these loads go. */
class Broker {
  constructor () {
    this.calls = new Map() // name → how many
    this.queues = new Map() // name of the type → { waiting, activeCount, isIdle }
    this.sets = new Map() // key → Set
    this.keeperUntil = -1
    this.subscribers = new Map() // channel → clients
  }

  get callsCount () {
    let count = 0
    for (const own of this.calls.values()) count += own
    return count
  }

  /** Counts a call. @returns {Promise<any>} its answer, when it is there */
  answer (name, value) {
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1)
    return new Promise(resolve => startTimer(resolve, RTT_MS, value))
  }

  queue (name) {
    if (!this.queues.has(name)) this.queues.set(name, { waiting: [], activeCount: 0, isIdle: false })
    return this.queues.get(name)
  }

  /** A job of a type, as scripts/take.js gives it. */
  take (name, readyKey) {
    const queue = this.queue(name)
    const next = queue.waiting.shift()
    const isDry = Number(queue.waiting.length === 0)
    if (isDry) this.set(readyKey).delete(name)
    if (next === undefined) return [0, 0, 0, 0, GENERATION, 0, 0, 0, '', '', isDry]
    queue.activeCount++
    const record = { data: next.data, timestamp: String(next.timestamp), opts: '{}', ats: '1' }
    return [FIELDS_TAKEN.map(name => record[name] ?? null), next.name, 0, 0, GENERATION, 0, 0, 0, '', String(next.timestamp), isDry]
  }

  set (key) {
    if (!this.sets.has(key)) this.sets.set(key, new Set())
    return this.sets.get(key)
  }

  publish (channel, message) {
    const clients = this.subscribers.get(channel) ?? []
    startTimer(() => { for (const client of clients) client.emit('message', channel, message) }, RTT_MS)
  }

  /** Types are ready. */
  makeReady (readyKey, workersKey, wake, names) {
    const ready = this.set(readyKey)
    const fresh = names.filter(name => !ready.has(name))
    for (const name of fresh) ready.add(name)
    if (fresh.length > 0) this.publish(wake, JSON.stringify([this.set(workersKey).size, fresh]))
  }
}

/** A client of ioredis: what is called of one, with our scripts. */
class Client extends EventEmitter {
  constructor (broker) {
    super()
    this.broker = broker
    this.options = {}
    this.status = 'ready'
    this.scans = new Map() // key → what is scanned
  }

  defineCommand () {}
  disconnect () {}

  info () { return this.broker.answer('info', '') }
  ping () { return this.broker.answer('ping', 'PONG') }
  zadd (key, score, member) { return this.broker.answer('zadd', this.broker.set(key).add(member).size) }
  zrem (key, member) { return this.broker.answer('zrem', Number(this.broker.set(key).delete(member))) }
  zremrangebyscore () { return this.broker.answer('zremrangebyscore', 0) }
  smismember (key, ...names) { return this.broker.answer('smismember', names.map(name => Number(this.broker.set(key).has(name)))) }

  subscribe (channel) {
    const { subscribers } = this.broker
    if (!subscribers.has(channel)) subscribers.set(channel, [])
    subscribers.get(channel).push(this)
    return this.broker.answer('subscribe', 1)
  }

  publish (channel, message) {
    this.broker.publish(channel, message)
    return this.broker.answer('publish', 1)
  }

  exists () { return this.broker.answer('exists', 0) }

  set (key) {
    const { broker } = this
    if (!key.endsWith('.keeper')) return broker.answer('set', 'OK')
    const isFree = now >= broker.keeperUntil
    if (isFree) broker.keeperUntil = now + 14000
    return broker.answer('set', isFree ? 'OK' : null)
  }

  sscan (key, cursor, count, most) {
    if (cursor === '0') this.scans.set(key, [...this.broker.set(key)])
    const all = this.scans.get(key)
    const end = Number(cursor) + most
    return this.broker.answer('sscan', [end < all.length ? String(end) : '0', all.slice(Number(cursor), end)])
  }

  fairlaneOpen (key, format, ...shared) { return this.broker.answer('fairlaneOpen', [format, ...shared.filter((_, i) => i % 2 === 1)].map(String)) }
  fairlaneTerms () { return this.broker.answer('fairlaneTerms', [GENERATION, EPOCH + now, []]) }
  fairlaneSetTerms () { return this.broker.answer('fairlaneSetTerms', GENERATION) }
  fairlaneCopyTerms () { return this.broker.answer('fairlaneCopyTerms', GENERATION) }

  fairlanePush (count, ...rest) {
    const [,, ...args] = rest.slice(count)
    const answers = []
    while (args.length > 0) {
      const [prefix,, jobsCount] = args.splice(0, 3)
      const queue = this.broker.queue(nameIn(prefix))
      queue.isIdle = false
      answers.push(Array.from({ length: jobsCount }, () => {
        const [name, data] = args.splice(0, 4)
        queue.waiting.push({ name, data, timestamp: EPOCH + now })
        return [name, 0]
      }))
    }
    return this.broker.answer('fairlanePush', answers)
  }

  fairlaneTake (...args) { return this.broker.answer('fairlaneTake', this.broker.take(args[KEYS_COUNT + 1], args[KEYS_COUNT - 1])) }

  fairlaneEnd (count, ...rest) {
    const [, name,,,, kind,,, fetches,,,, other] = rest.slice(count)
    if (kind !== 'done') throw new Error('nothing goes back here')
    this.broker.queue(name).activeCount--
    return this.broker.answer('fairlaneEnd', fetches === 1 ? this.broker.take(other || name, rest[KEYS_COUNT - 1]) : [0, 0, 0, 0, GENERATION, 0, 0])
  }

  fairlaneAnnounce (count, types, ready, workers, ...rest) {
    const [, wake, ...names] = rest.slice(count - 3)
    for (const name of names) this.broker.set(types).add(name)
    this.broker.makeReady(ready, workers, wake, names)
    return this.broker.answer('fairlaneAnnounce', names.map(name => this.broker.queue(name).waiting.length))
  }

  fairlaneWalk (count, types, ready, workers, ...rest) {
    const { broker } = this
    const [, wake,, , ...names] = rest.slice(count - 3)
    broker.makeReady(ready, workers, wake, names.filter(name => broker.queue(name).waiting.length > 0))
    const bits = names.map(name => {
      const queue = broker.queue(name)
      if (queue.waiting.length + queue.activeCount > 0) return 0
      if (queue.isIdle) {
        for (const key of [types, ready]) broker.set(key).delete(name)
        broker.queues.delete(name)
      }
      queue.isIdle = true
      return 0
    })
    return broker.answer('fairlaneWalk', bits)
  }
}

/** BullMQ's backend of a type. */
class Backend {
  constructor (broker, name, prefix) {
    this.broker = broker
    this.name = name
    this.prefix = prefix
  }

  on () {}
  waitUntilReady () { return Promise.resolve() }
  forQueue (name, prefix) { return new Backend(this.broker, name, prefix) }
  toKey (what) { return `${this.prefix}:${this.name}:${what}` }

  extendLocks () { return this.broker.answer('extendLocks', []) }
}

/** The name of a type in what its keys begin with. */
function nameIn (prefix) {
  return prefix.slice(prefix.indexOf('}:') + 2, -1)
}

/** Has queues that are opened from now on be at this broker. */
function replacePeers (broker) {
  const path = require.resolve('../../lib/distributed/broker/peers')
  const loadPeers = () => ({ createRedisBackend: () => new Backend(broker, '.root', ''), Redis: Client, Cluster: Client })
  require.cache[path] = { id: path, filename: path, loaded: true, exports: { loadPeers } }
}

module.exports = {
  Broker,
  Client,
  goOn,
  replaceGlobals,
  replacePeers,
  time: () => now,
  sleep: ms => new Promise(resolve => startTimer(resolve, ms))
}
