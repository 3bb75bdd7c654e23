'use strict'

// Queues with limits of rate, delays, attempts and keys, one adapter for each, in groups whose members do the same work. `open(runner)`
// resolves with `push(payload, whenSettled)`, which may have an `end()`; `runner(payload, done, context)` is one, and `promise(payload)`
// another where jobs are functions that return promises. `startsPerJob` says how often jobs start, if not once.

const fairlane = require('../..')
const { packagePath } = require('../durable/peers')
const { typeNames } = require('../types')

const CONCURRENCY = 10
const TYPES = typeNames(10)
const HOUR = 3600000
const NEVER = { limit: 1e9, intervalMs: HOUR } // reached
const P_RETRY = { package: 'p-retry', peer: 'p-retry' }
const BOTTLENECK = { package: 'bottleneck', peer: 'bottleneck' }

const queues = {
  // Callbacks, arrival order.
  plain: {
    fairlane: pushing(runner => fairlane(runner, { concurrency: CONCURRENCY })),
    rate: pushing(runner => fairlane(runner, { concurrency: CONCURRENCY, rate: NEVER })),
    'maxAttempts: 3': pushing(runner => fairlane(runner, { concurrency: CONCURRENCY, maxAttempts: 3 })),
    'maxAttempts: 3, each fails once': {
      ...pushing(runner => fairlane(failingOnce(runner), { concurrency: CONCURRENCY, maxAttempts: 3, backoffMs: 0 })),
      startsPerJob: 2
    }
  },

  // Callbacks, ten types, `scheduler: 'equal'`.
  equal: {
    fairlane: pushingTypes(runner => fairlane(runner, { concurrency: CONCURRENCY, scheduler: 'equal' })),
    ratePerType: pushingTypes(runner => fairlane(runner, { concurrency: CONCURRENCY, scheduler: 'equal', ratePerType: NEVER }))
  },

  // Ten types that may start, alone or beside a thousand with ten jobs each that may not.
  held: {
    fairlane: { package: 'fairlane', open: runner => besideHeld(runner, 0) },
    '1,000 types out of rate': { package: 'fairlane', open: runner => besideHeld(runner, 1000) }
  },

  // Promises of results.
  add: {
    fairlane: adding(promise => fairlane(promise, { concurrency: CONCURRENCY })),
    key: adding(promise => fairlane(promise, { concurrency: CONCURRENCY }), payload => ({ key: payload })),
    'key, nine of ten join': { ...adding(promise => fairlane(promise, { concurrency: CONCURRENCY }), payload => ({ key: Math.floor(payload / 10) })), startsPerJob: 0.1 },
    maxAttempts: adding(promise => fairlane(promise, { concurrency: CONCURRENCY }), () => ({ maxAttempts: 1 })), // what any option costs
    'priority, 4 levels': adding(promise => fairlane(promise, { concurrency: CONCURRENCY, priorityMs: 1000 }), payload => ({ priority: payload % 4 })),
    delayMs: adding(promise => fairlane(promise, { concurrency: CONCURRENCY }), () => ({ delayMs: 1 }))
  },

  // Promises, with a limit that is never reached, or is.
  limited: {
    fairlane: { package: 'fairlane', open: (runner, promise, rate = NEVER) => add(fairlane(promise, { concurrency: CONCURRENCY, rate })) },
    'p-queue intervalCap': { package: 'p-queue', open: (runner, promise, rate) => openPQueue(promise, rate, false) },
    'p-queue strict': { package: 'p-queue', open: (runner, promise, rate) => openPQueue(promise, rate, true) },
    'bottleneck reservoir': {
      ...BOTTLENECK,
      open (runner, promise, { limit, intervalMs } = NEVER) {
        const Bottleneck = require(packagePath('bottleneck'))
        const limiter = new Bottleneck(reservoirOf(limit, intervalMs))
        return payload => limiter.schedule(promise, payload)
      }
    },
    limiter: {
      package: 'limiter',
      peer: 'limiter',
      note: 'in front of the runner, in p-limit',
      async open (runner, promise, { limit, intervalMs } = NEVER) {
        const { RateLimiter } = require(packagePath('limiter'))
        const limiter = new RateLimiter({ tokensPerInterval: limit, interval: intervalMs })
        const { default: pLimit } = await import('p-limit')
        const limitTo = pLimit(CONCURRENCY)
        return payload => limitTo(async () => {
          await limiter.removeTokens(1)
          return promise(payload)
        })
      }
    },
    'fastq with a timer': { package: 'fastq', note: 'paused when a window is used up', open: (runner, promise, rate = NEVER) => openFastq(promise, rate) }
  },

  // Promises, ten types, each with a limit that is never reached.
  limitedTypes: {
    fairlane: {
      package: 'fairlane',
      open (runner, promise) {
        const queue = fairlane(promise, { concurrency: CONCURRENCY, scheduler: 'equal', ratePerType: NEVER })
        return payload => queue.add(payload, { type: TYPES[payload % 10] })
      }
    },
    'bottleneck Group': {
      ...BOTTLENECK,
      open (runner, promise) {
        const Bottleneck = require(packagePath('bottleneck'))
        const { limit, intervalMs } = NEVER
        const group = new Bottleneck.Group(reservoirOf(limit, intervalMs))
        return payload => group.key(TYPES[payload % 10]).schedule(promise, payload)
      }
    }
  },

  // Promises, of jobs that fail once.
  retried: {
    fairlane: {
      package: 'fairlane',
      startsPerJob: 2,
      open (runner, promise) {
        const queue = fairlane(async (payload, _, { attempt }) => {
          await promise(payload)
          if (attempt === 1) throw ERROR
        }, { concurrency: CONCURRENCY, maxAttempts: 3, backoffMs: 0 })
        return add(queue)
      }
    },
    'p-limit with p-retry': {
      ...P_RETRY,
      startsPerJob: 2,
      async open (runner, promise) {
        const { default: pLimit } = await import('p-limit')
        const { default: pRetry } = await import(`${packagePath('p-retry')}/index.js`)
        const limitTo = pLimit(CONCURRENCY)
        return payload => limitTo(() => pRetry(async attempt => {
          await promise(payload)
          if (attempt === 1) throw ERROR
        }, { retries: 2, minTimeout: 0 }))
      }
    }
  }
}

