'use strict'

// Question: what does a job cost that waits at a broker, how does that grow with types and workers, and who waits for whom?
//
// distributed() beside BullMQ, on which it is built, used as its guide says: a queue, a worker and events for each type. Each measurement
// has a server of its own, workers in processes of their own, and a producer in this one, which compares every result. CPU time, of all
// processes, counts more than jobs per second, since they share the cores of one machine.

const { setTimeout: sleep } = require('node:timers/promises')
const { versionOf } = require('../contenders')
const { startFleet } = require('../distributed/fleet')
const { queues } = require('../distributed/queues')
const { heldBytes } = require('../heap')
const { percentile } = require('../statistics')
const { typeNames } = require('../types')
const { program } = require('../../test/support/redis-program')

const BOTH = ['fairlane', 'BullMQ']
const WINDOW = 1000
const UNBOUND = ['fairlane', 'fairlane, rate', 'fairlane, ratePerType', 'fairlane, globalConcurrency']
const SLOTS = 100
const FEW_SLOTS = 20
const JOB_MS = 20

module.exports = {
  name: 'distributed',
  title: 'Queues at a broker',
  page: 'docs/benchmarks/distributed.md',
  about: `A Redis server with \`appendonly yes\`, workers with ${SLOTS} slots, and a producer that adds jobs and waits for their results, at most ` +
    `${WINDOW.toLocaleString('en')} at once. Runners end at once where nothing else is said; every result is compared, and kept for a minute. All of it is on one ` +
    'machine, so more workers than it has cores show no more jobs per second, and CPU time tells more. *BullMQ* has a queue, a worker and events for each ' +
    'type, as its guide says, and as many slots in all, but at least one for each type.',
  metrics: [
    { key: 'jobsPerSecond', label: 'jobs per second', unit: '', higherIsBetter: true, best: true },
    { key: 'cpuUs', label: 'CPU time of all processes', unit: 'µs per job', best: true },
    { key: 'brokerUs', label: 'of the broker', unit: 'µs per job', best: true },
    { key: 'workersUs', label: 'of the workers', unit: 'µs per job', best: true },
    { key: 'producerUs', label: 'of the producer', unit: 'µs per job', best: true },
    { key: 'p50Ms', label: 'push to result, median', unit: 'ms' },
    { key: 'p95WaitMs', label: 'push to start, 95 %', unit: 'ms' },
    { key: 'quietP50Ms', label: 'push to start, median', unit: 'ms' },
    { key: 'quietP95Ms', label: 'push to start, 95 %', unit: 'ms' },
    { key: 'bytesPerJob', label: 'broker, a waiting job beyond its payload', unit: 'bytes' },
    { key: 'bytesPerType', label: 'broker, a type with one job', unit: 'bytes' },
    { key: 'producerBytesPerType', label: 'producer, a type', unit: 'bytes' }
  ],
  execArgv: ['--expose-gc'],
  budgetMs: 120000,

  /** @returns {string | undefined} why it cannot be run here */
  lack () {
    if (program === undefined) return 'there is no server: apt-get install redis-server, or set REDIS_SERVER'
  },

  cells ({ quick }) {
    const jobs = quick ? 500 : 6000
    const seconds = quick ? 0.3 : 3
    return [
      ...[1, 10, 100, 1000].map(types => (
        { id: `types-${types}`, label: `${types.toLocaleString('en')} type${types === 1 ? '' : 's'}`, kind: 'results', types: quick ? Math.min(types, 20) : types, jobs, contenders: BOTH }
      )),
      { id: 'single', label: 'one type', kind: 'single', jobs: quick ? 20 : 500, contenders: BOTH },
      ...['full', 'half'].flatMap(load => [1, 2, 4].map(workers => (
        { id: `${load}-${workers}`, label: `${workers} worker${workers === 1 ? '' : 's'}`, kind: load, workers, seconds, contenders: ['fairlane'] }
      ))),
      { id: 'cluster', label: '100 types', kind: 'cluster', types: quick ? 10 : 100, jobs, contenders: ['fairlane', 'fairlane, cluster'] },
      { id: 'unbound', label: '100 types', kind: 'unbound', types: quick ? 10 : 100, jobs, contenders: UNBOUND },
      { id: 'flood', label: 'nine quiet types', kind: 'flood', flood: quick ? 100 : 2000, contenders: ['fairlane', 'BullMQ, one queue'] },
      { id: 'bytes', label: 'payloads of 100 bytes', kind: 'bytes', jobs: quick ? 200 : 5000, types: quick ? 20 : 1000, contenders: BOTH }
    ].filter(({ id }) => !quick || !NOT_QUICK.includes(id))
      .map(cell => ({ weight: 1, section: SECTIONS[cell.kind], ...cell, contenders: cell.contenders.map(name => ({ name })) }))
  },

  versionOf: name => queues[name].package === 'fairlane' ? versionOf('fairlane') : `bullmq@${require('bullmq/package.json').version}`,

  measure (cell, contender) {
    return KINDS[cell.kind](cell, contender)
  }
}

