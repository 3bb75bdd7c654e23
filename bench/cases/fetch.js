'use strict'

// Question: are the limits of a service kept that counts, and what does a call cost?
//
// The server (../fetch/server.js, a process of its own) lets each tenant ask 50 times in any second, and counts. Twenty tenants make 25
// calls each, and 125 more when a second is nearly over: a limiter by fixed windows lets half a window and a whole one go out together
// then. All that pace calls do so for an interval that is longer by the spread of the way. Where the limit is not known, 429 tells it.

const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { entriesFor, versionIn } = require('../durable/peers')
const { versionOf } = require('../contenders')
const { clients } = require('../fetch/clients')

const LIMIT = 50
const WINDOW_MS = 1000
const SPREAD_MS = 100
const TENANTS = Array.from({ length: 20 }, (_, i) => `tenant-${i}`)
const FIRST = 25
const LATER = 125

module.exports = {
  name: 'fetch',
  title: 'Calls to a service that counts them',
  page: 'docs/benchmarks/fetch.md',
  peers: ['bottleneck'],
  budgetMs: 60000,
  about: `A server lets each of 20 tenants ask ${LIMIT} times in any second, and answers 429 beyond that. Each tenant makes ${FIRST} calls, and ${LATER} more 0.9 s later. Who paces calls does so for an interval of ` +
    `${WINDOW_MS + SPREAD_MS} ms. CPU time is that of a call whose fetch answers at once, 100 at a time, in bursts of 3,000.`,
  metrics: [
    { key: 'most', label: 'most of a tenant in any second', unit: '', noRatio: true },
    { key: 'refused', label: 'answered 429', unit: '', noRatio: true },
    { key: 'seconds', label: 'until all have ended', unit: 's', noRatio: true },
    { key: 'ns', label: 'CPU time', unit: 'ns/call', best: true }
  ],

  cells ({ quick, peers = {} }) {
    const share = quick ? 0.2 : 1
    return [
      { id: 'paced', label: 'the limit is known', weight: 5, share },
      { id: 'told', label: '429 with Retry-After tells it', weight: 5, share },
      { id: 'bare', label: 'a fetch that answers at once', weight: 1, bursts: quick ? 1 : 20 }
    ].map(cell => ({ ...cell, contenders: entriesFor(Object.keys(clients[cell.id]), clients[cell.id], peers) }))
  },

  versionOf (name, peers) {
    const { package: packageName, peer } = Object.values(clients).find(group => group[name] !== undefined)[name]
    if (peer !== undefined) return versionIn({ package: packageName, peer }, peers)
    return packageName === 'undici' ? `undici@${require('undici/package.json').version}` : packageName && versionOf(packageName)
  },

  measure ({ id, ...cell }, contender) {
    const { open } = clients[id][contender]
    return id === 'bare' ? costOf(open, cell) : countsOf(open, cell)
  }
}

async function countsOf (open, { share }) {
  const server = fork(path.join(__dirname, '../fetch/server.js'), [JSON.stringify({ limit: LIMIT, windowMs: WINDOW_MS })])
  const [{ port }] = await once(server, 'message')
  const call = await open({ fetch: globalThis.fetch, limit: LIMIT, intervalMs: WINDOW_MS + SPREAD_MS })
  const calls = []
  const callAll = count => {
    for (let i = 0; i < Math.ceil(count * share); i++) {
      for (const tenant of TENANTS) calls.push(call(tenant, `http://127.0.0.1:${port}/${tenant}`).then(response => response.arrayBuffer()))
    }
  }
  const begun = performance.now()
  callAll(FIRST)
  await sleep(0.9 * WINDOW_MS)
  callAll(LATER)
  await Promise.all(calls)
  const seconds = (performance.now() - begun) / 1000
  server.send('counts')
  const [counts] = await once(server, 'message')
  server.kill()
  return { ...counts, seconds }
}

/** CPU time of the process from the first call of a burst to its last response. */
async function costOf (open, { bursts }) {
  const size = 3000
  const response = new Response('ok')
  const call = await open({ fetch: async () => response })
  let micros = 0
  for (let burst = -Math.ceil(bursts / 2); burst < bursts; burst++) {
    const begun = process.cpuUsage()
    const responses = await Promise.all(Array.from({ length: size }, (_, i) => call(TENANTS[i % TENANTS.length], 'http://127.0.0.1/')))
    const { user, system } = process.cpuUsage(begun)
    if (responses.length !== size || responses.some(one => one !== response)) throw new Error('some calls have another response')
    if (burst >= 0) micros += user + system
  }
  return { ns: micros * 1000 / (size * bursts) }
}
