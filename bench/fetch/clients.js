'use strict'

// Who calls, in the fetch case. `open({ fetch, limit, intervalMs })` gives `call(tenant, url)`, a promise of the response; `paced` ones
// know the limit of each tenant, `told` ones are told of it by 429, and `bare` ones have a fetch that answers at once.

const { packagePath } = require('../durable/peers')
const { fairFetch } = require('../../lib/fetch')

const CONCURRENCY = 100
const ATTEMPTS = 100
const BACKOFF_MS = 10

const P_QUEUE = { package: 'p-queue' }
const BOTTLENECK = { package: 'bottleneck', peer: 'bottleneck' }

const clients = {
  paced: {
    fairlane: ours(({ limit, intervalMs }) => ({ ratePerType: { limit, intervalMs } })),
    'p-queue intervalCap': { ...P_QUEUE, note: 'one queue for each tenant', open: options => openPQueue(options, {}) },
    'p-queue strict': { ...P_QUEUE, note: 'one queue for each tenant', open: options => openPQueue(options, { strict: true }) },
    'bottleneck Group': { ...BOTTLENECK, open: openBottleneck },
    'no queue': { package: null, open: ({ fetch }) => (tenant, url) => fetch(url) }
  },

  told: {
    fairlane: ours(() => ({ maxAttempts: ATTEMPTS, backoffMs: BACKOFF_MS })),
    'undici RetryAgent': {
      package: 'undici',
      open () {
        const { Agent, RetryAgent, fetch } = require('undici')
        const options = { maxRetries: ATTEMPTS, minTimeout: BACKOFF_MS, statusCodes: [429], throwOnError: false }
        const dispatcher = new RetryAgent(new Agent({ connections: CONCURRENCY }), options)
        return (tenant, url) => fetch(url, { dispatcher })
      }
    }
  },

  bare: {
    fairlane: ours(() => ({})),
    'p-queue': {
      ...P_QUEUE,
      async open ({ fetch }) {
        const { default: PQueue } = await import('p-queue')
        const queue = new PQueue({ concurrency: CONCURRENCY })
        return (tenant, url) => queue.add(() => fetch(url))
      }
    },
    bottleneck: {
      ...BOTTLENECK,
      open ({ fetch }) {
        const Bottleneck = require(packagePath('bottleneck'))
        const limiter = new Bottleneck({ maxConcurrent: CONCURRENCY })
        return (tenant, url) => limiter.schedule(fetch, url)
      }
    }
  }
}

function ours (optionsOf) {
  return {
    package: 'fairlane',
    open (options) {
      const fetch = fairFetch(options.fetch, { concurrency: CONCURRENCY, ...optionsOf(options) })
      return (tenant, url) => fetch(url, { fairlane: { type: tenant } })
    }
  }
}

async function openPQueue ({ fetch, limit, intervalMs }, options) {
  const { default: PQueue } = await import('p-queue')
  const queues = new Map()
  return (tenant, url) => {
    if (!queues.has(tenant)) queues.set(tenant, new PQueue({ intervalCap: limit, interval: intervalMs, ...options }))
    return queues.get(tenant).add(() => fetch(url))
  }
}

function openBottleneck ({ fetch, limit, intervalMs }) {
  const Bottleneck = require(packagePath('bottleneck'))
  const group = new Bottleneck.Group({ reservoir: limit, reservoirRefreshAmount: limit, reservoirRefreshInterval: intervalMs })
  return (tenant, url) => group.key(tenant).schedule(fetch, url)
}

module.exports = { clients }
