'use strict'

// Question: what do many workers and many types cost a broker?
//
// Nothing is timed: real queues in virtual time at a broker of the bench's own, which counts calls (../distributed/stand-in.js). Each
// worker has two slots and jobs of 200 ms; jobs come at random, of types at random, for half of all slots. So nearly every job is alone of
// its type, which costs most.

const { versionOf } = require('../contenders')

const WORKERS = [10, 100, 1000]
const SECONDS = new Map([[10, 10], [100, 3], [1000, 1]]) // of load
const TYPES = [1000, 10000, 100000]
const SLOTS = 2
const JOB_MS = 200
const REST_MS = 60000

module.exports = {
  name: 'distributed-fleet',
  title: 'Many workers and many types',
  page: 'docs/benchmarks/distributed.md',
  isDeterministic: true,
  about: `Simulated in virtual time, with real queues at a broker that counts calls and answers each after a millisecond. A worker has ${SLOTS} slots, a job takes ` +
    `${JOB_MS} ms. Jobs come at random for half of all slots, each of a type at random: so nearly every job is alone of its type, which costs most calls. At ` +
    'rest nothing is pushed, and what was pushed before has ended for a minute.',
  metrics: [
    { key: 'callsPerJob', label: 'calls per job', unit: '', noRatio: true },
    { key: 'asksPerJob', label: 'of these, questions for a job', unit: '', noRatio: true },
    { key: 'looksPerJob', label: 'of these, looks whether a type still has jobs', unit: '', noRatio: true },
    { key: 'restCalls', label: 'calls at rest', unit: 'per worker and minute', noRatio: true }
  ],
  execArgv: ['--max-old-space-size=3000'],

  cells ({ quick }) {
    const sizes = quick ? [[4, 100], [16, 1000]] : WORKERS.flatMap(workers => TYPES.map(types => [workers, types]))
    return sizes.map(([workers, types]) => ({
      id: `${workers}-${types}`,
      label: `${workers.toLocaleString('en')} workers, ${types.toLocaleString('en')} types`,
      workers,
      types,
      seconds: quick ? 1 : SECONDS.get(workers),
      weight: 1,
      contenders: [{ name: 'fairlane' }]
    }))
  },

  versionOf: () => versionOf('fairlane'),

  async measure ({ workers, types, seconds }) {
    const standIn = require('../distributed/stand-in')
    standIn.replaceGlobals(1)
    const broker = new standIn.Broker()
    standIn.replacePeers(broker)
    const { distributed } = require('../../lib/distributed')
    const open = runner => distributed(runner, { name: 'fleet', connection: () => new standIn.Client(broker), concurrency: SLOTS, scheduler: 'equal', settleBy: 'promise' })

    let ended = 0
    const runner = async () => {
      await standIn.sleep(JOB_MS)
      ended++
    }
    let openedCount = 0
    const opening = Promise.all(Array.from({ length: workers }, async () => {
      await open(runner)
      openedCount++
    }))
    let producer
    open(null).then(queue => { producer = queue })
    await standIn.goOn(1000, () => openedCount === workers && producer !== undefined)
    await opening

    const perMs = workers * SLOTS / JOB_MS / 2
    const begun = standIn.time()
    const before = new Map(broker.calls)
    let pushed = 0
    let due = 0
    const push = () => {
      if (standIn.time() > begun + 1000 * seconds) return
      for (due += 2 * perMs * Math.random(); due >= 1; due--) producer.pushType(`type ${Math.floor(Math.random() * types)}`, { n: pushed++ })
      setTimeout(push, 1)
    }
    push()
    await standIn.goOn(Infinity, () => standIn.time() > begun + 1000 * seconds && ended === pushed)
    const perJob = (...names) => names.reduce((sum, name) => sum + (broker.calls.get(name) ?? 0) - (before.get(name) ?? 0), 0) / pushed
    const result = { callsPerJob: perJob(...broker.calls.keys()), asksPerJob: perJob('fairlaneTake'), looksPerJob: perJob('smismember') }

    await standIn.goOn(standIn.time() + REST_MS)
    const count = broker.callsCount
    await standIn.goOn(standIn.time() + REST_MS)
    return { ...result, restCalls: (broker.callsCount - count) / workers }
  }
}
