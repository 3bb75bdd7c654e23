'use strict'

// Messages of the broker, which come through one plain client at a time: of a Redis Cluster too, which passes them on to all its nodes,
// so that any node will do (docs/decisions/0056). Channels are subscribed to again with each new connection, here and not by the
// client, which would not tell of its failures.
//
//   open ──▶ connecting ──ready──▶ subscribed ──no answer, refused──▶ later, disconnected ──▶ connecting, or at its end another client
//               └── not ready for long ──▶ disconnected

const { pauseOf } = require('./clients')
const { NO_NODE } = require('./failures')
const { jsonOf } = require('./received')

const ANSWER_MS = 5000 // a node that takes longer for an answer is given up
const CHECK_MS = 10000 // how often it is asked for one
const STEADY_MS = 5000 // a connection that lasted so long was a good one

class Messages {
  /**
   * @param {() => object | undefined} connect makes a client; undefined while no node is known
   * @param {{ restored: () => void, unreadable: (channel: string) => void }} hooks restored: messages come again, and some may have
   *   been lost
   */
  constructor (connect, hooks) {
    this.connect = connect
    this.hooks = hooks
    this.listeners = new Map() // channel → what is called with its messages
    this.channels = new Set() // that were subscribed to
    this.client = undefined
    this.connection = 0 // which one it is that is there, or was last
    this.readyAt = Infinity // since when, by performance.now()
    this.failuresCount = 0 // in a row
    this.timer = undefined // at most one: what is to be done next
    this.isOver = false
  }

  /**
   * Has messages on a channel passed on: what their JSON says. A listener returns false if that makes no sense.
   * @param {string} channel
   * @param {(message: any) => boolean} onMessage
   * @returns {Promise<void>} resolves when they come
   */
  async listen (channel, onMessage) {
    this.listeners.set(channel, onMessage)
    if (this.client === undefined && this.timer === undefined) this.open()
    if (this.client === undefined) throw new Error(NO_NODE)
    await this.client.subscribe(channel)
    this.channels.add(channel)
  }

  close () {
    this.isOver = true
    clearTimeout(this.timer)
    this.client?.disconnect()
  }

  // private from here on

  open () {
    this.timer = undefined
    const client = this.client = this.connect()
    if (client === undefined) {
      this.openLater()
      return
    }
    client.on('error', ignore) // they are those of the connection for calls, or it is made again
    client.on('message', (channel, text) => this.received(channel, text))
    client.on('connecting', () => this.awaitReady(client))
    client.on('ready', () => this.attend(client))
    client.on('close', () => this.disconnected())
    client.on('end', () => {
      this.client = undefined
      this.openLater()
    })
    if (client.status === 'ready') this.attend(client)
    else this.awaitReady(client)
  }

  openLater () {
    this.next(pauseOf(this.failuresCount++), () => this.open())
  }

  disconnected () {
    clearTimeout(this.timer)
    if (performance.now() - this.readyAt >= STEADY_MS) this.failuresCount = 0
    this.readyAt = Infinity
    this.connection++
  }

  awaitReady (client) {
    this.next(ANSWER_MS, () => client.disconnect(true))
  }

  /** A connection is there. */
  attend (client) {
    clearTimeout(this.timer)
    this.readyAt = performance.now()
    if (this.channels.size === 0) {
      this.check(client)
      return
    }
    this.await(client, client.subscribe(...this.channels), () => {
      this.hooks.restored()
      this.check(client)
    })
  }

  /** A connection may be lost without a word. */
  check (client) {
    this.next(CHECK_MS, () => this.await(client, client.ping(), () => this.check(client)))
  }

  /** A node that does not answer, or refuses, is given up, after a while. */
  await (client, answer, then) {
    const { connection } = this
    const isCurrent = () => connection === this.connection
    this.next(ANSWER_MS, () => client.disconnect(true))
    answer.then(
      () => { if (isCurrent()) then() },
      () => { if (isCurrent()) this.next(pauseOf(this.failuresCount++), () => client.disconnect(true)) }
    )
  }

  next (ms, fn) {
    clearTimeout(this.timer)
    if (!this.isOver) this.timer = setTimeout(fn, ms)
  }

  received (channel, text) {
    const listener = this.listeners.get(channel)
    if (listener !== undefined && !listener(jsonOf(text))) this.hooks.unreadable(channel)
  }
}

function ignore () {}

module.exports = { Messages }
