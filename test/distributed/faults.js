'use strict'

// What becomes of jobs when processes and brokers end in the middle of them: with few jobs in npm test, with many in npm run test:kill.

const assert = require('node:assert')
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { once: measured } = require('../support/attempts')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { servers } = require('./opened')
const { startProcess, startsIn } = require('./processes')
const { startProxy } = require('./proxy')

const LEASE_MS = 1000
const SLOTS = 10

module.exports = { describeManyJobs, describeEnds, describeCapsOfRunners, describeCutOff, describeBrokerEnds }

/** Sets up a server, a producer, and a way to start processes, for each test. */
function atProcesses (brokers, leaseMs = LEASE_MS) {
  const { startServer, open } = brokers()
  const at = { log: '', started: [], server: undefined, producer: undefined }

  beforeEach(async () => {
    at.server = await startServer()
    at.log = join(at.server.folder, 'starts')
    at.producer = await open(at.server, null, { leaseMs })
  })

  afterEach(() => Promise.all(at.started.splice(0).map(child => child.kill())))

  at.start = async (options, more) => {
    const child = await startProcess(
      { connection: at.server.connection, log: at.log, options: { leaseMs, concurrency: SLOTS, scheduler: 'equal', ...options }, ...more }
    )
    at.started.push(child)
    return child
  }

  /** Starts a process, and another one whenever that ends, until the promise has settled, or the test is over. */
  at.keepStarted = async (options, promise) => {
    const { producer } = at
    const test = { isOver: false }
    promise.catch(() => {}).finally(() => { test.isOver = true })
    while (!test.isOver && !producer.closed) {
      const child = await at.start(options).catch(() => undefined) // a job may end it at once
      await Promise.race([child?.exited, promise.catch(() => {})])
    }
  }
  return at
}

/**
 * @param {{ jobsCount: number }} sizes
 * @param {() => object} [brokers] servers or clusters
 */
function describeManyJobs ({ jobsCount }, brokers = servers) {
  describeWithRedis('many jobs for several processes', function () {
    const at = atProcesses(brokers, 10000)

    it('each runs once, each result reaches its own add(), all processes work, and nothing is left', async () => {
      const workers = await Promise.all([1, 2, 3].map(() => at.start({ resultTtlMs: 2000 })))
      const results = Array.from({ length: jobsCount }, (_, n) => at.producer.add({ echo: n }, { type: `type-${n % 50}` }))
      for (const [n, result] of (await Promise.all(results)).entries()) assert.equal(result, n)
      const starts = [...startsIn(at.log).values()]
      assert.equal(starts.length, jobsCount)
      assert.equal(Math.max(...starts), 1)
      for (const worker of workers) await worker.until('done', Math.ceil(jobsCount / 20))
      await at.producer.onIdle()
      assert.deepEqual(await at.producer.counts(), { waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 })
    })
  })
}

/**
 * @param {{ jobsCount: number, poisonTypes: string[], besideCount: number }} sizes
 * @param {() => object} [brokers] servers or clusters
 */
function describeEnds ({ jobsCount, poisonTypes, besideCount }, brokers = servers) {
  describeWithRedis('when processes end in the middle of jobs', function () {
    const at = atProcesses(brokers)

    it('a worker: each job settles once, and few run twice', async () => {
      const [first] = await Promise.all([at.start(), at.start()])
      const results = Array.from({ length: jobsCount }, (_, n) => at.producer.add({ ms: 20 }, { type: `type-${n % 7}` }))
      await first.until('done', jobsCount / 6)
      await first.kill()
      await Promise.all(results)
      const starts = [...startsIn(at.log).values()]
      assert.equal(starts.length, jobsCount)
      assert(Math.max(...starts) <= 2)
      assert(starts.filter(count => count > 1).length <= 2 * SLOTS)
      assert.equal((await at.producer.counts()).dead, 0)
    })

    it('a producer: what it was told is stored runs', async () => {
      const pushing = await at.start({}, { isProducer: true })
      pushing.send('push', { ms: 0 })
      await pushing.until('pushed', 200)
      await pushing.kill()
      await at.start({ leaseMs: 10000 }) // none ends while its job runs, however slow the machine
      await at.producer.onIdle()
      const starts = startsIn(at.log)
      for (const id of pushing.of('pushed')) assert.equal(starts.get(id), 1)
    })

    it('a job that ends its process is dead after maxAttempts starts, and those beside it are not', async () => {
      const { producer } = at
      const all = (async () => {
        const poison = poisonTypes.map(type => expectReject(producer.add({ poison: true }, { type }), 'FAIRLANE_ERR_CRASHED'))
        const failing = assert.rejects(producer.add({ fail: 'its own' }, { type: 'third' }), /its own/)
        await Promise.all(Array.from({ length: besideCount }, (_, n) => producer.add({ ms: 5 }, { type: `type-${n % 5}` })))
        await Promise.all([...poison, failing])
      })()
      await Promise.all([all, ...[0, 1].map(() => at.keepStarted({ maxAttempts: 2, backoffMs: 10 }, all))])
      const dead = await producer.deadLetters()
      assert.deepEqual(dead.map(({ type, attempts }) => [type, attempts]).sort(), [...poisonTypes, 'third'].map(type => [type, 2]).sort())
      const starts = startsIn(at.log)
      for (const { id } of dead) assert(starts.get(id) <= 2)
    })

    it('a worker that closes loses nothing, and counts no attempt', async () => {
      const first = await at.start({ maxAttempts: 1 })
      const results = Array.from({ length: jobsCount / 2 }, (_, n) => at.producer.add({ ms: 30 }, { type: `type-${n % 3}` }))
      await first.until('done', SLOTS)
      await at.start({ maxAttempts: 1 })
      await first.call('close', {})
      await Promise.all(results)
      assert.deepEqual(new Set(startsIn(at.log).values()), new Set([1]))
      assert.equal((await at.producer.counts()).dead, 0)
    })
  })
}

