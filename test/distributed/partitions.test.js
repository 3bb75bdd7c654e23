'use strict'

// Nodes that are lost and messages that do not arrive. What looks around every half minute never does here: each test shows what finds
// the jobs sooner.

const assert = require('node:assert')
const { EventEmitter, once } = require('node:events')
const { nameOf, partitionOf } = require('../../lib/distributed/names')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { latch, rigged } = require('./rigged')
const { until } = require('./until')

const LONG_MS = 10000

describeWithRedis('a distributed queue, when', function () {
  const at = atServer()
  const { setTimeout } = global
  const key = what => `{fairlane:${at.name}}:${what}`
  // of two partitions
  const [LOST, KEPT] = [0, 1].map(partition => ['a', 'b', 'c', 'd'].find(type => partitionOf(nameOf(type), 2) === partition))

  beforeEach(() => {
    global.setTimeout = (fn, ms, ...args) => setTimeout(ms >= LONG_MS ? () => {} : fn, ms, ...args)
  })

  afterEach(() => { global.setTimeout = setTimeout })

  async function open (runner, { change, ...options } = {}) {
    const rig = rigged(at.server.path)
    const connection = purpose => {
      const client = rig.connection(purpose)
      change?.(purpose, client, rig)
      return client
    }
    const queue = await at.open(runner, { connection, settleBy: 'callback', leaseMs: 600000, ...options })
    return { queue, rig }
  }

  /** Calls of the first of two partitions fail. @returns {{ counts: object, restore: () => void }} how many were made, by name */
  function losePartition (rig, names) {
    const counts = {}
    const restores = names.map(name => {
      counts[name] = 0
      return rig.rig(name, (call, ...args) => {
        if (!JSON.stringify(args).includes(`{fairlane:${at.name}:0}`)) return call()
        counts[name]++
        return Promise.reject(new Error('CLUSTERDOWN Hash slot not served'))
      })
    })
    return { counts, restore: () => { for (const restore of restores) restore() } }
  }

  it('a word of a type comes while it says that the type is empty, asks for it', async () => {
    const { queue, rig } = await open((n, done) => done(null, n))
    const said = latch()
    const gate = latch()
    rig.once('fairlaneTake', async call => {
      const answer = await call()
      said.open()
      await gate.opened
      return answer
    })
    const first = queue.add(1, { type: 'a' })
    await said.opened
    assert.equal(at.server.cli('exists', key('.ready')), '0')
    const heard = once(rig.messages, 'message')
    const second = queue.add(2, { type: 'a' })
    await heard
    gate.open()
    assert.deepEqual(await Promise.all([first, second]), [1, 2])
  })

  it('there are jobs already, starts none before those who open it can listen', async () => {
    const producer = await at.open(null)
    const change = (purpose, client, rig) => {
      if (purpose !== 'calls') return
      const { zadd } = client
      client.zadd = async (...args) => {
        // a word of a type arrives before it is open, and what that leads to has time to happen
        const heard = once(rig.messages, 'message')
        await producer.pushType('a', 1)
        await heard
        for (let n = 0; n < 20; n++) await client.ping()
        return zadd.apply(client, args)
      }
    }
    const { queue } = await open((n, done) => done(null, n), { change })
    const [{ result }] = await once(queue, 'done')
    assert.equal(result, 1)
  })

  it('a partition does not answer, runs the jobs of the others, and those of that one when it does', async () => {
    const { queue, rig } = await open((n, done) => done(null, n), { partitions: 2, concurrency: 1 })
    const { counts, restore } = losePartition(rig, ['fairlaneTake', 'sscan'])
    const results = [1, 2, 3].map(n => queue.add(n, { type: LOST }))
    await until(() => counts.sscan >= 2)
    assert.equal(await queue.add(4, { type: KEPT }), 4)
    assert.equal(counts.fairlaneTake, 1)
    restore()
    assert.deepEqual(await Promise.all(results), [1, 2, 3])
  })

  it('a partition is lost while a type of it is looked for, finds it when it is back', async () => {
    let loss
    const { queue, rig } = await open((n, done) => {
      if (n === 1) loss = losePartition(rig, ['fairlaneEnd', 'sscan'])
      done(null, n)
    }, { partitions: 2 })
    await queue.pushType(LOST, 1)
    await until(() => loss?.counts.sscan >= 1)
    // it is ready, and no word of that comes
    const other = await at.open(null, { partitions: 2 })
    await other.pushType(LOST, 2)
    loss.restore()
    await until(() => queue.stats().done === 2)
  })

  it('the end of a job cannot be told, gives the slot that waits for the next one to other types', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { partitions: 2, concurrency: 1, prefetch: 0 })
    const results = [queue.add(1, { type: LOST }), queue.add(2, { type: LOST })]
    await gate.until(1)
    const { counts, restore } = losePartition(rig, ['fairlaneEnd', 'fairlaneTake', 'sscan'])
    gate.release(1)
    await until(() => counts.fairlaneEnd >= 2)
    const kept = queue.add(3, { type: KEPT })
    await gate.until(2)
    gate.release(1)
    assert.equal(await kept, 3)
    restore()
    await gate.until(3)
    gate.release(1)
    assert.deepEqual(await Promise.all(results), [1, 2])
  })

  it('a node is back, looks whether a word was lost', async () => {
    const { queue, rig } = await open((n, done) => done(null, n))
    await queue.add(1, { type: 'a' })
    await until(() => at.server.cli('exists', key('.ready')) === '0')
    const node = new EventEmitter()
    rig.calls.emit('+node', node)
    // a type that is ready already is not told of
    at.server.cli('sadd', key('.ready'), 'a')
    await queue.pushType('a', 2)
    node.emit('ready')
    await until(() => queue.stats().done === 2)
    await until(() => at.server.cli('exists', key('.ready')) === '0')
    at.server.cli('sadd', key('.ready'), 'a')
    await queue.pushType('a', 3)
    node.emit('close')
    await until(() => queue.stats().done === 3)
  })

  it('a node is lost, makes the pushes again that were on their way, and not with each attempt to connect to it', async () => {
    const { queue, rig } = await open(null)
    const node = new EventEmitter()
    rig.calls.emit('+node', node)
    let count = 0
    rig.rig('fairlaneAnnounce', call => {
      if (count++ < 3) node.emit('close')
      return call()
    })
    await queue.push(1)
    assert.equal(count, 1)
    node.emit('ready')
    await queue.push(2)
    assert.equal(count, 3) // again once
  })

  it('a partition is away as it opens, opens', async () => {
    const lost = new Error('CLUSTERDOWN Hash slot not served')
    for (const call of ['zadd', 'sscan']) {
      const change = (purpose, client, rig) => {
        if (purpose === 'calls') rig.once(call, () => Promise.reject(lost))
      }
      const { queue } = await open((n, done) => done(null, n), { change })
      assert.equal(await queue.add(1), 1)
    }
  })

  it('it may not look around, is not opened', async () => {
    for (const call of ['zadd', 'sscan']) {
      const change = (purpose, client, rig) => {
        if (purpose === 'calls') rig.rig(call, () => Promise.reject(new Error('NOPERM no permission')))
      }
      await assert.rejects(open(() => {}, { change }), /NOPERM/)
    }
  })
})