// what is the same but for a number
const NOT_QUICK = ['types-10', 'types-100', 'types-1000', 'full-1', 'full-4', 'half-2', 'half-4']

const SECTIONS = {
  results: 'Jobs with results, one worker',
  single: 'One job at a time',
  full: `Jobs of ${JOB_MS} ms, ${FEW_SLOTS} slots a worker, more jobs than slots`,
  half: `Jobs of ${JOB_MS} ms, ${FEW_SLOTS} slots a worker, jobs for half of the slots`,
  cluster: 'One server, and a Redis Cluster of three masters',
  unbound: 'Limits of the fleet that hold nothing back, one worker',
  flood: 'Quiet types with a job each 100 ms, behind 2,000 jobs of 10 ms of another type; ten slots, one worker',
  bytes: 'Memory'
}

const KINDS = {
  results: ({ types, jobs }, contender) => withResults(contender, types, jobs),
  cluster: async ({ types, jobs }, contender) => {
    const { jobsPerSecond, ...cpu } = await withResults(contender, types, jobs)
    return cpu // on one machine the rate is that of its cores
  },
  unbound: ({ types, jobs }, contender) => withResults(contender, types, jobs),

  async single ({ jobs }, contender) {
    const [type] = typeNames(1)
    const fleet = await startFleet(contender, { types: [type], slots: SLOTS, workers: 1 })
    const times = []
    for (let n = 0; n < 2 * jobs; n++) {
      const begun = performance.now()
      await added(fleet, type, { n })
      if (n >= jobs) times.push(performance.now() - begun)
    }
    await fleet.stop()
    return { p50Ms: percentile(times, 50) }
  },

  /** There are always twice as many jobs as slots. */
  async full ({ workers, seconds }, contender) {
    const types = typeNames(10)
    const fleet = await startFleet(contender, { types, slots: FEW_SLOTS, workers, ms: JOB_MS })
    const run = async until => {
      let n = 0
      const next = async () => { while (performance.now() < until) await added(fleet, types[n % 10], { n: n++, at: wallMs() }) }
      await Promise.all(Array.from({ length: 2 * FEW_SLOTS * workers }, next))
      return n
    }
    await run(performance.now() + 300 * seconds)
    await fleet.waits()
    const begun = performance.now()
    const count = await run(begun + 1000 * seconds)
    const ms = performance.now() - begun
    const waits = await fleet.waits()
    await fleet.stop()
    return { jobsPerSecond: 1000 * count / ms, p95WaitMs: percentile(waits.map(([, ms]) => ms), 95) }
  },

  /** A job is due at its time, however late it is pushed. */
  async half ({ workers, seconds }, contender) {
    const types = typeNames(10)
    const fleet = await startFleet(contender, { types, slots: FEW_SLOTS, workers, ms: JOB_MS })
    const perMs = FEW_SLOTS * workers / JOB_MS / 2
    const offer = async total => {
      const begun = wallMs()
      const ends = []
      for (let n = 0; n < total;) {
        const due = Math.min(total, Math.floor((wallMs() - begun) * perMs))
        for (; n < due; n++) ends.push(added(fleet, types[n % 10], { n, at: begun + n / perMs }))
        await sleep(1)
      }
      await Promise.all(ends)
    }
    await offer(300 * seconds * perMs)
    await fleet.waits()
    await offer(1000 * seconds * perMs)
    const waits = await fleet.waits()
    await fleet.stop()
    return { p95WaitMs: percentile(waits.map(([, ms]) => ms), 95) }
  },

  async flood ({ flood }, contender) {
    const [noisy, ...quiet] = typeNames(10)
    const fleet = await startFleet(contender, { types: [noisy, ...quiet], slots: 10, workers: 1, ms: 10 })
    await Promise.all(Array.from({ length: flood }, (_, n) => fleet.push(noisy, { n, at: wallMs() })))
    let started = 0
    const waits = []
    let pushed = 0
    while (started < flood + pushed) {
      if (started < flood) {
        for (const type of quiet) fleet.push(type, { n: pushed++, at: wallMs() })
      }
      await sleep(100)
      const seen = await fleet.waits()
      started += seen.length
      waits.push(...seen.filter(([type]) => type !== noisy).map(([, ms]) => ms))
    }
    await fleet.stop()
    if (waits.length !== pushed) throw new Error(`miscounted: ${pushed} jobs of quiet types, ${waits.length} started`)
    return { quietP50Ms: percentile(waits, 50), quietP95Ms: percentile(waits, 95) }
  },

  /** Nobody runs them. */
  async bytes ({ jobs, types }, contender) {
    const names = typeNames(types + 1)
    const payload = { text: 'x'.repeat(100 - JSON.stringify({ text: '' }).length) }
    const fleet = await startFleet(contender, { types: names.slice(0, 1), slots: 1, workers: 0 })
    await fleet.push(names[0], payload)
    const before = fleet.broker.bytes()
    for (let n = 0; n < jobs; n += 100) await Promise.all(Array.from({ length: 100 }, () => fleet.push(names[0], payload)))
    const bytesPerJob = (fleet.broker.bytes() - before) / jobs - JSON.stringify(payload).length
    await fleet.stop()
    const other = await startFleet(contender, { types: [names[0]], slots: 1, workers: 0 })
    await other.push(names[0], payload)
    const held = await heldBytes()
    const empty = other.broker.bytes()
    const producer = contender === 'fairlane' ? other : await queues[contender].produce({ connection: other.broker.connection, types: names.slice(1) })
    for (const type of names.slice(1)) await producer.push(type, payload)
    const producerBytesPerType = (await heldBytes() - held) / types
    const bytesPerType = (other.broker.bytes() - empty) / types
    if (producer !== other) await producer.close()
    await other.stop()
    return { bytesPerJob, bytesPerType, producerBytesPerType }
  }
}

