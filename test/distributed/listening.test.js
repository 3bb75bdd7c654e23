'use strict'

// The client that messages come through, by itself: what is done with one that ends, refuses, or does not answer, and when.

const assert = require('node:assert')
const { EventEmitter } = require('node:events')
const { MessageClients } = require('../../lib/distributed/broker/clients')
const { isPassing } = require('../../lib/distributed/broker/failures')
const { Messages } = require('../../lib/distributed/broker/messages')
const { stoppedTime } = require('../support/time')
const { turn } = require('../support/turns')

class FakeClient extends EventEmitter {
  constructor (status) {
    super()
    this.status = status
    this.calls = []
    this.answer = async () => 'OK'
  }

  subscribe (...channels) { return this.call('subscribe', ...channels) }
  ping () { return this.call('ping') }
  disconnect (reconnects = false) { this.calls.push(['disconnect', reconnects]) }

  call (...call) {
    this.calls.push(call)
    return this.answer()
  }

  become (...statuses) {
    for (const status of statuses) {
      this.status = status
      this.emit(status)
    }
    return turn()
  }
}

describe('the client for messages', () => {
  const { setTimeout, clearTimeout } = global
  let timer, time, clients, isThere, told, messages

  beforeEach(() => {
    timer = undefined
    global.setTimeout = (fn, ms) => (timer = { fn, ms })
    global.clearTimeout = old => { if (old === timer) timer = undefined }
    time = stoppedTime(1000)
    clients = []
    isThere = true
    told = []
    const connect = () => {
      if (!isThere) return undefined
      clients.push(new FakeClient('connecting'))
      return clients.at(-1)
    }
    messages = new Messages(
      connect, { restored: () => told.push('restored'), unreadable: channel => told.push(`unreadable at ${channel}`) }
    )
  })

  afterEach(() => {
    Object.assign(global, { setTimeout, clearTimeout })
    time.release()
  })

  /** The time has come for what is next. @returns {Promise<number>} after how long */
  async function next () {
    const { fn, ms } = timer
    timer = undefined
    fn()
    await turn()
    return ms
  }

  const hear = message => {
    told.push(message)
    return message !== 'nonsense'
  }

  async function listening () {
    await messages.listen('a', hear)
    await clients[0].become('ready')
    clients[0].calls.length = told.length = 0
    return clients[0]
  }

  it('is one for all channels, and passes on what their JSON says', async () => {
    const client = await listening()
    await messages.listen('b', hear)
    assert.equal(clients.length, 1)
    for (const [channel, text] of [
      ['a', '[1]'], ['b', '"nonsense"'], ['c', '1'], ['a', '[1'], ['a', '']
    ]) client.emit('message', channel, text)
    assert.deepEqual(told, [[1], 'nonsense', 'unreadable at b', undefined, undefined])
  })

  it('has those that cannot be read told, and who listens decides', async () => {
    const client = await listening()
    messages.listeners.set('a', message => message !== undefined)
    client.emit('message', 'a', '{')
    assert.deepEqual(told, ['unreadable at a'])
  })

  it('subscribes to all that is listened to whenever its connection is there again, and says so when that is done', async () => {
    const client = await listening()
    await messages.listen('b', hear)
    client.calls.length = 0
    await client.become('close', 'reconnecting', 'connecting', 'ready')
    assert.deepEqual([client.calls, told], [[['subscribe', 'a', 'b']], ['restored']])
    client.answer = () => new Promise(() => {})
    await client.become('close', 'connecting', 'ready')
    assert.deepEqual(told, ['restored'])
  })

  it('does not subscribe to what could not be listened to yet', async () => {
    const heard = messages.listen('a', hear)
    clients[0].answer = () => Promise.reject(new Error('NOPERM'))
    await heard
    await assert.rejects(messages.listen('b', hear), /NOPERM/)
    clients[0].answer = async () => 'OK'
    await clients[0].become('close', 'connecting', 'ready')
    assert.deepEqual(clients[0].calls.at(-1), ['subscribe', 'a'])
  })

  it('is disconnected when it is not ready after 5 s', async () => {
    const client = await listening()
    await client.become('close', 'connecting')
    assert.equal(await next(), 5000)
    assert.deepEqual(client.calls, [['disconnect', true]])
  })

  it('is asked every 10 s whether its node is there, and disconnected when that does not answer', async () => {
    const client = await listening()
    for (let times = 0; times < 2; times++) assert.equal(await next(), 10000)
    client.answer = () => new Promise(() => {})
    assert.equal(await next(), 10000)
    assert.equal(await next(), 5000)
    assert.deepEqual(client.calls, [['ping'], ['ping'], ['ping'], ['disconnect', true]])
  })

  it('is disconnected when it is refused, after ever longer pauses, which are short again after a connection that lasted', async () => {
    const client = await listening()
    client.answer = () => Promise.reject(new Error('NOPERM'))
    const pauses = []
    for (let times = 0; times < 8; times++) {
      await client.become('close', 'connecting', 'ready')
      pauses.push(await next())
    }
    assert.deepEqual(pauses, [20, 40, 80, 160, 320, 640, 1000, 1000])
    time.pass(4999)
    await client.become('close', 'connecting', 'ready')
    assert.equal(await next(), 1000)
    time.pass(5000)
    await client.become('close', 'connecting', 'ready')
    assert.equal(await next(), 20)
    assert(client.calls.every(([name]) => name !== 'ping'))
  })

  it('is left alone by what an earlier connection of it said', async () => {
    const client = await listening()
    const answers = []
    client.answer = () => new Promise((resolve, reject) => answers.push({ resolve, reject }))
    for (let times = 0; times < 3; times++) await client.become('close', 'connecting', 'ready')
    answers[0].reject(new Error('Connection is closed.'))
    answers[1].resolve()
    await turn()
    assert.deepEqual([told, timer.ms], [[], 5000])
    answers[2].resolve()
    await turn()
    assert.deepEqual([told, timer.ms], [['restored'], 10000])
  })

  it('is followed by another one when it has ended, after ever longer pauses; none is made while no node is known', async () => {
    const client = await listening()
    await client.become('close', 'end')
    assert.equal(await next(), 20)
    assert.equal(clients.length, 2)
    await clients[1].become('close', 'end')
    isThere = false
    assert.deepEqual([await next(), await next()], [40, 80])
    await assert.rejects(messages.listen('b', hear), err => isPassing(err))
    isThere = true
    assert.equal(await next(), 160)
    assert.equal(clients.length, 3)
    await clients[2].become('ready')
    assert.deepEqual([clients[2].calls, told], [[['subscribe', 'a']], ['restored']])
  })

  it('is made with the first channel: if no node is known, later', async () => {
    isThere = false
    await assert.rejects(messages.listen('a', hear), err => isPassing(err))
    await assert.rejects(messages.listen('a', hear), err => isPassing(err))
    isThere = true
    assert.equal(await next(), 20)
    await messages.listen('a', hear)
    assert.deepEqual(clients[0].calls, [['subscribe', 'a']])
  })

  it('may be ready when it is made', async () => {
    messages.connect = () => {
      clients.push(new FakeClient('ready'))
      return clients[0]
    }
    await messages.listen('a', hear)
    assert.equal(timer.ms, 10000)
  })

  it('is not followed by another one when all is over', async () => {
    const client = await listening()
    messages.close()
    assert.deepEqual(client.calls, [['disconnect', false]])
    await client.become('close', 'end')
    assert.equal(timer, undefined)
    messages.close()
  })
})

