'use strict'

// What limits a whole fleet, while one of three processes is killed and one is stopped for two leases: with long times in npm run
// test:long, with short ones in npm test. Their clocks are an hour apart.

const assert = require('node:assert')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { describeWithRedis } = require('../support/redis')
const { micros, runsIn } = require('./fleet-checks')
const { servers } = require('./opened')

const CLOCKS_MS = [0, 3600000, -3600000] // by how much those of the processes are ahead
const MOST_MEASURES = 4
const BUSY_MS = 3 // where timers are so late, on average, processes get too little time to use a rate

module.exports = { describeFleet }

/**
 * @param {object} sizes `title`; `options` of the queue; `typesCount`, `jobsCount`; `runMs`, how long a job takes; `settleMs`, how long
 *   after a fault it is measured, and `measureMs`, for how long; `perSecond`, how many jobs start then, at least, and `calls`, how many
 *   calls to the broker are made for each of them, at most: a machine that is busy with something else is given more time to get there;
 *   `leaseMs`
 * @param {(runs: object[]) => void} check what was noted of each run
 */
function describeFleet (sizes, check) {
  const { title, options, typesCount, runMs = 0, jobsCount, settleMs, measureMs, perSecond = 0, calls = Infinity, leaseMs = 2000 } = sizes
  describeWithRedis(`three processes, of which one is killed and one stopped: ${title}`, function () {
    const { startServer, open } = servers()
    const children = []
    afterEach(() => Promise.all(children.splice(0).map(end)))

    async function end (child) {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }

    async function start ({ path, folder }, clockMs) {
      const settings = { path, folder, runMs, clockMs, options: { leaseMs, concurrency: 10, ...options } }
      const child = fork(join(__dirname, 'fleet-process.js'), [JSON.stringify(settings)], { env: { ...process.env, NODE_OPTIONS: '' } })
      children.push(child)
      await once(child, 'message')
      return child
    }

    it('holds in any stretch of time, and is used', async () => {
      const server = await startServer()
      const given = options.ratePerType === undefined ? options : { ...options, ratePerType: new Map(options.ratePerType) }
      const producer = await open(server, null, { scheduler: 'equal', leaseMs, ...given })
      await producer.pauseGlobal()
      const workers = await Promise.all(CLOCKS_MS.map(clockMs => start(server, clockMs)))
      await Promise.all(Array.from({ length: jobsCount }, (_, n) => producer.pushType(`type-${n % typesCount}`, n)))
      const faults = new Map()
      const noted = () => runsIn(new Map(workers.map(({ pid }) => [pid, readFileSync(join(server.folder, `runs-${pid}`), 'utf8')])), faults)

      async function measureOnce () {
        const [from, before] = [micros(), callsMade(server)]
        const lateMs = await lateness(measureMs)
        const [to, made] = [micros(), callsMade(server) - before]
        const count = noted().filter(run => run.start >= from && run.start < to).length
        return { rate: count / (to - from) * 1e6, callsOfEach: made / count, lateMs }
      }

      async function measure (when) {
        await sleep(settleMs)
        let isBusy = true
        for (let left = MOST_MEASURES - 1; left >= 0; left--) {
          const { rate, callsOfEach, lateMs } = await measureOnce()
          const told = `${when}: ${rate.toFixed(1)} starts/s, ${callsOfEach.toFixed(2)} calls for each; timers are ${lateMs.toFixed(1)} ms late`
          if (process.env.FAIRLANE_TELL === '1') console.log(`${title}, ${told}`)
          if (rate >= perSecond && callsOfEach <= calls) return
          isBusy &&= lateMs > BUSY_MS
          assert(left > 0 || isBusy, told)
        }
      }

      await producer.resumeGlobal()
      await measure('before')
      const [killed, stopped] = workers
      faults.set(killed.pid, { from: micros(), to: Infinity })
      await end(killed)
      await measure('after the kill')
      const fault = { from: micros(), to: Infinity }
      faults.set(stopped.pid, fault)
      stopped.kill('SIGSTOP')
      await sleep(2 * leaseMs)
      fault.to = micros()
      stopped.kill('SIGCONT')
      await measure('after the stop')
      const runs = noted()
      if (process.env.FAIRLANE_TELL === '1') console.log(`${title}: ${runs.filter(({ isLost }) => isLost).length} of ${runs.length} runs were lost`)
      check(runs)
    })
  })
}

/** @returns {Promise<number>} by how much timers are late, on average, in that time */
async function lateness (ms) {
  const end = performance.now() + ms
  let late = 0
  let count = 0
  while (performance.now() < end) {
    const due = performance.now() + 10
    await sleep(10)
    late += performance.now() - due
    count++
  }
  return late / count
}

/** Scripts that processes have called: what these do is counted by the server, too. */
function callsMade (server) {
  const [, count = 0] = /cmdstat_evalsha:calls=(\d+)/.exec(server.cli('info', 'commandstats')) ?? []
  return Number(count)
}