const ERROR = new Error('expected')

/** As options of Bottleneck. */
function reservoirOf (limit, intervalMs) {
  return { maxConcurrent: CONCURRENCY, reservoir: limit, reservoirRefreshAmount: limit, reservoirRefreshInterval: intervalMs }
}

function pushing (make) {
  return {
    package: 'fairlane',
    open (runner) {
      const queue = make(runner)
      return (payload, whenSettled) => queue.push(payload, whenSettled)
    }
  }
}

function pushingTypes (make) {
  return {
    package: 'fairlane',
    open (runner) {
      const queue = make(runner)
      return (payload, whenSettled) => queue.pushType(TYPES[payload % 10], payload, whenSettled)
    }
  }
}

function adding (make, optionsOf) {
  return { package: 'fairlane', open: (runner, promise) => add(make(promise), optionsOf) }
}

function add (queue, optionsOf) {
  return optionsOf === undefined ? payload => queue.add(payload) : payload => queue.add(payload, optionsOf(payload))
}

function failingOnce (runner) {
  return (payload, done, { attempt }) => runner(payload, attempt === 1 ? () => done(ERROR) : done)
}

/** Ten types, and others, of which one job has started and ten wait for an hour. */
async function besideHeld (runner, count) {
  const others = Array.from({ length: count }, (_, i) => `other ${i}`)
  const ratePerType = new Map(others.map(type => [type, { limit: 1, intervalMs: HOUR }]))
  const queue = fairlane((payload, done) => payload === undefined ? done() : runner(payload, done), { concurrency: CONCURRENCY, scheduler: 'equal', ratePerType })
  for (const type of others) for (let i = 0; i <= 10; i++) queue.pushType(type)
  while (queue.stats().heldTypes < count) await new Promise(setImmediate)
  return Object.assign((payload, whenSettled) => queue.pushType(TYPES[payload % 10], payload, whenSettled), { end: () => queue.clear() })
}

async function openPQueue (promise, { limit, intervalMs } = NEVER, strict) {
  const { default: PQueue } = await import('p-queue')
  const queue = new PQueue({ concurrency: CONCURRENCY, intervalCap: limit, interval: intervalMs, strict })
  return payload => queue.add(() => promise(payload))
}

/** Windows one behind the other, as a program makes them by hand. */
function openFastq (promise, { limit, intervalMs }) {
  let left = limit
  let timer
  const queue = require('fastq').promise(payload => {
    if (--left === 0) queue.pause()
    timer ??= setInterval(() => {
      left = limit
      queue.resume()
    }, intervalMs).unref()
    return promise(payload)
  }, CONCURRENCY)
  return payload => queue.push(payload)
}

module.exports = { queues, NEVER }
