'use strict'

// What limits all processes, where the node that has the limits is away or hands its slot over, where the broker loses what it has while
// jobs are pushed, and with very many types: npm run test:fleet.

const assert = require('node:assert')
const { setTimeout: sleep } = require('node:timers/promises')
const { describeWithRedis } = require('../support/redis')
const { mostAtOnce, mostStarts } = require('./fleet-checks')
const { clusters, servers } = require('./opened')
const { until } = require('./until')

const TYPES = Array.from({ length: 60 }, (_, n) => `type-${n}`)
const HOUR = { limit: 1, intervalMs: 3600000 }

/** A runner that notes what runs, and when, as fleet-checks.js takes it. */
function noting (ms) {
  const runs = []
  const runner = async (n, { type }) => {
    const run = { start: performance.now() * 1000, end: Infinity, type, n }
    runs.push(run)
    if (ms > 0) await sleep(ms)
    run.end = performance.now() * 1000
  }
  return { runs, runner }
}

describeWithRedis('limits of a fleet at a Redis Cluster', function () {
  const { startServer: startCluster, open } = clusters()
  const OPTIONS = { scheduler: 'equal', leaseMs: 3000, concurrency: 20, pushTimeoutMs: 100000 }
  let cluster

  beforeEach(async () => { cluster = await startCluster(['--appendfsync', 'always']) })

  /** @returns {number} the port of the node that has a key */
  function portOf (key) {
    const cli = (...args) => cluster.cli('-p', String(cluster.ports[0]), 'cluster', ...args)
    const slot = Number(cli('keyslot', key))
    const line = cli('nodes').split('\n').find(text => text.split(' ').slice(8).some(range => {
      const [low, high = low] = range.split('-').map(Number)
      return slot >= low && slot <= high
    }))
    return Number(/:(\d+)@/.exec(line)[1])
  }

  /** Ends the node that has the limits. @returns {number} its port */
  async function loseLimits () {
    const port = portOf('{fairlane:jobs}:.fleet')
    while (await cluster.kill() !== port) await cluster.start()
    return port
  }

  it('has jobs without limits of the queue start while the node with the limits is away; caps and rates of types hold', async () => {
    const { runs, runner } = noting(0)
    const options = { ...OPTIONS, ratePerType: new Map(TYPES.slice(0, 30).map(type => [type, HOUR])) }
    await open(cluster, runner, options)
    const producer = await open(cluster, null, OPTIONS)
    await Promise.all(TYPES.map(type => producer.add('before', { type })))
    const port = await loseLimits()
    const pushes = Promise.all(TYPES.map(type => producer.pushType(type, 'away').catch(err => err)))
    const cap = producer.setGlobalCap('type-59', 5)
    const startedAway = () => runs.filter(({ n }) => n === 'away').length
    await until(() => startedAway() >= 10)
    assert.equal(runs.filter(({ n, type }) => n === 'away' && TYPES.indexOf(type) < 30).length, 0)
    await cluster.start()
    assert.equal(portOf('{fairlane:jobs}:.fleet'), port)
    await Promise.all([pushes, cap])
    await until(() => startedAway() === 30)
    assert.equal((await producer.counts('type-59')).cap, 5)
    assert.equal((await producer.counts()).waiting, 30)
  })

  it('has nothing start by a rate of the queue while that node is away, and loses nothing that runs', async () => {
    const rate = { limit: 10, intervalMs: 1000 }
    const { runs, runner } = noting(100)
    const worker = await open(cluster, runner, { ...OPTIONS, leaseMs: 30000, rate, globalConcurrency: 4 })
    const producer = await open(cluster, null, OPTIONS)
    await Promise.all(TYPES.map(type => producer.pushType(type, 1)))
    await until(() => runs.length >= 5)
    await loseLimits()
    await sleep(500) // permits that it had
    const count = runs.length
    await sleep(3000)
    assert.equal(runs.length, count)
    await cluster.start()
    await producer.onIdle()
    assert.deepEqual([runs.length, worker.stats().lost], [TYPES.length, 0])
    mostStarts(rate)(runs)
    mostAtOnce(4)(runs)
  })

  it('holds while the slots of limits and types are moved', async () => {
    const rate = { limit: 40, intervalMs: 1000 }
    const { runs, runner } = noting(50)
    const options = { ...OPTIONS, rate, globalConcurrency: 6, ratePerType: { limit: 5, intervalMs: 1000 } }
    await Promise.all([open(cluster, runner, options), open(cluster, runner, options)])
    const producer = await open(cluster, null, OPTIONS)
    await Promise.all(Array.from({ length: 400 }, (_, n) => producer.pushType(TYPES[n % 10], n)))
    const port = await cluster.addNode()
    await cluster.moveSlotOf('{fairlane:jobs}', port)
    for (let partition = 0; partition < 4; partition++) await cluster.moveSlotOf(`{fairlane:jobs:${partition}}`, port)
    await producer.onIdle()
    assert.equal(new Set(runs.map(({ n }) => n)).size, 400)
    mostStarts(rate)(runs)
    mostAtOnce(6)(runs)
    for (const type of TYPES.slice(0, 10)) mostStarts({ limit: 5, intervalMs: 1000 })(runs.filter(run => run.type === type))
  })
})