/**
 * @param {{ jobsCount: number, killsCount: number }} sizes
 * @param {() => object} [brokers] servers or clusters
 */
function describeCapsOfRunners ({ jobsCount, killsCount }, brokers = servers) {
  describeWithRedis('a cap of one', function () {
    const TYPES = ['a', 'b', 'c', 'd']
    const at = atProcesses(brokers, 3000)
    const runs = () => `${at.log}.runs`

    /**
     * Runs all jobs.
     * @returns {Promise<boolean>} whether no process has lost its leases, as it may on a slow machine, and with them the places of its
     *   runners
     */
    async function runAll () {
      const options = { timeoutMs: 40, maxAttempts: 2, backoffMs: 5, concurrency: 6 }
      const workers = await Promise.all([1, 2, 3].map(() => at.start(options)))
      const results = Array.from(
        { length: jobsCount }, (_, n) => at.producer.add({ ms: n % 3 === 0 ? 90 : 4, isTraced: true }, { type: TYPES[n % TYPES.length] })
      )
      const settled = Promise.allSettled(results)
      /** One job in five that the process runs, which another one cancels. */
      const cancelSome = async worker => {
        for (let n = 4; ; n += 5) {
          await Promise.race([worker.until('started', n + 1), settled, worker.exited])
          const job = worker.of('started')[n]
          if (job === undefined) return
          await at.producer.cancel(job.id)
        }
      }
      for (const worker of workers) cancelSome(worker)
      for (let kill = 0; kill < killsCount; kill++) {
        await Promise.race([workers[kill].until('started', 5), settled])
        appendFileSync(runs(), `kill ${workers[kill].pid}\n`)
        await workers[kill].kill()
        workers.push(await at.start(options))
        cancelSome(workers.at(-1))
      }
      const codes = new Set((await settled).map(({ reason }) => reason?.code))
      for (const code of [undefined, 'FAIRLANE_ERR_TIMEOUT', 'FAIRLANE_ERR_ABORTED']) assert(codes.has(code), `${[...codes]}`)
      await at.producer.onIdle()
      await Promise.all(workers.map(worker => worker.kill()))
      return workers.every(worker => worker.of('lost').length === 0)
    }

    it('is never exceeded by runners, whatever limits of time, cancels and kills make of jobs; all settle, no place is left', async () => {
      for (const type of TYPES) await at.producer.setGlobalCap(type, 1)
      for (let isSure = false, tries = 0; !isSure && tries < 5; tries++) {
        writeFileSync(runs(), '')
        isSure = await runAll()
      }
      assert.deepEqual(mostAtOnce(readFileSync(runs(), 'utf8')), new Map(TYPES.map(type => [type, 1])))
    })
  })
}

/** @returns {Map<string, number>} how many runners of each type ran at once, by what process.js has written, and who ends processes */
function mostAtOnce (text) {
  const most = new Map()
  const running = new Map() // id → process
  const gone = new Set()
  for (const line of text.trim().split('\n')) {
    const [what, pid, id] = line.split(' ')
    if (what === 'kill') {
      gone.add(pid)
      for (const [other, owner] of running) if (owner === pid) running.delete(other)
    } else if (!gone.has(pid)) {
      const key = `${pid} ${id}`
      if (what === 'end') running.delete(key)
      else running.set(key, pid)
      const type = id.split(':')[0]
      const now = [...running.keys()].filter(other => other.split(' ')[1].split(':')[0] === type).length
      most.set(type, Math.max(most.get(type) ?? 0, now))
    }
  }
  return most
}

