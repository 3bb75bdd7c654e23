'use strict'

// Question: what does a job in a thread cost, and who waits for whom?
//
// fairlane/threads beside the pools of threads that there are: all at once, at a steady rate, a quiet tenant beside one with a backlog, a
// job that is stopped, and two workloads side by side. Every contender has as many threads, all there and warm, and gets the same
// payloads; every result is compared.

const { setTimeout: sleep } = require('node:timers/promises')
const { versionOf } = require('../contenders')
const { entriesFor } = require('../durable/peers')
const { percentile } = require('../statistics')
const { pools } = require('../threads/pools')
const { resultOf, loopsPerUs } = require('../threads/work')
const { typeNames } = require('../types')

const THREADS = 2
const ALL = Object.keys(pools)
const TENANTS = typeNames(10)
const RATE = 20000

module.exports = {
  name: 'threads',
  title: 'Jobs in threads',
  page: 'docs/benchmarks/threads.md',
  peers: ['tinypool', 'workerpool', 'poolifier'],
  about: `${THREADS} threads each, started and warmed up before. Every result is compared. CPU time is that of all threads. fairlane is a queue with ` +
    "`scheduler: 'equal'` before `threads()`, if no other option is named. *piscina behind fairlane* is such a queue whose runner calls `pool.run()`, " +
    'with as many slots as there are threads.',
  metrics: [
    { key: 'usPerJob', label: 'time', unit: 'µs per job', best: true },
    { key: 'cpuUs', label: 'CPU time', unit: 'µs per job', best: true },
    { key: 'servedPerSecond', label: 'served', unit: 'jobs per second', higherIsBetter: true },
    { key: 'p50Ms', label: 'push to end, median', unit: 'ms' },
    { key: 'p95Ms', label: 'push to end, 95 %', unit: 'ms' },
    { key: 'untilNextMs', label: 'from the abort to the end of the next job, median', unit: 'ms' },
    { key: 'untilNextP95Ms', label: 'the same, 95 %', unit: 'ms' },
    { key: 'aloneMs', label: 'push to end alone, 95 %', unit: 'ms' },
    { key: 'besideMs', label: 'push to end beside the flood, 95 %', unit: 'ms' }
  ],
  budgetMs: 120000,

  cells ({ quick, peers = {} }) {
    const some = (count) => quick ? Math.max(20, count / 50) : count
    return [
      { id: 'empty', label: 'empty', kind: 'burst', jobs: some(20000), us: 0 },
      { id: 'us50', label: '50 µs', kind: 'burst', jobs: some(20000), us: 50 },
      { id: 'ms1', label: '1 ms', kind: 'burst', jobs: some(2000), us: 1000 },
      { id: 'offered', label: `${RATE.toLocaleString('en')} empty jobs a second`, kind: 'offered', seconds: quick ? 0.2 : 10, weight: 4 },
      { id: 'quiet', label: 'a backlog of 5 ms jobs', kind: 'quiet', backlog: some(600), everyMs: 20 },
      { id: 'abort', label: 'an endless job', kind: 'abort', times: quick ? 2 : 30, contenders: ['fairlane', 'piscina', 'piscina behind fairlane'] },
      { id: 'workloads', label: 'a pool each', kind: 'workloads', probes: quick ? 10 : 300, contenders: ['fairlane', 'piscina'] }
    ].map((cell) => ({ weight: 1, section: SECTIONS[cell.kind], ...cell, contenders: entriesFor(cell.contenders ?? ALL, pools, peers) }))
  },

  versionOf (name, peers) {
    const { package: packageName, peer } = pools[name]
    if (packageName === 'fairlane') return versionOf('fairlane')
    const version = peer === undefined ? require(packageName).version : peers?.[peer]?.version
    return version === undefined ? null : `${packageName}@${version}`
  },

  measure (cell, contender) {
    return KINDS[cell.kind](cell, (threads) => openPool(contender, threads))
  }
}

const SECTIONS = {
  burst: 'All jobs at once',
  offered: 'A steady rate, ten tenants, for 10 seconds',
  quiet: 'A quiet tenant with a job of 0.1 ms each 20 ms, beside one with a backlog',
  abort: 'A job is stopped, and the next one takes its place; the module loads in 5 ms',
  workloads: 'A job of 0.1 ms each 5 ms in a pool of one thread, beside a flood in another'
}

