'use strict'

const assert = require('node:assert')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { describeBrokerEnds, describeCapsOfRunners, describeEnds } = require('./faults')
const { atLaterTimes } = require('./later')
const { servers } = require('./opened')

describeEnds({ jobsCount: 120, poisonTypes: ['type-1'], besideCount: 40 })
describeCapsOfRunners({ jobsCount: 120, killsCount: 1 })
describeBrokerEnds({ jobsCount: 60, killsCount: 1 })

describeWithRedis('when the broker ends', function () {
  const { startServer, open } = servers()
  const later = atLaterTimes()

  it('and comes back empty, its adds say that their results are gone', async () => {
    const server = await startServer(['--appendonly', 'no'])
    const producer = await open(server, null)
    const result = producer.add(1)
    await producer.flush()
    await server.kill()
    await server.start()
    await later(2000)
    await expectReject(result, 'FAIRLANE_ERR_RESULT')
  })

  it('and stays away, pushes are refused when their time is up', async () => {
    const server = await startServer()
    const producer = await open(server, null, { pushTimeoutMs: 1000 })
    await server.kill()
    const asked = [producer.add(1), producer.counts()].map(promise => expectReject(promise, 'FAIRLANE_ERR_BROKER'))
    const rejected = [1, 2, 3].map(n => expectReject(producer.push(n), 'FAIRLANE_ERR_BROKER'))
    for (const { cause, message } of await Promise.all(rejected)) {
      assert(cause instanceof Error)
      assert.match(message, /^A push of the type '' was given up after 1000 ms: /)
    }
    await Promise.all(asked)
  })

  it('and is full, pushes are refused at once; what runs ends, and what it has runs when there is room', async () => {
    const server = await startServer(['--maxmemory-policy', 'noeviction'])
    const gate = gates()
    const worker = await open(server, gate.runner, { settleBy: 'callback', concurrency: 1 })
    const producer = await open(server, null)
    const running = producer.add('running')
    await gate.until(1)
    await producer.push('waiting')
    server.cli('config', 'set', 'maxmemory', '1mb')
    const { cause } = await expectReject(producer.push('x'.repeat(1e5)), 'FAIRLANE_ERR_BROKER')
    assert.match(cause.message, /OOM/)
    gate.release(1)
    assert.equal(await running, 'running')
    server.cli('config', 'set', 'maxmemory', '0')
    await gate.until(2)
    gate.release(1)
    await producer.onIdle()
    assert.deepEqual(gate.payloads, ['running', 'waiting'])
    assert.equal(worker.stats().lost, 0)
  })

  it('is not set up to keep jobs, that is warned of, once', async () => {
    const server = await startServer(['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'])
    const warnings = []
    const heard = warning => warnings.push(warning)
    process.on('warning', heard)
    const queue = await open(server, async () => {})
    await queue.push(1)
    await queue.close()
    await new Promise(resolve => setImmediate(resolve))
    process.off('warning', heard)
    const own = warnings.filter(({ code }) => code === 'FAIRLANE_WARN_BROKER')
    assert.equal(own.length, 1)
    assert.match(own[0].message, /allkeys-lru.*appendonly is off/)
  })
})