/** @param {() => object} [brokers] servers or clusters */
function describeCutOff (brokers = servers) {
  describeWithRedis('when processes are stopped, or cut off', function () {
    const at = atProcesses(brokers)

    it('a worker that ends: all is over after three leases', async () => {
      await measured(async () => {
        const [first, second] = await Promise.all([at.start(), at.start()])
        const results = Array.from({ length: 2 * SLOTS }, () => at.producer.add({ ms: LEASE_MS }, { type: 'a' }))
        await first.until('started', SLOTS / 2)
        const begin = performance.now()
        await first.kill()
        assert.deepEqual(await Promise.all(results), results.map(() => second.pid))
        const tookMs = performance.now() - begin
        await second.kill()
        assert(tookMs < 4 * LEASE_MS, 'and the time of the jobs')
      })
    })

    it('a job that ended its process has all its attempts when it is put back', async () => {
      const { producer } = at
      const all = (async () => {
        await expectReject(producer.add({ poison: true }, { type: 'a' }), 'FAIRLANE_ERR_CRASHED')
        const [{ id }] = await producer.deadLetters()
        assert.equal(startsIn(at.log).get(id), 1)
        assert.equal(await producer.retryDead(id), true)
        await producer.onIdle()
        assert.equal(startsIn(at.log).get(id), 2)
      })()
      await Promise.all([all, at.keepStarted({ maxAttempts: 1 }, all)])
    })

    it('a worker that was stopped: its jobs run elsewhere, and it is told when it is back', async () => {
      const first = await at.start()
      const results = Array.from({ length: 5 }, () => at.producer.add({ ms: 3 * LEASE_MS }, { type: 'a' }))
      await first.until('started', 5)
      first.signal('SIGSTOP')
      const second = await at.start()
      await second.until('started', 5)
      first.signal('SIGCONT')
      assert.deepEqual(await Promise.all(results), results.map(() => second.pid))
      await first.until('lost', 5)
      for (const { code } of first.of('lost')) assert.equal(code, 'FAIRLANE_ERR_LEASE')
      assert.equal(first.of('lost').length, 5)
      assert.deepEqual(first.of('done'), [])
    })

    // a Cluster tells its clients addresses that lead past a proxy
    if (brokers !== servers) return

    it('a worker that nothing reaches: its signals abort when something does, and its late results change nothing', async () => {
      const proxy = await startProxy(at.server.path)
      const first = await at.start({}, { connection: { path: proxy.path } })
      const results = Array.from({ length: 5 }, () => at.producer.add({ ms: 3 * LEASE_MS }, { type: 'a' }))
      await first.until('started', 5)
      proxy.block()
      const second = await at.start()
      await second.until('started', 5)
      proxy.pass()
      await first.until('aborted', 5)
      assert.deepEqual(new Set(first.of('aborted').map(({ code }) => code)), new Set(['FAIRLANE_ERR_LEASE']))
      await first.until('lost', 5)
      assert.deepEqual(await Promise.all(results), results.map(() => second.pid))
      assert.deepEqual(first.of('done'), [])
      proxy.close()
    })
  })
}

/**
 * @param {{ jobsCount: number, killsCount: number }} sizes jobsCount: of each kill
 * @param {() => object} [brokers] servers or clusters
 */
function describeBrokerEnds ({ jobsCount, killsCount }, brokers = servers) {
  describeWithRedis('when the broker ends and comes back with what it had answered', function () {
    const { startServer, open } = brokers()
    const workers = []

    afterEach(() => Promise.all(workers.splice(0).map(worker => worker.kill())))

    it('nothing is lost, and each add settles once', async () => {
      const server = await startServer(['--appendfsync', 'always'])
      const log = join(server.folder, 'starts')
      const options = { leaseMs: LEASE_MS, concurrency: SLOTS, scheduler: 'equal' }
      workers.push(...await Promise.all([0, 1].map(() => startProcess({ connection: server.connection, log, options }))))
      const producer = await open(server, null, { leaseMs: LEASE_MS })
      const pushes = []
      const results = []
      let settledCount = 0
      for (let round = 0; round < killsCount; round++) {
        for (let n = 0; n < jobsCount; n++) {
          pushes.push(producer.pushType(`p-${n % 7}`, { ms: 2 }))
          results.push(producer.add({ ms: 2 }, { type: `a-${n % 7}` }).finally(() => settledCount++))
          await sleep(2)
          if (n === Math.floor(jobsCount / 2)) server.kill().then(() => sleep(200)).then(() => server.start())
        }
      }
      const ids = await Promise.all(pushes)
      const pids = new Set(workers.map(({ pid }) => pid))
      for (const pid of await Promise.all(results)) assert(pids.has(pid))
      assert.equal(settledCount, results.length)
      await producer.onIdle()
      const starts = startsIn(log)
      for (const id of ids) assert(starts.has(id))
      assert.equal((await producer.counts()).dead, 0)
      // what ran when it ended, and what was on its way, in each process
      const twice = [...starts.values()].filter(count => count > 1).length
      assert(twice <= Math.max(0.05 * starts.size, 2 * SLOTS * workers.length * killsCount), `${twice} of ${starts.size}`)
    })
  })
}
