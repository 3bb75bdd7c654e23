'use strict'

// A server fails, and its replica takes over with what it has heard by then.

const assert = require('node:assert')
const { distributed } = require('../../lib/distributed')
const gates = require('../support/gates')
const { freePort } = require('../support/ports')
const { describeWithRedis, startRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atLaterTimes } = require('./later')
const { startProxy } = require('./proxy')
const { until } = require('./until')

const LEASE_MS = 1000

describeWithRedis('a replica that is promoted', function () {
  const later = atLaterTimes()
  const queues = []
  let master, replica, proxy

  beforeEach(async () => {
    const port = await freePort()
    master = await startRedis(['--port', String(port), '--repl-diskless-sync-delay', '0'])
    replica = await startRedis()
    proxy = await startProxy(master.path)
    replica.cli('replicaof', '127.0.0.1', String(port))
    await until(() => /master_link_status:up/.test(replica.cli('info', 'replication')))
  })

  afterEach(async () => {
    await Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 })))
    proxy.close()
    await Promise.all([master.stop(), replica.stop()])
  })

  async function open (runner, options) {
    const queue = await distributed(runner, { name: 'jobs', connection: { path: proxy.path }, leaseMs: LEASE_MS, ...options })
    queues.push(queue)
    return queue
  }

  /** From now on the replica hears of nothing more. */
  async function partReplica () {
    const offsetOf = server => /master_repl_offset:(\d+)/.exec(server.cli('info', 'replication'))[1]
    const offset = offsetOf(master)
    await until(() => Number(offsetOf(replica)) >= Number(offset))
    replica.cli('replicaof', 'no', 'one')
  }

  /** The master is gone, and its address leads to the replica. */
  async function takeOver () {
    await master.kill()
    proxy.lead(replica.path)
    proxy.cut()
  }

  it('with all that its master had: no job is lost, none runs twice, and limits hold', async () => {
    const gate = gates()
    const worker = await open(gate.runner, { concurrency: 1 })
    const producer = await open(null)
    await producer.setGlobalCap('capped', 3)
    const running = producer.add('running')
    await gate.until(1)
    const waiting = producer.add('waiting', { type: 'capped' })
    const delayed = producer.add('delayed', { delayMs: 500 })
    await producer.flush()
    await partReplica()
    await takeOver()
    gate.release(1)
    assert.equal(await running, 'running')
    for (const count of [2, 3]) { // the delayed one may be due before
      await gate.until(count)
      gate.release(1)
    }
    assert.deepEqual(await Promise.all([waiting, delayed]), ['waiting', 'delayed'])
    assert.equal(gate.payloads.length, 3)
    assert.equal((await producer.counts('capped')).cap, 3)
    await producer.onIdle()
    assert.equal(worker.stats().lost, 0)
  })

  it('behind its master: what it has not heard of is told as gone, or runs again, and all goes on', async () => {
    const starts = []
    const held = new Map() // payload → done
    let isHolding = true
    const worker = await open((payload, done) => {
      starts.push(payload)
      if (isHolding) held.set(payload, done)
      else done(null, payload)
    }, { concurrency: 2 })
    const producer = await open(null)
    const [ends, goesOn] = ['ends', 'goes on'].map(payload => producer.add(payload, { type: payload }))
    await until(() => held.size === 2)
    const waits = producer.add('waits')
    await producer.flush()
    await partReplica()
    const lost = expectReject(producer.add('pushed', { delayMs: 3600000 }), 'FAIRLANE_ERR_RESULT')
    await producer.flush()
    held.get('ends')(null, 'ended')
    assert.equal(await ends, 'ended')
    await until(() => held.has('waits')) // the replica does not know that it has started
    await takeOver()
    isHolding = false
    held.get('goes on')(null, 'went on')
    held.get('waits')(null, 'waited')
    assert.equal(await goesOn, 'went on')
    assert.equal(await waits, 'waits')
    await producer.onIdle()
    assert.deepEqual(starts.sort(), ['ends', 'ends', 'goes on', 'waits', 'waits'])
    assert.equal(worker.stats().lost, 1)
    await later(2000)
    await lost
    assert.equal(await producer.add('new'), 'new')
    assert.deepEqual(await producer.counts(), { waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 })
  })
})