const KINDS = {
  async burst ({ jobs, us }, open) {
    const pool = await open(THREADS)
    const cpuBefore = process.cpuUsage()
    const begun = performance.now()
    await Promise.all(Array.from({ length: jobs }, (_, n) => pool.run(TENANTS[n % 10], { n, us })))
    const ms = performance.now() - begun
    const { user, system } = process.cpuUsage(cpuBefore)
    await pool.close()
    return { usPerJob: ms * 1000 / jobs, cpuUs: (user + system) / jobs }
  },

  /** A job is due at its time, however late it is pushed. */
  async offered ({ seconds }, open) {
    const pool = await open(THREADS)
    const total = RATE * seconds
    const latencies = []
    const begun = performance.now()
    const ended = []
    for (let n = 0; n < total;) {
      const due = Math.min(total, Math.floor((performance.now() - begun) * RATE / 1000))
      for (; n < due; n++) {
        const dueMs = begun + n * 1000 / RATE
        ended.push(pool.run(TENANTS[n % 10], { n, us: 0 }).then(() => latencies.push(performance.now() - dueMs)))
      }
      await sleep(1)
    }
    await Promise.all(ended)
    const ms = performance.now() - begun
    await pool.close()
    return { servedPerSecond: total * 1000 / ms, p50Ms: percentile(latencies, 50), p95Ms: percentile(latencies, 95) }
  },

  async quiet ({ backlog, everyMs }, open) {
    const pool = await open(THREADS)
    let isOver = false
    const all = Promise.all(Array.from({ length: backlog }, (_, n) => pool.run('noisy', { n, us: 5000 }))).then(() => { isOver = true })
    const latencies = await probe(pool, () => !isOver, everyMs)
    await all
    await pool.close()
    return { p50Ms: percentile(latencies, 50), p95Ms: percentile(latencies, 95) }
  },

  async abort ({ times }, open) {
    const pool = await open(1)
    const untilNext = []
    for (let n = 0; n < times; n++) {
      const controller = new AbortController()
      const endless = pool.runAbortable('endless', { isEndless: true }, controller.signal)
      await sleep(20) // it runs
      const next = pool.run('next', { n, us: 0 })
      const begun = performance.now()
      controller.abort()
      if (!await endless) throw new Error('the job was not stopped')
      await next
      untilNext.push(performance.now() - begun)
    }
    await pool.close()
    return { untilNextMs: percentile(untilNext, 50), untilNextP95Ms: percentile(untilNext, 95) }
  },

  async workloads ({ probes }, open) {
    const [flooded, quiet] = [await open(1), await open(1)]
    const counted = () => {
      let count = 0
      return () => count++ < probes
    }
    const alone = await probe(quiet, counted(), 5)
    const flooding = new AbortController()
    const refill = async () => { for (let n = 0; !flooding.signal.aborted; n++) await flooded.run('noisy', { n, us: 1000 }) }
    const flood = Array.from({ length: 50 }, refill)
    const beside = await probe(quiet, counted(), 5)
    flooding.abort()
    await Promise.all(flood)
    await Promise.all([flooded.close(), quiet.close()])
    return { aloneMs: percentile(alone, 95), besideMs: percentile(beside, 95) }
  }
}

/** Sends a short job each so many ms while goesOn(). @returns {Promise<number[]>} how long each took, from its push */
async function probe (pool, goesOn, everyMs) {
  const latencies = []
  const ends = []
  for (let n = 0; goesOn(); n++) {
    const begun = performance.now()
    ends.push(pool.run('quiet', { n, us: 100 }).then(() => latencies.push(performance.now() - begun)))
    await sleep(everyMs)
  }
  await Promise.all(ends)
  return latencies
}

/** A pool whose results are compared, with all threads there and warm. */
async function openPool (contender, threads) {
  const pool = await pools[contender].open(threads)
  let started = 0
  let settled = 0
  const perUs = loopsPerUs()
  const run = (type, { n, us }) => {
    const payload = { n, loops: Math.round(us * perUs) }
    started++
    return new Promise((resolve, reject) => pool.push(type, payload, (err, result) => {
      settled++
      if (err) reject(err)
      else if (result !== resultOf(payload)) reject(new Error(`${contender}: the result of job ${payload.n} is ${result}`))
      else resolve()
    }))
  }
  const runAbortable = (type, payload, signal) => new Promise(resolve => {
    pool.pushAbortable(type, payload, signal, err => resolve(Boolean(err)))
  })
  await Promise.all(Array.from({ length: 2000 }, (_, n) => run(TENANTS[n % 10], { n, us: 20 })))
  return {
    run,
    runAbortable,
    async close () {
      if (started !== settled) throw new Error(`${contender} miscounted: ${started} jobs, ${settled} settled`)
      await pool.close()
    }
  }
}
