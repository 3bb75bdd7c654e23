'use strict'

// A broker of its own, processes that run jobs, and what all of them take: for one measurement, which ends with its process.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { startRedis } = require('../../test/support/redis')
const { startCluster } = require('../../test/support/redis-cluster')
const { queues } = require('./queues')

/**
 * @param {string} contender
 * @param {{ types: string[], slots: number, workers: number, ms?: number }} load slots: of each worker; ms: how long a job takes
 */
async function startFleet (contender, { types, slots, workers: count, ms = 0 }) {
  const broker = queues[contender].isCluster ? await brokerOf(await startCluster()) : await brokerOf(await startRedis())
  const place = { connection: broker.connection, types, slots }
  const workers = await Promise.all(Array.from({ length: count }, () => startWorker({ contender, place, ms })))
  const producer = await queues[contender].produce(place)
  const ask = question => Promise.all(workers.map(worker => answerOf(worker, question)))

  /** CPU time in µs up to now. */
  async function cpu () {
    const { user, system } = process.cpuUsage()
    const ofWorkers = await ask('cpu')
    return { producer: user + system, workers: ofWorkers.reduce((sum, us) => sum + us), broker: broker.cpuUs() }
  }

  return {
    ...producer,
    broker,
    cpu,

    /** Of the jobs that have started since it was asked last: [type, ms]. */
    waits: async () => (await ask('waits')).flat(),

    async stop () {
      await producer.close()
      for (const worker of workers) worker.kill('SIGKILL')
      await broker.stop()
    }
  }
}

async function brokerOf (server) {
  const { ports, urls, path: socket } = server
  const infos = section => ports === undefined ? [server.cli('info', section)] : ports.map(port => server.cli('-p', String(port), 'info', section))
  const sum = (section, ...names) => infos(section).reduce((all, text) => names.reduce((own, name) => own + Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)[1]), all), 0)
  return {
    connection: urls ?? { path: socket },
    cpuUs: () => 1e6 * sum('cpu', 'used_cpu_sys', 'used_cpu_user'),
    bytes: () => sum('memory', 'used_memory'),
    stop: () => server.stop()
  }
}

async function startWorker (spec) {
  const worker = fork(path.join(__dirname, 'worker.js'), [JSON.stringify(spec)], { execArgv: [] })
  await Promise.race([answerOf(worker), once(worker, 'exit').then(([code]) => { throw new Error(`a worker ended with code ${code}`) })])
  return worker
}

async function answerOf (worker, question) {
  if (question !== undefined) worker.send(question)
  const [{ answer }] = await once(worker, 'message')
  return answer
}

module.exports = { startFleet }
