'use strict'

// Runners that go on when their jobs have ended: a cap counts runners, whatever has become of their jobs.

const assert = require('node:assert')
const { once } = require('node:events')
const { Queue } = require('bullmq')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer, servers } = require('./opened')
const { startProcess } = require('./processes')
const { rigged } = require('./rigged')
const { until } = require('./until')

const CAPPED = { globalTypeCap: 1, concurrency: 3, settleBy: 'callback', maxAttempts: 1, leaseMs: 600000 }

describeWithRedis('a runner that goes on when its job has ended', function () {
  const at = atServer()
  const key = what => `{fairlane:${at.name}}:${what}`
  const activeOf = type => at.server.cli('lrange', key(`${type}:active`), '0', '-1').split('\n').filter(Boolean)
  const leftOf = type => at.server.cli('keys', key(`${type}:o.*`)).split('\n').filter(Boolean)

  /** A queue with a job of type 'a' whose runner goes on when its time is up, which it is. */
  async function overdue (options, connection = at.connection) {
    const gate = gates()
    const queue = await at.open(gate.runner, { ...CAPPED, timeoutMs: 20, connection, ...options })
    await expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    return { gate, queue }
  }

  it('after a limit of its time keeps its place under the cap until it ends', async () => {
    const { gate, queue } = await overdue()
    await queue.pushType('a', 2)
    assert.deepEqual(
      await queue.counts('a'), { waiting: 1, delayed: 0, running: 1, dead: 1, cap: 1, rate: null, paused: false, heldMs: 0 }
    )
    assert.equal(gate.payloads.length, 1)
    const [{ startedAt, ...run }, ...others] = await queue.listRunning()
    assert.deepEqual([run, others], [{ id: undefined, type: 'a', attempt: undefined, overdue: true }, []])
    assert(Math.abs(startedAt - Date.now()) < 60000)
    gate.release(1)
    await gate.until(2)
    gate.release(1)
    await queue.onIdle()
    assert.deepEqual([activeOf('a'), leftOf('a')], [[], []])
  })

  it('after a cancel from elsewhere keeps its place under the cap until it ends', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, CAPPED)
    const other = await at.open(null, { globalTypeCap: 1 })
    const result = other.add(1, { type: 'a' })
    await gate.until(1)
    const { context } = gate.started[0]
    await other.cancel(context.id)
    await expectReject(result, 'FAIRLANE_ERR_ABORTED')
    await other.pushType('a', 2)
    assert.deepEqual([await other.get(context.id), (await other.counts('a')).running, gate.payloads.length], [undefined, 1, 1])
    gate.release(1)
    await gate.until(2)
    gate.release(1)
    await queue.onIdle()
    assert.deepEqual([activeOf('a'), leftOf('a')], [[], []])
  })

  it('has its place taken by the next attempt of its own job when it has ended, and not before', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { ...CAPPED, timeoutMs: 20, maxAttempts: 2, backoffMs: 1 })
    const failed = expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    await once(queue, 'retry')
    await until(async () => (await queue.counts('a')).waiting === 1) // it is due
    assert.equal(gate.payloads.length, 1)
    gate.release(1)
    await failed
    assert.deepEqual(gate.started.map(({ context: { attempt } }) => attempt), [1, 2])
    gate.release(1)
    await queue.onIdle()
  })

  it('has no place any more with onTimeout: release', async () => {
    const { gate, queue } = await overdue({ onTimeout: 'release' })
    assert.equal((await queue.counts('a')).running, 0)
    await expectReject(queue.add(2, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    gate.release(2)
    await queue.onIdle()
  })

  it('costs the broker nothing if it ends when it is told to', async () => {
    const rig = rigged(at.server.path)
    const queue = await at.open((n, done, { signal }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }), { ...CAPPED, settleBy: 'either', timeoutMs: 20, connection: rig.connection })
    let callsCount = 0
    rig.rig('fairlaneKeepPlace', call => { callsCount++; return call() })
    await expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    assert.equal(callsCount, 0)
    await queue.onIdle()
  })

  it('has those told that wait for its place, if there are any', async () => {
    const rig = rigged(at.server.path)
    const { gate, queue } = await overdue()
    queue.pause()
    const other = await at.open(gate.runner, { ...CAPPED, timeoutMs: 20, connection: rig.connection })
    const freed = []
    rig.messages.on('message', (channel, message) => { if ('freed' in JSON.parse(message)) freed.push(message) })
    const failed = expectReject(queue.add(2, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    await queue.flush()
    gate.release(1)
    await gate.until(2)
    await failed
    await until(() => freed.length > 0)
    assert.deepEqual(freed, ['{"freed":"a"}'])
    gate.release(1) // nobody waits
    await other.onIdle()
    assert.equal(freed.length, 1)
  })

  it('is a job of its own to tools, which says what it is of', async () => {
    const { gate, queue } = await overdue()
    const tool = new Queue('a', { connection: at.connection, prefix: `{fairlane:${at.name}}`, skipMetasUpdate: true })
    const [dead] = await queue.deadLetters()
    const [job] = await tool.getActive()
    assert.deepEqual([job.name, job.data, job.opts.attempts], ['overdue', { overdue: dead.id.split(':')[1] }, 0])
    assert.deepEqual(await tool.getJobCounts('active', 'failed'), { active: 1, failed: 1 })
    await tool.close()
    gate.release(1)
    await queue.onIdle()
  })

  it('keeps its place for longer than a lease while its process is there', async () => {
    const { gate, queue } = await overdue({ leaseMs: 1000 })
    const [name] = activeOf('a')
    const set = new Set()
    // each time that the lease is renewed, it is longer than it was before
    let before = Infinity
    await until(() => {
      const ms = Number(at.server.cli('pttl', key(`a:${name}:lock`)))
      if (ms > before) set.add(before)
      before = ms
      return set.size === 4
    })
    assert.deepEqual(activeOf('a'), [name])
    gate.release(1)
    await queue.onIdle()
  })

  it('has no place when its lease is over', async () => {
    const { gate, queue } = await overdue({ leaseMs: 1000 })
    const [name] = activeOf('a')
    at.server.cli('del', key(`a:${name}:lock`))
    await until(() => leftOf('a').length === 0)
    assert.deepEqual(activeOf('a'), [])
    gate.release(1)
    const { done, failed, cancelled, lost } = queue.stats()
    assert.deepEqual({ done, failed, cancelled, lost }, { done: 0, failed: 1, cancelled: 0, lost: 0 })
    await queue.onIdle()
  })

  it('is not run again by whoever finds its record where jobs wait', async () => {
    const { gate, queue } = await overdue()
    const [name] = activeOf('a')
    // what a keeper leaves that ends then
    at.server.cli('del', key(`a:${name}:lock`))
    at.server.cli('lrem', key('a:active'), '0', name)
    at.server.cli('hset', key(`a:${name}`), 'stc', '1')
    at.server.cli('rpush', key('a:wait'), name)
    await queue.pushType('a', 2)
    await gate.until(2)
    assert.deepEqual([gate.payloads, leftOf('a')], [[1, 2], []])
    gate.release(2)
    await queue.onIdle()
    assert.deepEqual(queue.stats().lost, 0)
  })

  it('keeps a place that has been taken over until whoever has it lets it go', async () => {
    const { gate, queue } = await overdue()
    const [name] = activeOf('a')
    at.server.cli('set', key(`a:${name}:lock`), 'somebody')
    gate.release(1)
    await queue.close()
    assert.deepEqual(activeOf('a'), [name])
  })

  it('keeps its place when its queue has closed, until its lease is over, if there is a cap', async () => {
    const { queue } = await overdue()
    assert.equal(await queue.close({ timeoutMs: 0 }), 1)
    assert.equal(leftOf('a').length, 2)
    const other = await at.open(null)
    assert.equal((await other.counts('a')).running, 1)
  })

  it('has no place when its queue has closed, if there is no cap', async () => {
    const { queue } = await overdue({ globalTypeCap: undefined })
    assert.equal(activeOf('a').length, 1)
    assert.equal(await queue.close({ timeoutMs: 0 }), 1)
    assert.deepEqual([activeOf('a'), leftOf('a')], [[], []])
  })

  for (const [globalTypeCap, running] of [[1, 1], [undefined, 0]]) {
    it(`keeps a place when its queue has given up its job as it closed, if there is a cap (${globalTypeCap})`, async () => {
      const gate = gates()
      const queue = await at.open(gate.runner, { ...CAPPED, globalTypeCap })
      await queue.pushType('a', 1)
      await gate.until(1)
      assert.equal(await queue.close({ timeoutMs: 0 }), 1)
      const other = await at.open(null)
      const { waiting, running: count } = await other.counts('a')
      assert.deepEqual([waiting, count], [1, running])
      gate.release(1)
    })
  }

  it('is known once, however often the broker is told of it', async () => {
    const rig = rigged(at.server.path)
    const gate = gates()
    const queue = await at.open(gate.runner, { ...CAPPED, timeoutMs: 20, connection: rig.connection })
    const lost = [rig.loseAnswer('fairlaneKeepPlace'), rig.loseAnswer('fairlaneLeavePlace')]
    await expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    assert.equal(activeOf('a').length, 1)
    gate.release(1)
    await Promise.all(lost)
    await queue.onIdle()
    assert.deepEqual(activeOf('a'), [])
  })

  it('has no place, and its caller is told, if the broker refuses the record of it', async () => {
    const rig = rigged(at.server.path)
    const gate = gates()
    const queue = await at.open(gate.runner, { ...CAPPED, timeoutMs: 20, connection: rig.connection })
    const refused = rig.refuse('fairlaneKeepPlace')
    await expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    await refused
    assert.deepEqual(activeOf('a'), [])
    gate.release(1)
    await queue.onIdle()
  })

  it('has no place if its process has lost the job', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, CAPPED)
    const id = await queue.pushType('a', 1)
    await gate.until(1)
    at.server.cli('set', key(`${id}:lock`), 'somebody')
    const lost = once(queue, 'lost')
    await queue.cancel(id)
    assert.equal((await lost)[0].id, id)
    assert.deepEqual([leftOf('a'), activeOf('a')], [[], [id.split(':')[1]]])
    gate.release(1)
  })
})

