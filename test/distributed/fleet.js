'use strict'

// What limits a whole fleet, while one of three processes is killed and one is stopped for two leases: with long times in npm run
// test:long, with short ones in npm test.

const assert = require('node:assert')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { describeWithRedis } = require('../support/redis')
const { servers } = require('./opened')

const UNKNOWN_MICROS = 100000

module.exports = { describeFleet }

/**
 * @param {object} sizes `title`; `options` of the queue; `typesCount`, `jobsCount`; `runMs`, how long a job takes; `settleMs`, how long
 *   after a fault it is measured, and `measureMs`, for how long; `perSecond`, how many jobs start then, at least, and `calls`, how many
 *   calls to the broker are made for each of them, at most; `leaseMs`
 * @param {(runs: object[]) => void} check what was noted of each run
 */
function describeFleet (sizes, check) {
  const { title, options, typesCount, runMs = 0, jobsCount, settleMs, measureMs, perSecond, calls = Infinity, leaseMs = 1000 } = sizes
  describeWithRedis(`three processes, of which one is killed and one stopped: ${title}`, function () {
    const { startServer, open } = servers()
    const children = []
    afterEach(() => Promise.all(children.splice(0).map(async child => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })))

    async function start (server) {
      const settings = { path: server.path, runMs, options: { leaseMs, concurrency: 10, ...options } }
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
      const workers = await Promise.all([1, 2, 3].map(() => start(server)))
      await Promise.all(Array.from({ length: jobsCount }, (_, n) => producer.pushType(`type-${n % typesCount}`, n)))
      const now = () => {
        const [seconds, micros] = server.cli('time').split('\n')
        return Number(seconds) * 1e6 + Number(micros)
      }
      const callsMade = () => {
        const all = server.cli('info', 'commandstats').matchAll(/cmdstat_(?!eval:|rpush|time|info)(\w+):calls=(\d+)/g)
        // what scripts do is counted, too: of calls by processes there are these
        return [...all].reduce((sum, [, name, count]) => name === 'evalsha' ? sum + Number(count) : sum, 0)
      }
      const measures = []
      const measure = async () => {
        await sleep(settleMs)
        const measured = { from: now(), calls: callsMade() }
        await sleep(measureMs)
        measures.push({ from: measured.from, to: now(), calls: callsMade() - measured.calls })
      }
      await producer.resumeGlobal()
      await measure()
      const faults = new Map()
      faults.set(workers[0].pid, { from: now(), to: Infinity })
      workers[0].kill('SIGKILL')
      await measure()
      const stopped = { from: now(), to: Infinity }
      faults.set(workers[1].pid, stopped)
      workers[1].kill('SIGSTOP')
      await sleep(2 * leaseMs)
      workers[1].kill('SIGCONT')
      stopped.to = now()
      await measure()
      const runs = runsIn(server.cli('lrange', 'log', '0', '-1'), faults)
      check(runs)
      for (const { from, to, calls: made } of measures) {
        const count = runs.filter(run => run.start >= from && run.start < to).length
        const rate = count / (to - from) * 1e6
        if (process.env.FAIRLANE_TELL === '1') console.log(`${title}: ${rate.toFixed(1)} starts/s, ${(made / count).toFixed(2)} calls for each`)
        if (perSecond !== undefined) assert(rate >= perSecond, `${rate} starts/s`)
        assert(made / count <= calls, `${made / count} calls for each start`)
      }
    })
  })
}

/**
 * @returns {{ start: number, late: number, end: number, type: string, pid: number }[]} times in µs by the broker's clock; late: by how much
 *   the start may have been before it was noted. A run of a process that is stopped, or gone, counts until then.
 */
function runsIn (log, faults) {
  const runs = new Map()
  for (const line of log.split('\n').filter(Boolean)) {
    const [what, pid, id, type, time] = line.split(' ')
    const key = `${pid} ${id}`
    if (what === 'start') runs.set(key, { start: Number(time), late: UNKNOWN_MICROS, end: Infinity, type, pid: Number(pid) })
    else Object.assign(runs.get(key), { end: Number(time), late: Number(what.split('-')[1]) })
  }
  for (const run of runs.values()) {
    const fault = faults.get(run.pid)
    if (fault !== undefined && run.start <= fault.from && run.end > fault.from) run.end = fault.from
  }
  return [...runs.values()].sort((a, b) => a.start - b.start)
}