async function withResults (contender, count, jobs) {
  const types = typeNames(count)
  const fleet = await startFleet(contender, { types, slots: SLOTS, workers: 1 })
  await addAll(fleet, types, Math.max(count, jobs / 4))
  const before = await fleet.cpu()
  const begun = performance.now()
  await addAll(fleet, types, jobs)
  const ms = performance.now() - begun
  const after = await fleet.cpu()
  await fleet.stop()
  const perJob = name => (after[name] - before[name]) / jobs
  const [brokerUs, workersUs, producerUs] = ['broker', 'workers', 'producer'].map(perJob)
  return { jobsPerSecond: 1000 * jobs / ms, cpuUs: brokerUs + workersUs + producerUs, brokerUs, workersUs, producerUs }
}

/** At most WINDOW of them at once. */
async function addAll (fleet, types, jobs) {
  let n = 0
  const next = async () => {
    while (n < jobs) {
      const own = n++
      await added(fleet, types[own % types.length], { n: own })
    }
  }
  await Promise.all(Array.from({ length: WINDOW }, next))
}

async function added (fleet, type, payload) {
  const result = await fleet.add(type, payload)
  if (result !== payload.n) throw new Error(`the result of job ${payload.n} is ${result}`)
}

/** In ms since 1970, finer than those of Date.now(). */
function wallMs () {
  return performance.timeOrigin + performance.now()
}