describeWithRedis('a runner whose job has ended', function () {
  const { startServer, open } = servers()

  it('and whose process ends keeps its place for a lease or two, and its record is run by nobody', async () => {
    const server = await startServer()
    const options = { globalTypeCap: 1, leaseMs: 1000, maxAttempts: 1 }
    const child = await startProcess(
      { connection: server.connection, log: `${server.folder}/starts`, options: { ...options, timeoutMs: 20 } }
    )
    const producer = await open(server, null)
    await expectReject(producer.add({ ms: 600000 }, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    await child.kill()
    const ran = []
    const queue = await open(server, async n => { ran.push(n) }, options)
    await producer.pushType('a', 2)
    await queue.onIdle()
    assert.deepEqual(ran, [2])
    const { done, failed, cancelled, lost } = queue.stats()
    assert.deepEqual({ done, failed, cancelled, lost }, { done: 1, failed: 0, cancelled: 0, lost: 0 })
    assert.equal(server.cli('keys', '*:o.*'), '')
  })

  it('has a place at a broker that is full', async () => {
    const server = await startServer(['--maxmemory-policy', 'noeviction'])
    const rig = rigged(server.path)
    const gate = gates()
    const queue = await open(server, gate.runner, { ...CAPPED, connection: rig.connection })
    const { reached, open: letGo } = rig.delay('fairlaneKeepPlace')
    const id = await queue.pushType('a', 1)
    await gate.until(1)
    await queue.cancel(id)
    await reached
    server.cli('config', 'set', 'maxmemory', '1mb')
    const cancelled = once(queue, 'cancelled')
    letGo()
    await cancelled
    assert.equal(server.cli('llen', '{fairlane:jobs}:a:active'), '1')
    server.cli('config', 'set', 'maxmemory', '0')
    gate.release(1)
    await queue.onIdle()
  })
})
