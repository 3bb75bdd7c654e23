'use strict'

// A Redis Cluster of a single node: what npm run test:cluster does with several takes long.

const assert = require('node:assert')
const { distributed } = require('../../lib/distributed')
const { describeWithRedis } = require('../support/redis')
const { startCluster } = require('../support/redis-cluster')
const { expectReject } = require('./expectations')

describeWithRedis('a queue at a Redis Cluster of one node', function () {
  const queues = []
  let cluster

  before(async () => { cluster = await startCluster([], 1) })
  after(() => cluster.stop())
  afterEach(() => Promise.all(queues.splice(0).map(queue => queue.close({ drain: false }))))

  async function open (runner, options) {
    const queue = await distributed(runner, { name: 'jobs', connection: cluster.urls, settleBy: 'promise', ...options })
    queues.push(queue)
    return queue
  }

  it('is warned of if it stops as a whole', async () => {
    for (const value of ['yes', 'no']) {
      cluster.cli('-p', String(cluster.ports[0]), 'config', 'set', 'cluster-require-full-coverage', value)
      const warnings = []
      const heard = warning => warnings.push(warning)
      process.on('warning', heard)
      await open(null)
      await new Promise(resolve => setImmediate(resolve))
      process.off('warning', heard)
      assert.equal(warnings.filter(({ code, message }) => code === 'FAIRLANE_WARN_BROKER' && /full-coverage/.test(message)).length, value === 'yes' ? 1 : 0)
    }
  })

  it('is asked for nothing that its user may not', async () => {
    const port = String(cluster.ports[0])
    cluster.cli('-p', port, 'acl', 'setuser', 'default', '-info', '-config')
    const queue = await open(null)
    cluster.cli('-p', port, 'acl', 'setuser', 'default', '+@all')
    await queue.push(1)
  })

  it('runs jobs of all partitions, and keeps their number', async () => {
    await open(async n => n)
    const producer = await open(null)
    const results = await Promise.all(Array.from({ length: 40 }, (_, at) => producer.add(1, { type: `type-${at}` })))
    assert.deepEqual(new Set(results), new Set([1]))
    await expectReject(open(null, { partitions: 4 }), 'FAIRLANE_ERR_OPTION')
  })
})
