'use strict'

// Who is compared at a broker. Of each adapter `work(place, run)` opens what a process needs that runs jobs, and `produce(place)` what one
// needs that adds them: it resolves with `{ add(type, payload), push(type, payload), close() }`, whose add() gives a promise of the result.
//
// place: { connection, types, slots }: options of ioredis, or URLs of a cluster; the names of the types; how many jobs run at once in the
// process

const NAME = 'bench'
const RESULT_TTL_MS = 60000
const UNBOUND = { limit: 1000000, intervalMs: 1000 } // holds nothing back

const queues = {
  fairlane: ours({}),
  'fairlane, cluster': ours({ isCluster: true }),
  'fairlane, rate': ours({ limits: { rate: UNBOUND } }),
  'fairlane, ratePerType': ours({ limits: { ratePerType: UNBOUND } }),
  'fairlane, globalConcurrency': ours({ limits: { globalConcurrency: UNBOUND.limit } }),

  // As its guide says: a queue, a worker and events for each type. They share one connection for calls; those that block have one each.
  BullMQ: {
    package: 'bullmq',

    async work ({ connection, types, slots }, run) {
      const { Worker } = require('bullmq')
      const client = clientFor(connection)
      const concurrency = Math.ceil(slots / types.length)
      const workers = types.map(type => new Worker(type, ({ data }) => run(type, data), { connection: client, concurrency }))
      await Promise.all(workers.map(worker => worker.waitUntilReady()))
    },

    async produce ({ connection, types }) {
      const { Queue, QueueEvents } = require('bullmq')
      const client = clientFor(connection)
      const all = new Map(types.map(type => [type, { queue: new Queue(type, { connection: client }), events: new QueueEvents(type, { connection: client, lastEventId: '0-0' }) }]))
      for (const { queue, events } of all.values()) {
        for (const emitter of [queue, events]) emitter.setMaxListeners(0)
        await Promise.all([queue.waitUntilReady(), events.waitUntilReady()])
      }
      return {
        async add (type, payload) {
          const { queue, events } = all.get(type)
          const job = await queue.add('job', payload, { removeOnComplete: { age: RESULT_TTL_MS / 1000 } })
          return job.waitUntilFinished(events)
        },
        push: (type, payload) => all.get(type).queue.add('job', payload),
        close: () => closeAll([...all.values()].flatMap(({ queue, events }) => [events, queue]), client)
      }
    }
  },

  // What a program does that wants no queue for each type.
  'BullMQ, one queue': {
    package: 'bullmq',

    async work ({ connection, slots }, run) {
      const { Worker } = require('bullmq')
      const worker = new Worker(NAME, ({ name, data }) => run(name, data), { connection: clientFor(connection), concurrency: slots })
      await worker.waitUntilReady()
    },

    async produce ({ connection }) {
      const { Queue } = require('bullmq')
      const client = clientFor(connection)
      const queue = new Queue(NAME, { connection: client })
      await queue.waitUntilReady()
      return { push: (type, payload) => queue.add(type, payload), close: () => closeAll([queue], client) }
    }
  }
}

function ours ({ isCluster = false, limits }) {
  return {
    package: 'fairlane',
    isCluster,

    async work ({ connection, slots }, run) {
      const runner = (payload, { type }) => run(type, payload)
      await open(runner, { connection, concurrency: slots, scheduler: 'equal', ...limits })
    },

    async produce ({ connection }) {
      const queue = await open(null, { connection })
      return {
        add: (type, payload) => queue.add(payload, { type }),
        push: (type, payload) => queue.pushType(type, payload),
        close: () => queue.close()
      }
    }
  }
}

function open (runner, options) {
  const { distributed } = require('../../lib/distributed')
  return distributed(runner, { name: NAME, settleBy: 'promise', resultTtlMs: RESULT_TTL_MS, ...options })
}

async function closeAll (parts, client) {
  await Promise.all(parts.map(part => part.close()))
  client.disconnect()
}

function clientFor (connection) {
  const { Redis } = require('ioredis')
  const client = new Redis({ ...connection, maxRetriesPerRequest: null })
  client.setMaxListeners(0)
  return client
}

module.exports = { queues }
