'use strict'

const assert = require('node:assert')
const { Throttled } = require('../../lib/distributed')
const { Broker } = require('../../lib/distributed/broker/broker')
const gates = require('../support/gates')
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
    await until(() => keys().length === 0)
    assert.equal((await queue.counts('type-1')).cap, 2)
    assert.equal(at.server.cli('scard', `{fairlane:${at.name}}:.types`), '0')
    // and what the options say is there again with the next job
    await queue.pushType('type-3', 1)
    assert.equal((await queue.counts('type-3')).cap, 5)
  })

  it('refuses another number of partitions than the one at the broker', async () => {
    await at.open(null)
    await assert.rejects(at.open(null, { partitions: 2 }), { code: 'FAIRLANE_ERR_OPTION', message: /^partitions is 2, and .* has 1:/ })
    await at.open(null, { partitions: 1 })
  })

  it('refuses what has another format, says what to do, and leaves all as it is', async () => {
    const key = `{fairlane:${at.name}}:.queue`
    const queue = await at.open(null)
    await queue.pushType('a', 'waits')
    await queue.close()
    assert.equal(at.server.cli('hget', key, 'format'), String(Broker.format))
    at.server.cli('hdel', key, 'serializer') // as in a format that does not have it
    const keys = at.server.cli('keys', `{fairlane:${at.name}}*`).split('\n').sort()
    for (const format of [Broker.format - 1, Broker.format + 1, 'x']) {
      at.server.cli('hset', key, 'format', String(format))
      await assert.rejects(at.open(async () => {}), { code: 'FAIRLANE_ERR_BROKER', message: /has format .*: let processes of the other version empty it, or/ })
      assert.equal(at.server.cli('hget', key, 'format'), String(format))
      assert.equal(at.server.cli('hget', key, 'serializer').trim(), '')
      assert.deepEqual(at.server.cli('keys', `{fairlane:${at.name}}*`).split('\n').sort(), keys)
    }
    at.server.cli('hset', key, 'format', String(Broker.format))
    const { waiting } = await (await at.open(null)).counts()
    assert.equal(waiting, 1)
  })

  it('keeps a hold until it is over, though its type is idle, or has a rate that is taken away', async () => {
    const starts = []
    const queue = await at.open(async (n, { type }) => { starts.push(`${type} ${n}`) }, { leaseMs: 1000, resultTtlMs: 0 })
    await Promise.all(['idle', 'short', 'rated'].map(type => queue.add(1, { type })))
    await queue.setRates({ ratePerType: new Map([['rated', { limit: 100, intervalMs: 3600000 }]]) })
    for (const type of ['idle', 'rated']) await queue.holdType(type, 3600000)
    await queue.holdType('short', 1500)
    await queue.setRates({ ratePerType: null })
    const types = () => at.server.cli('smembers', `{fairlane:${at.name}}:.types`).split('\n').filter(Boolean).sort()
    await until(() => !types().includes('short'))
    await Promise.all(['idle', 'short', 'rated'].map(type => queue.pushType(type, 2)))
    await until(() => starts.length >= 4)
    await queue.pushType('other', 1)
    await until(() => starts.length >= 5)
    assert.deepEqual(starts.slice(3), ['short 2', 'other 1'])
    assert.equal((await queue.counts('rated')).rate, null)
    for (const type of ['idle', 'rated']) await queue.holdType(type, 0)
    await until(() => starts.length >= 7)
  })

  it('holds a type for as long as a call or a server said, be it for months', async () => {
    const heldMs = type => Number(at.server.cli('pttl', `{fairlane:${at.name}}:${type}:limiter`))
    const untilHeld = type => until(() => heldMs(type) > 0).then(() => heldMs(type))
    const queue = await at.open(async header => { throw typeof header === 'string' ? Throttled.after(header) : new Throttled(header) }, { concurrency: 5 })
    const days = n => n * 24 * 3600 * 1000
    const headers = { date: new Date(Date.now() + days(30)).toUTCString(), seconds: String(days(30) / 1000), ms: days(30) }
    for (const [type, header] of Object.entries(headers)) await queue.pushType(type, header)
    for (const type of Object.keys(headers)) {
      const ms = await untilHeld(type)
      assert(ms > days(30) - 60000 && ms <= days(30), `${type} ${ms}`)
    }
    await queue.holdType('call', days(3000))
    assert(heldMs('call') > days(2999))
    await queue.holdType('call', Number.MAX_SAFE_INTEGER)
    assert(heldMs('call') > days(3000))
    assert.throws(() => queue.holdType('call', 2 ** 53), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await queue.holdType('call', 5)
    assert(heldMs('call') <= 5, 'a call may make it shorter')
  })

  it('holds a type for the longest time that a server said, and no rate for that', async () => {
    const heldMs = () => Number(at.server.cli('pttl', `{fairlane:${at.name}}:a:limiter`))
    const gate = gates()
    const queue = await at.open(
      gate.runner, { settleBy: 'callback', concurrency: 5, ratePerType: new Map([['a', { limit: 100, intervalMs: 3600000 }]]) }
    )
    for (let n = 0; n < 2; n++) await queue.pushType('a', n)
    await gate.until(2)
    gate.fail(new Throttled(60000))
    await until(() => heldMs() > 0 && heldMs() <= 60000)
    gate.fail(new Throttled(1))
    await until(() => queue.stats().running === 0)
    assert(heldMs() > 30000)
    await queue.clear()
  })

  it('works with several partitions as with one', async () => {
    const options = { partitions: 4, scheduler: 'equal' }
    const queues = [await at.open(async (n, { type }) => `${type} ${n}`, options), await at.open(null, { partitions: 4 })]
    const types = Array.from({ length: 40 }, (_, n) => `type-${n}`)
    assert.deepEqual(await Promise.all(types.map(type => queues[1].add(1, { type }))), types.map(type => `${type} 1`))
    await queues[1].onIdle()
    assert.equal((await queues[1].counts()).types, 0)
    const used = new Set(at.server.cli('keys', '*:.types').split('\n').map(key => /:(\d)}/.exec(key)?.[1]))
    assert.equal(used.size >= 4, true)
  })
})