describeWithRedis('limits of a fleet at a server', function () {
  const { startServer, open } = servers()

  it('are written again before a job starts, where it loses all while jobs are pushed', async () => {
    const flushesCount = 5
    const server = await startServer()
    const { runs, runner } = noting(0)
    const options = { scheduler: 'equal', ratePerType: HOUR }
    await Promise.all([1, 2, 3].map(() => open(server, runner, options)))
    const producer = await open(server, null)
    const over = new AbortController()
    const pushing = (async () => {
      for (let n = 0; !over.signal.aborted; n++) await producer.pushType(`type-${Math.floor(n / 2)}`, n)
    })()
    for (let n = 1; n <= flushesCount; n++) {
      const count = runs.length
      await until(() => runs.length >= count + 50)
      server.cli('flushall')
    }
    await until(() => runs.length >= 50 * (flushesCount + 1))
    over.abort()
    await pushing
    const starts = new Map()
    for (const { type } of runs) starts.set(type, (starts.get(type) ?? 0) + 1)
    const twice = [...starts.values()].filter(count => count > 1).length
    assert(twice <= flushesCount, `${twice} types`) // windows begin anew: one type has a job on each side of it
    await producer.clear()
  })

  it('of 20,000 types take little room, and no long calls', async () => {
    const count = 20000
    const server = await startServer()
    server.cli('config', 'set', 'slowlog-log-slower-than', '1000')
    const names = Array.from({ length: count }, (_, n) => `tenant-${n}`)
    const rates = new Map(names.map((name, n) => [name, { limit: 1 + n % 7, intervalMs: 10000 }]))
    const { runs, runner } = noting(0)
    const begun = performance.now()
    const workers = []
    for (let n = 0; n < 3; n++) workers.push(await open(server, runner, { scheduler: 'equal', ratePerType: rates }))
    const openedMs = performance.now() - begun
    const bytes = key => Number(server.cli('memory', 'usage', key))
    const bytesPerType = (bytes('{fairlane:jobs}:.fleet') + bytes('{fairlane:jobs}:.limits')) / count
    await Promise.all(names.flatMap((type, n) => n % 4 === 0 ? [workers[0].pushType(type, 1), workers[0].pushType(type, 2)] : []))
    await until(() => runs.length > 8000 || runs.length >= count / 2)
    const changed = performance.now()
    await workers[1].setRates({ ratePerType: new Map([...rates, ['tenant-1', HOUR]]) })
    const changedMs = performance.now() - changed
    const evalMicros = Number(/cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(server.cli('info', 'commandstats'))[1])
    if (process.env.FAIRLANE_TELL === '1') {
      const slowest = server.cli('slowlog', 'get', '100').split('\n').filter(line => /^\d{4,}$/.test(line)).map(Number).filter(n => n < 1e7)
      console.log(`20,000 types with rates: ${bytesPerType.toFixed(0)} bytes of each, opened three times in ${openedMs.toFixed(0)} ms, ` +
        `changed in ${changedMs.toFixed(0)} ms; a script takes ${evalMicros} µs, the slowest ${Math.max(...slowest)} µs`)
    }
    assert(bytesPerType < 600, `${bytesPerType} bytes of each type`)
    assert(evalMicros < 1000, `${evalMicros} µs for each script`)
    const starts = new Map(names.map(name => [name, []]))
    for (const run of runs) starts.get(run.type).push(run)
    for (const [name, some] of starts) mostStarts(rates.get(name))(some)
    await workers[0].clear()
  })
})
