'use strict'

// A Redis Cluster of three masters, for what is not seen at one node: npm run test:cluster does more with it, and takes longer.

const assert = require('node:assert')
const { once } = require('node:events')
const net = require('node:net')
const { Cluster } = require('ioredis')
const { nameOf, partitionOf } = require('../../lib/distributed/names')
const { openAtBroker } = require('../../lib/distributed/visit')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atLaterTimes } = require('./later')
const { atCluster } = require('./opened')
const { until } = require('./until')

describeWithRedis('at a Redis Cluster of three masters', function () {
  const at = atCluster()
  const later = atLaterTimes()
  const PARTITIONS = 4
  // of the partition that is moved
  const MOVING = Array.from({ length: 60 }, (_, n) => `type-${n}`).filter(type => partitionOf(nameOf(type), PARTITIONS) === 0).slice(0, 10)

  /** Moves that partition to another master. @param {() => Promise<void>} midway some of its keys are there then, and others are not */
  async function move (midway) {
    const tag = `{fairlane:${at.name}:0}`
    const holds = port => at.server.cli('-p', String(port), '--scan', '--pattern', `${tag}:*`).trim() !== ''
    const to = at.server.ports.find(port => !holds(port))
    await at.server.moveSlotOf(tag, to, midway)
  }

  /** Servers in the places of nodes, which end each connection. */
  async function countAttempts (ports) {
    const counter = { count: 0, close: () => Promise.all(servers.map(server => new Promise(resolve => server.close(resolve)))) }
    const servers = ports.map(port => net.createServer(socket => {
      counter.count++
      socket.on('error', () => {})
      socket.destroy()
    }).listen(port, '127.0.0.1'))
    await Promise.all(servers.map(server => once(server, 'listening')))
    return counter
  }

  it('while a slot moves, pushes to it wait, those that went together too, and are stored once', async () => {
    const producer = await at.open(null, { partitions: PARTITIONS, pushTimeoutMs: 100000 })
    await Promise.all(MOVING.map(type => producer.pushType(type, 0, { delayMs: 3600000 })))
    let pushed
    await move(async () => {
      pushed = Promise.all([1, 2, 3, 4].map(n => producer.pushType(MOVING[0], n)))
      pushed.catch(() => {})
      const before = at.server.errorsCount('TRYAGAIN')
      await until(() => at.server.errorsCount('TRYAGAIN') > before + 10) // by then the client has given its calls up
    })
    assert.equal(new Set(await pushed).size, 4)
    const started = []
    const worker = await at.open(async n => { started.push(n) }, { partitions: PARTITIONS, concurrency: 1 })
    await until(() => worker.stats().done === 4)
    assert.deepEqual(started.sort(), [1, 2, 3, 4])
  })

  it('while a slot moves for longer than pushes are tried, their errors say so', async () => {
    const producer = await at.open(null, { partitions: PARTITIONS, pushTimeoutMs: 1000 })
    await Promise.all(MOVING.map(type => producer.pushType(type, 0, { delayMs: 3600000 })))
    await move(async () => {
      const rejected = await Promise.all([1, 2].map(n => expectReject(producer.pushType(MOVING[0], n), 'FAIRLANE_ERR_BROKER')))
      for (const { message, cause } of rejected) {
        assert(message.startsWith(`A push of the type '${MOVING[0]}' was given up after 1000 ms: `), message)
        assert(cause instanceof Error)
      }
    })
  })

  it('while a slot moves, what is asked of types waits, and results are not missed, wherever their jobs are', async () => {
    let readCount = 0
    const connection = () => {
      const client = new Cluster(at.server.urls)
      const { hmget } = client
      return Object.assign(client, {
        async hmget (...args) {
          const answer = await hmget.apply(client, args)
          readCount++
          return answer
        }
      })
    }
    const producer = await at.open(null, { connection, partitions: PARTITIONS })
    const results = MOVING.map(type => producer.add(type, { type, delayMs: 3600000 }))
    let rejected
    for (const result of results) result.catch(err => { rejected ??= err })
    await producer.flush()
    const right = { waiting: MOVING.length, delayed: MOVING.length, running: 0, dead: 0, types: MOVING.length }
    let asked
    await move(async () => {
      asked = producer.counts()
      asked.catch(() => {})
      await later(2000) // no notice has come: the records are looked at
      await until(() => rejected !== undefined || readCount === MOVING.length)
    })
    assert.deepEqual(await asked, right)
    assert.deepEqual(await producer.counts(), right)
    assert.ifError(rejected)
  })

  it('gets notices of a partition at the master of that: at others they would overtake each other', async () => {
    const published = () => at.server.ports.map(port => {
      return Number(/^cmdstat_publish:calls=(\d+)/m.exec(at.server.cli('-p', String(port), 'info', 'commandstats'))?.[1] ?? 0)
    })
    const queue = await at.open(async n => n)
    const before = published()
    for (let n = 0; n < 20; n++) assert.equal(await queue.add(n), n)
    const counts = published().map((count, index) => count - before[index])
    assert.deepEqual(counts.map(count => count > 0).sort(), [false, false, true], `messages at masters: ${counts}`)
  })

  it('is asked for the jobs of types with many at each of its masters', async () => {
    const queue = await at.open(null)
    const jobs = ['many', 'more'].flatMap(type => Array.from({ length: 600 }, (_, payload) => ({ type, payload })))
    await queue.pushAll(jobs)
    const visitor = await openAtBroker({ name: at.name, connection: at.connection, pushTimeoutMs: 10000 })
    try {
      const found = new Set()
      for await (const { id } of visitor.jobs()) found.add(id)
      assert.equal(found.size, jobs.length)
    } finally {
      await visitor.queue.close()
    }
    await queue.clear()
  })

  it('whose nodes are all gone, a queue looks for them in ever longer intervals, and goes on when they are back', async () => {
    await at.open(async n => n)
    const producer = await at.open(null)
    assert.equal(await producer.add(1), 1)
    const { ports } = at.server
    await Promise.all(ports.map(at.server.kill))
    const attempts = await countAttempts(ports)
    const begin = performance.now()
    await until(() => attempts.count >= 25)
    assert(performance.now() - begin > 200, 'without pauses there are thousands in a second')
    await attempts.close()
    await Promise.all(ports.map(at.server.start))
    assert.equal(await producer.add(2), 2)
  })
})
