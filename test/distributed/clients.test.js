'use strict'

const assert = require('node:assert')
const { distributed } = require('../../lib/distributed')
const { Broker } = require('../../lib/distributed/broker/broker')
const { makeClient } = require('../../lib/distributed/broker/clients')
const { describeWithRedis, startRedis } = require('../support/redis')
const { stoppedTime } = require('../support/time')
const { turn } = require('../support/turns')
const { startProxy } = require('./proxy')
const { until } = require('./until')

const DEMOTED = new Error("READONLY You can't write against a read only replica.")

/** Keeps what clients are made of. */
class FakeClient {
  constructor (first, options = first) {
    this.first = first
    this.options = options
  }

  defineCommand () {}
}
const peers = { Redis: FakeClient, Cluster: FakeClient }

describe('a client of a Redis Cluster', () => {
  it('reaches all nodes with the user, the password and the TLS of the first URL', () => {
    const made = [['rediss://a%40b:c%2Fd@host:1', 'redis://host:2'], ['redis://host:1']].map(connection => {
      const { first, options: { redisOptions: { username, password, tls } } } = makeClient({ connection, isCluster: true }, peers, 'calls')
      return [first.length, username, password, tls]
    })
    assert.deepEqual(made, [[2, 'a@b', 'c/d', {}], [1, undefined, undefined, undefined]])
  })
})

describe('a client of one server', () => {
  it('keeps what the caller says of connecting again, but for what is made again with each connection', () => {
    const retryStrategy = () => 5
    const { options } = makeClient({ connection: { host: 'h', retryStrategy, maxRetriesPerRequest: 9 } }, peers, 'calls')
    assert.deepEqual([options.host, options.retryStrategy, options.maxRetriesPerRequest], ['h', retryStrategy, 0])
  })

  it('waits ever longer between connections, up to a second', () => {
    const { options } = makeClient({ connection: 'redis://host' }, peers, 'calls')
    assert.deepEqual([1, 2, 3, 5, 6, 2000].map(options.retryStrategy), [40, 80, 160, 640, 1000, 1000])
  })

  it('connects anew when its server has become a replica, once in a second', () => {
    const time = stoppedTime(1000)
    try {
      const { options: { reconnectOnError } } = makeClient({ connection: { host: 'h' } }, peers, 'calls')
      assert.deepEqual([new Error('ERR no'), DEMOTED, DEMOTED].map(reconnectOnError), [false, true, false])
      time.pass(999)
      assert.equal(reconnectOnError(DEMOTED), false)
      time.pass(1)
      assert.equal(reconnectOnError(DEMOTED), true)
    } finally {
      time.release()
    }
  })
})

describe('a connection that is denied', () => {
  it('has calls refused at once, but those that may wait for ever, until it is there or fails for another reason', async () => {
    const broker = new Broker({ name: 'jobs', partitions: 1, pushTimeoutMs: 10 ** 9, serialize: { name: 'json' } }, {})
    broker.client = { status: 'connecting' }
    const soon = () => broker.soon(async () => 'made')
    const denied = new Error('WRONGPASS invalid username-password pair')
    const waiting = soon()
    const patient = broker.until(Infinity, async () => 'made')
    broker.unreachable(denied)
    for (const call of [waiting, soon()]) await assert.rejects(call, denied)
    broker.unreachable(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
    const calls = [patient, soon()]
    await turn()
    broker.client.status = 'ready'
    for (const resume of broker.waiters) resume()
    assert.deepEqual(await Promise.all(calls), ['made', 'made'])
  })
})

describeWithRedis('a server that has become a replica', function () {
  it('is left for the one that its name leads to by then, and pushes reach that', async () => {
    const [old, promoted] = await Promise.all([startRedis(), startRedis()])
    const proxy = await startProxy(old.path)
    const queue = await distributed(null, { name: 'jobs', connection: { path: proxy.path } })
    try {
      await queue.push(1)
      proxy.lead(promoted.path)
      old.cli('replicaof', '127.0.0.1', '1')
      const id = await queue.push(2)
      assert.equal(promoted.cli('exists', `{fairlane:jobs}:${id}`), '1')
      // there may be no other one: it may become the master again
      promoted.cli('replicaof', '127.0.0.1', '1')
      const pushed = queue.push(3)
      await until(() => /errorstat_(READONLY|ERR):/.test(promoted.cli('info', 'errorstats'))) // ERR: of a script, before Redis 7
      promoted.cli('replicaof', 'no', 'one')
      assert.equal(promoted.cli('exists', `{fairlane:jobs}:${await pushed}`), '1')
    } finally {
      await queue.close()
      proxy.close()
      await Promise.all([old.stop(), promoted.stop()])
    }
  })
})
