'use strict'

// Jobs that another tool adds, of types that nobody knows.

const assert = require('node:assert')
const { once } = require('node:events')
const { Queue } = require('bullmq')
const { describeWithRedis } = require('../support/redis')
const { expectReject, expectThrow } = require('./expectations')
const { atServer } = require('./opened')
const { until } = require('./until')

describeWithRedis('announce(type)', function () {
  const at = atServer()

  /** As whoever knows BullMQ and not this package adds a job. */
  async function add (type, payload, options) {
    const tool = new Queue(encodeURIComponent(type), { connection: at.connection, prefix: `{fairlane:${at.name}}`, skipMetasUpdate: true })
    await tool.add('by hand', { payload }, options)
    await tool.close()
  }

  // the keeper does not walk in these

  it('has jobs found that another tool has added of an idle type, by whichever process', async () => {
    const queue = await at.open(async (n, { type }) => `${type} ${n}`, { leaseMs: 600000 })
    const producer = await at.open(null)
    await add('tenant ä', 1)
    const done = once(queue, 'done')
    assert.equal(await producer.announce('tenant ä'), undefined)
    assert.equal((await done)[0].result, 'tenant ä 1')
    await producer.onIdle()
  })

  it('has them limited by what the options say', async () => {
    const queue = await at.open(null, { globalTypeCap: 2, ratePerType: new Map([['a', { limit: 5, intervalMs: 1000 }]]), leaseMs: 600000 })
    await add('a', 1)
    await queue.announce('a')
    const { waiting, cap, rate } = await queue.counts('a')
    assert.deepEqual([waiting, cap, rate], [1, 2, { limit: 5, intervalMs: 1000 }])
    await queue.announce('a')
    await queue.setGlobalCap('a', 7)
    await queue.announce('a')
    assert.equal((await queue.counts('a')).cap, 7)
  })

  it('has delayed ones found when they are due', async () => {
    const queue = await at.open(async n => n, { leaseMs: 600000 })
    await add('a', 5, { delay: 100 })
    const done = once(queue, 'done')
    await queue.announce('a')
    assert.equal((await done)[0].result, 5)
  })

  it('changes nothing for a type without jobs', async () => {
    const queue = await at.open(async () => {}, { leaseMs: 1000 })
    await queue.announce('nobody')
    await until(() => at.keys().filter(key => key.includes(':nobody:')).length === 0)
    assert.deepEqual(await queue.types(), [])
  })

  it('refuses what is no type, and a queue that has closed', async () => {
    const queue = await at.open(null)
    expectThrow(() => queue.announce(Symbol('a')), 'FAIRLANE_ERR_TYPE')
    expectThrow(() => queue.announce('x'.repeat(1025)), 'FAIRLANE_ERR_TOO_LARGE', RangeError)
    await queue.close()
    await expectReject(queue.announce('a'), 'FAIRLANE_ERR_CLOSED')
  })
})
