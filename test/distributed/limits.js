'use strict'

// Caps, rates, pauses and holds over all processes: at a server in npm test, at a Redis Cluster in npm run test:cluster.

const assert = require('node:assert')
const { setTimeout: sleep } = require('node:timers/promises')
const { Postponed, Throttled } = require('../../lib/distributed')
const { once: measured } = require('../support/attempts')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { until } = require('./until')

module.exports = { describeLimits }

/** @param {() => object} atBroker atServer or atCluster */
function describeLimits (atBroker) {
  describeWithRedis('what holds in all processes', function () {
    const at = atBroker()

    /**
     * A runner that notes how many jobs of each type run at once, in whatever queue.
     * @param {Record<string, number>} [least] the first jobs of a type go on until so many of them run at once
     */
    function counting (ms, least = {}) {
      const now = new Map()
      const most = new Map()
      const runner = async (payload, { type }) => {
        now.set(type, (now.get(type) ?? 0) + 1)
        most.set(type, Math.max(most.get(type) ?? 0, now.get(type)))
        await sleep(ms)
        await until(() => most.get(type) >= (least[type] ?? 0))
        now.set(type, now.get(type) - 1)
      }
      return { runner, most, now }
    }

    it('a cap of a type is reached, and never exceeded', async () => {
      const { runner, most } = counting(10, { capped: 3, free: 4 })
      const options = { globalTypeCaps: { capped: 3 }, concurrency: 10, scheduler: 'fair' }
      const queues = await Promise.all([at.open(runner, options), at.open(runner, options), at.open(runner, options)])
      await Promise.all(Array.from({ length: 120 }, (_, n) => queues[n % 3].pushType(n % 2 ? 'capped' : 'free', n)))
      await queues[0].onIdle()
      assert.equal(most.get('capped'), 3)
      assert(most.get('free') >= 4)
    })

    it('a cap that is set by a call holds from then on, and is not replaced by an option', async () => {
      const gate = gates()
      const options = { globalTypeCap: 1, concurrency: 10, settleBy: 'callback' }
      const queues = [await at.open(gate.runner, options), await at.open(gate.runner, options)]
      await Promise.all(Array.from({ length: 12 }, (_, n) => queues[n % 2].push(n)))
      await gate.until(1)
      assert.equal((await queues[0].counts('')).cap, 1)
      await queues[0].setGlobalCap('', 4)
      await gate.until(4)
      await queues[1].push('more')
      assert.equal((await queues[1].counts('')).cap, 4)
      assert.equal(gate.open.length, 4)
      await queues[0].setGlobalCap('', 2)
      gate.release(3)
      await gate.until(5)
      assert.equal(gate.open.length, 2)
      await queues[0].setGlobalCap('', Infinity)
      await gate.until(13)
      assert.equal((await queues[1].counts('')).cap, Infinity)
      gate.release(gate.open.length)
      await queues[0].onIdle()
    })

    it('a capped type gets its share beside a flood', async () => {
      const { runner, now } = counting(15)
      const queue = await at.open(
        async (...args) => { await runner(...args) }, { globalTypeCaps: { capped: 2 }, concurrency: 10, scheduler: 'fair' }
      )
      const done = { capped: 0, flood: 0 }
      queue.on('done', ({ type }) => { done[type]++ })
      await Promise.all(Array.from({ length: 1600 }, (_, n) => queue.pushType('flood', n)))
      await Promise.all(Array.from({ length: 100 }, (_, n) => queue.pushType('capped', n)))
      const before = done.flood
      await until(() => done.capped >= 40)
      // the flood has four times as many slots
      assert(done.flood - before <= 10 * done.capped, `${done.flood - before} of the flood, ${done.capped} capped ones`)
      assert(now.get('capped') <= 2)
      await queue.clear()
    })

    it('a rate of a type holds in any stretch of time', async () => {
      let starts
      const runner = async () => { starts.push(performance.now()) }
      const options = { ratePerType: new Map([['slow', { limit: 5, intervalMs: 1000 }]]) }
      const queues = [await at.open(runner, options), await at.open(runner, options)]
      await measured(async () => { // a start that is noted late seems to be too near to the next ones
        starts = []
        await Promise.all(Array.from({ length: 13 }, (_, n) => queues[n % 2].pushType('slow', n)))
        assert.deepEqual((await queues[0].counts('slow')).rate, { limit: 5, intervalMs: 1000 })
        await queues[0].onIdle()
        assert.equal(starts.length, 13)
        for (const [n, start] of starts.entries()) {
          const within = starts.filter((time, m) => m >= n && time - start < 1000).length
          assert(within <= 5, `${within} starts`)
        }
      })
    })

    it('a rate that is set by a call holds from then on, until it is taken away', async () => {
      const gate = gates()
      const queue = await at.open(gate.runner, { settleBy: 'callback', ratePerType: { limit: 5, intervalMs: 1000 } })
      await queue.setRates({ ratePerType: new Map([['a', { limit: 2, intervalMs: 3600000 }]]) })
      await Promise.all([1, 2, 3, 4].map(n => queue.pushType('a', n)))
      assert.deepEqual((await queue.counts('a')).rate, { limit: 2, intervalMs: 3600000 })
      await gate.until(2)
      await queue.setRates({ ratePerType: null })
      assert.equal((await queue.counts('a')).rate, null)
      await gate.until(4)
      gate.release(4)
      await queue.onIdle()
    })

    it('a pause of a type holds until it is resumed', async () => {
      const gate = gates()
      const queues = [await at.open(gate.runner, { settleBy: 'callback' }), await at.open(gate.runner, { settleBy: 'callback' })]
      await queues[0].pauseGlobal('a')
      await Promise.all([1, 2, 3].map(n => queues[n % 2].pushType('a', n)))
      await queues[0].pushType('b', 'other')
      await gate.until(1)
      assert.deepEqual(gate.payloads, ['other'])
      assert.equal((await queues[1].counts('a')).paused, true)
      await queues[1].resumeGlobal('a')
      await gate.until(4)
      gate.release(4)
      await queues[0].onIdle()
    })

    it('a type that is held starts no job for so long, and others do', async () => {
      const starts = []
      const queue = await at.open(async (n, { type }) => { starts.push([type, performance.now()]) })
      const begin = performance.now()
      await queue.holdType('a', 200)
      await queue.holdType('c', 3600000)
      await Promise.all(['c', 'a', 'b', 'a'].map(type => queue.pushType(type, 1)))
      await until(() => starts.length === 3)
      for (const [type, time] of starts) assert(type === 'b' || (type === 'a' && time - begin >= 195), `${type} ${time - begin}`)
      assert.equal((await queue.counts('a')).rate, null)
    })

    it('a hold ends by a hold of 0 ms in any process, and such a hold lets nothing past a rate', async () => {
      const gate = gates()
      const queues = await Promise.all([1, 2].map(() => at.open(gate.runner, { settleBy: 'callback', concurrency: 5 })))
      await queues[0].holdType('held', 3600000)
      await queues[0].setRates({ ratePerType: new Map([['rated', { limit: 2, intervalMs: 3600000 }]]) })
      await queues[0].pushType('held', 'held')
      await Promise.all([1, 2, 3].map(n => queues[0].pushType('rated', n)))
      await gate.until(2)
      for (const type of ['rated', 'held']) await queues[1].holdType(type, 0)
      await gate.until(3)
      assert.deepEqual(gate.payloads.filter(payload => payload === 'held'), ['held'])
      await queues[0].pushType('other', 'after')
      await gate.until(4)
      assert.equal((await queues[1].counts('rated')).waiting, 1)
      await queues[1].clear()
      gate.release(4)
      await queues[0].onIdle()
    })

    it('a runner that was throttled has its type held, and one that postpones only its job; neither attempt counts', async () => {
      const starts = []
      const queue = await at.open(async (failure, { type, attempt }) => {
        starts.push({ type, attempt, time: performance.now() })
        if (starts.filter(start => start.type === type).length > 1) return 'done'
        if (failure === 'throttled') throw new Throttled(1500)
        if (failure === 'postponed') throw new Postponed(1000)
      }, { concurrency: 1, maxAttempts: 1 })
      assert.deepEqual(
        await Promise.all(
          [queue.add('throttled', { type: 'a' }), queue.add('postponed', { type: 'b' }), queue.add('none', { type: 'c' })]
        ), ['done', 'done', null]
      )
      assert.deepEqual(starts.map(({ attempt }) => attempt), [1, 1, 1, 1, 1])
      for (const [type, ms] of [['a', 1500], ['b', 1000]]) {
        const [first, second] = starts.filter(start => start.type === type)
        assert(second.time - first.time >= ms - 2, `${type} ${second.time - first.time}`)
      }
      assert(starts.findIndex(({ type }) => type === 'c') < starts.findLastIndex(({ type }) => type === 'a'))
    })
  })
}
