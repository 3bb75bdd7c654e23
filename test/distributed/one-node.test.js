'use strict'

// A Redis Cluster of a single node: what npm run test:cluster does with several takes long.

const assert = require('node:assert')
const { once } = require('node:events')
const { Cluster } = require('ioredis')
const { distributed } = require('../../lib/distributed')
const { describeWithRedis } = require('../support/redis')
const { startCluster } = require('../support/redis-cluster')
const { expectReject } = require('./expectations')
const { until } = require('./until')

describeWithRedis('a queue at a Redis Cluster of one node', function () {
  const queues = []
  let cluster

  before(async () => { cluster = await startCluster([], 1) })
  after(() => cluster.stop())
  afterEach(() => Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 }))))

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
      assert.equal(
        warnings.filter(({ code, message }) => code === 'FAIRLANE_WARN_BROKER' && /full-coverage/.test(message)).length,
        value === 'yes' ? 1 : 0
      )
    }
  })

  it('is asked for nothing that its user may not', async () => {
    const port = String(cluster.ports[0])
    cluster.cli('-p', port, 'acl', 'setuser', 'default', '-info', '-config')
    const queue = await open(null)
    cluster.cli('-p', port, 'acl', 'setuser', 'default', '+@all')
    await queue.push(1)
  })

  it('is refused at once with a wrong password, of which all its nodes say so', async () => {
    const port = String(cluster.ports[0])
    cluster.cli('-p', port, 'acl', 'setuser', 'somebody', 'on', '>a-long-secret', '~*', '&*', '+@all')
    const connection = [`redis://somebody:wrong@127.0.0.1:${port}`]
    const { cause } = await expectReject(open(null, { connection, pushTimeoutMs: 10 ** 9 }), 'FAIRLANE_ERR_BROKER')
    assert.match(cause.message, /^WRONGPASS /)
  })

  it('is talked to by one user, for messages too', async () => {
    const port = String(cluster.ports[0])
    const asUser = (...args) => cluster.cli('--no-auth-warning', '--user', 'worker', '--pass', 'a-long-secret', '-p', port, ...args)
    cluster.cli('-p', port, 'acl', 'setuser', 'worker', 'on', '>a-long-secret', '~*', '&*', '+@all')
    asUser('acl', 'setuser', 'default', 'off')
    try {
      const connection = [`redis://worker:a-long-secret@127.0.0.1:${port}`]
      await open(async n => n, { connection })
      assert.equal(await (await open(null, { connection })).add(1), 1)
      const users = asUser('client', 'list', 'type', 'pubsub').split('\n').filter(Boolean).map(line => / user=(\S+)/.exec(line)[1])
      assert.deepEqual(users, ['worker', 'worker'])
    } finally {
      asUser('acl', 'setuser', 'default', 'on')
    }
  })

  it('may be given as clients of the caller, for both purposes', async () => {
    const connection = () => new Cluster(cluster.urls)
    cluster.cli('-p', String(cluster.ports[0]), 'config', 'set', 'cluster-require-full-coverage', 'yes')
    const warned = once(process, 'warning')
    const worker = await open(async n => n, { connection, name: 'given', partitions: 4 })
    assert.match((await warned)[0].message, /full-coverage/)
    assert.equal(await worker.add(1), 1)
    await worker.close()
    const left = () => cluster.cli('-p', String(cluster.ports[0]), 'pubsub', 'numsub', '{fairlane:given:0}:.wake').trim().split('\n').at(-1)
    await until(() => left() === '0')
  })

  it('runs jobs of all partitions, and keeps their number', async () => {
    await open(async n => n)
    const producer = await open(null)
    const results = await Promise.all(Array.from({ length: 40 }, (_, at) => producer.add(1, { type: `type-${at}` })))
    assert.deepEqual(new Set(results), new Set([1]))
    await expectReject(open(null, { partitions: 4 }), 'FAIRLANE_ERR_OPTION')
  })
})