describe('clients for messages', () => {
  /** A client of a Redis Cluster that knows of such nodes. */
  const clusterOf = hosts => Object.assign(new EventEmitter(), {
    isCluster: true,
    defineCommand () {},
    nodes: () => hosts.map(host => ({ options: { host, port: 1 }, duplicate: more => ({ host, ...more }) })),
    disconnect () { this.isOver = true }
  })

  it('of a Cluster are those of any node, but the last one if there are others', () => {
    const hosts = ['a', 'b', 'c']
    const clients = new MessageClients({ isCluster: true, connection: [] }, {}, clusterOf(hosts))
    const seen = new Set()
    for (let last, times = 0; times < 200; times++) {
      const { host } = clients.make()
      assert.notEqual(host, last)
      seen.add(last = host)
    }
    assert.equal(seen.size, 3)
    hosts.splice(1)
    assert.deepEqual([clients.make().host, clients.make().host], ['a', 'a'])
    hosts.splice(0)
    assert.equal(clients.make(), undefined)
  })

  it('of a Cluster go to a node as its other clients do, and end with their connection', () => {
    const { host, ...more } = new MessageClients({ isCluster: true, connection: [] }, {}, clusterOf(['a'])).make()
    assert.deepEqual(more, { autoResubscribe: false, lazyConnect: false, maxRetriesPerRequest: 0, readOnly: false, retryStrategy: null })
  })

  it('are plain ones where the caller gives a Cluster for messages, of which there is one', () => {
    const cluster = clusterOf(['a', 'b'])
    const purposes = []
    const connection = purpose => {
      purposes.push(purpose)
      return cluster
    }
    const clients = new MessageClients({ connection }, {}, {})
    for (let times = 0; times < 2; times++) assert(['a', 'b'].includes(clients.make().host))
    assert.deepEqual(purposes, ['messages'])
    cluster.emit('error', new Error('heard'))
    clients.close()
    assert(cluster.isOver)
  })

  it('of one server are what the caller gives, and do not subscribe by themselves', () => {
    const made = { options: {}, defineCommand () {} }
    const clients = new MessageClients({ connection: () => made }, {}, {})
    assert.equal(clients.make(), made)
    assert.equal(made.options.autoResubscribe, false)
    clients.close()
  })

  it('leave the client for calls alone', () => {
    const cluster = clusterOf(['a'])
    new MessageClients({ isCluster: true, connection: [] }, {}, cluster).close()
    assert.equal(cluster.isOver, undefined)
  })
})
