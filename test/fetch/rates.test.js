'use strict'

// A server that counts. In any window of the interval less the spread of the way it sees no more calls of a tenant than the limit: the
// starts are further apart, and each arrives as long after as its way takes.

const assert = require('node:assert/strict')
const { fairFetch } = require('../../lib/fetch')
const { startServer } = require('../support/programs')
const { isLong } = require('../support/rounds')

const TENANTS = 20
const CALLS = isLong ? 10000 : 1000
const LIMIT = 20
const INTERVAL_MS = 100
const now = () => performance.now()

describe('a server that counts', () => {
  let server, arrivals, starts, ways, refusedCount, refuses
  beforeEach(async () => {
    arrivals = Array.from({ length: TENANTS }, () => [])
    starts = [] // by the number of the call, of its last attempt
    ways = []
    refusedCount = 0
    refuses = () => false
    server = await startServer(({ url }, response) => {
      const [, tenant, number] = url.split('/').map(Number)
      const at = now()
      ways.push(at - starts[number])
      if (refuses(tenant, at)) {
        refusedCount++
        response.writeHead(429, { 'Retry-After': '1' }).end()
      } else {
        arrivals[tenant].push(at)
        response.end()
      }
    })
  })
  afterEach(() => server.end())

  /** Makes all calls. @returns {Promise<{ spreadMs: number, responses: Response[] }>} of the ways to the server */
  async function call (options) {
    let time = now()
    const clock = { now: () => (time = now()), setTimeout, clearTimeout } // what was read last is when a call was counted
    const fetch = fairFetch((input, init) => {
      starts[input.slice(input.lastIndexOf('/') + 1)] = time
      return globalThis.fetch(input, init)
    }, { concurrency: 50, clock, ...options })
    const responses = await Promise.all(Array.from({ length: CALLS }, async (_, number) => {
      const tenant = number % TENANTS
      const response = await fetch(`${server.origin}/${tenant}/${number}`, { fairlane: { type: tenant } })
      await response.arrayBuffer()
      return response
    }))
    return { spreadMs: Math.max(...ways) - Math.min(...ways), responses }
  }

  it('never sees more than the limit in its window, less the spread of the way', async () => {
    const { spreadMs, responses } = await call({ ratePerType: { limit: LIMIT, intervalMs: INTERVAL_MS } })
    assert(responses.every(({ status }) => status === 200))
    assert.equal(arrivals.flat().length, CALLS)
    for (const ofTenant of arrivals) {
      const times = ofTenant.toSorted((a, b) => a - b)
      for (let i = LIMIT; i < times.length; i++) {
        const ms = times[i] - times[i - LIMIT]
        assert(ms >= INTERVAL_MS - spreadMs - 0.01, `${LIMIT + 1} calls within ${ms} ms, with a spread of ${spreadMs} ms`)
      }
    }
  })

  it('refuses nothing if the interval is longer than its window by that', async () => {
    const windowMs = INTERVAL_MS / 2
    refuses = (tenant, at) => arrivals[tenant].length >= LIMIT && at - arrivals[tenant].at(-LIMIT) < windowMs
    const { spreadMs } = await call({ ratePerType: { limit: LIMIT, intervalMs: INTERVAL_MS }, maxAttempts: 2 })
    assert(refusedCount === 0 || spreadMs > windowMs, `${refusedCount} refused, with a spread of ${spreadMs} ms`)
    assert.equal(arrivals.flat().length, CALLS)
  })

  it('is asked nothing of a tenant that it has refused until it wants to be', async () => {
    const until = new Map() // by tenant
    const early = []
    refuses = (tenant, at) => {
      if (at < until.get(tenant)) early.push(tenant)
      if (until.has(tenant) || arrivals[tenant].length < 3) return false
      until.set(tenant, at + 990) // its timer may be a little early
      return true
    }
    // one at a time, so that none is on its way when the answer comes
    const { responses } = await call({ schedulerOptions: { maxTypeCap: 1 }, maxAttempts: 2, backoffMs: 0 })
    assert(responses.every(({ status }) => status === 200))
    assert.deepEqual([until.size, early], [TENANTS, []])
  })
})
