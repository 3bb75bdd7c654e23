'use strict'

// Redis Clusters of three masters, made for each test. They take a while: npm run test:cluster, and a part of npm run test:long.

const assert = require('node:assert')
const { setTimeout: sleep } = require('node:timers/promises')
const { distributed } = require('../../lib/distributed')
const { nameOf, partitionOf } = require('../../lib/distributed/names')
const { openAtBroker } = require('../../lib/distributed/visit')
const { behaveAsJobQueues } = require('../shared/job-queues')
const { describeWithRedis } = require('../support/redis')
const { startCluster } = require('../support/redis-cluster')
const { expectReject } = require('./expectations')
const { describeFairness } = require('./fairness')
const { describeBrokerEnds, describeCapsOfRunners, describeCutOff, describeEnds, describeManyJobs } = require('./faults')
const { describeLimits } = require('./limits')
const { describeLoad } = require('./load')
const { atCluster, clusters } = require('./opened')
const { until } = require('./until')

const TYPES = Array.from({ length: 40 }, (_, n) => `type-${n}`)

describeWithRedis('a queue at a Redis Cluster', function () {
  let cluster, queues

  afterEach(async () => {
    await Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 })))
    await cluster.stop()
  })

  async function start (settings) {
    queues = []
    cluster = await startCluster(settings)
  }

  async function open (runner, options) {
    const own = { name: 'jobs', connection: cluster.urls, settleBy: 'promise', leaseMs: 3000, scheduler: 'equal', concurrency: 20 }
    const queue = await distributed(runner, { ...own, pushTimeoutMs: 100000, ...options })
    queues.push(queue)
    return queue
  }

  it('runs each job once, on all nodes, and keeps its number of partitions', async () => {
    await start()
    const byWorker = [0, 0]
    await Promise.all(byWorker.map((zero, worker) => open(async n => {
      byWorker[worker]++
      return n
    })))
    const producer = await open(null)
    const results = await Promise.all(Array.from({ length: 2000 }, (_, n) => producer.add(n, { type: TYPES[n % 40] })))
    results.forEach((result, n) => assert.equal(result, n))
    assert.equal(byWorker[0] + byWorker[1], 2000)
    await producer.onIdle()
    for (const port of cluster.ports) assert(cluster.cli('-p', String(port), 'keys', '*:.types').includes('fairlane'), `at ${port}`)
    await expectReject(open(null, { partitions: 4 }), 'FAIRLANE_ERR_OPTION')
    await producer.setGlobalCap('type-1', 2)
    assert.equal((await producer.counts('type-1')).cap, 2)
    assert.equal((await producer.counts()).types, 0)
  })

  it('reaches nodes that are found by the first one with the user of its URL', async () => {
    const user = 'somebody'
    const password = 'a-long-secret'
    await start(['--bind', '127.0.0.1', '127.0.0.2'])
    for (const port of cluster.ports) {
      cluster.cli('-p', String(port), 'acl', 'setuser', user, 'on', `>${password}`, '~*', '&*', '+@all')
      cluster.cli('-p', String(port), 'acl', 'setuser', 'default', 'off')
    }
    // the nodes name themselves 127.0.0.1
    const queue = await open(async n => n, { connection: [`redis://${user}:${password}@127.0.0.2:${cluster.ports[0]}`] })
    assert.deepEqual(await Promise.all(TYPES.map(type => queue.add(1, { type }))), TYPES.map(() => 1))
  })

  it('shows a visitor the jobs of all nodes', async () => {
    await start()
    const producer = await open(null)
    await Promise.all(TYPES.map((type, n) => producer.pushType(type, n)))
    const visitor = await openAtBroker({ connection: cluster.urls, name: 'jobs', pushTimeoutMs: 100000 })
    queues.push(visitor.queue)
    const payloads = []
    for await (const { payload } of visitor.jobs()) payloads.push(payload)
    // of a type that has many
    const many = new Set(await producer.pushAll(Array.from({ length: 600 }, (_, payload) => ({ type: TYPES[1], payload }))))
    for await (const { id } of visitor.jobs()) many.delete(id)
    assert.equal(many.size, 0)
    await producer.clear({ type: TYPES[1] })
    await producer.pushType(TYPES[1], 1)
    assert.deepEqual(payloads.sort((a, b) => a - b), TYPES.map((type, n) => n))
    assert.equal((await visitor.queue.counts()).waiting, TYPES.length)
  })

  it('warns of a cluster that stops as a whole', async () => {
    await start()
    const warned = new Promise(resolve => process.once('warning', resolve))
    await open(null)
    const { code, message } = await warned
    assert.equal(code, 'FAIRLANE_WARN_BROKER')
    assert.match(message, /cluster-require-full-coverage/)
  })

  it('loses nothing while a master is added and slots with jobs in them are moved to it', async () => {
    await start()
    const starts = new Map()
    const runner = async n => {
      starts.set(n, (starts.get(n) ?? 0) + 1)
      await sleep(2)
      return n
    }
    await Promise.all([open(runner), open(runner)])
    const producer = await open(null)
    const port = await cluster.addNode()
    const results = []
    let failed
    const over = new AbortController()
    const pushing = (async () => {
      for (let n = 0; !over.signal.aborted; n++) {
        const result = producer.add(n, { type: TYPES[n % 40] })
        result.catch(err => { failed ??= err })
        results.push(result)
        await sleep(2)
      }
    })()
    const hadThem = new Set()
    try {
      for (let partition = 0; partition < 8; partition++) hadThem.add(await cluster.moveSlotOf(`{fairlane:jobs:${partition}}`, port))
    } finally {
      over.abort() // or the process would push for ever
      await pushing
    }
    assert.deepEqual(hadThem, new Set(cluster.ports))
    assert(cluster.errorsCount('TRYAGAIN') + cluster.errorsCount('ASK') > 0, 'they were moved while calls were made')
    assert.ifError(failed)
    const all = await Promise.all(results)
    all.forEach((result, n) => assert.equal(result, n))
    await producer.onIdle()
    assert.equal((await producer.counts()).dead, 0)
    const twice = [...starts.values()].filter(count => count > 1).length
    assert(twice <= 0.05 * starts.size, `${twice} of ${starts.size}`)
  })

  it('has pushes to a slot that is being moved wait until it has moved, and no others', async () => {
    await start(['--cluster-require-full-coverage', 'no'])
    const starts = new Map()
    const workers = await Promise.all([1, 2].map(() => open(async id => { starts.set(id, (starts.get(id) ?? 0) + 1) })))
    const producer = await open(null)
    const [moving, others] = [true, false].map(isMoving => TYPES.filter(type => (partitionOf(nameOf(type), 16) === 0) === isMoving))
    assert(moving.length > 0)
    const addAll = (types, round) => Promise.all(types.map(type => producer.add(`${type} ${round}`, { type })))
    await addAll(TYPES, 0)
    await Promise.all(Array.from({ length: 20 }, () => producer.pushType(moving[0], 0, { delayMs: 3600000 })))
    const port = await cluster.addNode()
    let held
    let areHeld = true
    await cluster.moveSlotOf('{fairlane:jobs:0}', port, async () => {
      held = addAll(moving, 1).then(() => { areHeld = false })
      held.catch(() => {})
      for (let round = 1; round <= 5; round++) await addAll(others, round)
      // by then the client has given its calls up
      await until(() => cluster.errorsCount('TRYAGAIN') > 60)
      assert(areHeld)
    })
    await held
    for (const [type, rounds] of [...moving.map(type => [type, 2]), ...others.map(type => [type, 6])]) {
      for (let round = 0; round < rounds; round++) assert.equal(starts.get(`${type} ${round}`), 1)
    }
    assert.equal((await producer.counts()).delayed, 20)
    for (const worker of workers) assert.equal(worker.stats().lost, 0)
  })

  it('goes on with the types of other masters when one is down, and with its own when it is back', async () => {
    await start(['--cluster-require-full-coverage', 'no', '--appendfsync', 'always'])
    await open(async n => n)
    const producer = await open(null)
    await Promise.all(TYPES.map(type => producer.add(1, { type })))
    const [port] = cluster.ports
    await cluster.kill(port)
    let count = 0
    const results = Promise.all(TYPES.map(async type => {
      const result = await producer.add(2, { type })
      count++
      return result
    }))
    await Promise.race([until(() => count >= 15), results])
    assert(count < 40)
    await cluster.start(port)
    assert.deepEqual(await results, TYPES.map(() => 2))
  })
})

describeWithRedis('a distributed queue at a Redis Cluster of three masters, as one of jobs', () => {
  const at = atCluster()
  behaveAsJobQueues({ open: at.open, unknownIds: ['t:nobody', 'nonsense', ''] })

  it('takes types of any text', async () => {
    const types = ['', ':', '{}', '{a}b', '%', '%25', '__proto__', 'constructor', ' ', 'x'.repeat(300), '日本', '😀', '\0', '\r\n']
    const queue = await at.open(async (payload, { type }) => type, { scheduler: 'fair' })
    assert.deepEqual(await Promise.all(types.map(type => queue.add(1, { type }))), types)
  })
})

describe('at a Redis Cluster of three masters,', () => {
  describeLoad(atCluster)
  describeLimits(atCluster)
  describeFairness({ ms: 3000, floodCount: 2000 }, atCluster)
  describeManyJobs({ jobsCount: 3000 }, clusters)
  describeEnds({ jobsCount: 300, poisonTypes: ['type-1', 'other'], besideCount: 400 }, clusters)
  describeCapsOfRunners({ jobsCount: 300, killsCount: 2 }, clusters)
  describeCutOff(clusters)
  describeBrokerEnds({ jobsCount: 300, killsCount: 3 }, clusters)
})
