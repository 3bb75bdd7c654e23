'use strict'

// Many jobs: at a server in npm test, at a Redis Cluster in npm run test:cluster.

const assert = require('node:assert')
const { describeWithRedis } = require('../support/redis')
const { isLong } = require('../support/rounds')
const { until } = require('./until')

module.exports = { describeLoad }

/** @param {() => object} atBroker atServer or atCluster */
function describeLoad (atBroker) {
  describeWithRedis('many jobs', function () {
    const at = atBroker()

    it('each job runs once, each result reaches its own add(), all workers work, and nothing is left', async () => {
      const count = isLong ? 20000 : 1000
      const starts = new Uint8Array(count)
      const byWorker = [0, 0, 0]
      // longer than this process may be kept from its timers by so many jobs at once
      const options = { scheduler: 'equal', concurrency: 20, leaseMs: isLong ? 10000 : 3000, resultTtlMs: 2000 }
      const workers = await Promise.all(byWorker.map((zero, worker) => at.open(async n => {
        starts[n]++
        byWorker[worker]++
        return n * 2
      }, options)))
      const producer = await at.open(null)
      const results = await Promise.all(Array.from({ length: count }, (_, n) => producer.add(n, { type: `type-${n % 50}` })))
      results.forEach((result, n) => assert.equal(result, n * 2))
      assert(starts.every(times => times === 1))
      for (const ran of byWorker) assert(ran > count / 20, `${byWorker}`)
      await producer.onIdle()
      assert.deepEqual(await producer.counts(), { waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 })
      if (!isLong) return // it takes three walks of the keeper, which globals.test.js shows with few jobs
      await Promise.all([...workers, producer].map(queue => queue.close()))
      await at.open(async () => {}, { ...options, leaseMs: 1000 }) // that of all processes, which walk sooner now
      // the number of the last push goes when no push is made again (pushes.js)
      const left = () => at.keys().filter(key => key.includes(':type-') && !key.includes(':.pushed:')).length
      await until(() => left() === 0)
    })
  })
}
