'use strict'

const assert = require('node:assert')
const { Broker } = require('../../lib/distributed/broker')
const { describeWithRedis } = require('../support/redis')
const { describeLimits } = require('./limits')
const { atServer } = require('./opened')
const { until } = require('./until')

describeLimits(atServer)

describeWithRedis('what the broker keeps of a queue', function () {
  const at = atServer()

  it('keeps nothing of idle types, but for what a call has set', async () => {
    const queue = await at.open(async () => {}, { leaseMs: 1000, resultTtlMs: 0, globalTypeCap: 5 })
    await Promise.all(Array.from({ length: 50 }, (_, n) => queue.add(n, { type: `type-${n}` })))
    await queue.setGlobalCap('type-1', 2)
    const keys = () => at.server.cli('keys', `{fairlane:${at.name}}:type-*`).split('\n').filter(Boolean)
    assert(keys().length > 50)
    await until(() => keys().length === 1)
    assert.deepEqual(keys(), [`{fairlane:${at.name}}:type-1:meta`])
    assert.equal((await queue.globalStats('type-1')).cap, 2)
    assert.equal(at.server.cli('scard', `{fairlane:${at.name}}:.types`), '0')
    // and what the options say is there again with the next job
    await queue.pushType('type-3', 1)
    assert.equal((await queue.globalStats('type-3')).cap, 5)
  })

  it('refuses another number of partitions than the one at the broker', async () => {
    await at.open(null)
    await assert.rejects(at.open(null, { partitions: 2 }), { code: 'FAIRLANE_ERR_OPTION' })
    await at.open(null, { partitions: 1 })
  })

  it('works side by side in two adjacent formats, whichever was there first, and refuses others', async () => {
    const { format } = Broker
    const openIn = (own, runner, options) => {
      Broker.format = own
      return at.open(runner, options)
    }
    const refused = { code: 'FAIRLANE_ERR_BROKER' }
    const kept = () => at.server.cli('hget', `{fairlane:${at.name}}:.queue`, 'format')
    try {
      const old = await openIn(5, async n => `old ${n}`)
      await assert.rejects(openIn(7, null), refused)
      await assert.rejects(openIn(6, null, { partitions: 2 }), { code: 'FAIRLANE_ERR_OPTION' })
      assert.equal(kept(), '5')
      const next = await openIn(6, async n => `next ${n}`)
      const late = await openIn(5, null)
      for (const [idle, busy, name] of [[old, next, 'next'], [next, old, 'old']]) {
        idle.pause()
        assert.deepEqual(await Promise.all([old, next, late].map(queue => queue.add(1))), [`${name} 1`, `${name} 1`, `${name} 1`])
        idle.resume()
        assert.equal(busy.stats().done, 3)
      }
      await assert.rejects(openIn(4, null), refused)
      // once all are of the next one
      await openIn(7, null)
      assert.equal(kept(), '7')
      await assert.rejects(openIn(5, null), refused)
    } finally {
      Broker.format = format
    }
  })

  it('works with several partitions as with one', async () => {
    const options = { partitions: 4, scheduler: 'equal' }
    const queues = [await at.open(async (n, done, { type }) => `${type} ${n}`, options), await at.open(null, { partitions: 4 })]
    const types = Array.from({ length: 40 }, (_, n) => `type-${n}`)
    assert.deepEqual(await Promise.all(types.map(type => queues[1].add(1, { type }))), types.map(type => `${type} 1`))
    await queues[1].onIdle()
    assert.equal((await queues[1].globalStats()).types, 0)
    const used = new Set(at.server.cli('keys', '*:.types').split('\n').map(key => /:(\d)}/.exec(key)?.[1]))
    assert.equal(used.size >= 4, true)
  })
})
