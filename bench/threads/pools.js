'use strict'

// Who is compared: one adapter per pool of threads. `open(threads)` resolves with `{ push(type, payload, whenSettled), close() }`, of those
// that can stop a job also `pushAbortable(type, payload, signal, whenSettled)`. Each is used in its fastest documented way.

const { once } = require('node:events')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { packagePath } = require('../durable/peers')

const WORK = path.join(__dirname, 'work.js')

const pools = {
  fairlane: ours({ scheduler: 'equal' }),
  'fairlane, fifo': ours({}),
  'fairlane, timeoutMs': ours({ scheduler: 'equal', timeoutMs: 60000 }),
  'fairlane, perThread 16': ours({ scheduler: 'equal' }, { perThread: 16 }),

  piscina: {
    package: 'piscina',
    async open (threads) {
      const pool = newPiscina(threads)
      return {
        push: (type, payload, whenSettled) => { pool.run(payload).then(result => whenSettled(null, result), whenSettled) },
        pushAbortable: (type, payload, signal, whenSettled) => {
          pool.run(payload, { signal }).then(result => whenSettled(null, result), whenSettled)
        },
        close: () => pool.destroy()
      }
    }
  },

  // What a program does that knows both.
  'piscina behind fairlane': {
    package: 'piscina',
    async open (threads) {
      const pool = newPiscina(threads)
      const queue = require('../..')((payload, _, { signal }) => pool.run(payload, { signal }), { concurrency: threads, scheduler: 'equal' })
      return { ...pushesOf(queue), close: () => pool.destroy() }
    }
  },

  tinypool: {
    package: 'tinypool',
    peer: 'tinypool',
    async open (threads) {
      const { default: Tinypool } = await import(pathToFileURL(path.join(packagePath('tinypool'), 'dist/index.js')))
      const pool = new Tinypool({ filename: pathToFileURL(WORK).href, minThreads: threads, maxThreads: threads, runtime: 'worker_threads' })
      return {
        push: (type, payload, whenSettled) => { pool.run(payload).then(result => whenSettled(null, result), whenSettled) },
        close: () => pool.destroy()
      }
    }
  },

  workerpool: {
    package: 'workerpool',
    peer: 'workerpool',
    async open (threads) {
      const options = { minWorkers: threads, maxWorkers: threads, workerType: 'thread' }
      const pool = require(packagePath('workerpool')).pool(path.join(__dirname, 'workerpool-work.js'), options)
      return {
        push: (type, payload, whenSettled) => { pool.exec('run', [payload]).then(result => whenSettled(null, result), whenSettled) },
        close: () => pool.terminate(true)
      }
    }
  },

  poolifier: {
    package: 'poolifier',
    peer: 'poolifier',
    async open (threads) {
      const { FixedThreadPool } = require(packagePath('poolifier'))
      const pool = new FixedThreadPool(threads, path.join(__dirname, 'poolifier-work.js'))
      if (!pool.info.ready) await once(pool.emitter, 'ready')
      return {
        push: (type, payload, whenSettled) => { pool.execute(payload).then(result => whenSettled(null, result), whenSettled) },
        close () {} // destroy() does not always resolve; the process ends anyway
      }
    }
  }
}

function ours (queueOptions, threadOptions) {
  return {
    package: 'fairlane',
    async open (threads) {
      const runner = require('../../lib/threads').threads(WORK, { threads, ...threadOptions })
      await runner.ready()
      const queue = require('../..')(runner, { concurrency: runner.concurrency, ...queueOptions })
      return { ...pushesOf(queue), close: () => runner.close() }
    }
  }
}

function pushesOf (queue) {
  return {
    push: (type, payload, whenSettled) => { queue.pushType(type, payload, whenSettled) },
    pushAbortable: (type, payload, signal, whenSettled) => {
      queue.add(payload, { type, signal }).then(result => whenSettled(null, result), whenSettled)
    }
  }
}

function newPiscina (threads) {
  const { Piscina } = require('piscina')
  return new Piscina({ filename: WORK, minThreads: threads, maxThreads: threads, recordTiming: false })
}

module.exports = { pools }
